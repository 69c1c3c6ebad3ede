"""Mistakes in a query: one typed error that says in which column, and a line that points there."""

from holdfast.errors import ToolError

__all__ = ["caret", "mistake"]

_WIDTH = 72


def mistake(query: str, column: int, message: str, *, hint: str) -> ToolError:
    """The error for a query that cannot be understood; columns count characters from 1."""
    return ToolError(
        "INVALID_REQUEST",
        f"column {column} of the query: {message}",
        details={"column": column, "query": query},
        hint=hint,
    )


def caret(query: str, column: int) -> str:
    """Two lines for a terminal: the query, or the part of it around the column, and a caret under the column."""
    printable = "".join(character if character.isprintable() else " " for character in query)
    start = max(0, min(column - _WIDTH // 2, len(printable) - _WIDTH))
    return f"{printable[start : start + _WIDTH]}\n{' ' * (column - 1 - start)}^"
