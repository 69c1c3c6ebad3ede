"""A worker that knows only the handshake, made to serve requests that describe themselves.

Ids stay as they are, so an answer needs no other table than which request was translated. Streams that the worker
does not know (`subscriptions/listen`) are held here. What the worker asks in the middle of a call ends the
client's request with `input_required`; the call itself goes on, and its answer is that of the request which
brings the input. The words of the translation are those of `present.eras`.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.host.era_flow import Flow
from holdfast.present.eras import (
    CALLBACKS,
    LEVELS,
    LISTENED,
    META_LOG_LEVEL,
    ONLY_WITH_HANDSHAKE,
    acknowledged_filter,
    discover_from_initialize,
    error_for_modern,
    input_required,
    modern_problem,
    params_for_handshake,
    result_for_modern,
)
from holdfast.present.handshake_session import OWN
from holdfast.present.profile import META_CAPABILITIES, META_SUBSCRIPTION
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
)

__all__ = ["HandshakeWorker"]

MAX_OPEN = 10_000  # requests whose answers are awaited; the kernel has a bound of its own, far below
MAX_CANCELLED = 256  # requests of which an answer may still come, though nobody should send one
MAX_RESOURCES = 1_000
MAX_PAUSED = 64  # calls that wait for input that the client may never bring
_FOREIGN = frozenset({"notifications/tasks/status", "notifications/elicitation/complete"})
_UPDATED = "notifications/resources/updated"
_URIS = "resourceSubscriptions"
_PAUSABLE = frozenset({"tools/call", "prompts/get", "resources/read"})
_INPUT = "input"  # the key of a question: there is one at a time


class _Open(NamedTuple):
    """A translated request; `level` is how much it wants to hear of the log, a place in LEVELS."""

    method: str
    number: int  # of the request that its answer goes to
    level: int = len(LEVELS)
    meta: Mapping[str, Any] = {}


class _Paused(NamedTuple):
    """A call whose client was asked for input; `question` is the worker's id of what it asks."""

    call: _Open
    wire_id: int
    question: RequestId
    early: Response | None = None  # what the worker has answered without waiting for the input


def _new_state() -> str:
    return f"{OWN}{secrets.token_urlsafe(16)}"


