"""Between the kernel and the pipe of one worker: finds out which era the worker is of, and translates if it must.

The kernel believes that every worker speaks as the client does. Where that is true, nothing is touched, byte for
byte, and nothing is looked at but whether a message names a revision. Where it is not, the bridge finds out by
asking: a client that describes itself has its worker asked `server/discover` first; `initialize` of a client with
a handshake is passed on as it is, and only a refusal (or a long silence) makes the bridge ask the other way.
Whatever answers first and well decides. A worker that answers neither well is left to speak for itself.

It is a machine without clock and pipes: messages and times in, a `Flow` out.
"""

from collections import deque
from enum import Enum
from typing import Any, NamedTuple, TypeGuard

from holdfast.host.era_flow import EraMemory, Flow, read
from holdfast.host.era_handshake_worker import HandshakeWorker
from holdfast.present.eras import (
    UNSUPPORTED_REVISION,
    client_description,
    initialize_params,
    is_discovery,
    is_handshake,
    names_modern,
)
from holdfast.present.handshake_session import OWN, HandshakeSession
from holdfast.present.profile import LATEST_HANDSHAKE, META_CAPABILITIES, META_REVISION, MODERN
from holdfast.version import __version__
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Message,
    Notification,
    Request,
    Response,
)

__all__ = ["PATIENCE", "EraBridge"]

# Seconds without an answer until the other question is asked as well. A slow start must not be taken for a
# refusal: a worker of both eras that is asked both would be in a handshake that its client knows nothing of.
PATIENCE = 10.0
MAX_HELD = 10_000  # messages that wait for the answer; the kernel has a bound of its own, far below

# The key in a request that describes itself, as far as it is written the same in every spelling of JSON.
_REVISION_KEY = b"/" + META_REVISION.rpartition("/")[2].encode()
_INITIALIZE = b'"initialize"'
_CANCELLED = "notifications/cancelled"
_INITIALIZED = frozenset({"notifications/initialized", "initialized"})
_REFUSALS = frozenset({INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS})
_PROBE = f"{OWN}discover"
_SHAKE = f"{OWN}initialize"
_HOST = {"name": "holdfast", "version": __version__}


class _Phase(Enum):
    OPEN = "nothing was said that would tell"
    OFFERED = "the client's own handshake is with the worker"
    ASKING = "the worker is being asked; the rest waits"
    HANDSHAKE = "the worker knows the handshake"
    MODERN = "the worker wants requests that describe themselves"
    PASSING = "whatever it is, nothing is translated"


class _Step(Enum):
    NOT_ASKED = 1
    ASKED = 2
    FAILED = 3


class _Held(NamedTuple):
    """A message that waits until the worker is known; `number` is its id, if it has one."""

    payload: bytes
    attempt: int
    number: RequestId | None


