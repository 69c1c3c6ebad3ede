"""Porcelain: a result as a few lines of text for a reader in a loop, instead of a dump of the backend.

Line oriented, deterministic, bounded in lines and in width, the summary first. Keys keep the order of the
payload: it is the order in which the author declared the fields, so what matters comes first, and it is the
same on every call; sorting would put `count` before `answer` and gain nothing. What does not fit is counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple

from holdfast.present.bounds import (
    Bounds,
    clean_line,
    collapse_whitespace,
    omitted,
    truncate_chars,
    truncate_lines,
)
from holdfast.present.notes import Notes
from holdfast.present.preview import key_text, preview, show
from holdfast.present.table import render_table

__all__ = [
    "DEFAULT_BOUNDS",
    "SURFACE_BOUNDS",
    "Porcelain",
    "SurfaceBounds",
    "SurfaceKind",
    "member_lines",
    "render_porcelain",
]

DEFAULT_BOUNDS = Bounds(24, 120)
_INDENT = "  "


class SurfaceKind(Enum):
    """What kind of thing a tool shows, which decides how much of it a reader is given."""

    OVERVIEW = "overview"
    LIST = "list"
    READ = "read"
    MUTATION = "mutation"
    OPS = "ops"


class SurfaceBounds(NamedTuple):
    """The bounds of one kind of surface, for the concise and for the full level of detail."""

    concise: Bounds
    full: Bounds


SURFACE_BOUNDS: dict[SurfaceKind, SurfaceBounds] = {
    SurfaceKind.OVERVIEW: SurfaceBounds(Bounds(10, 144), Bounds(28, 240)),
    SurfaceKind.LIST: SurfaceBounds(Bounds(16, 128), Bounds(32, 176)),
    SurfaceKind.READ: SurfaceBounds(Bounds(18, 176), Bounds(40, 320)),
    SurfaceKind.MUTATION: SurfaceBounds(Bounds(12, 160), Bounds(24, 256)),
    SurfaceKind.OPS: SurfaceBounds(Bounds(8, 160), Bounds(24, 240)),
}


def render_porcelain(value: Any, bounds: Bounds = DEFAULT_BOUNDS) -> str:
    """Any JSON value as porcelain.

    An object is one `key: value` line per key; a list is `N item(s)`, then one `[i] value` line per item,
    counted from 1; text is its own lines; another scalar is one line. A member of an object that does not fit
    on its line is opened into lines of its own as far as lines are left.
    """
    if isinstance(value, Mapping):
        return "\n".join(_object_lines(value, bounds)) if value else "empty object"
    if isinstance(value, list | tuple):
        return "\n".join(_list_lines(value, bounds))
    if isinstance(value, str):
        return truncate_lines(value, bounds) if value else "empty text"
    return preview(value, bounds.width)


def member_lines(container: Any, lines: int, width: int) -> list[str]:
    """One line per member of an object or a list, at most `lines` of them; the last one counts the rest."""
    noun = "field" if isinstance(container, Mapping) else "item"
    return list(_capped(_members(container, width), len(container), lines, noun))


def _list_lines(items: Sequence[Any], bounds: Bounds) -> Iterator[str]:
    yield _size(items)
    yield from _capped(_members(items, bounds.width), len(items), bounds.lines - 1, "item")


def _object_lines(value: Mapping[Any, Any], bounds: Bounds) -> list[str]:
    """One line per key; lines that are to spare open the members that are too long, first come first served."""
    if len(value) > bounds.lines:
        return list(_capped(_members(value, bounds.width), len(value), bounds.lines, "line"))
    spare = bounds.lines - len(value)
    lines: list[str] = []
    for key, member in value.items():
        line = _member_line(key, member, bounds.width)
        if line is None:
            name = key_text(key, bounds.width // 2)
            opened = _opened(member, min(spare, len(member)), bounds.width)
            spare -= len(opened)
            lines += [f"{name}: {_size(member)}", *opened]
        else:
            lines.append(line)
    return lines


def _opened(member: Any, lines: int, width: int) -> list[str]:
    return [_INDENT + line for line in member_lines(member, lines, width - len(_INDENT))]


def _capped(lines: Iterator[str], total: int, limit: int, noun: str) -> Iterator[str]:
    """At most `limit` of `total` lines; the last one counts the rest, where there is a rest."""
    if limit < 1:
        return
    if total <= limit:
        yield from lines
        return
    yield from islice(lines, limit - 1)
    yield omitted(total - limit + 1, noun)


def _members(container: Any, width: int) -> Iterator[str]:
    if isinstance(container, Mapping):
        for key, member in container.items():
            name = key_text(key, width // 2)
            yield f"{name}: {preview(member, width - len(name) - 2)}"
    else:
        for number, member in enumerate(container, 1):
            label = f"[{number}] "
            yield label + preview(member, width - len(label))


def _member_line(key: Any, member: Any, width: int) -> str | None:
    """`key: value` on one line, or None where the value is a container that deserves lines of its own."""
    name = key_text(key, width // 2)
    text, complete = show(member, width - len(name) - 2)
    if not complete and isinstance(member, Mapping | list | tuple):
        return None
    return f"{name}: {text}"


def _size(container: Any) -> str:
    noun = "field" if isinstance(container, Mapping) else "item"
    return f"{len(container)} {noun}(s)"


class Porcelain:
    """Builds porcelain by hand, for a tool whose author knows better than the general rules what matters.

    The summary is the first line whatever happens; then come the parts in the order they were added, then the
    notes. Where lines are short it is the parts in the middle that are cut, and the cut is counted.
    """

    def __init__(self, summary: str, *, notes: Iterable[str] = ()) -> None:
        self._summary = collapse_whitespace(summary)
        self._lines: list[str] = []
        self._notes = Notes(notes)

    def section(self, title: str) -> "Porcelain":
        """A heading for what follows."""
        self._lines.append(f"{collapse_whitespace(title)}:")
        return self

    def field(self, name: str, value: Any) -> "Porcelain":
        """One `name: value` line; text is shown bare, everything else as JSON."""
        shown = collapse_whitespace(value) if isinstance(value, str) else preview(value, 1000)
        self._lines.append(f"{key_text(name, 1000)}: {shown}")
        return self

    def items(self, items: Iterable[Any], *, limit: int = 20) -> "Porcelain":
        """A list, one `- item` line each, at most `limit` of them."""
        iterator = iter(items)
        for item in islice(iterator, limit):
            self._lines.append(f"- {collapse_whitespace(item) if isinstance(item, str) else preview(item, 1000)}")
        left_out = sum(1 for _ in iterator)
        if left_out:
            self._lines.append(omitted(left_out, "item"))
        return self

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, max_rows: int = 20, more: str = ""
    ) -> "Porcelain":
        """A table; see `render_table`."""
        self._lines += render_table(columns, rows, max_rows=max_rows, more=more)
        return self

    def note(self, text: str) -> "Porcelain":
        """A remark at the end; the same remark twice is one."""
        self._notes.add(text)
        return self

    def text(self, bounds: Bounds = DEFAULT_BOUNDS) -> str:
        """The lines, bounded; notes keep their place at the end where there are lines for them."""
        notes = self._notes.lines(bounds.width)
        body = [truncate_chars(clean_line(line), bounds.width) for line in self._lines]
        if len(notes) > bounds.lines - 2:
            # Too few lines for the summary, a marker and all notes: let the marker count the notes too.
            body, notes = body + notes, []
        room = bounds.lines - 1 - len(notes)
        head = truncate_chars(clean_line(self._summary) or "no summary", bounds.width)
        return "\n".join([head, *_capped(iter(body), len(body), room, "line"), *notes])
