"""A stream of bytes to frames, in any split: newline JSON and Content-Length headers.

Both framers have the same three methods: `feed` takes the next bytes and returns what they complete, in order;
`finish` is told that there are no more; `wrap` makes a frame to send. What cannot be a frame becomes a WireError
in its place, to be answered there. A framer never raises, never keeps more than one message's worth of bytes,
and always finds the next intact message. What a frame says is not looked at.

A message that is too long is told as soon as that is known, or, to whoever wants to keep its two ends, at its end.
"""

import re

from holdfast.errors import WireError
from holdfast.wire.codec import BOM
from holdfast.wire.envelope import INVALID_REQUEST
from holdfast.wire.legible import TooLongError

__all__ = ["MAX_HEADER_BYTES", "MAX_MESSAGE_BYTES", "ContentLengthFramer", "Frame", "LineFramer", "TooLongError"]

Frame = bytes | WireError

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024

# A longer message than this was never meant: the header is taken for broken instead of waiting for its end.
_IMPLAUSIBLE_BYTES = 1 << 30

_HEADER_NAME = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:")
_LENGTH = re.compile(rb"content-length[ \t]{0,16}:[ \t]{0,16}([0-9]{1,10})[ \t]{0,16}", re.IGNORECASE)
_LENGTH_AT_END = re.compile(rb"(?<!-)" + _LENGTH.pattern + rb"\Z", re.IGNORECASE)  # not X-Content-Length
_LONGEST_LENGTH_LINE = 128  # more than _LENGTH can ever match, so that a shortened line still holds the match


class _Ends:
    """The first and the last bytes of a message that is too long to be kept."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self.head = self.tail = b""

    def add(self, data: bytes | bytearray) -> None:
        if len(self.head) < self._kept:
            self.head += bytes(data[: self._kept - len(self.head)])
        self.tail = (self.tail + bytes(data[-self._kept :]))[-self._kept :]


class LineFramer:
    """One message per line. A trailing CR is stripped and blank lines are skipped."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES, *, ends_kept: int = 0) -> None:
        self.max_bytes = max_bytes
        self._ends_kept = ends_kept
        self._ends: _Ends | None = None  # of a line that is too long and will be reported at its end
        self._pending = bytearray()
        self._skipping = False  # inside a line that is too long
        self._at_start = True

    def feed(self, data: bytes) -> list[Frame]:
        """The lines that end in `data`."""
        frames: list[Frame] = []
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            self._end_line(line, frames)
        if rest and self._ends is not None:
            self._ends.add(rest)
        elif rest and not self._skipping:
            self._hold(rest, frames)
        return frames

    def finish(self) -> list[Frame]:
        """The last line, if it was not terminated."""
        frames: list[Frame] = []
        self._ends = None  # the end of a line that has none cannot be told
        self._end_line(b"", frames)
        return frames

    @property
    def unfinished(self) -> bytes | None:
        """The beginning of a line whose end is still to come; None where that is too long to be kept."""
        return None if self._skipping else bytes(self._pending)

    def wrap(self, payload: bytes) -> bytes:
        """The line that carries `payload`, which must hold no newline."""
        return payload + b"\n"

    def _end_line(self, line: bytes, frames: list[Frame]) -> None:
        if self._skipping:
            self._skipping = False
            if self._ends is not None:
                self._ends.add(line)
                frames.append(TooLongError(self.max_bytes, self._ends.head, self._ends.tail))
                self._ends = None
            return
        if self._pending:
            line = bytes(self._pending) + line
            self._pending = bytearray()
        if line.endswith(b"\r"):
            line = line[:-1]
        if len(line) > self.max_bytes:
            kept = self._ends_kept
            frames.append(TooLongError(self.max_bytes, line[:kept], line[-kept:] if kept else b""))
            return
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        if line and not line.isspace():
            frames.append(line)

    def _hold(self, rest: bytes, frames: list[Frame]) -> None:
        # One byte more than the limit is kept: it may turn out to be the CR of the line end.
        if len(self._pending) + len(rest) > self.max_bytes + 1:
            if self._ends_kept:
                self._ends = _Ends(self._ends_kept)
                self._ends.add(self._pending)
                self._ends.add(rest)
            else:
                frames.append(TooLongError(self.max_bytes))
            self._pending = bytearray()
            self._skipping = True
        else:
            self._pending += rest


