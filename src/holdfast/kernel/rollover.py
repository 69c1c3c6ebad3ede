"""A planned replacement: a successor is prepared beside the incumbent, the incumbent finishes, then they change.

While the incumbent finishes, new requests wait behind a fence, which has a bound. If the successor fails, the
incumbent stays and nobody notices.
"""

from holdfast.kernel.answers import bury
from holdfast.kernel.commands import RolloutEnded, StartWorker
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Pending, Restarts, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.workers import promote, start_worker, stop_worker
from holdfast.vocabulary.execution import Knowledge, Rollout

__all__ = ["advance_rollover", "ask_restart"]


def ask_restart(turn: Turn) -> None:
    """Begin to replace the active worker; a second wish joins the first."""
    state = turn.state
    if state.leaving_at or state.is_over:
        turn.commands.append(RolloutEnded("the host is about to end"))
        return
    if state.rollout is not Rollout.STABLE:
        return
    state.rollout = Rollout.PENDING
    active = turn.active
    if active is None or active.phase is WorkerPhase.STARTING:
        # There is nobody to replace: start now what would have been started after a pause.
        state.restarts = Restarts(state.restarts.total)
        if active is not None:
            turn.commands.append(StartWorker(active.generation, 0.0))
        return
    spare = next((worker for worker in state.workers.values() if worker.role is Role.SPARE), None)
    if spare is not None:
        turn.put_worker(spare._replace(role=Role.SUCCESSOR))
    else:
        start_worker(turn, Role.SUCCESSOR)


def advance_rollover(turn: Turn) -> None:
    """Go on with a replacement, as far as it can go now."""
    state = turn.state
    if state.rollout is Rollout.STABLE:
        return
    successor = next((worker for worker in state.workers.values() if worker.role is Role.SUCCESSOR), None)
    if successor is None:
        _end_when_ready(turn)
        return
    if not _is_prepared(successor):
        return
    if state.rollout is Rollout.PENDING:
        state.rollout = Rollout.RELOADING
        state.fence_until = turn.now + state.policy.drain
        turn.wake(state.fence_until)
    incumbent = turn.active
    if turn.now >= state.fence_until or incumbent is None or not _is_busy(turn, incumbent):
        _change(turn, incumbent, successor)


def _end_when_ready(turn: Turn) -> None:
    active = turn.active
    if active is not None and _is_prepared(active):
        turn.state.rollout = Rollout.STABLE
        turn.commands.append(RolloutEnded(""))


def _is_prepared(worker: Worker) -> bool:
    """Whether a worker is as far as the session allows: before it is live there are no tools to list."""
    return worker.phase in {WorkerPhase.READY, WorkerPhase.OPEN}


def _is_busy(turn: Turn, worker: Worker) -> bool:
    if any(callback.generation == worker.generation for callback in turn.state.callbacks.values()):
        return True
    return any(
        entry.is_in_flight and entry.generation == worker.generation and entry.method not in STREAM_METHODS
        for entry in turn.state.pending.values()
    )


def _change(turn: Turn, incumbent: Worker | None, successor: Worker) -> None:
    state = turn.state
    state.rollout = Rollout.STABLE
    state.fence_until = 0.0
    if incumbent is not None:
        retired = turn.put_worker(incumbent._replace(role=Role.RETIRED))
        for entry in list(state.pending.values()):
            if entry.is_in_flight and entry.generation == retired.generation and entry.method in STREAM_METHODS:
                _move(turn, entry)
        stop_worker(turn, retired, None, politely=True)
    promote(turn, successor)
    state.restarts = Restarts(state.restarts.total + 1)
    turn.commands.append(RolloutEnded(""))


def _move(turn: Turn, entry: Pending) -> None:
    """A stream has no end to wait for: the successor opens it anew."""
    bury(turn, entry)
    turn.state.attempts.pop(entry.attempt, None)
    turn.put(entry._replace(knowledge=Knowledge.OUTCOME_UNKNOWN, attempt=0))
    turn.state.waiting[entry.id] = None
