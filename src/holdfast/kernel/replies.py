"""What the host itself says to a client, in place of a worker: protocol errors and failed tool results.

Every error carries `{class, code, generation, attempt, retry: {safe, afterMs}}`, so that a program can decide what
to do next without reading prose. `retry.safe` is a promise: repeating the request cannot take effect twice.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.kernel.state import Pending, State
from holdfast.present.dialects import Dialect
from holdfast.present.render import Presentation, RenderMode, failure_text
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.envelope import INTERNAL_ERROR, error_message, result_message

__all__ = ["fault_answer", "host_error_number", "is_retry_safe", "retry_after_ms", "stop_answer", "timeout_fault"]

_NUMBERS = {
    "QUEUE_OVERLOADED": 1,
    "WORKER_LOST": 10,
    "AMBIGUOUS_OUTCOME": 11,
    "REPLAY_EXHAUSTED": 12,
    "ROLLOUT_DISRUPTED": 13,
    "NOT_READY": 14,
}


def host_error_number(code: str, *, modern: bool) -> int:
    """The JSON-RPC error number of a code; since 2026-07-28 the old range belongs to the protocol itself."""
    number = _NUMBERS.get(code)
    if number is None:
        return INTERNAL_ERROR
    return 1000 + number if modern else -32000 - number


def is_retry_safe(entry: Pending) -> bool:
    """Whether the client may send the request again without any danger of a second effect."""
    if entry.knowledge is Knowledge.NOT_DISPATCHED:
        return True
    return entry.rule is not None and entry.rule.effect.replay is ReplayWord.CONVERGENT


def retry_after_ms(state: State, now: float) -> int:
    """How long a client should wait before it tries again, as far as that is known."""
    return max(0, round((state.restarts.retry_at - now) * 1000))


def fault_answer(entry: Pending, problem: Fault, generation: int, after_ms: int) -> dict[str, Any]:
    """The answer that ends a request with one of the host's own errors."""
    data = {
        "class": problem.fault_class.value,
        "code": problem.code,
        "message": problem.message,
        "retryable": problem.retryable,
        "generation": generation,
        "attempt": entry.replays + 1,
        "retry": {"safe": is_retry_safe(entry), "afterMs": after_ms},
        "details": dict(problem.details),
    }
    number = host_error_number(problem.code, modern=entry.is_modern)
    return error_message(entry.id, number, problem.message, data)


def stop_answer(entry: Pending, problem: Fault, generation: int) -> dict[str, Any]:
    """The answer to a request that was stopped: a failed result of the tool, or an error of another method."""
    if entry.method != "tools/call":
        return fault_answer(entry, problem, generation, 0)
    dialect = entry.rule.dialect if entry.rule else Dialect.STATUS
    form = RenderMode.PORCELAIN if dialect is Dialect.STATUS else RenderMode.JSON
    told: Mapping[str, Any] = {
        "code": problem.code,
        "category": problem.fault_class.value,
        "retryable": problem.retryable,
        "generation": generation,
        "attempt": entry.replays + 1,
        "retry": {"safe": is_retry_safe(entry), "afterMs": 0},
    }
    result = {
        "content": [{"type": "text", "text": failure_text(problem, Presentation(form), dialect)}],
        "isError": True,
        "_meta": {META_ERROR: told},
    }
    return result_message(entry.id, {"resultType": "complete", **result} if entry.is_modern else result)


def timeout_fault(entry: Pending, seconds: float) -> Fault:
    """The fault of a request whose time was up."""
    return fault(
        "TOOL_TIMEOUT",
        f"{entry.tool} did not finish within {round(seconds * 1000)} ms and was given up",
        timeout_ms=round(seconds * 1000),
        retryable=is_retry_safe(entry),
        hint="Narrow the request or raise the deadline of the tool in holdfast.toml.",
    )
