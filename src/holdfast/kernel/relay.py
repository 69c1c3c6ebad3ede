"""What workers say, and where it goes: answers to attempts, answers to the host's own questions, the rest.

Only the active worker is heard by the client. One that has made way and still finishes calls may ask and report
what these need, and its answers count; a late, doubled or made-up answer is counted and dropped, and never harms
anybody.
"""

from typing import Any

from holdfast.kernel.answers import complete, end_garbled
from holdfast.kernel.inputs import FromWorker, GarbledAnswer
from holdfast.kernel.probes import probe_answered
from holdfast.kernel.state import Callback, Errand, ErrandKind, Pending, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn, due_time
from holdfast.kernel.workers import handshake_answered, list_tools, tools_listed
from holdfast.vocabulary.ids import is_request_id
from holdfast.wire.codec import encode
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    result_message,
)
from holdfast.wire.splice import replace_id

__all__ = ["client_answered", "worker_garbled", "worker_said"]

_DIGITS = 20  # no id of the host's own is longer
_LARGEST = 1e300  # beyond it numbers cannot be counted on any more
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def worker_said(turn: Turn, said: FromWorker) -> None:
    """Take one message of a worker."""
    worker = turn.state.workers.get(said.generation)
    if worker is None:
        turn.count("late")
        return
    worker = turn.put_worker(worker._replace(heard_at=turn.now))
    message = said.message
    if isinstance(message, Response):
        _answer(turn, worker, message, said.frame)
    elif isinstance(message, Request):
        _request(turn, worker, message, said.frame)
    else:
        _notification(turn, worker, message, said.frame)


def worker_garbled(turn: Turn, said: GarbledAnswer) -> None:
    """Take an answer that nobody can read: whoever waits for it is told so."""
    state = turn.state
    worker = state.workers.get(said.generation)
    request_id = state.attempts.get(said.id)
    if worker is not None and request_id is not None and state.pending[request_id].generation == said.generation:
        turn.put_worker(worker._replace(heard_at=turn.now))
        end_garbled(turn, state.pending[request_id], said.problem)
        return
    # The host's own questions, and what nobody asked, end as with an error.
    error = {"code": INTERNAL_ERROR, "message": said.problem.message}
    worker_said(turn, FromWorker(said.generation, Response(said.id, None, error), b""))


def _answer(turn: Turn, worker: Worker, response: Response, frame: bytes) -> None:
    state = turn.state
    number = response.id
    if type(number) is not int:
        turn.count("late")  # the host's own ids are numbers: nobody was asked this
        return
    request_id = state.attempts.get(number)
    if request_id is not None and state.pending[request_id].generation == worker.generation:
        complete(turn, state.pending[request_id], response, frame)
        return
    errand = state.errands.get(number)
    if errand is not None and errand.generation == worker.generation:
        del state.errands[number]
        # One that is being ended is not prepared any further, but what its probe says is still true.
        if worker.phase is not WorkerPhase.STOPPING or errand.kind in {ErrandKind.PROBE, ErrandKind.PING}:
            _errand_answered(turn, worker, number, errand, response, len(frame))
        return
    state.tombstones.pop(number, None)
    turn.count("late")


def _errand_answered(
    turn: Turn, worker: Worker, number: int, errand: Errand, response: Response, size: int
) -> None:
    if errand.kind is ErrandKind.INITIALIZE:
        handshake_answered(turn, worker, response)
    elif errand.kind is ErrandKind.LIST_TOOLS:
        tools_listed(turn, worker, response, size)
    elif errand.kind is ErrandKind.PING:
        if worker.ping == number:
            turn.put_worker(worker._replace(ping=0))
    elif errand.kind is ErrandKind.RESTORE:
        if response.error is not None:
            turn.count("facts_refused")
    else:
        probe_answered(turn, number, errand, response)


# --- what a worker asks the client -------------------------------------------------------------------------------


def _request(turn: Turn, worker: Worker, request: Request, frame: bytes) -> None:
    state = turn.state
    if request.method == "ping":
        turn.pass_to_worker(worker, encode(result_message(request.id, {})))
    elif not _is_heard(worker):
        text = f"{request.method[:80]} is not possible before this worker serves a client"
        turn.pass_to_worker(worker, encode(error_message(request.id, METHOD_NOT_FOUND, text)))
    elif len(state.callbacks) >= state.policy.callbacks_max:
        text = f"the client has not answered {len(state.callbacks)} earlier requests"
        turn.pass_to_worker(worker, encode(error_message(request.id, -32001, text)))
    else:
        number = state.next_callback
        state.next_callback += 1
        state.callbacks[number] = Callback(worker.generation, request.id)
        turn.pass_to_client(replace_id(frame, number))


