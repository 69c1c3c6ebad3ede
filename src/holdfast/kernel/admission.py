"""What a client says: requests are admitted or refused, the handshake is followed, the rest is passed on.

Nothing is refused here that a server could answer itself, except what the host must be sure of: that ids in flight
are unique, that the session has one handshake, and that what waits is bounded.
"""

from typing import Any

from holdfast.kernel.accounting import failure_of_fault, tell_refusal
from holdfast.kernel.answers import answer_stored, end_with_result
from holdfast.kernel.cancellation import cancel
from holdfast.kernel.inputs import FromClient, OutcomeFound
from holdfast.kernel.lost_state import note_client
from holdfast.kernel.policy import Policy
from holdfast.kernel.quarantine import is_quarantined, quarantine_fault
from holdfast.kernel.relay import client_answered
from holdfast.kernel.replies import fault_answer
from holdfast.kernel.rules import describes_itself
from holdfast.kernel.state import Lookup, Pending, Role, Session, WorkerPhase
from holdfast.kernel.turn import Turn, due_time
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.execution import SessionPhase
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.ids import is_request_id
from holdfast.wire.envelope import (
    INVALID_REQUEST,
    Notification,
    Request,
    Response,
    error_message,
    result_message,
)

__all__ = ["client_said", "first_beat", "outcome_found", "pending_request"]

_DEAF = frozenset({WorkerPhase.STARTING, WorkerPhase.INITIALIZING, WorkerPhase.STOPPING})
_INITIALIZED = frozenset({"notifications/initialized", "initialized"})


def client_said(turn: Turn, said: FromClient) -> None:
    """Take one message of the client."""
    message = said.message
    if isinstance(message, Request):
        _request(turn, message, said)
    elif isinstance(message, Notification):
        _notification(turn, message, said.frame)
    elif isinstance(message, Response):
        client_answered(turn, message, said.frame)


def outcome_found(turn: Turn, found: OutcomeFound) -> None:
    """The store has told what it knows about the key of a call."""
    entry = next((one for one in turn.state.pending.values() if one.sequence == found.id), None)
    if entry is None or entry.lookup is not Lookup.ASKED:
        return  # it was cancelled meanwhile
    if found.conflict:
        problem = fault("KEY_CONFLICT", found.conflict, hint="Use a new key for a new request.")
        end_with_result(turn, entry, problem)
    elif found.result is not None:
        answer_stored(turn, entry, found.result)
    else:
        turn.put(entry._replace(lookup=Lookup.CLEAR))


# --- requests ----------------------------------------------------------------------------------------------------


def _request(turn: Turn, request: Request, said: FromClient) -> None:
    state = turn.state
    if not said.is_own:
        turn.count("requests")
    if request.id in state.pending:
        _refuse(turn, request, f"request id {request.id!r:.80} is still in flight")
    elif request.method == "initialize" and state.session.phase is not SessionPhase.COLD:
        _refuse(turn, request, "the session is already initialized")
    elif request.method == "ping" and META_REVISION not in _meta(request):
        turn.count("answered")
        tell_refusal(turn, request)
        turn.tell_client(result_message(request.id, {}), request.id)  # the session lives, whatever the worker does
    else:
        _admit(turn, request, said)


def pending_request(request: Request, frame: bytes, policy: Policy, accepted_at: float, sequence: int) -> Pending:
    """A request as it is kept once it was accepted."""
    name = request.params.get("name") if request.method == "tools/call" else None
    meta = _meta(request)
    token = meta.get("progressToken")
    timed = policy.deadline and request.method != "initialize"
    return Pending(
        id=request.id,
        sequence=sequence,
        method=request.method,
        tool=name if isinstance(name, str) else request.method,
        params=request.params,
        frame=frame,
        accepted_at=accepted_at,
        token=token if is_request_id(token) else None,
        is_modern=describes_itself(request.method, request.params),
        due=due_time(accepted_at + policy.deadline, accepted_at) if timed else 0.0,
    )


def first_beat(entry: Pending, policy: Policy, now: float) -> float:
    """When a client that wants to hear of progress gets its first sign of life."""
    wanted = entry.token is not None and entry.method != "initialize"
    return now + policy.heartbeat if wanted and policy.heartbeat else 0.0


