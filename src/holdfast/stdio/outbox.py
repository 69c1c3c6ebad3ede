"""Everything that leaves a server: encoded, framed, and written once per turn of the loop.

The records of the event log are flushed first, so that what a client has been told is on record. A client that
does not read makes the outbox full; reading from it then pauses, which bounds what can pile up here.
"""

import asyncio
import os
import stat
from collections.abc import Callable
from typing import Any, Protocol

from holdfast.observe.sink import EventSink
from holdfast.wire.codec import encode

__all__ = ["Outbox"]

HIGH_WATER = 1024 * 1024


class _Framer(Protocol):
    def wrap(self, payload: bytes) -> bytes: ...


class Outbox(asyncio.BaseProtocol):
    """The writing side of one stdio session."""

    def __init__(
        self, framer: _Framer, log: EventSink, *, on_full: Callable[[bool], None], on_lost: Callable[[], None]
    ) -> None:
        self._framer = framer
        self._log = log
        self._on_full = on_full
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._scheduled = False
        self._transport: asyncio.WriteTransport | None = None
        self._descriptor = -1
        self._drained: asyncio.Future[None] | None = None
        self._lost = False
        self._full = False

    async def open(self, descriptor: int, reader: int) -> None:
        """Start writing to the descriptor: a pipe, socket or terminal, or else a file. `reader` is our input."""
        status, source = os.fstat(descriptor), os.fstat(reader)
        mode = status.st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
            self._descriptor = descriptor
            return
        pipe = os.fdopen(descriptor, "wb", buffering=0)
        transport, _ = await self._loop.connect_write_pipe(lambda: self, pipe)
        transport.set_write_buffer_limits(high=HIGH_WATER)
        if stat.S_ISSOCK(mode) and (status.st_dev, status.st_ino) == (source.st_dev, source.st_ino):
            # asyncio takes whatever can be read here for the end of the other side; on a socket that is our
            # input too, it is the client's next message.
            self._loop.remove_reader(descriptor)
        self._transport = transport

    def send(self, message: Any) -> None:
        """Queue one message; it leaves in this turn of the loop, after what is already queued."""
        self.send_bytes(encode(message))

    def send_bytes(self, payload: bytes) -> None:
        """Queue one message that is encoded already; it leaves like any other."""
        self._parts.append(self._framer.wrap(payload))
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    @property
    def waiting(self) -> int:
        """How many bytes were sent here and have not been written yet."""
        queued = sum(map(len, self._parts))
        return queued if self._transport is None else queued + self._transport.get_write_buffer_size()

    def send_alone(self, message: Any) -> None:
        """Send one message in a write of its own, ahead of answers queued later; dropped while nobody reads.

        Some clients handle notifications late and lose a progress notice that shares a read with the answer.
        """
        if self._full:
            return  # the client does not read; progress would only pile up
        self._parts.append(self._framer.wrap(encode(message)))
        self.flush()

    def flush(self) -> None:
        """Write what is queued."""
        self._scheduled = False
        self._log.flush()
        if not self._parts or self._lost:
            self._parts.clear()
            return
        data = b"".join(self._parts)
        self._parts.clear()
        if self._transport is not None:
            self._transport.write(data)
        elif self._descriptor >= 0:
            self._write_file(data)

    def _write_file(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self.connection_lost(None)

    async def drain(self, bound: float) -> None:
        """Wait until everything is written, but no longer than `bound` seconds."""
        self.flush()
        if self._transport is None or self._lost or not self._transport.get_write_buffer_size():
            return
        self._transport.set_write_buffer_limits(high=0)
        self._drained = self._loop.create_future()
        await asyncio.wait([self._drained], timeout=bound)
        self._transport.set_write_buffer_limits(high=HIGH_WATER)

    async def close(self) -> None:
        """Let go of the descriptor; what could not be written is given up."""
        if self._transport is not None and not self._lost:
            self._lost = True
            self._transport.abort()
            await asyncio.sleep(0)  # the loop closes it in its next turn

    # --- what the transport tells ----------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """The client does not read."""
        self._full = True
        self._on_full(True)  # noqa: FBT003

    def resume_writing(self) -> None:
        """The client reads again."""
        self._full = False
        self._on_full(False)  # noqa: FBT003
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """The client closed its end: there is nobody left to answer."""
        if not self._lost:
            self._lost = True
            if self._drained is not None and not self._drained.done():
                self._drained.set_result(None)
            self._on_lost()
