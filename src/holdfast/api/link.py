"""The pipe to the host: requests out, answers and progress in, cancellations when somebody stops waiting.

The front is a client of the host like any other, in the era without a handshake. Every call ends: with its
answer, or with a fault when the host is gone, too busy to read, or says something that cannot be read.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.api.answers import Answer, answer_of
from holdfast.errors import WireError
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.stdio.streams import StandardStreams
from holdfast.version import __version__
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import (
    METHOD_NOT_FOUND,
    Message,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    parse,
    request_message,
)
from holdfast.wire.framing import MAX_MESSAGE_BYTES, LineFramer
from holdfast.wire.legible import ENDS_KEPT, TooLongError, find_id

__all__ = ["HostCall", "HostLink", "OnProgress"]

OnProgress = Callable[[dict[str, Any]], None]

_CLIENT = {"name": "holdfast-http", "version": __version__}
_META = {META_REVISION: MODERN, META_CAPABILITIES: {}, "io.modelcontextprotocol/clientInfo": _CLIENT}
_LONGEST_MESSAGE = 2 * MAX_MESSAGE_BYTES  # the host bounds what it sends; this only bounds our memory
_MOST_PENDING = 1024


class HostCall:
    """One request to the host; `answer` always gets a result, never an exception."""

    __slots__ = ("answer", "id", "is_tool", "on_progress")

    def __init__(self, request_id: str, *, is_tool: bool, on_progress: OnProgress | None) -> None:
        self.id = request_id
        self.is_tool = is_tool
        self.on_progress = on_progress
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()


class HostLink:
    """All calls in flight between this process and its host."""

    def __init__(self, prefix: str, *, on_lost: Callable[[str], None]) -> None:
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._pending: dict[str, HostCall] = {}
        self._closed: str | None = None  # why nothing can be asked any more
        self._host_is_slow = False
        self._framer = LineFramer(_LONGEST_MESSAGE, ends_kept=ENDS_KEPT)
        self._outbox = Outbox(
            LineFramer(), _NoLog(), on_full=self._on_full, on_lost=lambda: on_lost("broken_pipe")
        )
        # Never paused: if both ends stopped reading because the other did not read, neither would ever go on.
        self._reader = InputReader(self._feed, on_end=lambda: on_lost("eof"))
        self.noise = 0  # messages that were not for us

    async def open(self, streams: StandardStreams) -> None:
        """Start to read and write."""
        await self._outbox.open(streams.writer, streams.reader)
        await self._reader.open(streams.reader)

    async def close(self, bound: float) -> None:
        """End every call and let go of the pipes; the last cancellations still leave, within the bound."""
        self.fail_all("the server is shutting down")
        await self._outbox.drain(bound)
        await self._reader.close()
        await self._outbox.close()

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> HostCall:
        """Ask the host something."""
        return self._send(method, dict(params or {}), is_tool=False, on_progress=None)

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_progress: OnProgress | None = None
    ) -> HostCall:
        """Call a tool; with `on_progress`, its reports are wanted."""
        params = {"name": name, "arguments": dict(arguments)}
        return self._send("tools/call", params, is_tool=True, on_progress=on_progress)

    def cancel(self, call: HostCall) -> None:
        """Nobody waits for this call any more; the host is told, unless it has answered."""
        if self._pending.pop(call.id, None) is None:
            return
        call.answer.cancel()
        self._outbox.send(notification_message("notifications/cancelled", {"requestId": call.id}))

    def show_life(self) -> None:
        """Let the host hear that this process is not stuck."""
        if not self._host_is_slow:
            self._outbox.send(notification_message("holdfast/alive"))

    def fail_all(self, why: str) -> None:
        """Answer every call in flight, and every one to come, with NOT_READY."""
        self._closed = why
        for call in list(self._pending.values()):
            self._outbox.send(notification_message("notifications/cancelled", {"requestId": call.id}))
            self._finish(call, fault("NOT_READY", why))

    @property
    def pending(self) -> int:
        """How many calls are in flight."""
        return len(self._pending)

    def _send(
        self, method: str, params: dict[str, Any], *, is_tool: bool, on_progress: OnProgress | None
    ) -> HostCall:
        call = HostCall(f"{self._prefix}{next(self._numbers)}", is_tool=is_tool, on_progress=on_progress)
        refusal = self._refusal()
        if refusal is not None:
            call.answer.set_result(refusal)
            return call
        meta = _META if on_progress is None else {**_META, "progressToken": call.id}
        self._pending[call.id] = call
        self._outbox.send(request_message(call.id, method, {**params, "_meta": meta}))
        return call

    def _refusal(self) -> Fault | None:
        if self._closed is not None:
            return fault("NOT_READY", self._closed)
        if self._host_is_slow or len(self._pending) >= _MOST_PENDING:
            return fault("QUEUE_OVERLOADED", "the server takes no more requests at the moment")
        return None

    def _on_full(self, full: bool) -> None:
        self._host_is_slow = full

    # --- what the host says ----------------------------------------------------------------------------------

    def _feed(self, data: bytes) -> None:
        for frame in self._framer.feed(data) if data else ():
            if isinstance(frame, WireError):
                self._unreadable(frame.head if isinstance(frame, TooLongError) else b"", "RESULT_TOO_LARGE")
                continue
            try:
                message = parse(decode(frame, max_depth=RELAY_DEPTH))
            except WireError:
                self._unreadable(frame, "INTERNAL")
                continue
            self._receive(message)

    def _receive(self, message: Message) -> None:
        if isinstance(message, Response):
            call = self._pending.get(message.id) if isinstance(message.id, str) else None
            if call is None:
                self.noise += 1  # late: we gave up on it, and said so
            else:
                self._finish(call, answer_of(message, is_tool=call.is_tool))
        elif isinstance(message, Notification):
            self._notice(message)
        elif isinstance(message, Request):
            text = "the HTTP front answers no requests"
            self._outbox.send(error_message(message.id, METHOD_NOT_FOUND, text, {"code": "NOT_FOUND"}))

    def _notice(self, note: Notification) -> None:
        token = note.params.get("progressToken")
        call = self._pending.get(token) if isinstance(token, str) else None
        if note.method == "notifications/progress" and call is not None and call.on_progress is not None:
            call.on_progress(note.params)
        else:
            self.noise += 1

    def _unreadable(self, frame: bytes, code: str) -> None:
        """An answer that is too long or broken still ends its call, if it can be told which."""
        found = find_id(frame)
        call = self._pending.get(found[1].decode("utf-8", "replace").strip('"')) if found else None
        if call is None:
            self.noise += 1
        elif code == "RESULT_TOO_LARGE":
            self._finish(call, fault(code, "the answer is larger than a message may be"))
        else:
            self._finish(call, fault(code, "the answer cannot be read", details={"cause_class": "BadAnswer"}))

    def _finish(self, call: HostCall, answer: Answer) -> None:
        self._pending.pop(call.id, None)
        if not call.answer.done():
            call.answer.set_result(answer)


class _NoLog:
    """The front keeps no event log: the host records every call."""

    def emit(self, event: Event) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is open."""
