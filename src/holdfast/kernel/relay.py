"""What workers say, and where it goes: answers to attempts, answers to the host's own questions, the rest.

Only the active worker is heard by the client. One that has made way and still finishes calls may ask and report
what these need, and its answers count; a late, doubled or made-up answer is counted and dropped, and never harms
anybody.
"""

from typing import Any

from holdfast.kernel.answers import complete, end_garbled
from holdfast.kernel.hedging import win
from holdfast.kernel.inputs import FromWorker, GarbledAnswer
from holdfast.kernel.lists import forget_lists
from holdfast.kernel.probes import probe_answered
from holdfast.kernel.relief import call_ended, heard_again
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Callback, Errand, ErrandKind, Pending, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn, due_time
from holdfast.kernel.vitals import Condition
from holdfast.kernel.workers import fact_restored, handshake_answered, list_tools_again, tools_listed
from holdfast.present.profile import META_SUBSCRIPTION
from holdfast.vocabulary.ids import is_request_id
from holdfast.vocabulary.meta import META_REQUEST, STUCK_WORK
from holdfast.wire.codec import encode
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    request_message,
    result_message,
)
from holdfast.wire.splice import replace_id

__all__ = ["client_answered", "leave_unanswered", "worker_garbled", "worker_said"]

_TAGS = (META_SUBSCRIPTION, META_REQUEST)  # of what a worker says about one request
_DIGITS = 20  # no id of the host's own is longer
_CLIENT_LEFT = "the client has closed its end"
_LARGEST = 1e300  # beyond it numbers cannot be counted on any more


def worker_said(turn: Turn, said: FromWorker) -> None:
    """Take one message of a worker."""
    worker = turn.state.workers.get(said.generation)
    if worker is None:
        turn.count("late")
        return
    worker = turn.put_worker(worker._replace(heard_at=turn.now))
    if worker.life.condition is not Condition.FINE and worker.life.condition is not Condition.STUCK:
        worker = heard_again(turn, worker)
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
    if worker is not None and request_id is not None and state.pending[request_id].is_with(said.generation):
        worker = turn.put_worker(worker._replace(heard_at=turn.now))
        call_ended(turn, worker)
        end_garbled(turn, win(turn, state.pending[request_id], said.id), said.problem)
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
    if request_id is not None and state.pending[request_id].is_with(worker.generation):
        entry = state.pending[request_id]
        if worker.is_refusing:
            worker = turn.put_worker(worker._replace(is_refusing=False))
        if worker.life.overdue_since and entry.method not in STREAM_METHODS:
            call_ended(turn, worker)
        complete(turn, entry, response, frame)
        return
    errand = state.errands.get(number)
    if errand is not None and errand.generation == worker.generation:
        del state.errands[number]
        # One that is being ended is not prepared any further, but what its probe says is still true.
        if worker.phase is not WorkerPhase.STOPPING or errand.kind in {ErrandKind.PROBE, ErrandKind.PING}:
            _errand_answered(turn, worker, number, errand, response, len(frame))
        return
    if state.tombstones.pop(number, None) is not None:
        call_ended(turn, worker)
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
            _ping_answered(turn, worker, number)
    elif errand.kind is ErrandKind.RESTORE:
        fact_restored(turn, worker, response)
    else:
        probe_answered(turn, number, errand, response)


def _ping_answered(turn: Turn, worker: Worker, number: int) -> None:
    """A worker has given a sign of life; one that does during a call can be expected to."""
    life = worker.life
    if not life.has_answered:
        at_work = any(
            entry.is_with(worker.generation)
            and entry.attempt_with(worker.generation) < number
            and entry.method not in STREAM_METHODS
            for entry in turn.state.pending.values()
        )
        life = life._replace(knows_ping=True, has_answered=at_work)
    turn.put_worker(worker._replace(ping=0, life=life))


# --- what a worker asks the client -------------------------------------------------------------------------------


def _request(turn: Turn, worker: Worker, request: Request, frame: bytes) -> None:
    state = turn.state
    if request.method == "ping":
        turn.pass_to_worker(worker, encode(result_message(request.id, {})))
    elif not _is_heard(worker):
        text = f"{request.method[:80]} is not possible before this worker serves a client"
        turn.pass_to_worker(worker, encode(error_message(request.id, METHOD_NOT_FOUND, text)))
    elif state.leaving_at:
        turn.pass_to_worker(worker, encode(error_message(request.id, INTERNAL_ERROR, _CLIENT_LEFT)))
    elif len(state.callbacks) >= state.policy.callbacks_max:
        text = f"the client has not answered {len(state.callbacks)} earlier requests"
        turn.pass_to_worker(worker, encode(error_message(request.id, -32001, text)))
    else:
        number = state.next_callback
        state.next_callback += 1
        entry, params = _said_about(turn, worker, request.params)
        if entry is None:
            state.callbacks[number] = Callback(worker.generation, request.id)
            turn.pass_to_client(replace_id(frame, number))
            return
        state.callbacks[number] = Callback(worker.generation, request.id, entry.id, turn.now)
        _give_time(turn, entry, state.policy.answer_timeout)
        turn.pass_to_client(encode(request_message(number, request.method, params)), about=entry.id)


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
    _take_time_back(turn, callback)
    turn.pass_to_worker(worker, replace_id(frame, callback.id))


