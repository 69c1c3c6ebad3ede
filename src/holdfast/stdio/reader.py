"""Everything that arrives: the bytes of stdin, handed over as they come, paused while answers pile up.

Through the loop where the loop can wait for the input, in a thread where it cannot (files, /dev/null, Windows).
What the bytes mean is not looked at.
"""

import asyncio
import contextlib
import os
import stat
import threading
from collections.abc import Callable

__all__ = ["InputReader"]

READ_SIZE = 64 * 1024


class InputReader(asyncio.Protocol):
    """The reading side of one stdio session: `feed` gets the bytes and, once, b"" at their end; then `on_end`."""

    def __init__(self, feed: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._feed = feed
        self._on_end = on_end
        self._transport: asyncio.ReadTransport | None = None
        self._may_read = threading.Event()
        self._may_read.set()

    async def open(self, descriptor: int) -> None:
        """Start reading."""
        loop = asyncio.get_running_loop()
        if os.name == "nt" or not _can_be_waited_for(descriptor):
            threading.Thread(target=self._read_blocking, args=(descriptor, loop), daemon=True).start()
            return
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: self, pipe)
        transport.max_size = READ_SIZE  # type: ignore[attr-defined]
        self._transport = transport

    def pause(self, full: bool) -> None:
        """Stop or resume reading; asked for by the outbox."""
        if full:
            self._may_read.clear()
            if self._transport is not None:
                self._transport.pause_reading()
        else:
            self._may_read.set()
            if self._transport is not None:
                self._transport.resume_reading()

    async def close(self) -> None:
        """Stop reading for good; nobody is told."""
        self._on_end = _nobody
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            await asyncio.sleep(0)  # the loop closes it in its next turn

    # --- what the transport tells ----------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """The client wrote."""
        self._feed(data)

    def eof_received(self) -> None:
        """The client closed its end."""
        self._feed(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Nothing more will come."""
        self._on_end()

    def _read_blocking(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        try:
            with contextlib.suppress(OSError):  # input that cannot be read has ended
                while self._may_read.wait() and (data := os.read(descriptor, READ_SIZE)):
                    loop.call_soon_threadsafe(self._feed, data)
            loop.call_soon_threadsafe(self.eof_received)
            loop.call_soon_threadsafe(self._on_end)
        except RuntimeError:
            return  # the loop is closed: the server ended for another reason


def _nobody() -> None:
    """Nobody wants to know any more."""


def _can_be_waited_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
