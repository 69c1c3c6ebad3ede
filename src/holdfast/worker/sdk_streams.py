"""The two ends of stdio as the SDK's transport wants them: lines of text in, lines of text out.

The transport splits nothing and joins nothing here: lines are found by Python's own file objects on the way in
and ended by the SDK on the way out. What these objects add is that neither end can block the process, that a line
without end does not fill the memory, and that a client which does not read is not read from.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from enum import Enum

import orjson

from holdfast.errors import WireError
from holdfast.stdio.outbox import Outbox
from holdfast.wire.codec import BOM
from holdfast.wire.legible import ENDS_KEPT, TooLongError

__all__ = ["LineSource", "LineTarget", "Unframed"]

LINES_AHEAD = 16  # lines that may have been read and not yet been taken
SKIP_SIZE = 64 * 1024


class _Mark(Enum):
    INPUT_ENDED = "the client closed its end"
    CLOSED = "the server takes no more"


class LineSource:
    """Lines of a descriptor, read in a thread that the process can end without; a WireError for one too long."""

    def __init__(self, max_bytes: int, on_end: Callable[[], None]) -> None:
        self._max_bytes = max_bytes
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | WireError | _Mark] = asyncio.Queue()
        self._ahead = threading.Semaphore(LINES_AHEAD)
        self._may_read = threading.Event()
        self._may_read.set()

    def open(self, descriptor: int) -> None:
        """Start reading."""
        threading.Thread(target=self._read, args=(descriptor,), name="stdin", daemon=True).start()

    def pause(self, full: bool) -> None:
        """Stop or resume reading; asked for by the outbox."""
        if full:
            self._may_read.clear()
        else:
            self._may_read.set()

    def close(self) -> None:
        """End the lines for whoever takes them."""
        self._lines.put_nowait(_Mark.CLOSED)

    async def next_line(self) -> bytes | WireError | None:
        """The next line without its line end; None once the source was closed, and not before."""
        while True:
            line = await self._lines.get()
            if line is _Mark.CLOSED:
                return None
            if line is _Mark.INPUT_ENDED:
                self._on_end()  # told only here, when every line before it has been taken
                continue
            self._ahead.release()
            return line

    def _read(self, descriptor: int) -> None:
        try:
            with os.fdopen(descriptor, "rb") as pipe:
                first = True
                while raw := pipe.readline(self._max_bytes + len(b"\r\n")):
                    line = raw.removesuffix(b"\n").removesuffix(b"\r")
                    too_long = len(line) > self._max_bytes
                    if first:
                        line, first = line.removeprefix(BOM), False
                    tail = line[-ENDS_KEPT:] if too_long else b""
                    while not raw.endswith(b"\n") and (raw := pipe.readline(SKIP_SIZE)):
                        too_long = True
                        tail = (tail + raw)[-ENDS_KEPT:]
                    if too_long:
                        self._hand_over(TooLongError(self._max_bytes, line[:ENDS_KEPT], tail))
                    elif line and not line.isspace():
                        self._hand_over(line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, _Mark.INPUT_ENDED)
        except RuntimeError:
            return  # the loop is closed: the server ended for another reason

    def _hand_over(self, line: bytes | WireError) -> None:
        self._ahead.acquire()
        self._may_read.wait()
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class LineTarget:
    """What the SDK's transport needs of a text file to write to; the outbox does the writing."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    async def write(self, text: str) -> None:
        """Write one line, in a write of its own as the transport wants it."""
        self._outbox.send(orjson.Fragment(text))
        self._outbox.flush()

    async def flush(self) -> None:
        """Nothing is held back by `write`."""


class Unframed:
    """For an outbox whose messages are lines already."""

    def wrap(self, payload: bytes) -> bytes:
        """The line as it is."""
        return payload
