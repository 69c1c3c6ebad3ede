"""The handle with which a caller asks for the rows that an answer left out.

It is opaque to the caller and remembered by nobody: it holds the number of rows already given, when it was made,
and digests of the call and of the list, so a server that was restarted in between can continue, and one whose
list has changed notices. It is checksummed, not signed: all that a forger could win is another page of a list
that he may read anyway.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.present.compact import compact_json

__all__ = [
    "CURSOR_ARGUMENT",
    "CURSOR_SECONDS",
    "Cursor",
    "CursorRefused",
    "call_digest",
    "read_cursor",
    "rows_digest",
]

CURSOR_SECONDS = 3600
"""How long a handle can be used."""

CURSOR_ARGUMENT = "cursor"
_SKEW_SECONDS = 300  # clocks are set back; a handle from further in the future was not made by us
_VERSION = b"\x01"
_DIGEST = 6
_CHECKSUM = 3
_NUMBER = 4
_SIZE = len(_VERSION) + 2 * _NUMBER + 2 * _DIGEST + _CHECKSUM
# They say how an answer is written, not which rows it has: a reader may change them from page to page.
_NOT_OF_THE_CALL = frozenset({CURSOR_ARGUMENT, "render", "detail"})


class CursorRefused(HoldfastError):  # noqa: N818 - an outcome of the call, not a defect
    """A handle that cannot be continued from; the message says why."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How many rows were given, when (in seconds), of which call and which list."""

    offset: int
    made: int
    call: bytes
    rows: bytes

    def text(self) -> str:
        """The handle as a caller gets it: 32 characters that need no quoting anywhere."""
        numbers = self.offset.to_bytes(_NUMBER, "big") + self.made.to_bytes(_NUMBER, "big")
        raw = _VERSION + numbers + self.call + self.rows
        return base64.urlsafe_b64encode(raw + _digest(raw, _CHECKSUM)).decode()


def read_cursor(text: str, call: bytes, now: float) -> Cursor:
    """The cursor that a handle stands for, if it belongs to this call and is not too old; else CursorRefused."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != _SIZE or raw[:1] != _VERSION or _digest(raw[:-_CHECKSUM], _CHECKSUM) != raw[-_CHECKSUM:]:
        raise CursorRefused("this is not a cursor that an answer of this tool gave")
    body = raw[len(_VERSION) :]
    cursor = Cursor(
        int.from_bytes(body[:_NUMBER], "big"),
        int.from_bytes(body[_NUMBER : 2 * _NUMBER], "big"),
        body[2 * _NUMBER :][:_DIGEST],
        body[2 * _NUMBER + _DIGEST :][:_DIGEST],
    )
    if cursor.call != call:
        raise CursorRefused("the cursor belongs to another call: the tool or its arguments are different")
    if not -_SKEW_SECONDS <= now - cursor.made <= CURSOR_SECONDS:
        raise CursorRefused(f"the cursor is older than {CURSOR_SECONDS // 60} minutes")
    return cursor


def call_digest(tool: str, arguments: Mapping[str, Any]) -> bytes:
    """What is the same in every page of one answer: the tool and its arguments, in whatever order they came."""
    own = {name: value for name, value in arguments.items() if name not in _NOT_OF_THE_CALL}
    return _digest(compact_json([tool, _in_order(own)]).encode(), _DIGEST)


def rows_digest(rows: list[Any], selector: str | None = None) -> bytes:
    """What is the same while a list has not changed: its rows, or only their selectors, where they have one."""
    if selector is not None and all(isinstance(row, dict) for row in rows):
        rows = [row.get(selector) for row in rows]
    return _digest(compact_json(rows).encode(), _DIGEST)


def _in_order(value: Any) -> Any:
    """The value with its keys sorted; arguments are never nested deeper than the wire lets them be."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _digest(data: bytes, size: int) -> bytes:
    return hashlib.blake2b(data, digest_size=size).digest()
