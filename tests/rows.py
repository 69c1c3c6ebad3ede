"""One test for a whole table: every row is tried, and all that fail are told, each with its row.

For tables of many rows that take next to no time each: a test of its own costs a row more than what it does. What
needs a fixture, or more than a moment, is a matter for `pytest.mark.parametrize`.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["each_row"]

Test = Callable[..., None]


def each_row(names: str | Sequence[str], rows: Iterable[Any], **more: Any) -> Callable[[Test], Test]:
    """Call the test with every row; takes what `pytest.mark.parametrize` takes, and can be stacked like it."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_named(row, wanted, position, **more) for position, row in enumerate(rows)]
    assert table, "a table without rows proves nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def every_row(**outer: Any) -> None:
            failures = []
            for name, row in table:
                try:
                    test(**outer, **row)
                except Exception as error:
                    error.add_note(f"in the row {name}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        del every_row.__wrapped__  # the columns are no fixtures
        return every_row

    return decorate


def _named(row: Any, wanted: Sequence[str], position: int, ids: Any = None) -> tuple[str, dict[str, Any]]:
    """The name and the values of a row, which may be a `pytest.param`."""
    name = getattr(row, "id", None) if hasattr(row, "marks") else None
    assert not getattr(row, "marks", ()), "a row has no marks of its own"
    values = row.values if hasattr(row, "marks") else row if len(wanted) > 1 else (row,)
    if ids is not None:
        name = ids(row) if callable(ids) else list(ids)[position]
    return f"{name if name is not None else values!r:.300}", dict(zip(wanted, values, strict=True))
