"""MCP on stdin and stdout with framing of our own: native newline JSON, and legacy Content-Length.

One reader feeds the session, one outbox writes; the reader pauses while the client does not read its answers.
"""

from typing import Any

from holdfast.observe.sink import EventSink
from holdfast.settings import Settings
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.stdio.streams import StandardStreams
from holdfast.vocabulary.call import Stop
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.wire.legible import ENDS_KEPT
from holdfast.worker.calls import GIVE_UP_MARGIN, CallTable
from holdfast.worker.context import NO_STATE
from holdfast.worker.registry import Registry
from holdfast.worker.session import Session

__all__ = ["WRITE_BOUND", "Ended", "end_calls", "serve_stdio"]

WRITE_BOUND = 2.0  # seconds that the last answers may take to leave


class Ended:
    """How a server came to its end."""

    __slots__ = ("calls", "code", "reason")

    def __init__(self, reason: str, code: int, calls: CallTable) -> None:
        self.reason = reason
        self.code = code
        self.calls = calls


async def serve_stdio(
    server: Registry, settings: Settings, log: EventSink, streams: StandardStreams, state: Any = NO_STATE
) -> Ended:
    """Serve one client until there is a reason to end; finish or cancel what is in flight; tell how it ended."""
    legacy = settings.mcp_mode == "legacy"
    framer: LineFramer | ContentLengthFramer = (
        ContentLengthFramer(settings.max_message_bytes, settings.max_header_bytes, ends_kept=ENDS_KEPT)
        if legacy
        else LineFramer(settings.max_message_bytes, ends_kept=ENDS_KEPT)
    )
    lifetime = Lifetime(exit_with_parent=settings.exit_with_parent)

    def hold(full: bool) -> None:
        reader.pause(full)
        session.calls.hold(full)

    outbox = Outbox(framer, log, on_full=hold, on_lost=lambda: lifetime.end("broken_pipe"))
    session = Session(server, settings, log, outbox, legacy_framing=legacy, state=state)

    def feed(data: bytes) -> None:
        for frame in framer.feed(data) if data else framer.finish():
            session.receive(frame)

    reader = InputReader(feed, on_end=lambda: lifetime.end("eof"))
    with lifetime.watch():
        await outbox.open(streams.writer, streams.reader)
        await reader.open(streams.reader)
        reason = await lifetime.wait()
        session.input_ended()
        await end_calls(session.calls, reason, settings, lifetime)
        session.listening.close()
        await outbox.drain(WRITE_BOUND)
    return Ended(reason, lifetime.exit_code, session.calls)


async def end_calls(calls: CallTable, reason: str, settings: Settings, lifetime: Lifetime) -> None:
    """Let calls in flight finish where somebody may still read the answers, then stop the rest."""
    if reason == "eof":
        await lifetime.give_time(calls.wait_idle(settings.drain))
    calls.stop_all(Stop.DISCONNECT if reason == "broken_pipe" else Stop.SHUTDOWN)
    await calls.wait_idle(settings.kill_grace + 2 * GIVE_UP_MARGIN)