class HandshakeWorker:
    """The translation for one worker.

    With `is_shared` a client went through the handshake itself, and hears what such clients hear. `new_state`
    names a call that waits for input: nobody may guess the name, and no worker may know that of another.
    """

    def __init__(
        self, initialized: Mapping[str, Any], *, is_shared: bool, new_state: Callable[[], str] = _new_state
    ) -> None:
        self.is_shared = is_shared
        self._new_state = new_state
        self._initialized = initialized
        self._discovered = discover_from_initialize(initialized)
        self._capabilities: dict[str, Any] = self._discovered["capabilities"]
        self._open: dict[int, _Open] = {}
        self._cancelled: dict[int, _Open] = {}
        self._listens: dict[int, dict[str, Any]] = {}
        self._paused: dict[str, _Paused] = {}  # by `requestState`
        self._resumed: dict[int, int] = {}  # number of the request that goes on with a call -> id of the call
        self._tokens: dict[RequestId, RequestId] = {}  # of progress: the worker's -> the client's
        self._level = len(LEVELS)  # what the worker was told, a place in LEVELS
        self._number = 0

    # --- from the kernel ---------------------------------------------------------------------------------------

    def take(self, request: Request, attempt: int, flow: Flow) -> None:
        """Translate a request that describes itself."""
        problem = modern_problem(request.params)
        number = request.id
        assert type(number) is int  # the kernel's ids are numbers
        if problem is not None:
            flow.fail(number, problem)
        elif request.method in ONLY_WITH_HANDSHAKE:
            text = f"{request.method} is not a method of this revision"
            flow.fail(number, {"code": METHOD_NOT_FOUND, "message": text, "data": {"code": "INVALID_REQUEST"}})
        elif request.method == "subscriptions/listen":
            self._listen(number, request.params, flow)
        elif isinstance(request.params.get("requestState"), str):
            self._resume(number, request.params, flow)
        elif request.method == "server/discover":
            self._keep(number, _Open(request.method, number))
            flow.ask(number, "ping", attempt=attempt)  # only the worker itself can show that it lives
        else:
            level = self._wanted_level(request.params, flow)
            self._keep(number, _Open(request.method, number, level, request.params["_meta"]))
            flow.ask(number, request.method, params_for_handshake(request.params), attempt)

    def cancelled(self, number: object, flow: Flow) -> bool:
        """Whether a cancellation was about something that the worker does not know of."""
        if type(number) is not int:
            return False
        if number in self._listens:
            kept = self._listens.pop(number)
            for uri in kept.get(_URIS, ()):
                if not self._hears(uri):
                    flow.ask(self._own_id(), "resources/unsubscribe", {"uri": uri})
            return True
        wire_id = self._resumed.pop(number, number)
        if wire_id in self._open:
            self._cancelled[wire_id] = self._open.pop(wire_id)
            while len(self._cancelled) > MAX_CANCELLED:
                del self._cancelled[next(iter(self._cancelled))]
        if wire_id != number:
            flow.notify("notifications/cancelled", {"requestId": wire_id})
        return wire_id != number

    def _keep(self, number: int, entry: _Open) -> None:
        self._open[number] = entry
        while len(self._open) > MAX_OPEN:
            del self._open[next(iter(self._open))]

    def _wanted_level(self, params: Mapping[str, Any], flow: Flow) -> int:
        """How much a request wants to hear of the log; the worker is told if it is more than before."""
        meta = params.get("_meta")
        name = meta.get(META_LOG_LEVEL) if isinstance(meta, dict) else None
        if not isinstance(name, str) or name not in LEVELS or "logging" not in self._capabilities:
            return len(LEVELS)
        level = LEVELS.index(name)
        if level < self._level:
            self._level = level
            flow.ask(self._own_id(), "logging/setLevel", {"level": name})
        return level

    def _listen(self, number: int, params: Mapping[str, Any], flow: Flow) -> None:
        kept = acknowledged_filter(params.get("notifications"), self._capabilities)
        if _URIS in kept:
            heard = {uri for one in self._listens.values() for uri in one.get(_URIS, ())}
            fresh = [uri for uri in kept[_URIS] if uri not in heard][: MAX_RESOURCES - len(heard)]
            heard.update(fresh)
            kept[_URIS] = [uri for uri in kept[_URIS] if uri in heard]
            for uri in fresh:
                flow.ask(self._own_id(), "resources/subscribe", {"uri": uri})
        self._listens[number] = kept
        params = {"notifications": kept, "_meta": {META_SUBSCRIPTION: number}}
        flow.tell("notifications/subscriptions/acknowledged", params)

    def _hears(self, uri: str) -> bool:
        return any(uri in one.get(_URIS, ()) for one in self._listens.values())

    def _own_id(self) -> str:
        self._number += 1
        return f"{OWN}{self._number}"

    # --- from the worker ---------------------------------------------------------------------------------------

    def answered(self, response: Response, flow: Flow) -> bool:
        """Whether an answer was to something that stands here; it is told in the words of the client's era."""
        wire_id = response.id
        if not isinstance(wire_id, int):
            return isinstance(wire_id, str) and wire_id.startswith(OWN)
        entry = self._open.pop(wire_id, None) or self._cancelled.pop(wire_id, None)
        if entry is None:
            return self._answered_early(wire_id, response)
        self._resumed.pop(entry.number, None)
        self._answer(entry, response, flow)
        return True

    def _answer(self, entry: _Open, response: Response, flow: Flow) -> None:
        number = entry.number
        if entry.method == "server/discover":
            flow.answer(number, self._discovered)
        elif response.error is not None:
            flow.fail(number, error_for_modern(response.error))
        elif not isinstance(response.result, dict):
            text = "the server has answered with a result that is no object"
            flow.fail(number, {"code": INTERNAL_ERROR, "message": text, "data": {"code": "INTERNAL"}})
        else:
            info = self._initialized.get("serverInfo")
            flow.answer(number, result_for_modern(entry.method, response.result, info))

    def forget(self, number: int) -> None:
        """Wait no longer for an answer."""
        self._open.pop(number, None)

    def told(self, note: Notification, flow: Flow) -> bool:
        """Whether a notification was taken care of; otherwise it is passed on as it is."""
        if note.method == "notifications/progress" and self._tokens:
            return self._retell_progress(note, flow)
        if note.method == "notifications/message":
            return not (self.is_shared or self._wants(note.params.get("level")))
        if note.method in LISTENED:
            name = LISTENED[note.method][0]
            self._tell_listeners([number for number, kept in self._listens.items() if name in kept], note, flow)
        elif note.method == _UPDATED:
            self._tell_listeners(self._listeners_of(note.params.get("uri")), note, flow)
        elif note.method not in _FOREIGN:
            return False
        return not self.is_shared

    def asked(self, request: Request, flow: Flow) -> bool:
        """Whether a question of the worker was taken care of."""
        if self.is_shared or request.method == "ping":
            return False
        capability = CALLBACKS.get(request.method, "")
        able = [number for number, one in self._open.items() if one.method in _PAUSABLE and _can(one, capability)]
        if len(able) == 1:
            self._pause(able[0], request, flow)
        else:
            why = "no call is open whose client can be asked" if not able else "it may be about several open calls"
            flow.refuse(request.id, METHOD_NOT_FOUND, f"{request.method[:80]} is not possible: {why}")
        return True

    # --- input for a call --------------------------------------------------------------------------------------

    def _pause(self, wire_id: int, request: Request, flow: Flow) -> None:
        """End the client's request with what the worker asks; the call itself goes on."""
        entry = self._open.pop(wire_id)
        self._resumed.pop(entry.number, None)
        while len(self._paused) >= MAX_PAUSED:
            oldest = self._paused.pop(next(iter(self._paused)))
            flow.refuse(oldest.question, INTERNAL_ERROR, "the client has not answered")
            flow.notify("notifications/cancelled", {"requestId": oldest.wire_id})
        state = self._new_state()
        self._paused[state] = _Paused(entry, wire_id, request.id)
        asked = {_INPUT: {"method": request.method, "params": params_for_handshake(request.params)}}
        info = self._initialized.get("serverInfo")
        flow.answer(entry.number, input_required(asked, state, info))

    def _resume(self, number: int, params: Mapping[str, Any], flow: Flow) -> None:
        """Give the worker what it asked for; its answer to the call goes to this request."""
        paused = self._paused.pop(params["requestState"], None)
        if paused is None:
            # A worker that was lost in between may have done half of the work.
            text = "the server that asked for this input is gone; the call may or may not have taken effect"
            flow.fail(number, {"code": INVALID_PARAMS, "message": text, "data": {"code": "AMBIGUOUS_OUTCOME"}})
            return
        answers = params.get("inputResponses")
        answer = answers.get(_INPUT) if isinstance(answers, dict) else None
        if isinstance(answer, dict):
            flow.reply(paused.question, answer)
        else:
            flow.refuse(paused.question, INTERNAL_ERROR, "the client did not answer")
        entry = paused.call._replace(number=number)
        if paused.early is not None:
            self._answer(entry, paused.early, flow)
            return
        self._keep(paused.wire_id, entry)
        self._resumed[number] = paused.wire_id
        self._follow_progress(entry.meta.get("progressToken"), params["_meta"].get("progressToken"))

    def _answered_early(self, wire_id: int, response: Response) -> bool:
        for state, paused in self._paused.items():
            if paused.wire_id == wire_id:
                self._paused[state] = paused._replace(early=response)
                return True
        return False

    def _follow_progress(self, old: object, new: object) -> None:
        """The worker knows the call by the token of its first request."""
        if is_request_id(old) and is_request_id(new) and old != new:
            self._tokens[old] = new  # type: ignore[index,assignment]
            while len(self._tokens) > MAX_PAUSED:
                del self._tokens[next(iter(self._tokens))]

    def _retell_progress(self, note: Notification, flow: Flow) -> bool:
        token = note.params.get("progressToken")
        if not is_request_id(token) or token not in self._tokens:
            return False
        flow.tell(note.method, {**note.params, "progressToken": self._tokens[token]})
        return True

    # --- who hears what ----------------------------------------------------------------------------------------

    def _wants(self, level: object) -> bool:
        place = LEVELS.index(level) if isinstance(level, str) and level in LEVELS else -1
        return any(entry.level <= place for entry in self._open.values())

    def _listeners_of(self, uri: object) -> list[int]:
        if not isinstance(uri, str):
            return []
        # What is told may be about a part of what was subscribed to.
        return [
            number
            for number, kept in self._listens.items()
            if any(uri == one or uri.startswith(one.rstrip("/") + "/") for one in kept.get(_URIS, ()))
        ]

    def _tell_listeners(self, numbers: list[int], note: Notification, flow: Flow) -> None:
        meta = note.params.get("_meta")
        for number in numbers:
            tagged = {**(meta if isinstance(meta, dict) else {}), META_SUBSCRIPTION: number}
            flow.tell(note.method, {**note.params, "_meta": tagged})


def _can(entry: _Open, capability: str) -> bool:
    named = entry.meta.get(META_CAPABILITIES)
    return isinstance(named, dict) and isinstance(named.get(capability), dict)
