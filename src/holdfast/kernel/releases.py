"""Which release serves: how a replacement ends, the probation of a new release, and the way back from it.

A release is a program that workers are started from; the kernel knows it by number. One that has just taken over
is on probation: the worker that made way is kept, and serves again if the new ones keep failing.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.kernel.commands import RolloutEnded
from holdfast.kernel.replies import how_it_ended
from holdfast.kernel.state import Probation, Restarts, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn, due_time
from holdfast.kernel.workers import promote, start_worker, stop_worker
from holdfast.vocabulary.events import RolloutDone
from holdfast.vocabulary.execution import Rollout

__all__ = [
    "begin_probation",
    "charge_probation",
    "end_probation",
    "end_rollout",
    "is_fallback",
    "is_last_straw",
]


def end_rollout(turn: Turn, problem: str = "", release: int = 0) -> None:
    """A replacement is over: done, or given up for a reason. Nothing happens where none is under way."""
    if turn.state.rollout is not Rollout.STABLE:
        turn.state.rollout = Rollout.STABLE
        _tell(turn, "failed" if problem else "activated", release or turn.state.release, problem)
        turn.commands.append(RolloutEnded(problem))


def _tell(turn: Turn, outcome: str, release: int, reason: str) -> None:
    turn.state.last_rollout = {"outcome": outcome, "release": release, "reason": reason}
    turn.record(RolloutDone(outcome, release, turn.state.active, reason))


# --- probation ---------------------------------------------------------------------------------------------------


def begin_probation(turn: Turn, incumbent: Worker | None, successor: Worker) -> None:
    """Another release serves from now on; what served before stands by. A fresh worker of the same is no news."""
    state = turn.state
    if incumbent is not None and incumbent.release == successor.release:
        return
    state.release = successor.release
    state.probation = None
    if incumbent is not None and state.policy.probation:
        until = due_time(turn.now + state.policy.probation, turn.now)
        state.probation = Probation(until, incumbent.release, incumbent.generation)
        turn.wake(until)
    for worker in list(state.workers.values()):
        if worker.role is Role.SPARE and worker.release != state.release:
            turn.put_worker(worker._replace(role=Role.RETIRED, retired_at=turn.now))


def end_probation(turn: Turn) -> None:
    """A release that has held long enough stays; after a loss it has to, from when a worker of it serves again."""
    state, probation, active = turn.state, turn.state.probation, turn.active
    if probation is None:
        return
    if state.leaving_at or (probation.until and turn.now >= probation.until):
        state.probation = None
    elif not probation.until and active is not None and active.phase is WorkerPhase.READY:
        until = due_time(turn.now + state.policy.probation, turn.now)
        state.probation = probation._replace(until=until)
        turn.wake(until)


def is_fallback(turn: Turn, worker: Worker) -> bool:
    """Whether a worker that has made way is kept, in case its successor does not hold."""
    probation = turn.state.probation
    return probation is not None and probation.fallback == worker.generation


def is_last_straw(turn: Turn, lost: Worker) -> bool:
    """Whether the loss of a worker is what makes the release before it serve again."""
    probation = turn.state.probation
    if probation is None or lost.role is not Role.ACTIVE or lost.release != turn.state.release:
        return False
    return probation.losses + 1 >= turn.state.policy.probation_losses


def charge_probation(turn: Turn, lost: Worker, cause: Mapping[str, Any]) -> bool:
    """A worker that served was lost; whether that was once too often, so that the release before serves again."""
    state, probation = turn.state, turn.state.probation
    if probation is None or lost.release != state.release:
        return False
    losses = probation.losses + 1
    if not is_last_straw(turn, lost):
        # However long the next worker takes to start: that is no time in which the release has held.
        state.probation = probation._replace(losses=losses, until=0.0)
        return False
    state.probation = None
    how = how_it_ended(cause)
    text = f"the new release was lost {losses} times at once, so the one before it serves again: {how}"
    _go_back(turn, probation)
    state.last_fault = {
        "class": "rollout",
        "code": "ROLLED_BACK",
        "message": text,
        "generation": lost.generation,
    }
    _tell(turn, "rolled_back", lost.release, text)
    return True


def _go_back(turn: Turn, probation: Probation) -> None:
    state = turn.state
    refused, state.release = state.release, probation.previous
    state.restarts = Restarts(state.restarts.total)
    for worker in list(state.workers.values()):
        if worker.role is Role.SPARE and worker.release == refused:
            stop_worker(turn, turn.put_worker(worker._replace(role=Role.RETIRED)), None)
    fallback = state.workers.get(probation.fallback)
    if fallback is not None and fallback.phase is WorkerPhase.READY:
        interval = state.policy.ping_interval
        due = turn.now + interval if interval else 0.0
        promote(turn, fallback._replace(retired_at=0.0, announced_until=0.0, ready_at=turn.now, due=due))
    else:
        state.active = start_worker(turn, Role.ACTIVE).generation
