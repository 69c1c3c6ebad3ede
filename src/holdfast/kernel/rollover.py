"""A planned replacement: a successor is prepared beside the incumbent, takes over, and the incumbent finishes.

The successor is a fresh worker of the same release, or the first one of another. New requests go to it as soon as
it serves. The incumbent keeps what it has: calls that may be repeated have a short time and are then moved, calls
that may not are waited for up to their own deadlines. If the successor fails before it serves, the incumbent stays
and nobody notices.
"""

from collections.abc import Iterator

from holdfast.kernel.agreement import is_agreed
from holdfast.kernel.answers import bury
from holdfast.kernel.commands import RolloutEnded, StartWorker
from holdfast.kernel.hedging import hedge, may_hedge
from holdfast.kernel.inputs import RolloutAsked
from holdfast.kernel.liveness import hung_fault, note_dispatch, why_suspected
from holdfast.kernel.lost_state import note_loss
from holdfast.kernel.quarantine import lift_quarantine
from holdfast.kernel.releases import begin_probation, end_rollout, is_fallback
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import RESTART_ASKED, Pending, Restarts, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import Condition
from holdfast.kernel.workers import is_wanted_listed, promote, start_worker, stop_worker
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge, Rollout

__all__ = [
    "advance_rollover",
    "ask_restart",
    "ask_rollout",
    "prepare_successor",
    "release_retired",
    "replace_stuck",
]


def ask_restart(turn: Turn) -> None:
    """Begin to replace the active worker; a second wish joins the first."""
    state = turn.state
    if state.leaving_at or state.is_over:
        turn.commands.append(RolloutEnded("the host is about to end"))
        return
    lift_quarantine(state)
    if state.rollout is not Rollout.STABLE:
        state.relief = 0  # from now on it is wanted for its own sake
        return
    active = turn.active
    if active is None or active.phase is WorkerPhase.STARTING:
        # There is nobody to replace: start now what would have been started after a pause.
        state.rollout = Rollout.PENDING
        state.restarts = Restarts(state.restarts.total)
        if active is not None:
            turn.commands.append(StartWorker(active.generation, 0.0, active.release))
    elif state.policy.single:
        _restart_alone(turn, active)
    else:
        prepare_successor(turn)


def _restart_alone(turn: Turn, active: Worker) -> None:
    """Where no second worker may be beside the first one, that one ends first."""
    if any(
        entry.rule is None or entry.rule.effect.replay is not ReplayWord.CONVERGENT
        for entry in _in_flight(turn, active)
    ):
        text = "single = true: calls that may not be repeated are in flight; try again when they have ended"
        turn.commands.append(RolloutEnded(text))
        return
    turn.state.rollout = Rollout.PENDING
    text = "the worker was ended for a fresh one"
    stop_worker(turn, active, {"class": "rollout", "code": RESTART_ASKED, "message": text}, politely=True)


def ask_rollout(turn: Turn, asked: RolloutAsked) -> None:
    """Begin to bring another release into service, unless something speaks against it."""
    state = turn.state
    problem = ""
    if state.leaving_at or state.is_over:
        problem = "the host is about to end"
    elif state.policy.single:
        problem = (
            "single = true allows no second worker to try it with: stop the server, then start the new release"
        )
    elif state.rollout is not Rollout.STABLE:
        problem = "another replacement of the worker is under way"
    elif state.pins:
        names = ", ".join(sorted(state.pins))
        problem = f"the session has state in its worker that no other can take up, by {names}"
    if problem:
        turn.commands.append(RolloutEnded(problem))
        return
    lift_quarantine(state)
    state.rollout = Rollout.PENDING
    start_worker(turn, Role.SUCCESSOR, release=asked.release)


def replace_stuck(turn: Turn) -> None:
    """Replace a worker that lives but goes on with calls that were given up, or says so of threads.

    That waits until it has nothing else to do, unless there are too many of them: each holds what it holds.
    """
    state, worker = turn.state, turn.active
    if state.rollout is not Rollout.STABLE or state.leaving_at or worker is None or worker.ping:
        return  # a worker that is being asked for a sign of life may turn out to be hung altogether
    if worker.phase is not WorkerPhase.READY or worker.generation in state.pins.values():
        return
    stuck = sum(tomb.is_given_up and tomb.generation == worker.generation for tomb in state.tombstones.values())
    is_urgent = stuck > state.policy.given_up_max or worker.stuck_threads >= state.policy.stuck_threads_max
    if is_urgent or ((stuck or worker.stuck_threads) and not _is_busy(turn, worker)):
        prepare_successor(turn)


def prepare_successor(turn: Turn) -> None:
    """Have a spare take over as soon as it can, or a fresh worker of the release that serves."""
    turn.state.rollout = Rollout.PENDING
    spare = next((worker for worker in turn.state.workers.values() if worker.role is Role.SPARE), None)
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
    if successor is not None and _is_prepared(turn, successor) and is_agreed(turn, successor):
        _change(turn, turn.active, turn.state.workers[successor.generation])
    elif successor is None and turn.active is not None and _is_prepared(turn, turn.active):
        end_rollout(turn)