class EraBridge:
    """The bridge of one worker process; `speaks_both` says that there is nothing to find out."""

    def __init__(self, memory: EraMemory, *, speaks_both: bool = False) -> None:
        self.due = 0.0  # when `tick` wants to be called; 0 is never
        self._memory = memory
        self._held: deque[_Held] = deque()
        self._meta: dict[str, Any] = {}  # how the client describes itself
        self._offer: Request | None = None  # the client's own `initialize`
        self._refusal: tuple[Message, bytes] | None = None  # what the worker said to it
        self._discover = self._shake = _Step.NOT_ASKED
        self._probe_id: RequestId = _PROBE
        self._initialized: dict[str, Any] = {}
        self._discovered: dict[str, Any] = {}
        self._older: HandshakeWorker | None = None  # in use once something had to be translated
        self._newer: HandshakeSession | None = None
        self._is_own_handshake = False
        self._also: Request | None = None  # a handshake with a worker of the other era, which may know both
        self._now = 0.0
        self.listens = False  # whether what the worker says must come through `from_worker`
        self._enter(_Phase.PASSING if speaks_both else _Phase.OPEN)

    @property
    def held(self) -> frozenset[int]:
        """The attempts that no byte was sent of, since they wait here."""
        return frozenset(one.attempt for one in self._held if one.attempt)

    def wants(self, payload: bytes) -> bool:
        """Whether a message for the worker must come through `to_worker`; otherwise it is sent as it is."""
        if self._takes_all or self._takes_none:
            return self._takes_all
        names_revision = payload.find(_REVISION_KEY) >= 0  # faster than `in`, which tries a number first
        return names_revision is not self._is_modern or (self._is_open and payload.find(_INITIALIZE) >= 0)

    def _enter(self, phase: _Phase) -> None:
        """What every message is asked must be cheap to answer, so it is worked out here."""
        self._phase = phase
        self._takes_none = phase is _Phase.PASSING
        self._takes_all = phase is _Phase.ASKING or self._older is not None
        self._is_open = phase is _Phase.OPEN
        self._is_modern = phase is _Phase.MODERN
        in_doubt = phase is _Phase.OFFERED or phase is _Phase.ASKING or self._also is not None
        self.listens = in_doubt or self._older is not None or self._newer is not None

    # --- from the kernel ---------------------------------------------------------------------------------------

    def to_worker(self, payload: bytes, now: float, attempt: int = 0) -> Flow:
        """Take a message of the kernel."""
        self._now = now
        flow = Flow()
        message = read(payload)
        if self._phase in {_Phase.OPEN, _Phase.OFFERED}:
            self._first(message, payload, attempt, now, flow)
        elif self._phase is _Phase.ASKING:
            self._hold(message, payload, attempt, flow)
        else:
            self._route(message, payload, attempt, flow)
        return flow

    def _first(self, message: Message | None, payload: bytes, attempt: int, now: float, flow: Flow) -> None:
        if isinstance(message, Request) and _describes_itself(message):
            if self._phase is _Phase.OPEN:
                self._begin_asking(message, payload, attempt, now, flow)
            else:
                # Until the client's handshake has shown what the worker is.
                self._held.append(_Held(payload, attempt, message.id))
        elif _is_handshake_offer(message) and self._phase is _Phase.OPEN:
            self._take_offer(message, payload, attempt, now, flow)
        else:
            flow.to_worker.append((payload, attempt))

    def _begin_asking(self, request: Request, payload: bytes, attempt: int, now: float, flow: Flow) -> None:
        """A client that describes itself has said its first word to a worker that nobody knows."""
        self._enter(_Phase.ASKING)
        self._meta = request.params["_meta"]
        handshake_first = self._memory.begins_with == "handshake"
        self._memory.begins_with = "handshake"  # should the worker not survive the question
        if handshake_first:
            self._held.append(_Held(payload, attempt, request.id))
            self._say_initialize(now, flow)
        elif request.method == "server/discover":  # the client asks the very same
            self._probe_id = request.id
            self._held.append(_Held(payload, attempt, request.id))
            self._discover = _Step.ASKED
            self.due = now + PATIENCE
            flow.to_worker.append((payload, attempt))
        else:
            self._held.append(_Held(payload, attempt, request.id))
            self._ask_discover(now, flow)

    def _take_offer(self, request: Request, payload: bytes, attempt: int, now: float, flow: Flow) -> None:
        """A client with a handshake has said its first word to a worker that nobody knows."""
        self._offer = request
        self._meta = client_description(request.params)
        if self._memory.begins_with == "discover":
            self._enter(_Phase.ASKING)
            self._held.append(_Held(payload, attempt, request.id))
            self._ask_discover(now, flow)
        else:
            self._enter(_Phase.OFFERED)
            self._shake = _Step.ASKED
            self.due = now + PATIENCE
            flow.to_worker.append((payload, attempt))

    def _hold(self, message: Message | None, payload: bytes, attempt: int, flow: Flow) -> None:
        if isinstance(message, Response):
            flow.to_worker.append((payload, attempt))  # an answer to the worker itself
        elif isinstance(message, Notification) and message.method == _CANCELLED:
            self._drop(message.params.get("requestId"))
        elif len(self._held) < MAX_HELD:
            number = message.id if isinstance(message, Request) else None
            self._held.append(_Held(payload, attempt, number))

    def _drop(self, number: object) -> None:
        self._held = deque(one for one in self._held if one.number is None or one.number != number)

    def _route(self, message: Message | None, payload: bytes, attempt: int, flow: Flow) -> None:
        """Take a message once the worker is known."""
        handled = False
        if self._phase is _Phase.HANDSHAKE:
            if self._older is None and isinstance(message, Request) and _describes_itself(message):
                self._ask_whether_both(message, payload, attempt, flow)
                return
            handled = self._to_older(message, attempt, flow)
        elif self._phase is _Phase.MODERN:
            handled = self._to_newer(message, attempt, flow)
        if not handled:
            flow.to_worker.append((payload, attempt))

    def _to_older(self, message: Message | None, attempt: int, flow: Flow) -> bool:
        if isinstance(message, Request):
            if _describes_itself(message) and self._older is not None:
                self._older.take(message, attempt, flow)
                return True
            if message.method == "initialize" and self._is_own_handshake and self._older is not None:
                self._older.is_shared = True  # the worker has had its handshake; a second one it would refuse
                flow.answer(message.id, self._initialized)
                return True
        elif isinstance(message, Notification) and self._older is not None:
            if message.method == _CANCELLED:
                return self._older.cancelled(message.params.get("requestId"), flow)
            return message.method in _INITIALIZED and self._is_own_handshake
        return False

    def _to_newer(self, message: Message | None, attempt: int, flow: Flow) -> bool:
        if isinstance(message, Request) and not _describes_itself(message):
            if self._newer is None and _is_handshake_offer(message):
                self._also = message  # passed on as it is: it may be a worker of both eras
                self.due = self._now + PATIENCE
                self._enter(self._phase)
            if self._newer is None:
                return False
            self._newer.take(message, attempt, flow)
            return True
        if self._newer is None:
            return False
        if isinstance(message, Notification):
            # Of what such clients notify, the worker knows cancellations only.
            return self._newer.cancelled(message, flow) if message.method == _CANCELLED else True
        return isinstance(message, Response) and self._newer.replied(message, flow)

    # --- from the worker ---------------------------------------------------------------------------------------

    def from_worker(self, message: Message, frame: bytes, now: float) -> Flow:
        """Take a message of the worker."""
        self._now = now
        flow = Flow()
        if self._also is not None and isinstance(message, Response) and message.id == self._also.id:
            self._judge_also(message, frame, flow)
        elif self._phase in {_Phase.OFFERED, _Phase.ASKING}:
            if not self._judge(message, frame, now, flow):
                flow.to_host.append((message, frame))
        elif not self._translated(message, flow):
            flow.to_host.append((message, frame))
        return flow

    def forget(self, number: int) -> None:
        """An answer has come that nobody can read; whoever waited for it is told so by others."""
        if self._older is not None:
            self._older.forget(number)
        if self._newer is not None:
            self._newer.forget(number)

    def _translated(self, message: Message, flow: Flow) -> bool:
        older, newer = self._older, self._newer
        if isinstance(message, Response):
            return (older is not None and older.answered(message, flow)) or (
                newer is not None and newer.answered(message, flow)
            )
        if isinstance(message, Notification):
            return (older is not None and older.told(message, flow)) or (
                newer is not None and newer.told(message, flow)
            )
        return older is not None and older.asked(message, flow)

    # --- finding out -------------------------------------------------------------------------------------------

    def tick(self, now: float) -> Flow:
        """Take note of the time."""
        flow = Flow()
        if self.due and now >= self.due:
            self.due = 0.0
            if self._phase is _Phase.OFFERED:
                self._enter(_Phase.ASKING)
            if self._also is not None:
                self._translate_handshake(self._also, flow)
            elif self._phase is _Phase.ASKING and self._initialized:
                self._translate_for_modern(flow)
            elif self._phase is _Phase.ASKING:
                self._ask_the_other_way(now, flow)
        return flow

    # --- whether a worker of one era knows the other as well -----------------------------------------------------

    def _ask_whether_both(self, request: Request, payload: bytes, attempt: int, flow: Flow) -> None:
        """A request describes itself, in a session with a handshake."""
        self._meta = request.params["_meta"]
        self._held.append(_Held(payload, attempt, request.id))
        self._enter(_Phase.ASKING)
        self._ask_discover(self._now, flow)
        self.due = self._now + PATIENCE

    def _translate_for_modern(self, flow: Flow) -> None:
        self._older = HandshakeWorker(self._initialized, is_shared=True)
        self._enter(_Phase.HANDSHAKE)
        self._release(flow)

    def _judge_also(self, response: Response, frame: bytes, flow: Flow) -> None:
        """What a worker that can be discovered says to a handshake."""
        offered, error = self._also, response.error
        assert offered is not None
        if error is not None and error["code"] in {*_REFUSALS, UNSUPPORTED_REVISION}:
            self._translate_handshake(offered, flow)
            return
        self._also, self.due = None, 0.0
        self._enter(self._phase if error is not None else _Phase.PASSING)
        flow.to_host.append((response, frame))

    def _translate_handshake(self, offered: Request, flow: Flow) -> None:
        self._also, self.due = None, 0.0
        self._newer = HandshakeSession(self._discovered, offered.params)
        self._newer.introduce(offered.id, flow)
        self._enter(_Phase.MODERN)

    def _ask_the_other_way(self, now: float, flow: Flow) -> None:
        """Try what was not tried yet; the answer to what was asked before still counts."""
        if self._discover is _Step.NOT_ASKED:
            self._ask_discover(now, flow)
        elif self._shake is _Step.NOT_ASKED:
            self._say_initialize(now, flow)
        elif self._discover is self._shake is _Step.FAILED:
            self._give_up(flow)

    def _ask_discover(self, now: float, flow: Flow) -> None:
        self._discover = _Step.ASKED
        self.due = now + PATIENCE if self._shake is _Step.NOT_ASKED else 0.0
        named = self._meta.get(META_CAPABILITIES)
        described = {META_REVISION: MODERN, META_CAPABILITIES: named if isinstance(named, dict) else {}}
        known = {key: value for key, value in self._meta.items() if key.startswith("io.modelcontextprotocol/")}
        flow.ask(_PROBE, "server/discover", {"_meta": {**known, **described}})

    def _say_initialize(self, now: float, flow: Flow) -> None:
        self._shake = _Step.ASKED
        self.due = now + PATIENCE if self._discover is _Step.NOT_ASKED else 0.0
        if self._offer is not None:
            own = self._held.popleft()  # the client's, which was held back and waits in front
            flow.to_worker.append((own.payload, own.attempt))
        else:
            flow.ask(_SHAKE, "initialize", initialize_params(self._meta, LATEST_HANDSHAKE, _HOST))

    def _judge(self, message: Message, frame: bytes, now: float, flow: Flow) -> bool:
        """Whether a message was about what the worker is; it may settle it."""
        if not isinstance(message, Response):
            return isinstance(message, Notification) and self._offer is None  # nobody asked to hear of it
        number = message.id
        shake_id = _SHAKE if self._offer is None else self._offer.id
        if number is None and self._offer is None:  # it could not even read the question: the last one
            number = shake_id if self._shake is _Step.ASKED else self._probe_id
        if number in {_PROBE, self._probe_id} and self._discover is _Step.ASKED:
            self._judge_discovery(message, frame, now, flow)
            return True
        if number == shake_id and self._shake is _Step.ASKED:
            self._judge_handshake(message, frame, now, flow)
            return True
        return False

    def _judge_discovery(self, response: Response, frame: bytes, now: float, flow: Flow) -> None:
        is_clients = self._probe_id != _PROBE
        data = response.error.get("data") if response.error is not None else None
        other = response.error is not None and response.error["code"] == UNSUPPORTED_REVISION
        supported = data.get("supported") if isinstance(data, dict) else None
        if is_discovery(response.result) or (is_clients and other and names_modern(supported)):
            self._settle_modern(response, frame, flow)
        elif self._initialized:
            self._translate_for_modern(flow)
        else:
            self._discover = _Step.FAILED
            self._ask_the_other_way(now, flow)

    def _judge_handshake(self, response: Response, frame: bytes, now: float, flow: Flow) -> None:
        if self._offer is not None:
            self._judge_offer(response, frame, now, flow)
        elif is_handshake(response.result):
            flow.notify("notifications/initialized")
            self._is_own_handshake = True
            self._older = HandshakeWorker(response.result, is_shared=False)
            self._settle_handshake(response, flow)
        else:
            self._shake = _Step.FAILED
            self._ask_the_other_way(now, flow)

    def _judge_offer(self, response: Response, frame: bytes, now: float, flow: Flow) -> None:
        error = response.error
        if error is None:
            flow.to_host.append((response, frame))
            self._settle_handshake(response, flow)
            return
        self._refusal = (response, frame)
        self._shake = _Step.FAILED
        data = error.get("data")
        named = isinstance(data, dict) and names_modern(data.get("supported"))
        if error["code"] in _REFUSALS or (error["code"] == UNSUPPORTED_REVISION and named):
            self._enter(_Phase.ASKING)
            self._ask_the_other_way(now, flow)
        else:
            self._give_up(flow)

    # --- what it is --------------------------------------------------------------------------------------------

    def _settle_handshake(self, response: Response, flow: Flow) -> None:
        self._enter(_Phase.HANDSHAKE)
        self._initialized = response.result if isinstance(response.result, dict) else {}
        self._release(flow)

    def _settle_modern(self, response: Response, frame: bytes, flow: Flow) -> None:
        if self._initialized:  # it has had a handshake before
            self._enter(_Phase.PASSING)
            self._release(flow)
            return
        self._discovered = response.result if isinstance(response.result, dict) else {}
        self._memory.begins_with = ""
        if self._probe_id != _PROBE:
            flow.to_host.append((response, frame))
            self._drop(self._probe_id)
        if self._offer is not None:
            self._memory.begins_with = "discover"
            self._drop(self._offer.id)
            self._newer = HandshakeSession(self._discovered, self._offer.params)
            self._newer.introduce(self._offer.id, flow)
        self._enter(_Phase.MODERN)
        self._release(flow)

    def _give_up(self, flow: Flow) -> None:
        """The worker knows neither: whatever it says to whoever asks is the answer."""
        self.due = 0.0
        if self._offer is None:
            self._enter(_Phase.PASSING)
        else:  # another attempt of the client begins from the beginning
            self._enter(_Phase.OPEN)
            self._offer = None
            self._discover = self._shake = _Step.NOT_ASKED
            if self._refusal is not None:
                flow.to_host.append(self._refusal)
        self._release(flow)

    def _release(self, flow: Flow) -> None:
        self.due = 0.0
        held, self._held = self._held, deque()
        for one in held:
            self._route(read(one.payload), one.payload, one.attempt, flow)


def _is_handshake_offer(message: Message | None) -> TypeGuard[Request]:
    """Whether a worker that refuses this says something about itself, and not about the client's mistake."""
    if not isinstance(message, Request) or message.method != "initialize":
        return False
    return isinstance(message.params.get("protocolVersion"), str)


def _describes_itself(request: Request) -> bool:
    meta = request.params.get("_meta")
    return isinstance(meta, dict) and META_REVISION in meta
