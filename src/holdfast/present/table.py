"""Tables as lines of text: a header, cells parted by ` | `, caps on columns, widths and rows.

The rules are fixed so that a program or a model can read a table back: a cell never holds a bare `|` or a
line break, every row has as many cells as the header, and what was left out is counted.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from holdfast.present.bounds import ELLIPSIS, clean_line, omitted, truncate_chars
from holdfast.present.graphemes import boundary_before, display_width, padded
from holdfast.present.preview import preview

__all__ = ["render_table"]

_SEPARATOR = " | "
_NO_VALUE = "-"


def render_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    max_rows: int = 20,
    max_width: int = 120,
    max_cell: int = 40,
    more: str = "",
) -> list[str]:
    """The lines of a table: the header, a rule, at most `max_rows` rows, `… N row(s) omitted`.

    No line is longer than `max_width`, and cells stand one below the other on a terminal, which shows some
    characters in two columns. Cells are cut to `max_cell` characters, and columns that do not fit are
    left out from the right and counted in the header. `more` tells how to get the omitted rows, for example
    `ask again with cursor=abc`. A row that is too short is filled, one that is too long is an error.
    """
    if not columns or max_rows < 1 or max_cell < 4 or max_width < 40:
        raise ValueError("a table needs a column, 1 row, 4 characters per cell and 40 per line")
    max_cell = min(max_cell, max_width - len(_more_columns(len(columns))))
    iterator = iter(rows)
    shown = [_cells(row, len(columns), max_cell) for row in islice(iterator, max_rows)]
    left_out = sum(1 for _ in iterator)
    grid = [[_cell(name, max_cell) for name in columns], *shown]
    widths = _fitting_widths(grid, max_width)
    lines = [_line(row, widths) for row in grid]
    lines.insert(1, _SEPARATOR.replace(" ", "-").join("-" * width for width in widths))
    if len(widths) < len(columns):
        lines[0] += _more_columns(len(columns) - len(widths))
    if left_out:
        marker = omitted(left_out, "row")
        lines.append(truncate_chars(f"{marker}; {clean_line(more)}" if more else marker, max_width))
    return lines


def _more_columns(columns: int) -> str:
    return f"{_SEPARATOR}+{columns} more"


def _cells(row: Sequence[Any], count: int, max_cell: int) -> list[str]:
    if len(row) > count:
        raise ValueError(f"a row has {len(row)} cells, the header {count}")
    return [_cell(value, max_cell) for value in row] + [_NO_VALUE] * (count - len(row))


def _cell(value: Any, limit: int) -> str:
    """One cell: no bare `|`, no line break, at most `limit` characters."""
    if value is None or value == "":
        return _NO_VALUE
    text = value.strip() if isinstance(value, str) else preview(value, limit)
    pieces = [_ESCAPES.get(character) or clean_line(character) for character in text[: limit + 1]]
    if len(text) <= limit and sum(map(len, pieces)) <= limit:
        return "".join(pieces) or _NO_VALUE
    # Whole escapes are dropped from the end, never half of one, nor half of what a reader sees as one character.
    while sum(map(len, pieces)) > limit - len(ELLIPSIS):
        pieces.pop()
    return "".join(pieces[: boundary_before(text, len(pieces))]) + ELLIPSIS


_ESCAPES = {"|": "\\|", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _fitting_widths(grid: list[list[str]], max_width: int) -> list[int]:
    """Widths of the columns, from the left, that fit in a line together with a count of those that do not.

    They are columns of a terminal; what fits is bounded in those and in characters.
    """
    columns = [[row[index] for row in grid] for index in range(len(grid[0]))]
    count_width = len(_more_columns(len(columns)))
    # The first column stands in any case.
    widths = [min(max(map(display_width, column)), max_width - count_width) for column in columns]
    taken = [
        max(width, *(len(padded(cell, width)) for cell in column))
        for column, width in zip(columns, widths, strict=True)
    ]
    if _total(taken) <= max_width:
        return widths
    fitting = 1
    while _total(taken[: fitting + 1]) + count_width <= max_width:
        fitting += 1
    return widths[:fitting]


def _total(widths: list[int]) -> int:
    return sum(widths) + len(_SEPARATOR) * (len(widths) - 1)


def _line(cells: list[str], widths: list[int]) -> str:
    # Without `strict`: columns that do not fit have no width and are left out here.
    return _SEPARATOR.join(padded(cell, width) for cell, width in zip(cells, widths, strict=False)).rstrip()
