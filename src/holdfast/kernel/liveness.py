"""Signs of life of a worker that has calls in flight: when it is asked for one, and when it is suspected.

It costs nothing per call: a call that is sent arms one look at its worker, a quarter of a second later, unless one
is due by then anyway. Only a call that is still there by then has a ping follow it. What is known of the worker
goes through the table of `vitals`; what is then done about it is the business of `relief`.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.kernel.answers import answer_from_lists
from holdfast.kernel.commands import LookAtWorker
from holdfast.kernel.inputs import WorkerSeen
from holdfast.kernel.policy import Policy
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Pending, Role, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import FIRST_LOOK, Condition, Vitals, judge
from holdfast.kernel.workers import check_worker, stop_worker
from holdfast.vocabulary.effects import EffectKind, SessionState
from holdfast.vocabulary.events import WorkerSuspected

__all__ = [
    "hung_fault",
    "is_unheard",
    "look_at_worker",
    "note_dispatch",
    "note_overdue",
    "suspect",
    "why_suspected",
    "worker_seen",
]

_AGAIN = 1.0  # seconds between two looks at a worker that does not answer
_PREPARING = frozenset({WorkerPhase.OPEN, WorkerPhase.INITIALIZING, WorkerPhase.LISTING})
_EARLY = 1e-6  # by which sums of times may differ from what was meant


def note_dispatch(turn: Turn, generation: int, entry: Pending) -> None:
    """A worker was sent a request: look at it soon, unless that is planned; see whether it may hold state now."""
    policy = turn.state.policy
    worker = turn.state.workers[generation]
    life = worker.life
    if policy.liveness_interval and entry.method not in STREAM_METHODS:
        soon = turn.now + FIRST_LOOK
        if not life.look_at or life.look_at > soon:
            life = life._replace(look_at=soon)
            turn.wake(soon)
    if not life.holds_state and _acts(worker, entry):
        life = life._replace(has_acted=True, holds_state=not _is_journaled(worker, entry))
    if policy.stateful and not life.holds_state and entry.method == "tools/call":
        life = life._replace(holds_state=True)  # a person says so, whatever the tool says of itself
    if life is not worker.life:
        turn.put_worker(worker._replace(life=life))


def _acts(worker: Worker, entry: Pending) -> bool:
    """Whether a request may leave state behind in its worker."""
    rule = entry.rule
    if rule is None or rule.effect.kind is not EffectKind.REPLAY_SAFE or rule.is_stateful:
        return True
    facts = worker.catalog.tools.get(entry.tool) if entry.method == "tools/call" else None
    return facts is not None and facts.writes


def _is_journaled(worker: Worker, entry: Pending) -> bool:
    """Whether all that a request leaves behind is built again in the next worker."""
    rule = entry.rule
    if rule is None or rule.effect.kind is not EffectKind.REPLAY_SAFE:
        return False
    facts = worker.catalog.tools.get(entry.tool)
    return facts is not None and facts.state is SessionState.JOURNALED and not facts.writes


def note_overdue(turn: Turn, entry: Pending, *, is_cancelled: bool = False) -> None:
    """A request was not answered by its deadline, or was cancelled: see soon whether its worker lives.

    A worker of our own sees to the end of what was cancelled, and tells what it could not end.
    """
    worker = turn.state.workers.get(entry.generation)
    if worker is None or not turn.state.policy.liveness_interval or entry.method in STREAM_METHODS:
        return
    soon = turn.now + FIRST_LOOK
    is_trusted = is_cancelled and entry.rule is not None and entry.rule.is_ours
    life = worker.life._replace(
        overdue_since=worker.life.overdue_since or turn.now,
        stuck_since=worker.life.stuck_since or (0.0 if is_trusted else turn.now),
    )
    if not life.look_at or life.look_at > soon:
        life = life._replace(look_at=soon)
        turn.wake(soon)
    turn.put_worker(worker._replace(life=life))


def is_unheard(turn: Turn, worker: Worker) -> bool:
    """Whether a worker owes the answer to a ping, so that what can do without it had better not wait for it."""
    return bool(worker.ping) and _silent(turn, worker) >= FIRST_LOOK - _EARLY


def _silent(turn: Turn, worker: Worker) -> float:
    return turn.now - max(worker.life.asked_at, worker.heard_at) if worker.ping else 0.0


def _calls_of(turn: Turn, worker: Worker) -> list[Pending]:
    return [
        entry
        for entry in turn.state.pending.values()
        if entry.is_with(worker.generation) and entry.method not in STREAM_METHODS and entry.method != "initialize"
    ]


def look_at_worker(turn: Turn, worker: Worker) -> None:
    """Ask a worker for a sign of life if it has had a call for a while, and plan the next look."""
    if worker.role is not Role.ACTIVE or worker.phase is not WorkerPhase.READY:
        _look_at_start(turn, worker)
        return
    calls = _calls_of(turn, worker)
    if not worker.ping and _is_to_be_asked(turn, worker, calls):
        check_worker(turn, worker)
        worker = turn.state.workers[worker.generation]
    if worker.ping or (worker.life.stuck_since and calls):
        turn.commands.append(LookAtWorker(worker.generation))
    if is_unheard(turn, worker):
        for entry in calls:
            answer_from_lists(turn, entry)
    look_at = _next_look(turn, worker, calls)
    turn.put_worker(worker._replace(life=worker.life._replace(look_at=look_at)))
    turn.wake(look_at)


def _look_at_start(turn: Turn, worker: Worker) -> None:
    """One that does not serve yet has time to answer, but none while it is halted."""
    state = turn.state
    asked = any(errand.generation == worker.generation for errand in state.errands.values())
    is_preparing = worker.phase in _PREPARING and worker.role is not Role.RETIRED
    waits = is_preparing and (asked or any(entry.is_with(worker.generation) for entry in state.pending.values()))
    if waits:
        turn.commands.append(LookAtWorker(worker.generation))
    look_at = turn.now + _AGAIN if waits else 0.0
    turn.put_worker(worker._replace(life=worker.life._replace(look_at=look_at)))
    turn.wake(look_at)


def _is_to_be_asked(turn: Turn, worker: Worker, calls: list[Pending]) -> bool:
    life, now = worker.life, turn.now
    if life.overdue_since and life.asked_at <= life.overdue_since:
        return True
    if calls and now >= life.asked_at + turn.state.policy.liveness_interval - _EARLY:
        return now - min(entry.sent_at for entry in calls) >= FIRST_LOOK - _EARLY
    return any(entry.sent_at > life.asked_at and now - entry.sent_at >= FIRST_LOOK - _EARLY for entry in calls)


def _next_look(turn: Turn, worker: Worker, calls: list[Pending]) -> float:
    policy, life, now = turn.state.policy, worker.life, turn.now
    times: list[float] = []
    if worker.ping:
        pause = FIRST_LOOK if now < life.asked_at + 2 * FIRST_LOOK else _AGAIN
        times += [now + pause, max(life.asked_at, worker.heard_at) + policy.suspect_after]
    elif calls:
        times.append(max(life.asked_at + policy.liveness_interval, now + FIRST_LOOK))
        times += [entry.sent_at + FIRST_LOOK for entry in calls if entry.sent_at > life.asked_at]
    if calls and life.stuck_since:
        times.append(_stuck_since(worker, calls) + policy.suspect_after)
    return min((at for at in times if at > now + _EARLY), default=0.0)


def _stuck_since(worker: Worker, calls: list[Pending]) -> float:
    return max(worker.life.stuck_since, min(entry.sent_at for entry in calls))


def worker_seen(turn: Turn, seen: WorkerSeen) -> None:
    """The system has told what the processes of a worker do: the table decides."""
    worker = turn.state.workers.get(seen.generation)
    if worker is None:
        return
    if worker.role is not Role.ACTIVE or worker.phase is not WorkerPhase.READY:
        _seen_at_start(turn, worker, seen)
        return
    life = worker.life
    first = seen.cpu if life.cpu_when_asked is None else life.cpu_when_asked
    life = life._replace(is_halted=seen.is_halted, cpu=seen.cpu, cpu_when_asked=first)
    worker = turn.put_worker(worker._replace(life=life))
    calls = _calls_of(turn, worker)
    silent = _silent(turn, worker)
    vitals = Vitals(
        silent=silent + _EARLY if worker.ping else 0.0,
        stuck=turn.now - _stuck_since(worker, calls) + _EARLY if calls and life.stuck_since else 0.0,
        has_answered=life.has_answered,
        is_overdue=bool(life.overdue_since),
        is_halted=life.is_halted,
        is_resting=life.is_resting(silent),
    )
    only_hedges = bool(calls) and all(entry.earlier is not None for entry in calls)
    if only_hedges and not vitals.is_halted:
        return  # what blocked one worker may well keep another one busy: no third one is drawn in
    condition = judge(vitals, turn.state.policy.suspect_after)
    if condition not in {Condition.FINE, life.condition}:
        suspect(turn, worker, condition)


def _seen_at_start(turn: Turn, worker: Worker, seen: WorkerSeen) -> None:
    """One that is halted in two looks before it serves is ended: it has nothing that could be lost."""
    if worker.phase not in _PREPARING or worker.role is Role.RETIRED:
        return
    if seen.is_halted and worker.life.is_halted:
        text = f"worker {worker.generation} was stopped by a signal (process state T) before it served"
        stop_worker(turn, worker, {"class": "timeout", "code": "WORKER_HUNG", "message": text})
        return
    turn.put_worker(worker._replace(life=worker.life._replace(is_halted=seen.is_halted)))


def suspect(turn: Turn, worker: Worker, condition: Condition) -> None:
    """Take down the verdict about a worker; `relief` acts upon it at the end of the turn."""
    since = worker.life.suspected_at if worker.life.condition is not Condition.FINE else turn.now
    life = worker.life._replace(condition=condition, suspected_at=since)
    worker = turn.put_worker(worker._replace(life=life))
    turn.count("suspected")
    turn.record(WorkerSuspected(worker.generation, condition.value, why_suspected(worker, turn.state.policy)))
    is_on_trial = turn.state.probation is not None
    if condition is Condition.STOPPED and (turn.state.policy.single or turn.state.leaving_at or is_on_trial):
        stop_worker(turn, worker, hung_fault(turn, worker))


_WORDS: Mapping[Condition, str] = {
    Condition.FINE: "worker {generation} is fine",
    Condition.UNKNOWN: "worker {generation} has said nothing for {seconds:g} s, a ping unanswered; it may be busy",
    Condition.STUCK: "worker {generation} answers pings, but none of its calls has ended for {seconds:g} s",
    Condition.STOPPED: "worker {generation} has said nothing for {seconds:g} s, a ping unanswered",
}


def why_suspected(worker: Worker, policy: Policy) -> str:
    """The verdict about a worker in words."""
    if worker.life.condition is Condition.STOPPED and worker.life.is_halted:
        return f"worker {worker.generation} was stopped by a signal (process state T)"
    return _WORDS[worker.life.condition].format(generation=worker.generation, seconds=policy.suspect_after)


def hung_fault(turn: Turn, worker: Worker) -> dict[str, Any]:
    """Why a worker that is blocked is ended."""
    text = why_suspected(worker, turn.state.policy)
    return {"class": "timeout", "code": "WORKER_HUNG", "message": text}
