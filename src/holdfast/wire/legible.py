"""The id of a message without reading the message: found where clients and servers usually put it.

For messages that are passed on by the thousand, and for those that cannot be read at all, being too long or too
deep, whose sender still waits for an answer.
"""

import json
import re

from holdfast.errors import WireError
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.wire.envelope import INVALID_REQUEST

__all__ = ["ENDS_KEPT", "SPACE", "TooLongError", "find_id", "legible_request_id"]

ENDS_KEPT = 512  # bytes of each end of a message that are enough to find its id

SPACE = r"[ \t\n\r]*"
_VALUE = r'(-?[0-9][0-9.eE+-]*|"[^"\\]*(?:\\.[^"\\]*)*"|null)'
_ID = rf'"id"{SPACE}:{SPACE}{_VALUE}{SPACE}'

# Where clients and servers usually put the id: behind the short members that open a message, or at its very end.
_ID_AT_HEAD = re.compile(
    rf"(?:\xef\xbb\xbf)?{SPACE}\{{{SPACE}"
    rf'(?:"(?:jsonrpc|method)"{SPACE}:{SPACE}"[^"\\]{{0,200}}"{SPACE},{SPACE}){{0,2}}{_ID}[,}}]'.encode("latin-1"),
)
_ID_AT_TAIL = re.compile(rf"{_ID}\}}{SPACE}\Z".encode())
_TAIL_BYTES = 200

_METHOD = re.compile(rf'"method"{SPACE}:'.encode())


class TooLongError(WireError):
    """A message that is longer than allowed. Its two ends are kept where the framer was asked to."""

    def __init__(self, max_bytes: int, head: bytes = b"", tail: bytes = b"") -> None:
        text = f"the message is longer than {max_bytes} bytes"
        super().__init__(INVALID_REQUEST, text, request_id=legible_request_id(head, tail))
        self.head = head
        self.tail = tail


def find_id(frame: bytes) -> re.Match[bytes] | None:
    """The top-level id of a message that is known to be JSON, as group 1; None if all of it must be looked at."""
    return _ID_AT_HEAD.match(frame) or _id_at_tail(frame)


def legible_request_id(head: bytes, tail: bytes) -> RequestId | None:
    """The id of a request of which only the two ends are at hand, or nobody wants to read more."""
    if not _METHOD.search(head[:ENDS_KEPT]):
        return None  # an answer, or nothing at all: nobody waits
    found = _ID_AT_HEAD.match(head) or _id_at_tail(tail)
    if found is None or found[1] == b"null":
        return None
    try:
        value = json.loads(found[1])
        str(value).encode()
    except ValueError:  # not a number after all, or half a character
        return None
    return value if is_request_id(value) else None


def _id_at_tail(frame: bytes) -> re.Match[bytes] | None:
    at = frame.rfind(b'"id"', max(1, len(frame) - _TAIL_BYTES))
    # The last brace of a frame closes the root, so this is the root's own id if the quote opens a key. It does,
    # unless a backslash stands before it: behind a quote that closes a string no letter can follow.
    if at < 0 or frame[at - 1] not in b",{ \t\n\r":
        return None
    return _ID_AT_TAIL.match(frame, at)
