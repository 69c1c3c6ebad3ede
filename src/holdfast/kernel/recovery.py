"""The loss of a worker: what becomes of its requests, and whether and when another one is started.

The two are decided apart. A request is repeated, held or refused by what is known about it and by its contract
(see `disposition`), never because of how or how often workers end; a worker is restarted by how often, never
because of what it was asked.
"""

from typing import Any, NamedTuple

from holdfast.kernel.answers import end_stopped, end_with_fault
from holdfast.kernel.catalog import NO_CATALOG
from holdfast.kernel.commands import StartWorker
from holdfast.kernel.hedging import fall_back, forget_earlier
from holdfast.kernel.inputs import WorkerDown
from holdfast.kernel.liveness import hung_fault
from holdfast.kernel.lost_state import lost_fault, note_loss
from holdfast.kernel.probes import begin_hold, probe_lost
from holdfast.kernel.quarantine import blame, is_quarantined, quarantine_fault, suspect_of
from holdfast.kernel.releases import charge_probation, end_rollout, is_last_straw
from holdfast.kernel.replies import how_it_ended, loss_details
from holdfast.kernel.rules import rule_for
from holdfast.kernel.state import RESTART_ASKED, ErrandKind, Pending, Restarts, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import Condition
from holdfast.kernel.workers import promote, start_worker, stop_worker
from holdfast.present.secrets import Secrets
from holdfast.vocabulary.disposition import Allowance, Disposition, after_loss, dispose
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.events import WorkerLost
from holdfast.vocabulary.execution import Knowledge, SessionPhase
from holdfast.vocabulary.faults import fault
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import notification_message

__all__ = ["lose_worker", "next_restart", "settle_lost"]


class _Loss(NamedTuple):
    """How a worker ended: of its own, or because it had made way for another."""

    cause: dict[str, Any]
    made_way: bool = False
    is_forgiven: bool = False  # it says nothing about the calls that the worker had
    takes_state: bool = False  # another worker serves already, and lacks the state that these calls need


_UNKNOWN_LOSS = _Loss({})
_SAID = ("message", "stderr")  # what is told in a worker's own words


def lose_worker(turn: Turn, down: WorkerDown) -> None:
    """A worker is gone, and so is everything that it had started."""
    worker = turn.state.workers.pop(down.generation, None)
    if worker is None:
        return
    lost = [
        entry
        for entry in turn.state.pending.values()
        if entry.is_in_flight and entry.generation == down.generation
    ]
    _forget_first_attempts(turn, down.generation)
    _forget_errands(turn, down.generation)
    _void_callbacks(turn, down.generation)
    for number in [n for n, tomb in turn.state.tombstones.items() if tomb.generation == down.generation]:
        del turn.state.tombstones[number]
    made_way = worker.role is Role.RETIRED and worker.phase is WorkerPhase.STOPPING and worker.fault is None
    heard = {"stderr": down.cause["stderr"]} if down.cause.get("stderr") else {}
    turn.state.pins = {tool: at for tool, at in turn.state.pins.items() if at != down.generation}
    cause = _without_secrets({**(worker.fault or down.cause), **heard}, worker, lost)
    is_late = turn.state.policy.stateful and worker.role is Role.RETIRED and worker.life.holds_state
    loss = _Loss(cause, made_way, made_way or is_last_straw(turn, worker), is_late)
    if not made_way:
        _account(turn, worker, loss.cause, len(lost))
    if worker.role is Role.ACTIVE:
        note_loss(turn, worker, how_it_ended(loss.cause, with_words=False))
    suspect = 0 if loss.is_forgiven else suspect_of(lost)
    for entry in lost:
        _lose(turn, entry, loss, unsent=entry.attempt in down.unsent)
        if entry.sequence == suspect and entry.id not in turn.state.pending:
            blame(turn, entry)
    if suspect:
        _refuse_quarantined(turn)
    if worker.role is Role.ACTIVE and worker.phase is WorkerPhase.STARTING:
        _charge_waiting_handshake(turn, loss)
    turn.restore_order()
    # A client that has closed its end may still read the answers that it is owed.
    if not turn.state.is_over and (turn.state.waiting or not turn.state.leaving_at):
        _fill_the_place(turn, worker, loss.cause)


def _refuse_quarantined(turn: Turn) -> None:
    """The same call may be waiting several times over."""
    for request_id in list(turn.state.waiting):
        entry = turn.state.pending[request_id]
        if entry.hold is None and is_quarantined(turn, entry):
            end_with_fault(turn, entry, quarantine_fault(turn, entry))


def _forget_first_attempts(turn: Turn, generation: int) -> None:
    """What two workers had is with the second alone, and nobody is left to relieve."""
    for entry in list(turn.state.pending.values()):
        if entry.earlier is not None and entry.earlier.generation == generation:
            forget_earlier(turn, entry)
    if turn.state.relief == generation:
        turn.state.relief = 0


