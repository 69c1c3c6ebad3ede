"""Which page of its list a call is answered with, between the arguments of the caller and the payload of the tool.

The tool knows nothing of it: it returns all rows on every call.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.contract.model import ToolContract
from holdfast.present.continuation import (
    CURSOR_ARGUMENT,
    Cursor,
    CursorRefused,
    call_digest,
    read_cursor,
    rows_digest,
)
from holdfast.present.paging import porcelain_page, with_rows
from holdfast.present.render import Presentation, RenderMode

__all__ = ["GivenPage", "PageRequest", "page_request"]


class GivenPage(NamedTuple):
    """What of a payload is given now: its porcelain, None where JSON is asked for, and how many rows are in it."""

    payload: Any
    text: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which call it is, where it continues (None: at the beginning), and what time it is, in seconds."""

    call: bytes
    cursor: Cursor | None
    now: int

    def page(
        self, contract: ToolContract, payload: Any, presentation: Presentation, most: int | None = None
    ) -> GivenPage | None:
        """The page of the payload, with at most `most` rows; CursorRefused where the list has changed.

        None for a payload without its list, which is given whole.
        """
        paging = contract.paging
        rows = payload.get(paging.field) if paging is not None and isinstance(payload, dict) else None
        if paging is None or not isinstance(rows, list):
            return None
        digest = rows_digest(rows, paging.selector)
        first = self._first(digest, len(rows))
        most = len(rows) if most is None else most

        def cursor_at(row: int) -> str:
            return Cursor(row, self.now, self.call, digest).text()

        text: str | None = None
        count = min(paging.json_rows, most, len(rows) - first)
        if presentation.render is RenderMode.PORCELAIN:
            bounds = presentation.bounds(contract.policy.kind)
            text, count = porcelain_page(payload, paging.field, first, bounds, cursor_at, most)
        further = cursor_at(first + count) if first + count < len(rows) else None
        return GivenPage(with_rows(payload, paging.field, first, count, further), text, count)

    def _first(self, digest: bytes, total: int) -> int:
        if self.cursor is None:
            return 0
        if self.cursor.rows != digest or self.cursor.offset >= total:
            raise CursorRefused("the list has changed since the cursor was given")
        return self.cursor.offset


def page_request(tool: str, arguments: dict[str, Any], now: float) -> PageRequest:
    """What the arguments ask for; CursorRefused where their cursor is none, is another call's, or is too old."""
    call = call_digest(tool, arguments)
    given = arguments.get(CURSOR_ARGUMENT)
    return PageRequest(call, None if given is None else read_cursor(given, call, now), int(now))
