"""From a waiting request to the pipe of a worker: who may go now, in which order, and as which attempt.

Requests that are repeated come before younger ones, in the order of their acceptance, because all that wait are
walked in that order. Reads that need no tool do not wait behind calls of tools.
"""

from holdfast.kernel.answers import answer_from_lists, end_with_fault
from holdfast.kernel.commands import LookUpOutcome
from holdfast.kernel.liveness import is_unheard, note_dispatch, why_suspected
from holdfast.kernel.lost_state import lost_fault, refused_now
from holdfast.kernel.probes import ask_probe, begin_hold
from holdfast.kernel.quarantine import note_last_attempt, waits_its_turn
from holdfast.kernel.replies import how_it_ended, loss_details
from holdfast.kernel.rules import FACT_METHODS, LIST_METHODS, STREAM_METHODS, Rule, rule_for
from holdfast.kernel.state import Lookup, Pending, Worker, WorkerPhase
from holdfast.kernel.turn import Turn, due_time
from holdfast.kernel.vitals import Condition
from holdfast.vocabulary.call import Phase
from holdfast.vocabulary.disposition import Allowance, Disposition, after_dispatch, dispose
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.events import CallReplayed
from holdfast.vocabulary.execution import Knowledge, ProbeAnswer, Rollout, SessionPhase
from holdfast.vocabulary.faults import fault
from holdfast.wire.splice import replace_id

__all__ = ["dispatch_waiting", "reject_waiting"]


def dispatch_waiting(turn: Turn) -> None:
    """Send what can be sent now."""
    state = turn.state
    if not state.waiting or state.is_fenced:
        return
    worker = turn.active
    if worker is None or worker.phase in {WorkerPhase.STARTING, WorkerPhase.STOPPING, WorkerPhase.INITIALIZING}:
        _answer_lists(turn)
        if state.restarts.is_degraded:
            reject_waiting(turn)
        return
    if worker.life.condition is not Condition.FINE or is_unheard(turn, worker):
        _answer_lists(turn)
        if _is_held(turn, worker):
            return
    if state.lost is not None:
        _refuse_without_state(turn, worker)
    handshake = state.session.phase is SessionPhase.INITIALIZING
    for request_id in list(state.waiting):
        entry = state.pending[request_id]
        if _serves(turn, worker, entry):
            _proceed(turn, worker, entry)
        elif entry.knowledge is Knowledge.OUTCOME_UNKNOWN and not handshake:
            return  # nothing younger overtakes what is repeated, except the handshake that it waits for


def _answer_lists(turn: Turn) -> None:
    """What the host can tell itself does not wait for a worker."""
    state = turn.state
    if state.session.phase is SessionPhase.INITIALIZING:
        return
    for request_id in list(state.waiting):
        answer_from_lists(turn, state.pending[request_id])


def _is_held(turn: Turn, worker: Worker) -> bool:
    """Whether a worker that seems blocked is sent nothing: what it was never sent can still go to another one."""
    condition, state = worker.life.condition, turn.state
    if condition is Condition.FINE:
        return False
    if state.policy.single:
        _refuse_waiting(turn, worker)
        return True
    if condition is Condition.STOPPED or state.rollout is not Rollout.STABLE:
        return True
    # Nothing moves. A worker that cannot be heard while it is busy may be one that never answers pings at all.
    return condition is Condition.UNKNOWN and worker.life.knows_ping


def _refuse_without_state(turn: Turn, worker: Worker) -> None:
    """What a stateful server was asked by clients that do not know yet that its state is lost."""
    if worker.phase is WorkerPhase.READY:
        for entry in refused_now(turn):
            end_with_fault(turn, entry, lost_fault(turn, entry))


def _refuse_waiting(turn: Turn, worker: Worker) -> None:
    """There is one worker and it is blocked: nothing that was not begun waits for it."""
    policy = turn.state.policy
    recovers = worker.life.condition is Condition.STOPPED or bool(policy.deadline or policy.deadline_total)
    why = why_suspected(worker, policy)
    text = f"{why}, and single = true allows no second one beside it"
    for request_id in list(turn.state.waiting):
        entry = turn.state.pending[request_id]
        if entry.hold is None and entry.knowledge is Knowledge.NOT_DISPATCHED:
            end_with_fault(turn, entry, fault("NOT_READY", text, retryable=recovers))