def _without_secrets(cause: dict[str, Any], worker: Worker, lost: list[Pending]) -> dict[str, Any]:
    """How a worker ended, without what the calls that it had were given in confidence: it may have printed it.

    It goes into events and telemetry, and is told to everybody whose call was lost.
    """
    for entry in lost:
        facts = worker.catalog.tools.get(entry.tool)
        if facts is not None and facts.secrets:
            params = decode(entry.frame, max_depth=RELAY_DEPTH).get("params") or {}
            secrets = Secrets(facts.secrets, params.get("arguments"))
            cause = {
                **cause,
                **{key: secrets.text(cause[key]) for key in _SAID if isinstance(cause.get(key), str)},
            }
    return cause


def _account(turn: Turn, worker: Worker, cause: dict[str, Any], in_flight: int) -> None:
    state = turn.state
    state.last_fault = {**cause, "generation": worker.generation}
    if (worker.role is Role.SUCCESSOR and _was_refused(cause)) or _was_asked_to_end(cause):
        return  # the end of the rollout tells of it; nobody was lost
    turn.count("workers_lost")
    if worker.role is Role.ACTIVE:
        state.restarts = next_restart(turn, worker)
    turn.record(
        WorkerLost(
            worker.generation,
            worker.role.value,
            str(cause.get("class", "process")),
            str(cause.get("code", "WORKER_LOST")),
            str(cause.get("message", "")),
            in_flight,
            state.restarts.consecutive,
            state.restarts.is_degraded,
            cause.get("stderr") or None,
        )
    )


def _was_refused(cause: dict[str, Any]) -> bool:
    """Whether a worker ended because the host did not want it in the place of another."""
    return cause.get("class") == "rollout"


def _was_asked_to_end(cause: dict[str, Any]) -> bool:
    """Whether a worker that must be the only one ended to make room for a fresh one."""
    return cause.get("code") == RESTART_ASKED


def _forget_errands(turn: Turn, generation: int) -> None:
    state = turn.state
    for number, errand in list(state.errands.items()):
        if errand.generation == generation:
            del state.errands[number]
            if errand.kind is ErrandKind.PROBE:
                probe_lost(turn, number, errand)


def _void_callbacks(turn: Turn, generation: int) -> None:
    for number, callback in list(turn.state.callbacks.items()):
        if callback.generation == generation:
            del turn.state.callbacks[number]
            params = {"requestId": number, "reason": "the server that asked is gone"}
            turn.tell_client(notification_message("notifications/cancelled", params))


def _lose(turn: Turn, entry: Pending, loss: _Loss, *, unsent: bool) -> None:
    if entry.earlier is not None:
        fall_back(turn, entry)
        return
    turn.state.attempts.pop(entry.attempt, None)
    # A handshake is charged all the same: whether a worker that ends at once has read it is a matter of luck.
    if unsent and entry.method != "initialize":
        # As if it had not been tried: what is known is what was known before, and nothing is charged.
        before = Knowledge.OUTCOME_UNKNOWN if entry.replays else Knowledge.NOT_DISPATCHED
        replays = max(0, entry.replays - 1)
        entry = entry._replace(knowledge=before, replays=replays, moves=min(entry.moves, replays))
    elif loss.is_forgiven and entry.rule is not None and entry.rule.effect.replay is ReplayWord.CONVERGENT:
        entry = entry._replace(moves=entry.moves + 1)
    entry = turn.put(entry._replace(knowledge=after_loss(entry.knowledge), attempt=0))
    if entry.call.stop is not None:
        end_stopped(turn, entry, entry.call.stop)
    else:
        settle_lost(turn, entry, loss)


def _charge_waiting_handshake(turn: Turn, loss: _Loss) -> None:
    """A worker that ends before it reads is one more that could not take the handshake which waits for it."""
    for entry in list(turn.state.pending.values()):
        if entry.method == "initialize" and not entry.is_in_flight:
            rule = entry.rule or rule_for(entry.method, entry.params, NO_CATALOG, turn.state.policy)
            again = entry.knowledge is Knowledge.OUTCOME_UNKNOWN
            call = entry.call if again else entry.call.dispatch().call
            charged = entry._replace(
                rule=rule, call=call, knowledge=Knowledge.OUTCOME_UNKNOWN, replays=entry.replays + again
            )
            settle_lost(turn, turn.put(charged), loss)


def settle_lost(turn: Turn, entry: Pending, loss: _Loss = _UNKNOWN_LOSS) -> None:
    """Decide about a request that no worker has any more: it is refused, held, or waits for the next worker."""
    rule = entry.rule
    assert rule is not None  # it was dispatched
    decided = dispose(entry.knowledge, rule.effect.replay, Allowance(entry.charged, rule.replays))
    if decided is Disposition.REJECT_AMBIGUOUS:
        _refuse_ambiguous(turn, entry, made_way=loss.made_way)
    elif decided is Disposition.REJECT_EXHAUSTED:
        _refuse_exhausted(turn, entry, loss)
    elif loss.takes_state and decided is Disposition.REPLAY and entry.method == "tools/call":
        end_with_fault(turn, entry, lost_fault(turn, entry))
    else:
        turn.state.waiting[entry.id] = None
        if decided is Disposition.HOLD_FOR_PROBE:
            begin_hold(turn, entry)


