"""One session of a client that went through a handshake. It lives in this process, and asks the host in its name.

Each request of the client becomes requests that describe themselves (`present.handshake_session`); what comes back
goes onto the stream of the POST that asked, and what belongs to no request onto the stream of the session. A
worker that is lost meanwhile is the business of the host: the session does not notice.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast.api.callers import Caller
from holdfast.api.envelope import HttpError
from holdfast.api.link import HostCall, HostLink
from holdfast.api.mcp.channel import Channel
from holdfast.api.mcp.listening import Listener, Listening
from holdfast.api.mcp.modern import in_words_of_client
from holdfast.api.mcp.replies import error_of
from holdfast.api.mcp.scope import Gate, is_private, told_of, tool_of, visible
from holdfast.present.handshake_session import HandshakeSession
from holdfast.present.profile import META_SUBSCRIPTION
from holdfast.vocabulary.faults import Fault
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Message,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    request_message,
    result_message,
)

__all__ = ["McpSession"]

STANDALONE = "s"  # the name of the stream of the session
RESUME_WITHIN = 30.0  # seconds in which a reader has to come back for an answer
KEPT = 8  # finished streams of POSTs that can be read again: the last events of one may not have arrived
_LISTEN = "subscriptions/listen"
_CANCELLED = "notifications/cancelled"
_PROGRESS = "notifications/progress"
_SELF_DESCRIBING = frozenset({_LISTEN, "server/discover"})
_PRIMED_SINCE = "2025-11-25"  # clients before that take an event without data for a broken message


@dataclass(slots=True, eq=False)
class _Asked:
    """A request of the client that was not answered yet."""

    id: RequestId
    method: str
    tool: str  # that it calls, if it calls one
    token: Any  # of its progress, as the client knows it
    channel: Channel


class McpSession:
    """The session of one client, from its `initialize` on."""

    def __init__(
        self,
        session_id: str,
        caller: Caller,
        link: HostLink,
        listening: Listening,
        translation: HandshakeSession,
        gate: Gate | None = None,
    ) -> None:
        self.id = session_id
        self._tag = f"s-{hashlib.sha256(session_id.encode()).hexdigest()[:12]}"  # the id itself is a secret
        self.caller = caller
        self.used_at = 0.0
        self.stream = Channel(STANDALONE)  # what belongs to no request
        self._link = link
        self._listening = listening
        self._translation = translation
        self._gate = gate
        self._asked: dict[int, _Asked] = {}
        self._calls: dict[RequestId, HostCall[Response]] = {}
        self._listeners: dict[RequestId, Listener] = {}
        self._channels: dict[str, Channel] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}  # streams that nobody reads, by their names
        self._count = 0

    @property
    def revision(self) -> str:
        """What the handshake has settled on."""
        return self._translation.revision

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is open."""
        return not self._asked and not self.stream.has_reader

    def new_channel(self) -> Channel:
        """A stream for the answers to one POST; it can be read again for a while."""
        self._count += 1
        channel = Channel(f"p{self._count}", primes=self.revision >= _PRIMED_SINCE)
        self._channels[channel.name] = channel
        finished = [name for name, one in self._channels.items() if one.is_closed]
        for name in finished[:-KEPT]:
            self.forget(self._channels[name])
        return channel

    def forget(self, channel: Channel) -> None:
        """Nobody will come back for what was said on it."""
        self._channels.pop(channel.name, None)
        self._stay(channel.name)

    def channel(self, name: str) -> Channel | None:
        """The stream of that name, for a reader that comes back."""
        return self.stream if name == STANDALONE else self._channels.get(name)

    def introduce(self, request: Request, channel: Channel) -> None:
        """Answer the handshake."""
        number = self._expect(request, channel)
        self._translation.introduce(number, self)

    def take(self, messages: Sequence[Message], channel: Channel) -> None:
        """Take what a client has sent at once; the channel is closed when all of it is answered."""
        asked = [(self._expect(one, channel), one) for one in messages if isinstance(one, Request)]
        for number, request in asked:
            self._request(number, request)
        for message in messages:
            if isinstance(message, Response):
                self._translation.replied(message, self)
            elif isinstance(message, Notification):
                self._note(message)

    def give_up(self, channel: Channel) -> None:
        """Nobody waits for what is left of a POST."""
        for number in [number for number, asked in self._asked.items() if asked.channel is channel]:
            self._cancel(number)

    def left(self, channel: Channel) -> None:
        """The reader of a POST's stream is gone; it may come back for what did not arrive, for a while."""
        self._stay(channel.name)
        if channel.name in self._channels:
            later = asyncio.get_running_loop().call_later
            self._leaving[channel.name] = later(RESUME_WITHIN, self._forget_unread, channel.name)

    def _stay(self, name: str) -> None:
        timer = self._leaving.pop(name, None)
        if timer is not None:
            timer.cancel()

    def _forget_unread(self, name: str) -> None:
        channel = self._channels.get(name)
        if channel is not None and not channel.has_reader:
            self.give_up(channel)
            self.forget(channel)

    def close(self) -> None:
        """End everything that is open."""
        for number in list(self._asked):
            self._cancel(number)
        for listener in self._listeners.values():
            self._listening.leave(listener)
        self._listeners.clear()
        for call in list(self._calls.values()):
            self._link.cancel(call)
        for channel in (self.stream, *self._channels.values()):
            channel.close()
        for name in list(self._leaving):
            self._stay(name)

    # --- from the client ---------------------------------------------------------------------------------------

    def _expect(self, request: Request, channel: Channel) -> int:
        self._count += 1
        meta = request.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        self._asked[self._count] = _Asked(request.id, request.method, tool_of(request), token, channel)
        return self._count

    def _number_of(self, request_id: object) -> int | None:
        for number, asked in self._asked.items():
            if asked.id == request_id and type(asked.id) is type(request_id):
                return number
        return None

    def _request(self, number: int, request: Request) -> None:
        if request.method == "ping":
            self.answer(number, {})  # the session lives, whatever the worker does
        elif request.method == "initialize":
            self.fail(number, _error(INVALID_REQUEST, "the session is already initialized"))
        elif request.method in _SELF_DESCRIBING or is_private(request.method):
            self.fail(number, _error(METHOD_NOT_FOUND, f"unknown method {request.method[:80]!r}"))
        else:
            self._translation.take(request._replace(id=number), number, self)

    def _note(self, note: Notification) -> None:
        if note.method == _CANCELLED:
            number = self._number_of(note.params.get("requestId"))
            if number is not None:
                self._cancel(number)

    def _cancel(self, number: int) -> None:
        self._translation.cancelled(Notification(_CANCELLED, {"requestId": number}), self)
        self._end(number)

    def is_pending(self, request_id: RequestId) -> bool:
        """Whether a request of that id was not answered yet."""
        return self._number_of(request_id) is not None

    # --- what the translation wants: `SessionFlow` ---------------------------------------------------------------

    def ask(self, number: RequestId, method: str, params: dict[str, Any] | None = None, attempt: int = 0) -> None:
        """Ask the host; what is listened for is shared with other sessions."""
        if method == _LISTEN:
            ended = partial(self._answered, number)
            listener = Listener(partial(self._heard_stream, number), ended, self.caller)
            self._listeners[number] = listener
            try:
                self._listening.join(params or {}, listener)
            except HttpError as error:
                ended(error.problem)
            return
        heard = partial(self._heard, attempt)
        call = self._link.pass_on(method, params or {}, heard, self.caller.principal, client=self._tag)
        self._calls[number] = call
        call.answer.add_done_callback(lambda answer: self._call_ended(number, call, answer))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Withdraw a request; there is nothing else that the host is told."""
        number = (params or {}).get("requestId")
        if method != _CANCELLED or number is None:
            return
        listener = self._listeners.pop(number, None)
        if listener is not None:
            self._listening.leave(listener)
        call = self._calls.pop(number, None)
        if call is not None:
            self._link.cancel(call)

    def answer(self, number: RequestId, result: Any) -> None:
        """Answer a request of the client."""
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is not None:
            asked.channel.answer(result_message(asked.id, result))
            self._end(number)

    def fail(self, number: RequestId, error: dict[str, Any]) -> None:
        """Answer a request of the client with an error."""
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is not None:
            told = error_message(asked.id, error["code"], error["message"], error.get("data"))
            asked.channel.answer(told)
            self._end(number)

    def tell(self, method: str, params: dict[str, Any] | None = None, about: int | None = None) -> None:
        """Tell the client something: about a request, or on the stream of the session."""
        asked = self._asked.get(about) if about is not None else None
        channel = self.stream if asked is None else asked.channel
        channel.say(notification_message(method, params), is_droppable=asked is None)

    def question(self, number: RequestId, method: str, params: dict[str, Any] | None, about: int) -> None:
        """Ask the client something, on the stream of the request that needs it."""
        asked = self._asked.get(about)
        if asked is not None:
            asked.channel.say(request_message(number, method, params))

    # --- from the host -----------------------------------------------------------------------------------------

    def _heard(self, number: int, note: Notification) -> None:
        asked = self._asked.get(number)
        if asked is not None and not self._translation.told(note, self):
            told = in_words_of_client(told_of(note, self._gate), asked.id, asked.token)
            asked.channel.say(told, is_droppable=note.method == _PROGRESS)

    def _heard_stream(self, number: RequestId, note: Notification) -> None:
        meta = note.params.get("_meta")
        tagged = {**(meta if isinstance(meta, dict) else {}), META_SUBSCRIPTION: number}
        self._translation.told(note._replace(params={**note.params, "_meta": tagged}), self)

    def _call_ended(self, number: RequestId, call: HostCall[Response], answer: Any) -> None:
        if self._calls.get(number) is call:
            del self._calls[number]
            if not answer.cancelled():
                self._answered(number, answer.result())

    def _answered(self, number: RequestId, answer: Response | Fault) -> None:
        self._listeners.pop(number, None)
        if isinstance(answer, Fault):
            answer = Response(number, None, error_of(answer, modern=True))
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is not None:
            answer = visible(asked.method, asked.tool, answer, self.caller, self._gate)
        self._translation.answered(answer._replace(id=number), self)

    def _end(self, number: RequestId) -> None:
        """A request is over; with the last of a POST its stream is, too."""
        asked = self._asked.pop(number, None) if isinstance(number, int) else None
        if asked is not None and not any(one.channel is asked.channel for one in self._asked.values()):
            asked.channel.close()


def _error(code: int, message: str) -> dict[str, Any]:
    data: Mapping[str, Any] = {"code": "INVALID_REQUEST", "retryable": False}
    return {"code": code, "message": message, "data": dict(data)}
