-- What the logs are kept in.
CREATE TABLE [dbo].[Log Entries] (
    [Id] INT IDENTITY(1,1) PRIMARY KEY,
    [Text] NVARCHAR(MAX) NULL
);
GO
CREATE OR ALTER PROCEDURE [dbo].[Clean]
    @Days INT = 30,
    @Table SYSNAME
AS
SET NOCOUNT ON;
DECLARE @sql NVARCHAR(200);
IF @Days < 0
BEGIN
    THROW 50001, 'negative', 1;
END
SET @sql = N'DELETE FROM ' + @Table;
EXEC sp_executesql @sql;
BEGIN TRANSACTION;
DELETE FROM [dbo].[Log Entries] WHERE Age > @Days;
MERGE INTO dbo.Totals AS t USING dbo.Changes AS s ON t.Id = s.Id
WHEN MATCHED THEN UPDATE SET t.N = s.N;
COMMIT;
EXEC dbo.Report @Days;
GO
CREATE FUNCTION dbo.Age(@born DATE) RETURNS INT
AS
BEGIN
    DECLARE @years INT = DATEDIFF(YEAR, @born, GETDATE());
    RETURN CASE WHEN @years < 0 THEN 0 ELSE @years END;
END
GO
CREATE NONCLUSTERED INDEX IX_Log ON [dbo].[Log Entries] ([Text]);
GO
CREATE VIEW dbo.Latest AS SELECT TOP (10) * FROM dbo.[Log Entries] CROSS APPLY dbo.Split([Text]);
GO
