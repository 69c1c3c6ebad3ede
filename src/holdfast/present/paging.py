"""Pages of a list: which rows of an answer are given now, and how the caller gets the others.

A tool that declares pages returns an object with a list in it, always the whole list. A page holds as many of its
rows as fit in the bounds of porcelain, or a fixed number of them in JSON, and a cursor where rows are left. The
rows in the text and in the structured content are the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.errors import ContractError
from holdfast.present.bounds import Bounds, omitted
from holdfast.present.continuation import CURSOR_ARGUMENT
from holdfast.present.payload_cap import rendered_within
from holdfast.present.porcelain import member_lines
from holdfast.present.preview import key_text, preview
from holdfast.present.schema_shape import resolve, types_of

__all__ = [
    "CURSOR_PROPERTY",
    "NEXT_CURSOR",
    "Page",
    "Paging",
    "declared_paging",
    "paged_schema",
    "porcelain_page",
    "with_rows",
]

NEXT_CURSOR = "next_cursor"
CURSOR_PROPERTY: dict[str, Any] = {
    "type": "string",
    "maxLength": 64,
    "description": "Continue an earlier answer to the same call: the cursor that it ended with.",
}
_NEXT_CURSOR_PROPERTY = {
    "type": "string",
    "description": f"Rows were left out: call again with the same arguments and this as `{CURSOR_ARGUMENT}`.",
}


@dataclass(frozen=True, slots=True)
class Paging:
    """Which list of an answer is given in pages, how many rows a page of JSON has, what names a row.

    Without a field it is the only list of the answer. The selector is filled in from the marks of the rows.
    """

    field: str = ""
    json_rows: int = 100
    selector: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.field, str):
            raise ContractError(f"pages: the field is {self.field!r}", remedy='write its name: pages="rows"')
        if type(self.json_rows) is not int or not 1 <= self.json_rows <= 10_000:
            raise ContractError(f"pages: json_rows is {self.json_rows!r}", remedy="use 1 to 10000")


class Page(NamedTuple):
    """The text of one page, and how many rows are in it."""

    text: str
    rows: int


def declared_paging(given: object) -> Paging | None:
    """What `pages=...` says: True, the name of the field, or a `Paging`."""
    if given is None or given is False:
        return None
    if given is True:
        return Paging()
    if isinstance(given, str):
        return Paging(given)
    if isinstance(given, Paging):
        return given
    raise ContractError(f"pages is {given!r}", remedy='write pages=True, or pages="rows"')


def paged_schema(schema: Mapping[str, Any], paging: Paging) -> tuple[dict[str, Any], str]:
    """The output schema with the cursor in it, and the name of the list; ContractError where there is none."""
    definitions = schema.get("$defs", {})
    root = resolve(schema["$ref"], definitions) if "$ref" in schema else schema
    properties = root.get("properties", {}) if isinstance(root, Mapping) else {}
    lists = [name for name, part in properties.items() if types_of(part, definitions) == {"array"}]
    if paging.field and paging.field not in lists:
        raise ContractError(
            f"pages: {paging.field!r} is no list of the answer",
            remedy=f"name one of: {', '.join(lists) or 'none'}",
        )
    if not paging.field and len(lists) != 1:
        raise ContractError(
            f"pages: the answer has {len(lists)} lists",
            remedy='return an object with one list, or name the list: pages="rows"',
        )
    if NEXT_CURSOR in properties:
        raise ContractError(f"pages: the answer has a field {NEXT_CURSOR!r} of its own", remedy="rename it")
    field = paging.field or lists[0]
    paged = {**schema, **root, "properties": {**properties, NEXT_CURSOR: dict(_NEXT_CURSOR_PROPERTY)}}
    paged.pop("$ref", None)
    return paged, field


def with_rows(
    payload: Mapping[str, Any], field: str, first: int, count: int, cursor: str | None
) -> dict[str, Any]:
    """The payload with `count` of its rows, and the cursor where there is one."""
    paged = {**payload, field: payload[field][first : first + count]}
    return paged if cursor is None else {**paged, NEXT_CURSOR: cursor}


def porcelain_page(
    payload: Mapping[str, Any],
    field: str,
    first: int,
    bounds: Bounds,
    cursor_at: Callable[[int], str],
    most: int | None = None,
) -> Page:
    """As many rows from `first` on as fit, one line each, with the other fields above and the marker below.

    `cursor_at` makes the cursor that continues at a row; `most` is the most rows that are wanted. There is always
    a row, if any is left.
    """
    wanted = len(payload[field]) if most is None else max(most, 1)
    pages: list[Page] = []

    def render(within: Bounds) -> str:
        pages.append(_page(payload, field, first, within, cursor_at, wanted))
        return pages[-1].text

    rendered_within(render, bounds)
    return pages[-1]


def _page(
    payload: Mapping[str, Any],
    field: str,
    first: int,
    bounds: Bounds,
    cursor_at: Callable[[int], str],
    wanted: int,
) -> Page:
    rows = payload[field]
    left = len(rows) - first
    others = {name: value for name, value in payload.items() if name != field}
    lines = member_lines(others, min(len(others), max(bounds.lines - 3, 0) // 2), bounds.width)
    room = bounds.lines - len(lines) - (1 if bounds.lines > 2 else 0)
    count = min(left if left <= room else room - 1, wanted)
    if bounds.lines > 2:
        lines.append(f"{key_text(field, bounds.width // 2)}: {_range(first, count, len(rows))}")
    for number in range(first, first + count):
        label = f"[{number + 1}] "
        lines.append(label + preview(rows[number], bounds.width - len(label)))
    if left > count:
        # Never cut: half a cursor is none. It is shorter than the narrowest surface is wide.
        lines.append(f"{omitted(left - count, 'row')}; continue with cursor={cursor_at(first + count)}")
    return Page("\n".join(lines), count)


def _range(first: int, count: int, total: int) -> str:
    return f"{total} item(s)" if count == total else f"{first + 1} to {first + count} of {total} item(s)"
