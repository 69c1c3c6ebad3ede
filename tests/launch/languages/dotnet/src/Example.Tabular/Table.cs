using System;
using System.Collections.Generic;

namespace Example.Tabular
{
    /// <summary>
    /// A table of text with named columns.
    /// </summary>
    /// <remarks>
    /// <para>A table is read once, see <see cref="M:Example.Tabular.Table.Parse(System.String)"/>.</para>
    /// </remarks>
    /// <example>
    /// <code>
    /// var table = Table.Parse("a,b");
    /// </code>
    /// </example>
    public sealed class Table : IDisposable
    {
        internal Table() { }

        /// <summary>Gets the rows, without the header.</summary>
        public IReadOnlyList<Row> Rows { get; private set; }

        /// <summary>
        /// Reads a table from a text.
        /// </summary>
        /// <param name="text">The text, in which <paramref name="separator"/> parts the columns.</param>
        /// <param name="separator">What parts the columns.</param>
        /// <returns>The table.</returns>
        /// <exception cref="T:Example.Tabular.TableException">The rows have different lengths.</exception>
        public static Table Parse(string text, char separator = ',')
        {
            throw new TableException();
        }

        /// <inheritdoc />
        public void Dispose() { }

        private void Hidden() { }
    }

    /// <summary>How a table is quoted.</summary>
    public enum Quoting
    {
        /// <summary>Only where it must be.</summary>
        Minimal,
        Always,
    }

    /// <summary>A table cannot be read.</summary>
    public class TableException : Exception { }
}
