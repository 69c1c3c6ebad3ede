"""A server and a client in one process, joined by pipes of memory.

The bytes go through the real framers and the real session; only the operating system's pipe is missing.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from holdfast.settings import Settings
from holdfast.testing.answers import Answers, Reply
from holdfast.testing.clients import ScriptedClient
from holdfast.testing.faults import FaultPlan
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.events import Event
from holdfast.wire.codec import encode
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.wire.legible import ENDS_KEPT
from holdfast.worker.lifespan import entered
from holdfast.worker.server import Server
from holdfast.worker.session import DirectOutlet, Session

__all__ = ["MemoryPipe", "RecordingLog", "connect"]


class RecordingLog:
    """An event log that keeps the events in a list."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is open."""


class MemoryPipe:
    """One direction: messages in, bytes with the plan's faults out; ends where the plan cuts it."""

    def __init__(self, framer: LineFramer | ContentLengthFramer, deliver: Callable[[bytes], None]) -> None:
        self._framer = framer
        self._deliver = deliver
        self._messages = 0
        self._bytes = 0
        self._plan = FaultPlan()
        self.closed = False

    def follow(self, plan: FaultPlan) -> None:
        """Apply the plan from here on; its messages and bytes are counted from the next one sent."""
        self._plan = plan
        self._messages = 0
        self._bytes = 0

    def send(self, message: Any) -> None:
        """Frame one message and deliver it."""
        framed = self._framer.wrap(encode(message))
        for piece in self._plan.pieces(self._messages, framed):
            self.send_raw(piece)
        self._messages += 1

    def send_raw(self, data: bytes) -> None:
        """Deliver bytes as they are."""
        cut = self._plan.cut_after
        if cut is not None and self._bytes + len(data) > cut:
            data = data[: max(0, cut - self._bytes)]
            if data:
                self._deliver(data)
            self.close()
        if self.closed or not data:
            return
        self._bytes += len(data)
        self._deliver(data)

    def close(self) -> None:
        """End of the pipe: the other side sees the end of its input."""
        if not self.closed:
            self.closed = True
            self._deliver(b"")


@contextlib.asynccontextmanager
async def connect(
    server: Server,
    *,
    settings: Settings | None = None,
    revision: str | None = "2025-11-25",
    plan: FaultPlan | None = None,
    elicit: Reply = None,
    sample: Reply = None,
    roots: Reply = None,
) -> AsyncIterator[ScriptedClient]:
    """A client in session with the server. `revision=None` leaves the handshake to the test.

    `elicit`, `sample` and `roots` answer what tools ask: `accept(name="Ann")` or `decline()`; a text; a list of
    addresses; or a function of the parameters that returns one of these. It can be asked what has an answer.

    Leaving the block stops what is still in flight; `client.events` holds what the server recorded.
    """
    settings = settings or replace(Settings(), event_log=False)
    log = RecordingLog()
    legacy = settings.mcp_mode == "legacy"

    def framer() -> LineFramer | ContentLengthFramer:
        if legacy:
            return ContentLengthFramer(settings.max_message_bytes, settings.max_header_bytes, ends_kept=ENDS_KEPT)
        return LineFramer(settings.max_message_bytes, ends_kept=ENDS_KEPT)

    server_input, client_input = framer(), framer()

    def to_server(data: bytes) -> None:
        for frame in server_input.feed(data) if data else server_input.finish():
            session.receive(frame)

    upward = MemoryPipe(framer(), to_server)
    client = ScriptedClient(upward, client_input, log.events, Answers(elicit, sample, roots))
    downward = MemoryPipe(framer(), client.receive)
    async with entered(server, log, settings.start_timeout) as state:
        outlet = DirectOutlet(log, downward.send)
        session = Session(server, settings, log, outlet, legacy_framing=legacy, state=state)
        try:
            if revision is not None:
                await client.handshake(revision)
            upward.follow(plan or FaultPlan())
            yield client
        finally:
            session.calls.stop_all(Stop.DISCONNECT)
            await session.calls.wait_idle(settings.kill_grace + 1.0)
            session.listening.close()
