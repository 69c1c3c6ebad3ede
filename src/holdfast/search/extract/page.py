"""The text of one file with what is needed to point into it: lines, decoded slices, copies with parts blanked out.

All copies have the same length as the source, so that one offset means the same place in each of them.
"""

import re
from bisect import bisect_left

from holdfast.search.extract.grammar import Captures, blanked

__all__ = ["MAX_TEXT", "Page", "one_line"]

MAX_TEXT = 200  # characters of a name or a written type; longer ones are cut

_NEWLINE = re.compile(b"\n")
_TEMPLATE = re.compile(rb"\{.*|[A-Za-z_\x80-\xff][\w\x80-\xff]*", re.DOTALL)


def _without_strings(plain: bytes, captures: Captures) -> bytes:
    """A copy without the contents of strings, but with the code in them, without the strings in that, ..."""
    copy = bytearray(plain)
    strings = [(start, -end, False) for start, end in captures.of("opaque")]
    codes = [(start, -end, True) for start, end in captures.of("template")]
    for start, negative_end, is_code in sorted(strings + codes):
        if not is_code:
            copy[start:-negative_end] = b" " * (-negative_end - start)
        elif code := _TEMPLATE.match(plain, start, -negative_end):
            copy[code.start() : code.end()] = code[0]
    return bytes(copy)


def one_line(text: str, limit: int) -> str:
    """The text with all white space collapsed, and cut at the limit."""
    return " ".join(text[: limit * 4].split())[:limit]


class Page:
    """A source file: its bytes, the places of its lines, and its bytes without comments and without strings."""

    __slots__ = ("_ends", "_names", "plain", "source", "unquoted")

    def __init__(self, source: bytes, captures: Captures) -> None:
        self.source = source
        self.plain = blanked(source, captures.of("comment"))
        if captures.of("template"):
            self.unquoted = _without_strings(self.plain, captures)
        else:
            self.unquoted = blanked(self.plain, captures.of("opaque"))
        self._ends = [match.start() for match in _NEWLINE.finditer(source)]
        self._names: dict[bytes, str] = {}

    def line(self, offset: int) -> int:
        """The number of the line that holds this byte, from 1."""
        return bisect_left(self._ends, offset) + 1

    def line_start(self, offset: int) -> int:
        """Where the line of this byte begins."""
        return self.source.rfind(b"\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of this byte ends, before its line break."""
        end = self.source.find(b"\n", offset)
        return len(self.source) if end < 0 else end

    def text(self, start: int, end: int) -> str:
        """The decoded text of a range."""
        return self.source[start:end].decode("utf-8", "replace")

    def name(self, start: int, end: int, limit: int = 200) -> str:
        """The text of a short range without its comments; names repeat, so each is decoded once."""
        raw = self.plain[start : min(end, start + limit)]
        found = self._names.get(raw)
        if found is None:
            found = self._names[raw] = " ".join(raw.decode("utf-8", "replace").split())
        return found
