"""What a command prints, in bounded memory: the tail that is kept, and the lines that are passed on.

Pure except for `drain`, which moves the bytes. A program may print gigabytes, binary data, or one endless line;
none of that makes the server grow.
"""

import asyncio
import codecs
from collections.abc import Callable

__all__ = ["LINE_BYTES", "Capture", "Lines", "Tail", "drain"]

LINE_BYTES = 8 * 1024  # of a longer line this much is passed on, with an ellipsis
CHUNK_BYTES = 64 * 1024


class Tail:
    """The last `size` bytes of a stream."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Add `data`, forgetting what is older than the tail."""
        self._total += len(data)
        self._kept += data[-self._size - 1 :]
        if len(self._kept) > 2 * self._size + CHUNK_BYTES:  # seldom, so that the copying stays linear
            del self._kept[: -self._size - 1]

    @property
    def truncated(self) -> bool:
        """Whether the stream was longer than the tail."""
        return self._total > self._size

    def text(self) -> str:
        """The tail as text; a cut one starts at a line where that costs little, else at a whole character."""
        if not self.truncated:
            return self._kept.decode(errors="replace")
        # One byte more than the tail: a newline there means that the tail starts with a whole line.
        window = bytes(self._kept[-self._size - 1 :])
        newline = window.find(b"\n", 0, len(window) // 2)
        start = newline + 1 if newline >= 0 else _character_start(window)
        return window[start:].decode(errors="replace")


def _character_start(window: bytes) -> int:
    """The first position after 0 that is not in the middle of a UTF-8 character, at most 3 bytes on."""
    for position in range(1, min(5, len(window))):
        if window[position] & 0xC0 != 0x80:
            return position
    return 1


class Lines:
    """Cuts a stream into lines of text, each passed on when it is complete."""

    def __init__(self, deliver: Callable[[str], None]) -> None:
        self._deliver = deliver
        self._part = bytearray()

    def feed(self, data: bytes) -> None:
        """Add `data` and pass on the lines that it completes."""
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._extend(piece)
            self._flush()
        self._extend(rest)

    def end(self) -> None:
        """The stream is over: pass on a last line that has no newline."""
        if self._part:
            self._flush()

    def _extend(self, piece: bytes) -> None:
        # One byte more than a line may have is enough to know that it is too long; the rest is not kept.
        self._part += piece[: LINE_BYTES + 1 - len(self._part)]

    def _flush(self) -> None:
        part, self._part = bytes(self._part), bytearray()
        if len(part) <= LINE_BYTES:
            self._deliver(part.removesuffix(b"\r").decode(errors="replace"))
        else:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._deliver(decoder.decode(part[:LINE_BYTES]) + "…")  # a character cut in two is left out


class Capture:
    """One output stream of a command: its tail is kept, its lines are passed on, until it is muted."""

    def __init__(
        self, name: str, size: int, on_line: Callable[[str, str], None] | None, muted: Callable[[], bool]
    ) -> None:
        self._muted = muted
        self._lines: Lines | None = None
        if on_line is not None:
            self._lines = Lines(lambda line: None if muted() else on_line(name, line))
        self.tail = Tail(size)

    def feed(self, data: bytes) -> None:
        """Keep and pass on `data`; once muted, drop it."""
        if self._muted():
            return
        self.tail.feed(data)
        if self._lines is not None:
            self._lines.feed(data)

    def end(self) -> None:
        """The stream is over."""
        if self._lines is not None:
            self._lines.end()


async def drain(stream: asyncio.StreamReader, capture: Capture) -> None:
    """Move everything from `stream` into `capture`; also when muted, so that the writer never blocks."""
    while data := await stream.read(CHUNK_BYTES):
        capture.feed(data)
    capture.end()
