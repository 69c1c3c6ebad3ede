"""What the host itself says to a client, in place of a worker: protocol errors and failed tool results.

Every error carries `{class, code, generation, attempt, retry: {safe, afterMs}}`, so that a program can decide what
to do next without reading prose. `retry.safe` is a promise: repeating the request cannot take effect twice;
nothing that breaks it is called retryable. `attempt` is 0 for a request that no worker ever got.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.kernel.policy import Policy
from holdfast.kernel.rules import declared_limit
from holdfast.kernel.state import Pending, State, WorkerPhase
from holdfast.present.dialects import Dialect
from holdfast.present.error_numbers import host_error_number
from holdfast.present.last_words import last_words
from holdfast.present.render import Presentation, RenderMode, failure_text
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.envelope import error_message, result_message

__all__ = [
    "fault_answer",
    "how_it_ended",
    "is_retry_safe",
    "loss_details",
    "retry_after_ms",
    "stop_answer",
    "timeout_fault",
]

_EARLY = 1e-6  # seconds by which sums of times may differ from what was meant
_LONGEST_TAIL = 2000  # characters of stderr in the details of an error


def is_retry_safe(entry: Pending) -> bool:
    """Whether the client may send the request again without any danger of a second effect."""
    if entry.knowledge is Knowledge.NOT_DISPATCHED or entry.freed:
        return True
    return entry.rule is not None and entry.rule.effect.replay is ReplayWord.CONVERGENT


def retry_after_ms(state: State, now: float) -> int:
    """How long a client should wait before it tries again, as far as that is known."""
    active = state.workers.get(state.active)
    if active is not None and active.phase is WorkerPhase.READY:
        return 0  # the pause that is left is that of the next spare
    return max(0, round((state.restarts.retry_at - now) * 1000))


def how_it_ended(cause: Mapping[str, Any], *, with_words: bool = True) -> str:
    """How a worker ended, with what it wrote to stderr at last: most often the reason.

    Clients that had nothing to do with it do not get these words.
    """
    text = str(cause.get("message") or "the worker ended")
    words = last_words(_stderr(cause))
    if not with_words:
        return text.removesuffix(f": {words}") if words else text
    return text if words in text else f"{text}: {words}"


def loss_details(cause: Mapping[str, Any]) -> dict[str, Any]:
    """What a program is told of the end of a worker."""
    told = {"code": cause.get("code"), "stderr": _stderr(cause)[-_LONGEST_TAIL:]}
    return {"worker": {name: value for name, value in told.items() if value}}


def _stderr(cause: Mapping[str, Any]) -> str:
    return str(cause.get("stderr") or "")


def _attempts(entry: Pending) -> int:
    return 0 if entry.knowledge is Knowledge.NOT_DISPATCHED else entry.replays + 1


def fault_answer(entry: Pending, problem: Fault, generation: int, after_ms: int) -> dict[str, Any]:
    """The answer that ends a request with one of the host's own errors."""
    data = {
        "class": problem.fault_class.value,
        "code": problem.code,
        "message": problem.message,
        "retryable": problem.retryable and is_retry_safe(entry),
        "generation": generation,
        "attempt": _attempts(entry),
        "retry": {"safe": is_retry_safe(entry), "afterMs": after_ms},
        "details": dict(problem.details),
    }
    number = host_error_number(problem.code, modern=entry.is_modern)
    return error_message(entry.id, number, problem.message, data)


def stop_answer(entry: Pending, problem: Fault, generation: int) -> dict[str, Any]:
    """The answer to a request that was stopped: a failed result of the tool, or an error of another method."""
    if entry.method != "tools/call":
        return fault_answer(entry, problem, generation, 0)
    problem = replace(problem, retryable=problem.retryable and is_retry_safe(entry))
    dialect = entry.rule.dialect if entry.rule else Dialect.STATUS
    form = RenderMode.PORCELAIN if dialect is Dialect.STATUS else RenderMode.JSON
    told: Mapping[str, Any] = {
        "code": problem.code,
        "category": problem.fault_class.value,
        "retryable": problem.retryable,
        "generation": generation,
        "attempt": _attempts(entry),
        "retry": {"safe": is_retry_safe(entry), "afterMs": 0},
    }
    result = {
        "content": [{"type": "text", "text": failure_text(problem, Presentation(form), dialect)}],
        "isError": True,
        "_meta": {META_ERROR: told},
    }
    return result_message(entry.id, {"resultType": "complete", **result} if entry.is_modern else result)


def timeout_fault(entry: Pending, policy: Policy, ended_at: float) -> Fault:
    """The fault of a request whose time was up: which limit that was, and where it can be raised."""
    seconds, name = _limit(entry, policy, ended_at)
    return fault(
        "TOOL_TIMEOUT",
        f"{entry.tool} did not finish within {round(seconds * 1000)} ms and was given up",
        timeout_ms=round(seconds * 1000),
        retryable=is_retry_safe(entry),
        hint=f"Narrow the request or raise the {name}.",
    )


def _limit(entry: Pending, policy: Policy, ended_at: float) -> tuple[float, str]:
    rule = entry.rule
    if rule is None:
        return policy.deadline, "deadline of the tool in holdfast.toml"
    if rule.is_ours:
        return declared_limit(rule, policy), "timeout of the tool"
    by_total = rule.deadline_total and ended_at - entry.accepted_at >= rule.deadline_total - _EARLY
    if by_total or not rule.deadline:
        return rule.deadline_total, "deadline_total of the tool in holdfast.toml"
    return rule.deadline, "deadline of the tool in holdfast.toml"