def reject_waiting(turn: Turn) -> None:
    """Workers keep failing: nobody is left to wait for one."""
    for request_id in list(turn.state.waiting):
        entry = turn.state.pending[request_id]
        lost = entry.knowledge is Knowledge.OUTCOME_UNKNOWN
        if entry.hold is not None:
            continue  # it has a bound of its own, and a worker may yet tell what became of it
        text = "the worker keeps failing; it is tried again at a low rate"
        if entry.method == "initialize":  # whoever connects is the one who can mend it
            cause = turn.state.last_fault or {}
            problem = fault("NOT_READY", f"{text}: {how_it_ended(cause)}", details=loss_details(cause))
        else:
            problem = fault("WORKER_LOST" if lost else "NOT_READY", text)
        end_with_fault(turn, entry, problem)


def _serves(turn: Turn, worker: Worker, entry: Pending) -> bool:
    if worker.phase is WorkerPhase.READY:
        return not waits_its_turn(turn, entry)
    if entry.method != "tools/call":
        return True
    # Before any handshake the worker itself says what is wrong; afterwards the effect has to be known first.
    session = turn.state.session
    return session.phase is SessionPhase.COLD and not (entry.is_modern and session.self_description is not None)


def _proceed(turn: Turn, worker: Worker, entry: Pending) -> None:
    rule = entry.rule or rule_for(entry.method, entry.params, worker.catalog, turn.state.policy)
    answer = ProbeAnswer.SAFE_TO_REPLAY if entry.freed else None
    decided = dispose(entry.knowledge, rule.effect.replay, Allowance(entry.charged, rule.replays), answer)
    if decided is Disposition.FIRST_DISPATCH:
        if rule.key is None or entry.lookup is Lookup.CLEAR:
            _dispatch(turn, worker, entry, rule, decided)
        elif entry.lookup is Lookup.NOT_ASKED and not _key_is_busy(turn, entry, rule):
            _look_up(turn, entry, rule)
    elif decided is Disposition.REPLAY:
        _dispatch(turn, worker, entry, rule, decided)
    elif decided is Disposition.HOLD_FOR_PROBE:
        held = entry if entry.hold is not None else begin_hold(turn, entry)
        ask_probe(turn, worker, held, rule)
    else:
        raise AssertionError(f"a waiting request cannot be {decided.value}")


def _dispatch(turn: Turn, worker: Worker, entry: Pending, rule: Rule, decided: Disposition) -> None:
    state = turn.state
    attempt = turn.take_id()
    again = decided is Disposition.REPLAY
    needs_params = (
        rule.key is not None
        or rule.is_stateful
        or rule.effect.kind is EffectKind.PROBE_REQUIRED
        or entry.method in FACT_METHODS
        or entry.method in LIST_METHODS
        or entry.method in STREAM_METHODS
    )
    sent = turn.put(
        entry._replace(
            rule=rule,
            call=entry.call.dispatch().call if entry.call.phase is Phase.ACCEPTED else entry.call,
            knowledge=after_dispatch(entry.knowledge, decided),
            params=entry.params if needs_params else {},
            generation=worker.generation,
            attempt=attempt,
            replays=entry.replays + again,
            due=_due(turn.now, entry, rule),
            is_overdue=False,
            freed=False,
            sent_at=turn.now,
        )
    )
    note_dispatch(turn, worker.generation, sent)
    del state.waiting[entry.id]
    state.attempts[attempt] = entry.id
    if again:
        note_last_attempt(turn, sent)
    if again and not entry.is_own:
        turn.count("replayed")
        turn.record(CallReplayed(entry.id, entry.tool, worker.generation, entry.replays + 2, entry.method))
    turn.pass_to_worker(worker, replace_id(entry.frame, attempt), attempt)
    if entry.method == "initialize" and state.session.initialized is not None:
        turn.pass_to_worker(worker, state.session.initialized)  # the client did not wait for the answer


def _due(now: float, entry: Pending, rule: Rule) -> float:
    due = now + rule.deadline if rule.deadline else 0.0
    if rule.deadline_total and not rule.is_ours:
        last = due_time(entry.accepted_at + rule.deadline_total, now)
        due = min(due, last) if due else last
    return due


def _key_is_busy(turn: Turn, entry: Pending, rule: Rule) -> bool:
    """Whether another call with the same key is under way; its outcome is waited for."""
    return any(
        other.tool == entry.tool and other.rule is not None and other.rule.key == rule.key
        for other in turn.state.pending.values()
        if other.id != entry.id
    )


def _look_up(turn: Turn, entry: Pending, rule: Rule) -> None:
    turn.put(entry._replace(rule=rule, lookup=Lookup.ASKED))
    assert rule.key is not None
    turn.commands.append(LookUpOutcome(entry.sequence, entry.tool, rule.key, entry.params.get("arguments")))
