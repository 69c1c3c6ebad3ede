"""A client that went through a handshake, served by somebody who wants every request to describe itself.

What the other side has no method for is done here: the log level is remembered, a subscription is a stream that is
kept open, and a result that asks for input is put to the client, whose answers are sent with the call repeated.
The words of the translation are those of `present.eras`. The host stands like this between its client and a
worker, the HTTP front between the client of a session and the host. It is a machine without clock and pipes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.present.eras import (
    LEVELS,
    LISTENED,
    client_description,
    error_for_handshake,
    initialize_from_discover,
    params_for_modern,
    result_for_handshake,
    unanswerable,
)
from holdfast.present.profile import META_SUBSCRIPTION
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
)

__all__ = ["OWN", "HandshakeSession", "SessionFlow"]

OWN = "holdfast-era-"  # how the ids of requests begin that nobody but the translation itself has made

MAX_OPEN = 10_000  # requests whose answers are awaited; the kernel has a bound of its own, far below
MAX_CANCELLED = 256  # requests of which an answer may still come, though nobody should send one
MAX_SUBSCRIPTIONS = 1_000
MAX_ROUNDS = 10  # how often one call may ask for input
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


@dataclass(slots=True, eq=False)
class _Call:
    """A translated request: the kernel's number of it, and what is needed to repeat it."""

    number: int
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    wire_id: RequestId = 0
    rounds: int = 0
    state: Any = None  # the worker's `requestState`, to be given back as it is
    awaited: dict[str, str] = field(default_factory=dict)  # id of a question -> its key
    answers: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Stream:
    """A `subscriptions/listen` of our own; `asker` is who waits for it to be acknowledged, if anybody."""

    uri: str | None = None
    asker: int | None = None