def _refuse_exhausted(turn: Turn, entry: Pending, loss: _Loss) -> None:
    if entry.method == "initialize":  # whoever connects is the one who can mend it
        problem = fault("REPLAY_EXHAUSTED", how_it_ended(loss.cause), details=loss_details(loss.cause))
    else:
        text = f"the worker was lost {entry.charged + 1} times during {entry.tool}; it is not repeated again"
        problem = fault("REPLAY_EXHAUSTED", text)
    end_with_fault(turn, entry, problem)


def _refuse_ambiguous(turn: Turn, entry: Pending, *, made_way: bool) -> None:
    if made_way:
        text = f"{entry.tool} was still running when its worker had to make way; it may have taken effect"
        end_with_fault(turn, entry, fault("ROLLOUT_DISRUPTED", text))
        return
    text = (
        f"the worker was lost during {entry.tool}, which may or may not have taken effect; it is not safe to "
        "repeat it, find out first"
    )
    end_with_fault(turn, entry, fault("AMBIGUOUS_OUTCOME", text))


def next_restart(turn: Turn, worker: Worker) -> Restarts:
    """The account of losses after one more: doubling pauses, and a low rate once the budget is used up."""
    policy, before = turn.state.policy, turn.state.restarts
    steady = worker.ready_at and turn.now - worker.ready_at >= policy.restart_reset
    consecutive = 1 if steady else before.consecutive + 1
    earlier = () if steady else before.recent
    recent = (*(at for at in earlier if turn.now - at < policy.restart_window), turn.now)
    # Once it is used up, that lasts until a worker is ready.
    degraded = len(recent) > policy.restart_budget or (before.is_degraded and not worker.ready_at)
    delay = policy.restart_slow if degraded else _pause(turn, consecutive)
    return Restarts(before.total, consecutive, recent[-policy.restart_budget - 1 :], degraded, turn.now + delay)


def _pause(turn: Turn, consecutive: int) -> float:
    policy = turn.state.policy
    pause = policy.restart_delay * 2 ** min(consecutive - 2, 30) if consecutive > 1 else 0.0
    # A client that waits in its handshake is told soon whether it will come to something; its tries are counted.
    waits = turn.state.session.phase is SessionPhase.INITIALIZING
    return min(pause, policy.restart_delay if waits else policy.restart_delay_max)


def _fill_the_place(turn: Turn, worker: Worker, cause: dict[str, Any]) -> None:
    state = turn.state
    if worker.role is Role.SPARE:
        start_worker(turn, Role.SPARE, state.policy.restart_delay_max)
    elif worker.role is Role.SUCCESSOR:
        _keep_incumbent(turn, worker, cause)
    elif worker.role is Role.ACTIVE:
        state.restarts = state.restarts._replace(total=state.restarts.total + 1)
        has_successor = any(other.role is Role.SUCCESSOR for other in state.workers.values())
        if not has_successor and not _was_asked_to_end(cause):
            end_rollout(turn, f"the worker was lost: {how_it_ended(cause)}")
        if not charge_probation(turn, worker, cause):
            _succeed(turn)


def _succeed(turn: Turn) -> None:
    state = turn.state
    # Another release takes over when it has been looked at, and not because the one that serves has failed.
    stand_by = [
        other
        for other in state.workers.values()
        if other.role in {Role.SPARE, Role.SUCCESSOR} and other.release == state.release
    ]
    delay = max(0.0, state.restarts.retry_at - turn.now)
    if not stand_by:
        state.active = start_worker(turn, Role.ACTIVE, delay).generation
        return
    # One that is ready is best; one that is on its way is further than one that has yet to start.
    best = max(stand_by, key=lambda other: (other.phase is WorkerPhase.READY, -other.generation))
    if best.phase is WorkerPhase.STARTING:
        turn.commands.append(
            StartWorker(best.generation, delay, best.release)
        )  # it may have been put off for longer
    promote(turn, best)


def _keep_incumbent(turn: Turn, successor: Worker, cause: dict[str, Any]) -> None:
    # What the incumbent goes on with is no reason to try again at once: the next call that is given up will be.
    tombs = turn.state.tombstones
    turn.state.tombstones = {number: tomb._replace(is_given_up=False) for number, tomb in tombs.items()}
    text = str(cause["message"]) if _was_refused(cause) else f"the successor was lost: {how_it_ended(cause)}"
    if turn.active is not None:
        turn.put_worker(turn.active._replace(stuck_threads=0))
    incumbent = turn.active
    end_rollout(turn, text, successor.release)
    if turn.state.relief and incumbent is not None and incumbent.generation == turn.state.relief:
        _no_relief(turn, incumbent)
    turn.state.relief = 0


def _no_relief(turn: Turn, worker: Worker) -> None:
    """No successor could be had for a worker that seems blocked: it is ended first, if that is certain."""
    if worker.life.condition is Condition.STOPPED and worker.phase is WorkerPhase.READY:
        stop_worker(turn, worker, hung_fault(turn, worker))
    else:
        at = turn.now + turn.state.policy.suspect_after
        turn.put_worker(worker._replace(life=worker.life._replace(relief_at=at)))