def _is_prepared(turn: Turn, worker: Worker) -> bool:
    """Whether a worker is as far as the session allows: before it is live there are no tools to list."""
    return worker.phase is WorkerPhase.READY or (worker.phase is WorkerPhase.OPEN and not is_wanted_listed(turn))


def _change(turn: Turn, incumbent: Worker | None, successor: Worker) -> None:
    if incumbent is not None:
        _retire(turn, incumbent, successor)
    if incumbent is not None:  # what it had is not there any more
        turn.state.pins = {tool: at for tool, at in turn.state.pins.items() if at != incumbent.generation}
    if incumbent is not None:
        note_loss(turn, incumbent, _why_replaced(turn, incumbent, successor))
    begin_probation(turn, incumbent, successor)
    promote(turn, successor)
    turn.state.relief = 0
    turn.state.restarts = Restarts(turn.state.restarts.total + 1)
    end_rollout(turn)
    release_retired(turn)


def _why_replaced(turn: Turn, incumbent: Worker, successor: Worker) -> str:
    if incumbent.life.condition is not Condition.FINE:
        return why_suspected(incumbent, turn.state.policy)
    is_other = incumbent.release != successor.release
    return "another release has taken over" if is_other else "the worker was replaced by a fresh one"


# --- the one that makes way --------------------------------------------------------------------------------------


def _retire(turn: Turn, incumbent: Worker, successor: Worker) -> None:
    due = turn.now + turn.state.policy.drain if incumbent.phase is not WorkerPhase.STOPPING else 0.0
    retired = turn.put_worker(incumbent._replace(role=Role.RETIRED, retired_at=turn.now, due=due))
    for entry in list(_in_flight(turn, retired)):
        if entry.method in STREAM_METHODS or _can_shake_hands_again(entry):
            _move(turn, entry)
        elif retired.life.condition is not Condition.FINE and _may_hedge(turn, entry, successor):
            hedge(turn, entry, successor)
            note_dispatch(turn, successor.generation, entry)
    turn.restore_order()
    if retired.life.condition is Condition.STOPPED:
        stop_worker(turn, retired, hung_fault(turn, retired))


def _may_hedge(turn: Turn, entry: Pending, successor: Worker) -> bool:
    """Whether the successor may answer it as well; one that lacks the state of the incumbent may not."""
    return may_hedge(entry) and _is_prepared(turn, successor) and not turn.state.policy.stateful


def _can_shake_hands_again(entry: Pending) -> bool:
    """The session needs a handshake with the worker that serves it, and perhaps the other one hangs in it."""
    left = entry.rule is not None and entry.charged < entry.rule.replays
    return entry.method == "initialize" and entry.call.stop is None and left


def _move(turn: Turn, entry: Pending) -> None:
    """The successor gets it, anew: a stream has no end to wait for."""
    bury(turn, entry)
    turn.state.attempts.pop(entry.attempt, None)
    turn.put(entry._replace(knowledge=Knowledge.OUTCOME_UNKNOWN, attempt=0))
    turn.state.waiting[entry.id] = None


def release_retired(turn: Turn) -> None:
    """Let those workers end that have made way and have nothing left that is worth waiting for."""
    retired = [
        worker
        for worker in turn.state.workers.values()
        if worker.role is Role.RETIRED
        and worker.phase is not WorkerPhase.STOPPING
        and not is_fallback(turn, worker)
    ]
    surplus = len(retired) - turn.state.policy.retired_max
    for number, worker in enumerate(retired):
        if number < surplus or not _is_waited_for(turn, worker):
            stop_worker(turn, worker, None, politely=True)


def _is_waited_for(turn: Turn, worker: Worker) -> bool:
    policy = turn.state.policy
    if turn.now >= worker.retired_at + policy.retired_time:
        return False
    if worker.life.condition is not Condition.FINE:
        return any(_is_within_its_time(turn, entry, worker) for entry in _in_flight(turn, worker))
    if turn.now < worker.retired_at + policy.drain:
        return _is_busy(turn, worker)
    # By now what can be repeated is better off with the successor, and so is a client that does not answer.
    return any(
        entry.rule is not None and entry.rule.effect.replay is ReplayWord.NEVER_REPLAY
        for entry in _in_flight(turn, worker)
    )


def _is_within_its_time(turn: Turn, entry: Pending, worker: Worker) -> bool:
    """Whether a worker that seems blocked may still answer a request in time."""
    if entry.method in STREAM_METHODS:
        return False
    due = entry.due if entry.earlier is None or entry.generation == worker.generation else entry.earlier.due
    return not due or turn.now < due


def _is_busy(turn: Turn, worker: Worker) -> bool:
    if any(callback.generation == worker.generation for callback in turn.state.callbacks.values()):
        return True
    return any(entry.method not in STREAM_METHODS for entry in _in_flight(turn, worker))


def _in_flight(turn: Turn, worker: Worker) -> Iterator[Pending]:
    return (entry for entry in turn.state.pending.values() if entry.is_with(worker.generation))
