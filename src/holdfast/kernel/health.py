"""The health of a host, told from its state: what an operator and `holdfast status` read."""

from typing import Any

from holdfast.kernel.liveness import why_suspected
from holdfast.kernel.replies import retry_after_ms
from holdfast.kernel.state import Role, State, Worker, WorkerPhase
from holdfast.kernel.vitals import Condition
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Handshake, Impediment, Lifecycle, Rollout, SessionPhase

__all__ = ["health", "is_quiet"]

_HANDSHAKES = {
    WorkerPhase.STARTING: Handshake.STARTING,
    WorkerPhase.OPEN: Handshake.INITIALIZING,
    WorkerPhase.INITIALIZING: Handshake.INITIALIZING,
    WorkerPhase.LISTING: Handshake.INITIALIZING,
    WorkerPhase.READY: Handshake.READY,
    WorkerPhase.STOPPING: Handshake.FAILED,
}
# Every request that is not pending any more was answered, or ended without an answer since its client wanted none.
_COUNTS = (
    "requests",
    "answered",
    "unanswered",
    "refused",
    "replayed",
    "ambiguous",
    "cancelled",
    "timeouts",
    "given_up",
    "deduplicated",
    "late",
    "noise_lines",
    "workers_lost",
)


def health(state: State, now: float, started_at: float) -> dict[str, Any]:
    """The health payload."""
    active = state.workers.get(state.active)
    impediment, reason = _impediment(state, active, now)
    return {
        "state": (_lifecycle(state, active) if impediment is None else Lifecycle.DEGRADED).value,
        "reason": reason or None,
        "reason_code": impediment.value if impediment is not None else None,
        "admits": _admits(state, active, impediment),
        "worker_handshake": (_HANDSHAKES[active.phase] if active else Handshake.ABSENT).value,
        "generation": state.active,
        "uptime_ms": round((now - started_at) * 1000),
        "consecutive_failures": _failures_in_a_row(state, active, now),
        "restart_count": state.restarts.total,
        "rollout": _rollout(state).value,
        "release": state.release,
        "probation_ms": _probation_ms(state, now),
        "last_rollout": dict(state.last_rollout) if state.last_rollout is not None else None,
        "last_fault": dict(state.last_fault) if state.last_fault is not None else None,
        "session": state.session.phase.value,
        "degraded": _is_degraded(state, active, now),
        "retry_in_ms": retry_after_ms(state, now),
        "pending": len(state.pending),
        "queued": len(state.waiting),
        "held_for_probe": sum(entry.hold is not None for entry in state.pending.values()),
        "spare": _spare(state),
        "tools": len(state.catalog.tools) if state.catalog is not None else None,
        "tools_trouble": (active.list_trouble or None) if active is not None else None,
        "counters": {name: state.counts.get(name, 0) for name in _COUNTS},
    }


def is_quiet(state: State) -> bool:
    """Whether every worker could end now without harm: what they have can all be done again."""
    if state.callbacks or state.rollout is not Rollout.STABLE or state.session.phase is SessionPhase.INITIALIZING:
        return False
    in_flight = (entry.rule for entry in state.pending.values() if entry.is_in_flight)
    return all(rule is not None and rule.effect.replay is ReplayWord.CONVERGENT for rule in in_flight)


def _failures_in_a_row(state: State, active: Worker | None, now: float) -> int:
    """Losses in a row; a worker that holds out ends it, before there is another loss."""
    steady = active is not None and active.ready_at and now - active.ready_at >= state.policy.restart_reset
    return 0 if steady else state.restarts.consecutive


def _is_degraded(state: State, active: Worker | None, now: float) -> bool:
    """Whether workers keep failing; one that serves ends it as soon as the losses are within the budget again."""
    lately = sum(now - at < state.policy.restart_window for at in state.restarts.recent)
    served = active is not None and active.phase is WorkerPhase.READY
    return state.restarts.is_degraded and not (served and lately <= state.policy.restart_budget)


def _rollout(state: State) -> Rollout:
    """Whether a replacement is under way; it is not over while the old worker finishes its calls."""
    kept = state.probation.fallback if state.probation is not None else 0
    at_work = {entry.generation for entry in state.pending.values() if entry.is_in_flight}
    finishing = (
        one.role is Role.RETIRED
        and one.phase is not WorkerPhase.STOPPING
        and (one.generation != kept or kept in at_work)
        for one in state.workers.values()
    )
    return Rollout.RELOADING if state.rollout is Rollout.STABLE and any(finishing) else state.rollout


def _probation_ms(state: State, now: float) -> int:
    """How long the release that serves must still hold before it is trusted; 0 when it is."""
    if state.probation is None:
        return 0
    left = state.probation.until - now if state.probation.until else state.policy.probation
    return max(0, round(left * 1000))


_SUSPICIONS = {
    Condition.UNKNOWN: Impediment.WORKER_UNKNOWN,
    Condition.STUCK: Impediment.WORKER_STUCK,
    Condition.STOPPED: Impediment.WORKER_STOPPED,
}


def _impediment(state: State, active: Worker | None, now: float) -> tuple[Impediment | None, str]:
    """Why a call would not be taken now, or not by the worker that serves, with the reason in words."""
    serves = active is not None and active.phase is WorkerPhase.READY
    if len(state.pending) >= state.policy.pending_max:
        return Impediment.QUEUE_FULL, f"{len(state.pending)} requests are in flight, which is the most"
    if active is not None and serves and active.life.condition is not Condition.FINE:
        return _SUSPICIONS[active.life.condition], why_suspected(active, state.policy)
    if active is not None and serves and active.is_refusing:
        return Impediment.WORKER_REFUSES, f"worker {active.generation} takes no more calls (QUEUE_OVERLOADED)"
    if _is_degraded(state, active, now) and not serves:
        return Impediment.WORKERS_FAIL, "the worker keeps failing and is tried at a low rate; last_fault tells how"
    return None, ""


def _admits(state: State, active: Worker | None, impediment: Impediment | None) -> bool:
    """Whether a call that came now would be taken: by the worker, or by the one that is on its way."""
    if state.leaving_at or state.is_over or active is None:
        return False
    if impediment in _SUSPICIONS.values():
        return state.rollout is not Rollout.STABLE and not state.policy.single
    return impediment is None


def _lifecycle(state: State, active: Worker | None) -> Lifecycle:
    # Before there is a session a worker has nothing to say; once it is asked, it has to answer.
    owes_handshake = state.session.phase is SessionPhase.INITIALIZING
    if active is not None and active.phase in {WorkerPhase.READY, WorkerPhase.OPEN} and not owes_handshake:
        return Lifecycle.READY
    calls_wait = any(state.pending[one].method == "tools/call" for one in state.waiting)
    if active is not None and active.phase is WorkerPhase.LISTING and not calls_wait:
        return Lifecycle.READY
    if state.restarts.consecutive or state.restarts.total:
        return Lifecycle.RECOVERING
    return Lifecycle.STARTING if active is not None else Lifecycle.COLD


def _spare(state: State) -> str:
    spares = [worker for worker in state.workers.values() if worker.role is Role.SPARE]
    if not spares:
        return "none"
    return "ready" if any(worker.phase is WorkerPhase.READY for worker in spares) else "starting"
