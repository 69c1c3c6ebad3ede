"""Time: deadlines of requests, signs of life for patient clients, and workers that may be hung.

A worker is taken for hung only when it does not answer a question and nothing that it works on is still within its
time: one that is busy is left alone. What a client is told at a deadline does not depend on any of this.
"""

import math

from holdfast.kernel.answers import bury, end_stopped
from holdfast.kernel.cancellation import interrupt
from holdfast.kernel.liveness import look_at_worker, note_overdue, suspect
from holdfast.kernel.probes import give_up_hold, probe_lost
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Errand, ErrandKind, Pending, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import Condition
from holdfast.kernel.workers import check_worker, fact_restored, stop_worker, tools_listed
from holdfast.vocabulary.call import Phase, Stop
from holdfast.vocabulary.events import WorkAbandoned
from holdfast.wire.envelope import notification_message

__all__ = ["look_at_the_clock"]

_STEP = 1e-6  # a sign of life must be a rising number, but must not overtake the tool's own


def look_at_the_clock(turn: Turn) -> None:
    """Do what has fallen due, and find out when to look again."""
    state = turn.state
    state.wake_at = 0.0
    for number, errand in list(state.errands.items()):
        if turn.now >= errand.due:
            state.errands.pop(number, None)
            _errand_expired(turn, number, errand)
    for entry in list(state.pending.values()):
        if entry.due and turn.now >= entry.due:
            _request_due(turn, entry)
        elif entry.beat_at and turn.now >= entry.beat_at:
            _give_sign_of_life(turn, entry)
    for worker in list(state.workers.values()):
        if worker.due and turn.now >= worker.due:
            _worker_due(turn, worker)
    for worker in list(state.workers.values()):
        if worker.life.look_at and turn.now >= worker.life.look_at:
            look_at_worker(turn, worker)
    _set_alarm(turn)


def _set_alarm(turn: Turn) -> None:
    state = turn.state
    for errand in state.errands.values():
        turn.wake(errand.due)
    for entry in state.pending.values():
        turn.wake(entry.due)
        turn.wake(entry.beat_at)
        turn.wake(entry.earlier.due if entry.earlier is not None and entry.earlier.due > turn.now else 0.0)
        if entry.hold is not None and entry.hold.ask_at > turn.now:
            turn.wake(entry.hold.ask_at)
    for worker in state.workers.values():
        turn.wake(worker.due)
        turn.wake(worker.life.look_at)
        turn.wake(worker.announced_until if worker.role is Role.SUCCESSOR else 0.0)
    turn.wake(state.leaving_at)
    turn.wake(state.probation.until if state.probation is not None else 0.0)


# --- requests ----------------------------------------------------------------------------------------------------


def _request_due(turn: Turn, entry: Pending) -> None:
    if entry.hold is not None:
        give_up_hold(turn, entry, "its probe could not tell in time")
    elif not entry.is_in_flight:
        end_stopped(turn, entry, Stop.TIMEOUT)
    elif entry.call.phase is Phase.STOPPING:
        _give_up(turn, entry)
    elif _is_the_workers_own_business(turn, entry):
        _doubt(turn, entry)
    else:
        interrupt(turn, entry, Stop.TIMEOUT)
        note_overdue(turn, entry)
        step = entry.call.request_stop(Stop.TIMEOUT)
        due = turn.now + turn.state.policy.grace
        turn.put(entry._replace(call=step.call, due=due, is_overdue=True, beat_at=0.0))


def _is_the_workers_own_business(turn: Turn, entry: Pending) -> bool:
    """Whether the worker itself ends the request, so that only a worker that hangs is a reason to step in."""
    if entry.method == "initialize":  # which cannot be cancelled, and may have to wait for a download
        return turn.now - entry.accepted_at < max(turn.state.policy.deadline, turn.state.policy.start_timeout + 1)
    return entry.rule is not None and entry.rule.is_ours and not entry.is_overdue


def _give_up(turn: Turn, entry: Pending) -> None:
    """The worker was asked to stop and has said nothing: answer without it, and see whether it is alive."""
    why = entry.call.give_up().call.stop
    assert why is not None  # it was being stopped
    bury(turn, entry, is_given_up=True)
    worker = turn.state.workers.get(entry.generation)
    turn.count("given_up")
    if entry.method == "tools/call":
        turn.record(WorkAbandoned(f"{entry.generation}.{entry.sequence}", entry.tool))
    end_stopped(turn, entry, why)
    if worker is not None:
        check_worker(turn, worker)


