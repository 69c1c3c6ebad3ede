"""Bytes of a file to text that can be searched, text to lines, lines to spans. Nothing here refuses a file.

Every offset of the search engine counts the UTF-8 bytes of the text. Where the file is UTF-8 already, and nearly
always it is, its own bytes are handed on, a byte order mark included, so that an offset into the text is an offset
into the file. Anything else is written anew as UTF-8. Whether a file is text at all is decided elsewhere.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

__all__ = ["BOM", "MAX_CHUNK_BYTES", "Decoded", "LineTable", "Span", "decode"]

BOM = codecs.BOM_UTF8
MAX_CHUNK_BYTES = 16 * 1024
# A line too long for one chunk is parted behind one of these, where there is one in the last bytes of a piece.
_PARTING_BYTES = (b" ", b",", b";", b"}", b">", b"\t")
_PARTING_ROOM = 256
# The mark of UTF-32 in little-endian order begins like that of UTF-16, so it is looked for first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _windows_character(byte: int) -> str:
    # Five bytes have no meaning in Windows-1252; as browsers do, they stand for themselves.
    return bytes((byte,)).decode("cp1252", "ignore") or chr(byte)


_WINDOWS_1252 = [_windows_character(byte) for byte in range(256)]
_NOT_ASCII = bytes(range(128, 256))
# What "surrogateescape" makes of a byte that is not UTF-8. No valid text contains these.
_BROKEN = re.compile("[\udc80-\udcff]")
_BROKEN_OFFSET = 0xDC00


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file as UTF-8, and how it was written in the file."""

    text_bytes: bytes
    encoding: str  # utf-8, utf-8-sig, utf-16-le, ..., cp1252, utf-8+cp1252 (single bytes amid UTF-8)
    remarks: list[str] = field(default_factory=list)


def decode(data: bytes) -> Decoded:
    """The text of a file; single bytes that are not UTF-8 are read as Windows-1252."""
    if data.isascii():  # the common case, told apart without building a text
        return Decoded(data, "utf-8")
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            wide = _from_marked(data[len(mark) :], encoding)
            if wide is not None:
                return wide
    try:
        data.decode()
    except UnicodeDecodeError:
        return _repaired(data)
    return Decoded(data, "utf-8-sig" if data.startswith(BOM) else "utf-8")


class Span(NamedTuple):
    """A stretch of a text: bytes without the last line end, and lines from 1, inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int


class LineTable:
    """The lines of a text and where they begin. Lines are counted from 0 here, and ends are exclusive."""

    __slots__ = ("lines", "offsets", "source")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = _lines_of(source)
        self.offsets = [0]
        at = 0
        for line in self.lines:
            at += len(line)
            self.offsets.append(at)

    def is_blank(self, line: int) -> bool:
        """Whether there is nothing to see in a line."""
        return not self.lines[line].strip()

    def line_at(self, offset: int) -> int:
        """The line that holds a byte of the text."""
        return bisect_right(self.offsets, offset, 0, len(self.lines)) - 1

    def cut(self, first: int, last: int, max_lines: int, good: Container[int] | None = None) -> Iterator[Span]:
        """Spans of at most so many lines and MAX_CHUNK_BYTES that together hold every line with something in it.

        They end before one of the `good` lines where possible; these are the blank ones unless others are given.
        """
        at = first
        while at < last:
            if self.is_blank(at):
                at += 1
            elif self.offsets[at + 1] - self.offsets[at] > MAX_CHUNK_BYTES:
                yield from self._pieces(at)
                at += 1
            else:
                end = self._window_end(at, last, max_lines, good)
                yield self.span(at, end)
                at = end

    def span(self, first: int, last: int) -> Span:
        """The lines as a span, without blank lines at its end."""
        while last > first + 1 and self.is_blank(last - 1):
            last -= 1
        end = self.offsets[last - 1] + len(self.lines[last - 1].rstrip(b"\r\n"))
        return Span(self.offsets[first], end, first + 1, last)

    def _window_end(self, first: int, last: int, max_lines: int, good: Container[int] | None) -> int:
        room = bisect_right(self.offsets, self.offsets[first] + MAX_CHUNK_BYTES) - 1
        limit = min(first + max_lines, room)
        if limit >= last:
            return last
        # A border in the first third would leave windows that are hardly worth showing.
        for line in range(limit, first + (limit - first) // 3, -1):
            if (line in good) if good is not None else self.is_blank(line):
                return line
        return limit

    def _pieces(self, line: int) -> Iterator[Span]:
        start = self.offsets[line]
        end = start + len(self.lines[line].rstrip(b"\r\n"))
        while start < end:
            stop = self._piece_end(start, end)
            if self.source[start:stop].strip():
                yield Span(start, stop, line + 1, line + 1)
            start = stop

    def _piece_end(self, start: int, end: int) -> int:
        stop = start + MAX_CHUNK_BYTES
        if stop >= end:
            return end
        parting = max(self.source.rfind(byte, stop - _PARTING_ROOM, stop) for byte in _PARTING_BYTES)
        if parting >= 0:
            return parting + 1
        while self.source[stop] & 0xC0 == 0x80:  # inside of a character
            stop -= 1
        return stop


def _lines_of(text_bytes: bytes) -> list[bytes]:
    """The lines with their ends, which joined are the text again.

    A carriage return alone ends a line only in a text that has no other line ends: elsewhere editors, git and grep
    count newlines, and a progress bar in a log is one line.
    """
    if b"\r" in text_bytes and b"\n" not in text_bytes:
        return text_bytes.splitlines(keepends=True)
    return BytesIO(text_bytes).readlines()


def _from_marked(data: bytes, encoding: str) -> Decoded | None:
    """Text in UTF-16 or UTF-32; None where UTF-32 only seemed to be announced."""
    try:
        text = data.decode(encoding)
        remarks = []
    except UnicodeDecodeError:
        if encoding.startswith("utf-32"):
            return None
        text = data.decode(encoding, "replace")
        remarks = [f"{text.count('�')} characters are damaged"]
    text_bytes = text.encode()
    return Decoded(text_bytes, encoding, remarks)


def _repaired(data: bytes) -> Decoded:
    # Only the bytes that break UTF-8 are read otherwise, so two encodings may even share a line.
    marked = data.decode("utf-8", "surrogateescape")
    text, broken = _BROKEN.subn(lambda found: _WINDOWS_1252[ord(found[0]) - _BROKEN_OFFSET], marked)
    text_bytes = text.encode()
    encoding = "cp1252" if broken == len(data) - len(data.translate(None, _NOT_ASCII)) else "utf-8+cp1252"
    return Decoded(text_bytes, encoding, [f"{broken} bytes are not UTF-8"])
