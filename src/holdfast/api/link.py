"""The pipe to the host: requests out, answers and progress in, cancellations when somebody stops waiting.

The front is a client of the host like any other, in the era without a handshake. Every call ends: with its
answer, or with a fault when the host is gone, too busy to read, or says something that cannot be read.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from holdfast.api.answers import Answer, answer_of
from holdfast.errors import CODES, WireError
from holdfast.present.eras import META_CLIENT_INFO, META_LOG_LEVEL
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, META_SUBSCRIPTION, MODERN
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.stdio.streams import StandardStreams
from holdfast.version import __version__
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.ids import CLIENT_END, OWN_QUESTION, is_request_id
from holdfast.vocabulary.meta import META_PRINCIPAL, META_REQUEST
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

__all__ = ["HostCall", "HostLink", "OnNote", "OnProgress"]

OnProgress = Callable[[dict[str, Any]], None]
OnNote = Callable[[Notification], None]

_CLIENT = {"name": "holdfast-http", "version": __version__}
_META = {META_REVISION: MODERN, META_CAPABILITIES: {}, META_CLIENT_INFO: _CLIENT}
_MOST_PENDING = 1024
_TAGS = (META_SUBSCRIPTION, META_REQUEST)
_LOG = "notifications/message"


T = TypeVar("T")


class HostCall(Generic[T]):
    """One request to the host; `answer` always gets a result, never an exception.

    `shape` makes it of the response; a fault of the link itself is told as it is.
    """

    __slots__ = ("answer", "id", "on_note", "shape", "wants_log")

    def __init__(
        self,
        request_id: str,
        *,
        shape: Callable[[Response], T],
        on_note: OnNote | None = None,
        wants_log: bool = False,
    ) -> None:
        self.id = request_id
        self.shape = shape
        self.on_note = on_note
        self.wants_log = wants_log
        self.answer: asyncio.Future[T | Fault] = asyncio.get_running_loop().create_future()


class HostLink:
    """All calls in flight between this process and its host."""

    def __init__(
        self, prefix: str, *, on_lost: Callable[[str], None], max_message_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._pending: dict[str, HostCall[Any]] = {}
        self._closed: str | None = None  # why nothing can be asked any more
        self._host_is_slow = False
        # The host bounds what it sends; this only bounds our memory.
        self._framer = LineFramer(2 * max_message_bytes, ends_kept=ENDS_KEPT)
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

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, is_own: bool = False
    ) -> HostCall[Answer]:
        """Ask the host something; `is_own` is what no client has asked for, and is not counted as if one had."""
        call = self._new(partial(answer_of, is_tool=False), is_own=is_own)
        return self._send(call, method, {**(params or {}), "_meta": _META})

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, on_progress: OnProgress | None = None
    ) -> HostCall[Answer]:
        """Call a tool; with `on_progress`, its reports are wanted."""
        on_note = None if on_progress is None else _only_progress(on_progress)
        call = self._new(partial(answer_of, is_tool=True), on_note)
        meta = _META if on_progress is None else {**_META, "progressToken": call.id}
        return self._send(call, "tools/call", {"name": name, "arguments": dict(arguments), "_meta": meta})

    def pass_on(
        self,
        method: str,
        params: Mapping[str, Any],
        on_note: OnNote,
        principal: str = "",
        *,
        client: str = "",
        is_own: bool = False,
    ) -> HostCall[Response]:
        """Ask what a client of the same era asks, in its words; the answer is a `Response`, or a `Fault`.

        Only the token of its progress becomes our own, since two clients may use the same one, and who it is says
        `principal`, never the client. `on_note` is told what comes before the answer, with the id of this call
        where the client knows its own. `client` tells it from others, for what each of them is told
        once; `is_own` as in `call`.
        """
        meta = params.get("_meta")
        meta = {**meta, META_PRINCIPAL: principal} if isinstance(meta, Mapping) else {META_PRINCIPAL: principal}
        wants_log = META_LOG_LEVEL in meta
        client = client or (principal and f"by-{principal}")
        call = self._new(_as_it_is, on_note, wants_log=wants_log, client=client, is_own=is_own)
        if is_request_id(meta.get("progressToken")):
            meta["progressToken"] = call.id
        return self._send(call, method, {**params, "_meta": meta})

    def cancel(self, call: HostCall[Any]) -> None:
        """Nobody waits for this call any more; the host is told, unless it has answered."""
        if self._pending.pop(call.id, None) is None:
            return
        call.answer.cancel()
        self._outbox.send(notification_message("notifications/cancelled", {"requestId": call.id}))

    def show_life(self) -> None:
        """Let the host hear that this process is not stuck."""
        if not self._host_is_slow:
            self._outbox.send(notification_message("holdfast/alive"))

    def report_wrong_token(self, address: str, count: int) -> None:
        """Have the host write down that wrong tokens were sent from an address, so many since it was told last."""
        if not self._host_is_slow:
            self._outbox.send(notification_message("holdfast/wrong_token", {"address": address, "count": count}))

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

    def _new(
        self,
        shape: Callable[[Response], T],
        on_note: OnNote | None = None,
        *,
        wants_log: bool = False,
        client: str = "",
        is_own: bool = False,
    ) -> HostCall[T]:
        tag = OWN_QUESTION if is_own else client and f"{client}{CLIENT_END}"
        number = f"{self._prefix}{tag}{next(self._numbers)}"
        return HostCall(number, shape=shape, on_note=on_note, wants_log=wants_log)

    def _send(self, call: HostCall[T], method: str, params: dict[str, Any]) -> HostCall[T]:
        refusal = self._refusal()
        if refusal is not None:
            call.answer.set_result(refusal)
            return call
        self._pending[call.id] = call
        self._outbox.send(request_message(call.id, method, params))
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
                message = parse(decode(frame, max_depth=RELAY_DEPTH, halves="replaced"))
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
                self._finish(call, call.shape(message))
        elif isinstance(message, Notification):
            self._notice(message)
        elif isinstance(message, Request):
            text = "the HTTP front answers no requests"
            self._outbox.send(error_message(message.id, METHOD_NOT_FOUND, text, {"code": "NOT_FOUND"}))

    def _notice(self, note: Notification) -> None:
        call = self._call_of(note)
        if call is not None and call.on_note is not None:
            call.on_note(note)
        else:
            self.noise += 1

    def _call_of(self, note: Notification) -> HostCall[Any] | None:
        """The call that a notification is about: it names one; or it is of the log, and one alone wants that."""
        meta = note.params.get("_meta")
        names = [note.params.get("progressToken")] if note.method == "notifications/progress" else []
        names += [meta.get(tag) for tag in _TAGS] if isinstance(meta, dict) else []
        for name in names:
            if isinstance(name, str) and name in self._pending:
                return self._pending[name]
        if note.method != _LOG or any(name is not None for name in names):
            return None
        # What a log tells may be a secret between the server and one client: in doubt nobody hears it.
        able = [call for call in self._pending.values() if call.wants_log]
        return able[0] if len(able) == 1 else None

    def _unreadable(self, frame: bytes, code: str) -> None:
        """An answer that is too long or broken still ends its call, if it can be told which."""
        found = find_id(frame)
        call = self._pending.get(found[1].decode("utf-8", "replace").strip('"')) if found else None
        if call is None:
            self.noise += 1
        elif code == "RESULT_TOO_LARGE":
            remedy = CODES[code].remedy
            self._finish(call, fault(code, "the answer is larger than a message may be", hint=remedy))
        else:
            self._finish(call, fault(code, "the answer cannot be read", details={"cause_class": "BadAnswer"}))

    def _finish(self, call: HostCall[Any], answer: Any) -> None:
        self._pending.pop(call.id, None)
        if not call.answer.done():
            call.answer.set_result(answer)


def _only_progress(tell: OnProgress) -> OnNote:
    return lambda note: tell(note.params) if note.method == "notifications/progress" else None


def _as_it_is(response: Response) -> Response:
    return response


class _NoLog:
    """The front keeps no event log: the host records every call."""

    def emit(self, event: Event) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is open."""