class SessionFlow(Protocol):
    """Where what follows from a message goes: to the server that is asked, or to the client.

    `about` is the number of the client's request that something is about, None where it is about none.
    """

    def ask(self, number: RequestId, method: str, params: dict[str, Any] | None = None, attempt: int = 0) -> None:
        """Send the server a request."""

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send the server a notification."""

    def answer(self, number: RequestId, result: Any) -> None:
        """Answer a request of the client."""

    def fail(self, number: RequestId, error: dict[str, Any]) -> None:
        """Answer a request of the client with an error."""

    def tell(self, method: str, params: dict[str, Any] | None = None, about: int | None = None) -> None:
        """Send the client a notification."""

    def question(self, number: RequestId, method: str, params: dict[str, Any] | None, about: int) -> None:
        """Send the client a request."""


class HandshakeSession:
    """The translation for one client that said `initialize`, and the server that told `discovered` of itself."""

    def __init__(
        self, discovered: Mapping[str, Any], introduced: Mapping[str, Any], *, pinned: bool = False
    ) -> None:
        self._result = initialize_from_discover(discovered, introduced.get("protocolVersion"), pinned=pinned)
        self._revision: str = self._result["protocolVersion"]
        self._capabilities: dict[str, Any] = self._result["capabilities"]
        self._description = client_description(introduced)
        self._level: str | None = None
        self._calls: dict[RequestId, _Call] = {}  # by the id under which the worker has them
        self._by_number: dict[int, _Call] = {}
        self._cancelled: dict[RequestId, _Call] = {}
        self._questions: dict[str, _Call] = {}
        self._streams: dict[str, _Stream] = {}
        self._own = 0

    @property
    def revision(self) -> str:
        """What the handshake has settled on."""
        return self._revision

    def introduce(self, number: RequestId, flow: SessionFlow) -> None:
        """Answer the handshake, and listen for what its client expects to be told."""
        flow.answer(number, self._result)
        told = {
            name: True
            for name, capability in LISTENED.values()
            if self._capabilities.get(capability, {}).get("listChanged")
        }
        if told and not self._streams:
            self._listen(told, _Stream(), flow)

    # --- from the client ---------------------------------------------------------------------------------------

    def take(self, request: Request, attempt: int, flow: SessionFlow) -> None:
        """Translate a request of a session with a handshake."""
        number = request.id
        assert type(number) is int  # the kernel's ids are numbers
        if request.method == "initialize":
            self.introduce(number, flow)
        elif request.method == "logging/setLevel":
            self._set_level(number, request.params.get("level"), flow)
        elif request.method == "resources/subscribe":
            self._subscribe(number, request.params.get("uri"), flow)
        elif request.method == "resources/unsubscribe":
            self._unsubscribe(number, request.params.get("uri"), flow)
        else:
            self._send(_Call(number, request.method, request.params), request.params, attempt, flow)

    def cancelled(self, note: Notification, flow: SessionFlow) -> bool:
        """Whether a cancellation was translated; otherwise the worker knows the request by the same number."""
        wanted = note.params.get("requestId")
        call = self._by_number.pop(wanted, None) if type(wanted) is int else None
        if call is None:
            return False
        self._withdraw(call, flow)
        if self._calls.pop(call.wire_id, None) is not None:  # and not between two rounds
            self._cancelled[call.wire_id] = call
            while len(self._cancelled) > MAX_CANCELLED:
                del self._cancelled[next(iter(self._cancelled))]
            flow.notify(note.method, {**note.params, "requestId": call.wire_id})
        return True

    def replied(self, response: Response, flow: SessionFlow) -> bool:
        """Whether the client has answered one of our questions."""
        call = self._questions.pop(response.id, None) if isinstance(response.id, str) else None
        if call is None or not isinstance(response.id, str):
            return False
        key = call.awaited.pop(response.id)
        if response.error is not None:
            self._withdraw(call, flow)
            self._end(call)
            text = f"the client did not answer what the server asked: {response.error['message']}"
            flow.fail(call.number, _problem(INTERNAL_ERROR, text, "CAPABILITY_MISSING"))
            return True
        call.answers[key] = response.result
        if not call.awaited:
            self._repeat(call, flow)
        return True

    def _send(self, call: _Call, params: Mapping[str, Any], attempt: int, flow: SessionFlow) -> None:
        call.wire_id = call.number if not call.rounds else self._own_id()
        self._calls[call.wire_id] = call
        self._by_number[call.number] = call
        while len(self._by_number) > MAX_OPEN:
            self._end(next(iter(self._by_number.values())))
        method = "server/discover" if call.method == "ping" else call.method
        flow.ask(call.wire_id, method, params_for_modern(params, self._description, self._level), attempt)

    def _set_level(self, number: int, level: object, flow: SessionFlow) -> None:
        if "logging" not in self._capabilities:
            flow.fail(number, _problem(METHOD_NOT_FOUND, "this server has no log for clients", "NOT_FOUND"))
        elif not isinstance(level, str) or level not in LEVELS:
            text = f"the level is not one of {', '.join(LEVELS)}"
            flow.fail(number, _problem(INVALID_PARAMS, text, "INVALID_REQUEST"))
        else:
            self._level = level
            flow.answer(number, {})

    # --- streams -----------------------------------------------------------------------------------------------

    def _subscribe(self, number: int, uri: object, flow: SessionFlow) -> None:
        if not self._capabilities.get("resources", {}).get("subscribe"):
            text = "resources of this server cannot be subscribed to"
            flow.fail(number, _problem(METHOD_NOT_FOUND, text, "NOT_FOUND"))
        elif not isinstance(uri, str) or len(self._streams) >= MAX_SUBSCRIPTIONS:
            text = "too many subscriptions" if isinstance(uri, str) else "the uri is not a text"
            flow.fail(number, _problem(INVALID_PARAMS, text, "INVALID_REQUEST"))
        elif any(stream.uri == uri and stream.asker is None for stream in self._streams.values()):
            flow.answer(number, {})
        else:
            self._listen({"resourceSubscriptions": [uri]}, _Stream(uri, number), flow)

    def _unsubscribe(self, number: int, uri: object, flow: SessionFlow) -> None:
        for own_id, stream in list(self._streams.items()):
            if stream.uri is not None and stream.uri == uri:
                del self._streams[own_id]
                flow.notify("notifications/cancelled", {"requestId": own_id})
                if stream.asker is not None:  # there was a subscription, though it was not acknowledged any more
                    flow.answer(stream.asker, {})
        flow.answer(number, {})

    def _listen(self, wanted: dict[str, Any], stream: _Stream, flow: SessionFlow) -> None:
        own_id = self._own_id()
        self._streams[own_id] = stream
        params = params_for_modern({"notifications": wanted}, self._description, None)
        flow.ask(own_id, "subscriptions/listen", params)

    def _acknowledged(self, stream: _Stream, told: object, flow: SessionFlow) -> None:
        asker, stream.asker = stream.asker, None
        if asker is None:
            return
        uris = told.get("resourceSubscriptions") if isinstance(told, dict) else None
        if isinstance(uris, list) and stream.uri in uris:
            flow.answer(asker, {})
        else:
            text = "the server does not tell of changes to this resource"
            flow.fail(asker, _problem(INVALID_PARAMS, text, "NOT_FOUND"))

    def _own_id(self) -> str:
        self._own += 1
        return f"{OWN}{self._own}"

    # --- from the server ---------------------------------------------------------------------------------------

    def answered(self, response: Response, flow: SessionFlow) -> bool:
        """Whether an answer was to something that stands here; it is told in the words of the client's era."""
        number = response.id
        if number is None:
            return False
        is_over = number in self._cancelled
        call = self._cancelled.pop(number) if is_over else self._calls.pop(number, None)
        if call is None:
            return self._is_own(response, flow)
        self._by_number.pop(call.number, None)
        result = response.result
        kind = result.get("resultType", "complete") if isinstance(result, dict) else "complete"
        if call.method == "ping":
            flow.answer(call.number, {})  # whatever it says, it lives
        elif response.error is not None:
            flow.fail(call.number, error_for_handshake(call.method, response.error))
        elif kind == "input_required" and not is_over:
            self._ask_client(call, result, flow)
        elif kind != "complete":
            text = f"the server has answered with a result of the type {str(kind)[:80]!r}"
            flow.fail(call.number, _problem(INTERNAL_ERROR, text, "INTERNAL"))
        else:
            flow.answer(call.number, result_for_handshake(call.method, result, self._revision))
        return True

    def forget(self, number: int) -> None:
        """Wait no longer for an answer."""
        call = self._by_number.get(number)
        if call is not None:
            self._end(call)

    def told(self, note: Notification, flow: SessionFlow) -> bool:
        """Whether a notification was taken care of; otherwise it is passed on as it is."""
        meta = note.params.get("_meta")
        tag = meta.get(META_SUBSCRIPTION) if isinstance(meta, dict) else None
        stream = self._streams.get(tag) if isinstance(tag, str) else None
        if note.method == _ACKNOWLEDGED:
            if stream is not None:
                self._acknowledged(stream, note.params.get("notifications"), flow)
            return True
        if stream is None or not isinstance(meta, dict):
            return False
        rest = {key: value for key, value in meta.items() if key != META_SUBSCRIPTION}
        params = {key: value for key, value in note.params.items() if key != "_meta"}
        flow.tell(note.method, {**params, "_meta": rest} if rest else params)
        return True

    def _is_own(self, response: Response, flow: SessionFlow) -> bool:
        number = response.id
        if not isinstance(number, str):
            return False
        stream = self._streams.pop(number, None)
        if stream is not None and stream.asker is not None:
            text = "the server has ended the stream at once"
            flow.fail(stream.asker, response.error or _problem(INTERNAL_ERROR, text, "INTERNAL"))
        return number.startswith(OWN)

    # --- input for a call --------------------------------------------------------------------------------------

    def _ask_client(self, call: _Call, result: Mapping[str, Any], flow: SessionFlow) -> None:
        asked = result.get("inputRequests", {})
        why = unanswerable(asked, self._description, self._revision)
        if call.rounds >= MAX_ROUNDS:
            why = f"the server has asked for input {call.rounds} times and is still not content"
        if why:
            flow.fail(call.number, _problem(INTERNAL_ERROR, why, "CAPABILITY_MISSING"))
            return
        call.state = result.get("requestState")
        call.answers = {}
        self._by_number[call.number] = call
        for key, one in asked.items():
            own_id = self._own_id()
            call.awaited[own_id] = key
            self._questions[own_id] = call
            params = one.get("params")
            flow.question(own_id, one["method"], params if isinstance(params, dict) else None, call.number)
        if not call.awaited:
            self._repeat(call, flow)

    def _repeat(self, call: _Call, flow: SessionFlow) -> None:
        call.rounds += 1
        params = {**call.params, "inputResponses": call.answers}
        if call.state is not None:
            params["requestState"] = call.state
        self._send(call, params, call.number, flow)

    def _withdraw(self, call: _Call, flow: SessionFlow) -> None:
        for own_id in call.awaited:
            self._questions.pop(own_id, None)
            flow.tell("notifications/cancelled", {"requestId": own_id}, call.number)
        call.awaited.clear()

    def _end(self, call: _Call) -> None:
        self._by_number.pop(call.number, None)
        self._calls.pop(call.wire_id, None)


def _problem(number: int, text: str, code: str) -> dict[str, Any]:
    return {"code": number, "message": text, "data": {"code": code, "retryable": False}}
