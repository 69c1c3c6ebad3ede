"""Mistakes in a query: one typed error that says in which column."""

from holdfast.errors import ToolError

__all__ = ["mistake"]


def mistake(query: str, column: int, message: str, *, hint: str) -> ToolError:
    """The error for a query that cannot be understood; columns count characters from 1."""
    return ToolError(
        "INVALID_REQUEST",
        f"column {column} of the query: {message}",
        details={"column": column, "query": query},
        hint=hint,
    )
