"""A worker that seems blocked is relieved: another one is prepared, takes over, and the old one goes or drains.

    stopped    a successor takes over, what may be repeated is sent to it too, and the old tree is killed
    stuck      the same, but the old one keeps what it has until its deadlines
    unknown    as stuck where it has run nothing but reads; otherwise nothing moves: the state is in that worker

If it speaks again before anything was moved, the successor is not needed. There are two workers at most: one that
is blocked while another one still drains is ended first, where that is certain, and waited for where it is not.
"""

from holdfast.kernel.commands import RolloutEnded
from holdfast.kernel.liveness import hung_fault
from holdfast.kernel.rollover import prepare_successor
from holdfast.kernel.state import Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import Condition
from holdfast.kernel.workers import stop_worker
from holdfast.vocabulary.execution import Rollout

__all__ = ["call_ended", "heard_again", "relieve"]


def relieve(turn: Turn) -> None:
    """See to a successor of a worker that seems blocked."""
    worker = turn.active
    if worker is None or worker.life.condition is Condition.FINE or worker.phase is not WorkerPhase.READY:
        return
    state = turn.state
    if state.rollout is not Rollout.STABLE or state.policy.single or not _may_move(turn, worker):
        return
    is_crowded = any(
        other.role is Role.RETIRED and other.phase is not WorkerPhase.STOPPING for other in state.workers.values()
    )
    if is_crowded or state.leaving_at:
        if worker.life.condition is Condition.STOPPED:
            stop_worker(turn, worker, hung_fault(turn, worker))
    elif turn.now >= worker.life.relief_at:
        state.relief = worker.generation
        prepare_successor(turn)


def _may_move(turn: Turn, worker: Worker) -> bool:
    condition = worker.life.condition
    if condition is Condition.STUCK:
        return worker.generation not in turn.state.pins.values()
    return condition is Condition.STOPPED or not worker.life.has_acted


def heard_again(turn: Turn, worker: Worker) -> Worker:
    """A worker that was silent has spoken: it goes on, unless its calls were moved already."""
    if worker.role is not Role.ACTIVE or worker.phase is not WorkerPhase.READY:
        return worker
    life = worker.life._replace(condition=Condition.FINE, suspected_at=0.0, is_halted=False)
    worker = turn.put_worker(worker._replace(life=life))
    state = turn.state
    if state.relief == worker.generation:
        for other in list(state.workers.values()):
            if other.role is Role.SUCCESSOR:
                _dismiss(turn, other)
        state.relief = 0
        state.rollout = Rollout.STABLE
        turn.commands.append(RolloutEnded("the worker answers again"))
    return worker


def _dismiss(turn: Turn, successor: Worker) -> None:
    if turn.state.policy.spare:
        turn.put_worker(successor._replace(role=Role.SPARE))
    else:
        stop_worker(turn, turn.put_worker(successor._replace(role=Role.RETIRED, retired_at=turn.now)), None)


def call_ended(turn: Turn, worker: Worker) -> None:
    """A call of a worker has ended, or goes on visibly: it is not stuck."""
    life = worker.life
    if life.overdue_since:
        worker = turn.put_worker(worker._replace(life=life._replace(overdue_since=0.0, stuck_since=0.0)))
    if life.condition is Condition.STUCK:
        heard_again(turn, worker)
