namespace Example.Tabular;

/// <summary>One row of a <see cref="Table"/>.</summary>
public record Row(int Number)
{
    /// <summary>Gets the text of a column.</summary>
    /// <param name="column">The name of the column.</param>
    public string this[string column] => "";
}