def _meta(request: Request) -> dict[str, Any]:
    meta = request.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _admit(turn: Turn, request: Request, said: FromClient) -> None:
    state, frame = turn.state, said.frame
    entry = pending_request(request, frame, state.policy, turn.now, state.next_sequence)
    entry = entry._replace(is_own=said.is_own, client=said.client)
    if said.client not in state.clients and not said.is_own:
        note_client(state, said.client)
    crowded = len(state.pending) >= state.policy.pending_max
    heavy = bool(state.pending) and state.bytes_pending + len(frame) > state.policy.pending_bytes
    if crowded or heavy:
        queue = {"max": state.policy.pending_max, "size": len(state.pending)}
        problem = fault("QUEUE_OVERLOADED", "too many requests are in flight", details={"queue": queue})
        _not_admitted(turn, request, entry, problem)
        return
    if state.blamed and is_quarantined(turn, entry):
        _not_admitted(turn, request, entry, quarantine_fault(turn, entry))
        return
    state.next_sequence += 1
    state.bytes_pending += len(frame)
    state.waiting[request.id] = None
    turn.put(entry._replace(beat_at=first_beat(entry, state.policy, turn.now)))
    if request.method == "initialize":
        state.session = Session(SessionPhase.INITIALIZING, frame, self_description=state.session.self_description)
    elif entry.is_modern and state.session.self_description is None:
        _remember_description(turn, _meta(request))


def _not_admitted(turn: Turn, request: Request, entry: Pending, problem: Fault) -> None:
    turn.count_of(entry, "refused")
    turn.count_of(entry, "answered")
    if not entry.is_own:
        tell_refusal(turn, request, failure_of_fault(problem))
    after = round(1000 * problem.details.get("seconds", 0))
    turn.tell_client(fault_answer(entry, problem, turn.state.active, after), request.id)


def _remember_description(turn: Turn, meta: dict[str, Any]) -> None:
    """How the client describes itself: the host's own questions to a worker must be asked in the same way."""
    if meta.get(META_REVISION) == MODERN and isinstance(meta.get(META_CAPABILITIES), dict):
        described = {key: value for key, value in meta.items() if key.startswith("io.modelcontextprotocol/")}
        turn.state.session = turn.state.session._replace(self_description=described)


def _refuse(turn: Turn, request: Request, message: str) -> None:
    turn.count("refused")
    turn.count("answered")
    tell_refusal(turn, request, failure_of_fault(fault("INVALID_REQUEST", message)))
    data = {"code": "INVALID_REQUEST"}
    turn.tell_client(error_message(request.id, INVALID_REQUEST, message, data))


# --- notifications -----------------------------------------------------------------------------------------------


def _notification(turn: Turn, note: Notification, frame: bytes) -> None:
    if note.method == "notifications/cancelled":
        cancel(turn, note.params.get("requestId"), Stop.CANCELLED_NOTIFICATION)
    elif note.method == "$/cancelRequest":
        cancel(turn, note.params.get("id"), Stop.CANCEL_REQUEST)
    elif note.method in _INITIALIZED:
        _initialized(turn, frame)
    else:
        _pass_on(turn, frame)


def _initialized(turn: Turn, frame: bytes) -> None:
    session = turn.state.session
    if session.phase is SessionPhase.COLD or session.initialized is not None:
        turn.count("unmatched")  # too early, or said twice: no server needs to hear it
        return
    if session.phase is SessionPhase.INITIALIZING:
        turn.state.session = session._replace(initialized=frame)
        _pass_behind_handshake(turn, frame)
        return
    turn.state.session = session._replace(phase=SessionPhase.LIVE, initialized=frame)
    for worker in turn.state.workers.values():
        # The others will be told of it together with the handshake; one that makes way need not know.
        if worker.phase not in _DEAF and worker.role is not Role.RETIRED:
            turn.pass_to_worker(worker, frame)


def _pass_behind_handshake(turn: Turn, frame: bytes) -> None:
    """Some clients do not wait for the answer; a worker that has yet to get the request gets both together."""
    for entry in turn.state.pending.values():
        if entry.method == "initialize" and entry.is_in_flight and entry.generation in turn.state.workers:
            turn.pass_to_worker(turn.state.workers[entry.generation], frame)


def _pass_on(turn: Turn, frame: bytes) -> None:
    worker = turn.active
    if worker is None or worker.phase in _DEAF:
        turn.count("unheard")  # the next worker is told of the handshake anyway, and knows nothing of the rest
    else:
        turn.pass_to_worker(worker, frame)