def leave_unanswered(turn: Turn) -> None:
    """The client has closed its end: whoever waits for an answer of it is told that none will come."""
    for callback in turn.state.callbacks.values():
        worker = turn.state.workers.get(callback.generation)
        if worker is not None:
            _take_time_back(turn, callback)
            turn.pass_to_worker(worker, encode(error_message(callback.id, INTERNAL_ERROR, _CLIENT_LEFT)))
    turn.state.callbacks.clear()


def _said_about(turn: Turn, worker: Worker, params: dict[str, Any]) -> tuple[Pending | None, dict[str, Any]]:
    """The request that a worker's message is about, if it says so, and the message with the client's id of it."""
    meta = params.get("_meta")
    if isinstance(meta, dict):
        for key in _TAGS:
            entry = _attempt_of(turn, worker, _number(meta.get(key)))
            if entry is not None:
                return entry, {**params, "_meta": {**meta, key: entry.id}}
    return None, params


def _give_time(turn: Turn, entry: Pending, seconds: float) -> None:
    """A tool of our own that waits for its client has that much more time, as it has in its worker."""
    if entry.due and entry.rule is not None and entry.rule.is_ours and not entry.is_overdue:
        turn.put(entry._replace(due=entry.due + seconds))


def _take_time_back(turn: Turn, callback: Callback) -> None:
    """The client was asked for a while: what it did not take of its time is not the tool's."""
    entry = turn.state.pending.get(callback.about) if callback.about is not None else None
    if entry is None or entry.generation != callback.generation:
        return
    allowed = turn.state.policy.answer_timeout
    _give_time(turn, entry, min(0.0, turn.now - callback.asked_at - allowed))


# --- what a worker tells the client ------------------------------------------------------------------------------


def _notification(turn: Turn, worker: Worker, note: Notification, frame: bytes) -> None:
    if note.method == "notifications/progress":
        _progress(turn, worker, note, frame)
    elif note.method == STUCK_WORK:
        _stuck_work(turn, worker, note)
    elif not _is_heard(worker):
        turn.count("unheard")
    elif note.method == "notifications/cancelled":
        _withdraw(turn, worker, note)
    elif worker.role is Role.RETIRED and note.method != "notifications/message":
        turn.count("unheard")  # what it has and what of that changes is not the client's concern any more
    else:
        listed = worker.phase in {WorkerPhase.LISTING, WorkerPhase.READY}
        if note.method.endswith("/list_changed"):
            forget_lists(turn, note.method.removeprefix("notifications/").removesuffix("/list_changed"))
        if note.method == "notifications/tools/list_changed" and listed:
            list_tools_again(turn, worker)
        entry, params = _said_about(turn, worker, note.params)
        if entry is None:
            turn.pass_to_client(frame)
        elif entry.call.stop is None:
            turn.pass_to_client(encode(notification_message(note.method, params)), about=entry.id)


def _stuck_work(turn: Turn, worker: Worker, note: Notification) -> None:
    """Remember that threads of the worker do not end; a worker that is not ours has no say in being replaced."""
    count = note.params.get("count")
    is_ours = any(tool.is_ours for tool in worker.catalog.tools.values())
    if is_ours and type(count) is int and 0 < count <= _LARGEST:
        turn.put_worker(worker._replace(stuck_threads=count))


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
    if worker.life.overdue_since:
        call_ended(turn, worker)
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


def _number(value: object) -> object:
    """An attempt may come back as a text, by a worker whose subscriptions have names."""
    is_text = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _DIGITS
    return int(value) if is_text else value  # type: ignore[call-overload]


def _withdraw(turn: Turn, worker: Worker, note: Notification) -> None:
    """The worker no longer wants an answer to something that it asked the client."""
    wanted = note.params.get("requestId")
    for number, callback in turn.state.callbacks.items():
        same = callback.id == wanted and type(callback.id) is type(wanted)
        if same and callback.generation == worker.generation:
            del turn.state.callbacks[number]
            _take_time_back(turn, callback)
            params = {**note.params, "requestId": number}
            turn.tell_client(notification_message("notifications/cancelled", params))
            return
    turn.count("unmatched")
