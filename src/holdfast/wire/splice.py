"""Surgery on frames, byte for byte: another id put in, a batch taken apart, one member cut out.

A relay passes on what others wrote, so everything but the piece in question stays exactly as it was written:
spacing, escapes, numbers of any size, the order of keys. The frames were decoded before, so they are known to be
JSON without duplicate keys; what they mean is not looked at here.
"""

import json
import re
from collections.abc import Iterator, Mapping

from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import BOM, encode
from holdfast.wire.legible import SPACE, find_id

__all__ = ["add_result_meta", "raw_member", "replace_id", "split_batch"]

_SMALL = 16 * 1024

_BLANK = re.compile(SPACE)
_raw_decode = json.JSONDecoder().raw_decode


def replace_id(frame: bytes, new_id: RequestId) -> bytes:
    """The frame with `new_id` as the value of its top-level "id"; ValueError when it has none."""
    found = find_id(frame)
    start, end = found.span(1) if found else _find_member(frame, "id")
    if end < 0:
        raise ValueError('the message has no member "id" to replace')
    written = b"%d" % new_id if type(new_id) is int else encode(new_id)
    if len(frame) < _SMALL:
        return frame[:start] + written + frame[end:]
    view = memoryview(frame)  # a frame of megabytes is copied only once
    return b"".join((view[:start], written, view[end:]))


def add_result_meta(frame: bytes, members: Mapping[str, bytes]) -> bytes:
    """The frame with more members in `_meta` of its result, where it has a result that can have them.

    A member that is there already stays as it is.
    """
    start, end = _find_member(frame, "result")
    result = frame[start:end]
    if end < 0 or not result.startswith(b"{"):
        return frame
    at, meta_end = _find_member(result, "_meta")
    if meta_end < 0:
        return _insert(frame, start + 1, b'"_meta":{' + _written(members) + b"}", result[1:])
    meta = result[at:meta_end]
    if not meta.startswith(b"{"):
        return frame
    there = {name for name, _, _ in _members(meta)}
    new = {name: value for name, value in members.items() if name not in there}
    return _insert(frame, start + at + 1, _written(new), meta[1:]) if new else frame


def _written(members: Mapping[str, bytes]) -> bytes:
    return b",".join(encode(name) + b":" + value for name, value in members.items())


def _insert(frame: bytes, at: int, member: bytes, rest: bytes) -> bytes:
    """The frame with a member at the start of an object, of which `rest` follows."""
    comma = b"" if rest.lstrip(b" \t\n\r").startswith(b"}") else b","
    return frame[:at] + member + comma + frame[at:]


def split_batch(frame: bytes) -> list[bytes]:
    """The elements of a top-level array, each exactly as written; ValueError when the frame is no array."""
    text, at = _opened(frame)
    if text[at : at + 1] != "[":
        raise ValueError("the message is not a batch")
    elements: list[bytes] = []
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "]":
        _, end = _raw_decode(text, at)
        elements.append(frame[at:end])
        at = _next_item(text, end, "]")
    return elements


def raw_member(frame: bytes, name: str) -> bytes | None:
    """The value of a top-level member, exactly as written; None when there is no such member."""
    start, end = _find_member(frame, name)
    return None if end < 0 else frame[start:end]


def _find_member(frame: bytes, name: str) -> tuple[int, int]:
    """Where the value of a top-level member starts and ends; ends at -1 when there is no such member."""
    for key, start, end in _members(frame):
        if key == name:
            return start, end
    return 0, -1


def _members(frame: bytes) -> Iterator[tuple[str, int, int]]:
    text, at = _opened(frame)
    if text[at : at + 1] != "{":
        return
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "}":
        _, key_end = _raw_decode(text, at)
        key = json.loads(frame[at:key_end])  # read once more, since `text` has the wrong letters
        start = _after_mark(text, key_end, ":")
        _, end = _raw_decode(text, start)
        yield key, start, end
        at = _next_item(text, end, "}")


def _opened(frame: bytes) -> tuple[str, int]:
    """The frame as text in which every position is that of the byte, and the position where its value starts.

    Bytes beyond ASCII occur only inside strings, where any letter may stand for them: the structure is the same.
    """
    text = frame.decode("latin-1")
    return text, _after_space(text, len(BOM) if frame.startswith(BOM) else 0)


def _after_space(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it always matches, if only nothing


def _after_mark(text: str, at: int, mark: str) -> int:
    at = _after_space(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"the message is not JSON: {mark!r} is missing at byte {at}")
    return _after_space(text, at + 1)


def _next_item(text: str, at: int, closing: str) -> int:
    """The start of the item behind a comma, or the place of the closing bracket."""
    at = _after_space(text, at)
    return at if text[at : at + 1] == closing else _after_mark(text, at, ",")
