-- The total of one order.
CREATE OR REPLACE FUNCTION total_of(p_id IN NUMBER, p_rate IN OUT NUMBER) RETURN NUMBER IS
  v_total orders.total%TYPE := 0;
BEGIN
  SELECT SUM(total) INTO v_total FROM orders WHERE id = p_id;
  IF v_total IS NULL THEN
    RAISE no_data_found;
  END IF;
  RETURN v_total * p_rate;
EXCEPTION
  WHEN OTHERS THEN
    raise_application_error(-20001, 'broken');
END total_of;
/
CREATE OR REPLACE PACKAGE BODY billing AS
  PROCEDURE run IS
  BEGIN
    NULL;
  END;
END billing;
/

-- SQLite, and something that nobody knows
CREATE VIRTUAL TABLE notes USING fts5(title, body);
FROBNICATE THE (unclosed 'thing;
CREATE TEMPORARY TRIGGER tidy AFTER DELETE ON items BEGIN
  DELETE FROM notes WHERE title = old.title;
  INSERT OR IGNORE INTO gone SELECT old.id;
END;
CREATE TABLE events (at datetime, kind text) PARTITION BY RANGE (at);
CREATE TABLE events_2024 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE half (id int,
CREATE VIEW last_one AS SELECT 1;