class ContentLengthFramer:
    """Messages with headers, as in the Language Server Protocol; of the headers only Content-Length counts.

    A header block that cannot be used is reported once. From there on bytes are skipped up to the next line
    that ends in a valid Content-Length header, whatever stands before it on that line.
    """

    def __init__(
        self,
        max_bytes: int = MAX_MESSAGE_BYTES,
        max_header_bytes: int = MAX_HEADER_BYTES,
        *,
        ends_kept: int = 0,
    ) -> None:
        self.max_bytes = max_bytes
        self._ends_kept = ends_kept
        self._ends: _Ends | None = None  # of a body that is too long and will be reported at its end
        self.max_header_bytes = max_header_bytes
        self._buffer = bytearray()
        self._searched = 0  # bytes at the front of the buffer that are known to hold no line end
        self._body: int | None = None  # length of the body being read, None while between bodies
        self._skip = 0  # bytes of a body that is too long and still to come
        self._lost = False  # a broken header was reported; looking for the next valid one
        self._lengths: set[int] = set()  # of the header block being read
        self._block_bytes = 0
        self._at_start = True

    def feed(self, data: bytes) -> list[Frame]:
        """The messages that end in `data`."""
        frames: list[Frame] = []
        if self._skip > len(data):
            self._pass_over(data, frames)
            return frames
        self._buffer += data
        while self._advance(frames):
            pass
        return frames

    def finish(self) -> list[Frame]:
        """A WireError if the input ended inside a message."""
        unfinished = self._body is not None or self._block_bytes or self._buffer.removeprefix(BOM).strip()
        if self._lost or self._skip or not unfinished:
            return []
        return [WireError(INVALID_REQUEST, "the input ended inside a message")]

    def wrap(self, payload: bytes) -> bytes:
        """The headers and the bytes of `payload`."""
        return b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)

    def _advance(self, frames: list[Frame]) -> bool:
        """Take one step through the buffer; False when it takes more bytes to go on."""
        if self._skip:
            skipped = min(self._skip, len(self._buffer))
            self._pass_over(self._buffer[:skipped], frames)
            del self._buffer[:skipped]
            return bool(self._buffer)
        if self._body is not None:
            return self._take_body(self._body, frames)
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._bound_line(frames)
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        self._read_line(line, frames)
        return True

    def _pass_over(self, data: bytes | bytearray, frames: list[Frame]) -> None:
        self._skip -= len(data)
        if self._ends is not None:
            self._ends.add(data)
            if not self._skip:
                frames.append(TooLongError(self.max_bytes, self._ends.head, self._ends.tail))
                self._ends = None

    def _take_body(self, length: int, frames: list[Frame]) -> bool:
        if len(self._buffer) < length:
            return False
        frames.append(bytes(self._buffer[:length]))
        del self._buffer[:length]
        self._body = None
        return True

    def _bound_line(self, frames: list[Frame]) -> None:
        if not self._lost and self._block_bytes + len(self._buffer) > self.max_header_bytes:
            self._lose("the header is too long", frames)
        if self._lost:
            del self._buffer[:-_LONGEST_LENGTH_LINE]
        self._searched = len(self._buffer)

    def _read_line(self, line: bytes, frames: list[Frame]) -> None:
        if not self._lost and self._block_bytes + len(line) > self.max_header_bytes:
            self._lose("the header is too long", frames)
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        line = line.removesuffix(b"\r")
        if self._lost:
            self._adopt_header(_LENGTH_AT_END.search(line[-_LONGEST_LENGTH_LINE:]))
        elif not line or line.isspace():
            self._end_header(frames)
        else:
            self._block_bytes += len(line) + 1
            self._read_header(line, frames)

    def _read_header(self, line: bytes, frames: list[Frame]) -> None:
        length = _LENGTH.fullmatch(line)
        if length:
            self._lengths.add(int(length[1]))
            return
        after_garbage = _LENGTH_AT_END.search(line[-_LONGEST_LENGTH_LINE:])
        name = _HEADER_NAME.match(line)
        if after_garbage or name is None:
            self._lose("a line is not a header", frames)
            self._adopt_header(after_garbage)
        elif name[1].lower() == b"content-length":
            self._lose("the Content-Length header is not a usable number", frames)

    def _end_header(self, frames: list[Frame]) -> None:
        if not self._block_bytes:
            return  # a stray line end between two messages
        if len(self._lengths) != 1:
            what = "Content-Length headers disagree" if self._lengths else "there is no Content-Length header"
            self._lose(what, frames)
            return
        length = self._lengths.pop()
        self._block_bytes = 0
        if length <= self.max_bytes:
            self._body = length
        elif length <= _IMPLAUSIBLE_BYTES:
            self._skip = length
            if self._ends_kept:
                self._ends = _Ends(self._ends_kept)
            else:
                frames.append(TooLongError(self.max_bytes))
        else:
            self._lose("the Content-Length header is not a usable number", frames)

    def _adopt_header(self, found: re.Match[bytes] | None) -> None:
        if found:
            self._lost = False
            self._lengths = {int(found[1])}
            self._block_bytes = len(found[0]) + 1

    def _lose(self, why: str, frames: list[Frame]) -> None:
        self._lost = True
        self._lengths = set()
        self._block_bytes = 0
        frames.append(WireError(INVALID_REQUEST, f"{why}; skipped to the next valid Content-Length header"))