def _is_heard(worker: Worker) -> bool:
    """Whether the client hears what a worker has to say: a private handshake is nobody else's business."""
    if worker.role is Role.RETIRED:
        return worker.phase is not WorkerPhase.STOPPING
    return worker.role is Role.ACTIVE and worker.phase is not WorkerPhase.INITIALIZING


def client_answered(turn: Turn, response: Response, frame: bytes) -> None:
    """The client has answered something that a worker asked."""
    number = response.id
    callback = turn.state.callbacks.pop(number, None) if type(number) is int else None
    worker = turn.state.workers.get(callback.generation) if callback is not None else None
    if callback is None or worker is None:
        turn.count("late")
        return
    turn.pass_to_worker(worker, replace_id(frame, callback.id))


# --- what a worker tells the client ------------------------------------------------------------------------------


def _notification(turn: Turn, worker: Worker, note: Notification, frame: bytes) -> None:
    if note.method == "notifications/progress":
        _progress(turn, worker, note, frame)
    elif not _is_heard(worker):
        turn.count("unheard")
    elif note.method == "notifications/cancelled":
        _withdraw(turn, worker, note)
    elif worker.role is Role.RETIRED and note.method != "notifications/message":
        turn.count("unheard")  # what it has and what of that changes is not the client's concern any more
    else:
        listed = worker.phase in {WorkerPhase.LISTING, WorkerPhase.READY}
        if note.method == "notifications/tools/list_changed" and listed:
            list_tools(turn, worker)
        turn.pass_to_client(_with_subscription(turn, worker, note, frame))


def _progress(turn: Turn, worker: Worker, note: Notification, frame: bytes) -> None:
    """Pass progress on while its request is in flight, and only as long as its numbers rise."""
    entry = _request_of(turn, worker, note.params)
    given: Any = note.params.get("progress")
    number: float = given if type(given) in {int, float} and abs(given) <= _LARGEST else 0.0
    # A repeated call counts from its beginning again; the client hears of it when it is further than before.
    counted = entry is not None and (entry.replays or entry.has_beaten)
    if entry is None or entry.call.stop is not None or (counted and number <= entry.progress):
        turn.count("late")
        return
    policy = turn.state.policy
    rule = entry.rule
    due = entry.due
    if rule is not None and rule.deadline and not rule.is_ours:
        due = turn.now + rule.deadline
        last = due_time(entry.accepted_at + rule.deadline_total, turn.now)
        due = min(due, last) if rule.deadline_total else due
    beat_at = turn.now + policy.heartbeat if entry.beat_at else 0.0
    turn.put(entry._replace(progress=max(entry.progress, number), due=due, beat_at=beat_at))
    turn.pass_to_client(_with_request_id(entry, note, frame), about=entry.id)


def _request_of(turn: Turn, worker: Worker, params: dict[str, Any]) -> Pending | None:
    """The request that progress is about: by its token, or by its id where no token was needed."""
    token = params.get("progressToken")
    if is_request_id(token):
        for entry in turn.state.pending.values():
            if entry.token == token and type(entry.token) is type(token) and entry.generation == worker.generation:
                return entry if entry.is_in_flight else None
    return _attempt_of(turn, worker, params.get("id"))


def _attempt_of(turn: Turn, worker: Worker, number: object) -> Pending | None:
    request_id = turn.state.attempts.get(number) if type(number) is int else None
    entry = turn.state.pending[request_id] if request_id is not None else None
    return entry if entry is not None and entry.generation == worker.generation else None


def _with_request_id(entry: Pending, note: Notification, frame: bytes) -> bytes:
    if note.params.get("id") != entry.attempt:
        return frame
    return encode(notification_message(note.method, {**note.params, "id": entry.id}))


def _with_subscription(turn: Turn, worker: Worker, note: Notification, frame: bytes) -> bytes:
    meta = note.params.get("_meta")
    attempt = meta.get(_SUBSCRIPTION) if isinstance(meta, dict) else None
    if isinstance(attempt, str) and attempt.isascii() and attempt.isdigit() and len(attempt) < _DIGITS:
        attempt = int(attempt)
    entry = _attempt_of(turn, worker, attempt)
    if entry is None or not isinstance(meta, dict):
        return frame
    params = {**note.params, "_meta": {**meta, _SUBSCRIPTION: entry.id}}
    return encode(notification_message(note.method, params))


def _withdraw(turn: Turn, worker: Worker, note: Notification) -> None:
    """The worker no longer wants an answer to something that it asked the client."""
    wanted = note.params.get("requestId")
    for number, callback in turn.state.callbacks.items():
        same = callback.id == wanted and type(callback.id) is type(wanted)
        if same and callback.generation == worker.generation:
            del turn.state.callbacks[number]
            params = {**note.params, "requestId": number}
            turn.tell_client(notification_message("notifications/cancelled", params))
            return
    turn.count("unmatched")