def _doubt(turn: Turn, entry: Pending) -> None:
    """A tool of our own ends its calls by itself; that it did not can only mean that its process hangs."""
    policy = turn.state.policy
    turn.put(entry._replace(is_overdue=True, due=turn.now + policy.ping_timeout + policy.grace))
    note_overdue(turn, entry)
    worker = turn.state.workers.get(entry.generation)
    if worker is not None:
        check_worker(turn, worker)


def _give_sign_of_life(turn: Turn, entry: Pending) -> None:
    waited = round(turn.now - entry.accepted_at)
    where = "still running" if entry.is_in_flight else "waiting for the worker"
    progress = max(entry.progress + _STEP, math.nextafter(entry.progress, math.inf))
    params = {"progressToken": entry.token, "progress": progress, "message": f"{where} after {waited} s"}
    turn.tell_progress(notification_message("notifications/progress", params), entry.id)
    turn.put(entry._replace(progress=progress, has_beaten=True, beat_at=turn.now + turn.state.policy.heartbeat))


# --- workers -----------------------------------------------------------------------------------------------------


def _errand_expired(turn: Turn, number: int, errand: Errand) -> None:
    worker = turn.state.workers.get(errand.generation)
    if worker is None:
        return
    if errand.kind is ErrandKind.INITIALIZE:
        seconds = turn.state.policy.start_timeout
        text = f"the worker did not take up the session within {seconds:g} s"
        stop_worker(turn, worker, {"class": "timeout", "code": "START_TIMEOUT", "message": text})
    elif errand.kind is ErrandKind.LIST_TOOLS:
        tools_listed(turn, worker, None)
    elif errand.kind is ErrandKind.PING:
        _no_sign_of_life(turn, worker, number, errand)
    elif errand.kind is ErrandKind.RESTORE:
        fact_restored(turn, worker, None)
    elif errand.kind is ErrandKind.PROBE:
        probe_lost(turn, number, errand)


def _no_sign_of_life(turn: Turn, worker: Worker, number: int, errand: Errand) -> None:
    patience = turn.state.policy.ping_timeout
    # What it was sent after the question is no excuse: a client that keeps calling must not keep a hung worker.
    if _is_at_work(turn, worker, before=number) or worker.heard_at > turn.now - patience:
        turn.state.errands[number] = errand._replace(due=turn.now + patience)  # busy: the question stays open
        return
    if _has_calls_to_move(turn, worker):
        turn.state.errands[number] = errand._replace(due=turn.now + patience)
        if worker.life.condition is not Condition.STOPPED:
            suspect(turn, worker, Condition.STOPPED)
        return
    text = f"the worker does not answer, not even a ping within {patience:g} s"
    stop_worker(
        turn,
        turn.put_worker(worker._replace(ping=0)),
        {"class": "timeout", "code": "WORKER_HUNG", "message": text},
    )


def _has_calls_to_move(turn: Turn, worker: Worker) -> bool:
    """Whether somebody would have to wait until the worker is gone, if it were just ended."""
    state = turn.state
    if (
        not state.policy.liveness_interval
        or worker.role is not Role.ACTIVE
        or worker.phase is not WorkerPhase.READY
    ):
        return False
    return bool(state.waiting) or any(entry.is_with(worker.generation) for entry in state.pending.values())


def _is_at_work(turn: Turn, worker: Worker, before: int | None = None) -> bool:
    """Whether a worker has something that is still within its time; a stream that stays open is no work.

    With `before` only what it was sent earlier than the message with this id counts.
    """
    return any(
        entry.is_with(worker.generation)
        and not entry.is_overdue
        and entry.method not in STREAM_METHODS
        and (before is None or entry.attempt_with(worker.generation) < before)
        for entry in turn.state.pending.values()
    )


def _worker_due(turn: Turn, worker: Worker) -> None:
    """A worker that has been silent for a while is asked whether it is there; one that works is left alone."""
    policy = turn.state.policy
    interval = policy.ping_interval
    if worker.role is Role.RETIRED:
        end = worker.retired_at + policy.retired_time
        turn.put_worker(worker._replace(due=end if turn.now < end else 0.0))
        return
    if worker.phase is not WorkerPhase.READY or not interval:
        turn.put_worker(worker._replace(due=0.0))
        return
    turn.put_worker(worker._replace(due=turn.now + interval))
    if not _is_at_work(turn, worker) and turn.now - worker.heard_at >= interval:
        check_worker(turn, turn.state.workers[worker.generation])
