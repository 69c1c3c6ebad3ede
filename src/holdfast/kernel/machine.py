"""The machine: one input after the other, each turned into a new state and the commands that follow from it.

    state, commands = begin(policy)
    state, commands = step(state, now, input)

After every input the same things are looked at, in this order: whether the host is done, whether workers can end,
be prepared or be replaced, and what can be dispatched. So no input has to know what else it may have made
possible. `resume` is `begin` for the state of an earlier host (see `capsule`).
"""

from collections.abc import Callable
from typing import Any

from holdfast.kernel.admission import client_said, outcome_found
from holdfast.kernel.agreement import catalog_judged
from holdfast.kernel.answers import end_stopped
from holdfast.kernel.cancellation import ANSWER_MARGIN, stop_for_good
from holdfast.kernel.commands import Command, Leave, RolloutEnded
from holdfast.kernel.deadlines import look_at_the_clock
from holdfast.kernel.dispatch import dispatch_waiting
from holdfast.kernel.inputs import (
    CatalogJudged,
    ClientLeft,
    Fenced,
    FromClient,
    FromWorker,
    GarbledAnswer,
    HeldUp,
    Input,
    OutcomeFound,
    RestartAsked,
    RolloutAsked,
    ShutDown,
    Tick,
    WorkerDown,
    WorkerSeen,
    WorkerUp,
)
from holdfast.kernel.liveness import worker_seen
from holdfast.kernel.policy import Policy
from holdfast.kernel.recovery import lose_worker, settle_lost
from holdfast.kernel.relay import leave_unanswered, worker_garbled, worker_said
from holdfast.kernel.releases import end_probation
from holdfast.kernel.relief import relieve
from holdfast.kernel.rollover import (
    advance_rollover,
    ask_restart,
    ask_rollout,
    release_retired,
    replace_stuck,
)
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Role, State, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.workers import prepare_workers, start_worker, worker_opened
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.execution import Knowledge, Rollout

__all__ = ["begin", "resume", "step"]


def begin(policy: Policy, now: float = 0.0) -> tuple[State, list[Command]]:
    """The first state: no session yet, and a worker on its way."""
    turn = Turn(State(policy), now)
    turn.state.active = start_worker(turn, Role.ACTIVE).generation
    return turn.state, turn.commands


def resume(state: State, now: float) -> tuple[State, list[Command]]:
    """The first state of a host that takes over from another: what was with its workers is treated as lost."""
    turn = Turn(state, now)
    turn.state.active = start_worker(turn, Role.ACTIVE).generation
    for entry in list(turn.state.pending.values()):
        if entry.call.stop is not None:
            end_stopped(turn, entry, entry.call.stop)
        elif entry.knowledge is Knowledge.OUTCOME_UNKNOWN:
            settle_lost(turn, entry)
    return turn.state, turn.commands


def step(state: State, now: float, given: Input) -> tuple[State, list[Command]]:
    """The state after an input, and what is to be done; the given state stays as it was."""
    turn = Turn(state, now)
    if not state.is_over:
        _HANDLERS[type(given)](turn, given)
        if not turn.state.is_over:
            _settle(turn)
    return turn.state, turn.commands


def _settle(turn: Turn) -> None:
    if turn.state.leaving_at:
        _leave_when_done(turn)
    if turn.state.is_over:
        return
    end_probation(turn)
    release_retired(turn)
    if not (turn.state.leaving_at and _is_ending(turn)):
        prepare_workers(turn)
        replace_stuck(turn)
        relieve(turn)
        advance_rollover(turn)
        dispatch_waiting(turn)


def _worker_up(turn: Turn, up: WorkerUp) -> None:
    worker = turn.state.workers.get(up.generation)
    if worker is not None and worker.phase is WorkerPhase.STARTING:
        worker_opened(turn, worker)


def _held_up(turn: Turn, held: HeldUp) -> None:
    worker = turn.state.workers.get(held.generation)
    if worker is not None:
        turn.put_worker(worker._replace(heard_at=turn.now))


def _fence(turn: Turn, fenced: Fenced) -> None:
    turn.state.is_fenced = fenced.on


def _client_left(turn: Turn, _: ClientLeft) -> None:
    turn.state.leaving_at = turn.state.leaving_at or turn.now + turn.state.policy.drain
    turn.wake(turn.state.leaving_at)
    leave_unanswered(turn)


def _leave_when_done(turn: Turn) -> None:
    """Calls in flight may finish, since the client may still read; streams have no end to wait for."""
    state = turn.state
    if turn.now >= state.leaving_at:
        _stop_everything(turn)
    if any(entry.method not in STREAM_METHODS for entry in state.pending.values()):
        return
    for entry in list(state.pending.values()):
        end_stopped(turn, entry, Stop.SHUTDOWN)
    if state.rollout is not Rollout.STABLE:
        turn.commands.append(RolloutEnded("the host is about to end"))
    state.is_over = True
    state.wake_at = 0.0
    turn.commands.append(Leave())


def _is_ending(turn: Turn) -> bool:
    """Whether calls are being stopped because the host ends; nothing new begins then."""
    return any(entry.call.stop is Stop.SHUTDOWN for entry in turn.state.pending.values())


def _stop_everything(turn: Turn) -> None:
    """Have everything stopped in order; what is still there when this is asked for once more is not waited for."""
    state = turn.state
    again = _is_ending(turn)
    for entry in list(state.pending.values()):
        if again:
            end_stopped(turn, entry, entry.call.stop or Stop.SHUTDOWN)
        else:
            stop_for_good(turn, entry)
    state.leaving_at = turn.now + state.policy.grace + ANSWER_MARGIN
    turn.wake(state.leaving_at)


def _shut_down(turn: Turn, _: ShutDown) -> None:
    _stop_everything(turn)


_HANDLERS: dict[type, Callable[[Turn, Any], None]] = {
    FromClient: client_said,
    FromWorker: worker_said,
    GarbledAnswer: worker_garbled,
    HeldUp: _held_up,
    WorkerUp: _worker_up,
    WorkerSeen: worker_seen,
    WorkerDown: lose_worker,
    OutcomeFound: outcome_found,
    Tick: lambda turn, _: look_at_the_clock(turn),
    RestartAsked: lambda turn, _: ask_restart(turn),
    RolloutAsked: ask_rollout,
    CatalogJudged: catalog_judged,
    Fenced: _fence,
    ClientLeft: _client_left,
    ShutDown: _shut_down,
}
