"""MCP on stdin and stdout with framing of our own: native newline JSON, and legacy Content-Length.

One reader feeds the session, one outbox writes; the reader pauses while the client does not read its answers.
"""

import asyncio
import contextlib
import os
import stat
import threading
from collections.abc import Callable

from holdfast.observe.sink import EventSink
from holdfast.settings import Settings
from holdfast.vocabulary.call import Stop
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.worker.calls import GIVE_UP_MARGIN, CallTable
from holdfast.worker.lifetime import Lifetime
from holdfast.worker.outbox import Outbox
from holdfast.worker.registry import Registry
from holdfast.worker.session import Session
from holdfast.worker.streams import StandardStreams

__all__ = ["WRITE_BOUND", "Ended", "end_calls", "serve_stdio"]

READ_SIZE = 64 * 1024
WRITE_BOUND = 2.0  # seconds that the last answers may take to leave


class Ended:
    """How a server came to its end."""

    __slots__ = ("calls", "code", "reason")

    def __init__(self, reason: str, code: int, calls: CallTable) -> None:
        self.reason = reason
        self.code = code
        self.calls = calls


async def serve_stdio(server: Registry, settings: Settings, log: EventSink, streams: StandardStreams) -> Ended:
    """Serve one client until there is a reason to end; finish or cancel what is in flight; tell how it ended."""
    legacy = settings.mcp_mode == "legacy"
    framer: LineFramer | ContentLengthFramer = (
        ContentLengthFramer(settings.max_message_bytes, settings.max_header_bytes)
        if legacy
        else LineFramer(settings.max_message_bytes)
    )
    lifetime = Lifetime(exit_with_parent=settings.exit_with_parent)
    reader = _Reader(on_end=lambda: lifetime.end("eof"))

    def hold(full: bool) -> None:
        reader.pause(full)
        session.calls.hold(full)

    outbox = Outbox(framer, log, on_full=hold, on_lost=lambda: lifetime.end("broken_pipe"))
    session = Session(server, settings, log, outbox, legacy_framing=legacy)

    def feed(data: bytes) -> None:
        for frame in framer.feed(data) if data else framer.finish():
            session.receive(frame)

    reader.feed = feed
    with lifetime.watch():
        await outbox.open(streams.writer, streams.reader)
        await reader.open(streams.reader)
        reason = await lifetime.wait()
        await end_calls(session.calls, reason, settings, lifetime)
        await outbox.drain(WRITE_BOUND)
    return Ended(reason, lifetime.exit_code, session.calls)


async def end_calls(calls: CallTable, reason: str, settings: Settings, lifetime: Lifetime) -> None:
    """Let calls in flight finish where somebody may still read the answers, then stop the rest."""
    if reason == "eof":
        await lifetime.give_time(calls.wait_idle(settings.drain))
    calls.stop_all(Stop.DISCONNECT if reason == "broken_pipe" else Stop.SHUTDOWN)
    await calls.wait_idle(settings.kill_grace + 2 * GIVE_UP_MARGIN)


def _can_be_waited_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class _Reader(asyncio.Protocol):
    """Reads stdin through the loop, or in a thread where the loop cannot wait for it (files, /dev/null)."""

    feed: Callable[[bytes], None]

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end
        self._transport: asyncio.ReadTransport | None = None
        self._may_read = threading.Event()
        self._may_read.set()

    async def open(self, descriptor: int) -> None:
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

    def data_received(self, data: bytes) -> None:
        self.feed(data)

    def eof_received(self) -> None:
        self.feed(b"")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._on_end()

    def _read_blocking(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        try:
            with contextlib.suppress(OSError):  # input that cannot be read has ended
                while self._may_read.wait() and (data := os.read(descriptor, READ_SIZE)):
                    loop.call_soon_threadsafe(self.feed, data)
            loop.call_soon_threadsafe(self.eof_received)
            loop.call_soon_threadsafe(self._on_end)
        except RuntimeError:
            return  # the loop is closed: the server ended for another reason
