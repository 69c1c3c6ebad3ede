"""From the outcome of a call to the one terminal answer on the wire, in the server's dialect.

An answer is a tool result, a protocol error, or silence. Which of them an outcome becomes depends only on the
call's profile and dialect; nothing here runs or waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.contract.model import Surface, ToolContract
from holdfast.present.dialects import Dialect, success
from holdfast.present.profile import Profile, shape_result
from holdfast.present.render import Presentation, Renderer, RenderMode, failure_text, text_of
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INVALID_PARAMS
from holdfast.worker.validate import Violation

__all__ = [
    "Answer",
    "Manner",
    "ProtocolError",
    "ToolResult",
    "answer_fault",
    "answer_refusal",
    "answer_value",
    "error_data",
    "invalid_arguments",
    "stop_fault",
]


MAX_FAILURE_BYTES = 256 * 1024  # a failure is read by somebody; more than this is spew
ENVELOPE_BYTES = 1024  # what is added around a result: id, version, stamps


class ToolResult(NamedTuple):
    """The call ended with a result object, good or bad."""

    result: dict[str, Any]


class ProtocolError(NamedTuple):
    """The call ended with a JSON-RPC error."""

    code: int
    message: str
    data: dict[str, Any]


Answer = ToolResult | ProtocolError | None  # None is silence


@dataclass(frozen=True, slots=True)
class Manner:
    """How one call is to be answered: who the server is, what the session speaks, how the caller reads."""

    surface: Surface
    profile: Profile
    presentation: Presentation
    max_bytes: int

    @property
    def dialect(self) -> Dialect:
        """The error and success envelopes of the server."""
        return self.surface.dialect


def answer_value(
    manner: Manner, contract: ToolContract, payload: Any, renderer: Renderer | None = None
) -> ToolResult | Fault:
    """The result of a call that succeeded; a fault when it is too large to be sent."""
    document = success(manner.dialect, payload)
    shown = document if manner.presentation.render is RenderMode.JSON else payload
    text = text_of(shown, manner.presentation, renderer=renderer)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if manner.profile.structured_content and manner.surface.output_schema_published:
        result["structuredContent"] = document
    # Encoding it here also finds what cannot be sent at all, while the call can still end in a fault.
    if len(encode(result)) > manner.max_bytes - ENVELOPE_BYTES:
        return fault(
            "RESULT_TOO_LARGE",
            f"the answer of {contract.name} is larger than {manner.max_bytes} bytes",
            details={"limitBytes": manner.max_bytes},
            hint="Ask for less: narrow the request or page through it.",
        )
    return ToolResult(_complete(result, manner))


def answer_refusal(manner: Manner, problem: Fault) -> ToolResult | ProtocolError:
    """The answer to a call that never began (overload, invalid arguments): a protocol error where one is due."""
    if problem.code == "QUEUE_OVERLOADED":
        return ProtocolError(manner.profile.overload_code, problem.message, error_data(problem))
    if manner.dialect is not Dialect.LAUNCH and not manner.profile.invalid_arguments_are_tool_errors:
        violations = problem.details["violations"]
        return ProtocolError(INVALID_PARAMS, problem.message, {"code": problem.code, "details": violations})
    return answer_fault(manner, problem)


def answer_fault(manner: Manner, problem: Fault, duration_ms: float = 0.0) -> ToolResult:
    """The answer to a call that failed."""
    result = _failed(manner, problem, duration_ms)
    if len(encode(result)) > MAX_FAILURE_BYTES:
        cut = {"omitted": "the details of this failure are too large to be sent"}
        result = _failed(manner, replace(problem, message=problem.message[:2000], details=cut), duration_ms)
    # No structuredContent: clients check it against the schema of a success, also in errors.
    return ToolResult(_complete(result, manner))


def _failed(manner: Manner, problem: Fault, duration_ms: float) -> dict[str, Any]:
    meta = _meta(manner.surface, duration_ms) if manner.dialect is Dialect.POC else None
    return {
        "content": [
            {"type": "text", "text": failure_text(problem, manner.presentation, manner.dialect, meta=meta)}
        ],
        "isError": True,
        # For programs: the text may be porcelain, and its first line is for people.
        "_meta": {
            META_ERROR: {
                "code": problem.code,
                "category": problem.fault_class.value,
                "retryable": problem.retryable,
            }
        },
    }


def invalid_arguments(dialect: Dialect, tool: str, violations: list[Violation]) -> Fault:
    """The fault of a call whose arguments do not fit: all violations, one summary line."""
    first = violations[0]
    place = first["instancePath"] or "arguments"
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return fault(
        "INVALID_INPUT" if dialect is Dialect.LAUNCH else "INVALID_REQUEST",
        f"invalid arguments for {tool}: {place}: {first['message']}{more}",
        details={"violations": violations},
        hint="Compare the call with the tool's input schema.",
    )


def stop_fault(why: Stop, tool: str, timeout: float | None) -> Fault:
    """The fault of a call that was ended from outside."""
    if why is Stop.TIMEOUT:
        timeout_ms = round((timeout or 0) * 1000)
        return fault(
            "TOOL_TIMEOUT",
            f"{tool} did not finish within {timeout_ms} ms and was aborted",
            timeout_ms=timeout_ms,
            hint="Narrow the request or raise the timeout.",
        )
    if why is Stop.SHUTDOWN:
        return fault("CANCELLED", f"{tool} was stopped because the server is shutting down", retryable=True)
    return fault("CANCELLED", f"{tool} was cancelled")


def error_data(problem: Fault) -> dict[str, Any]:
    """`error.data` of a protocol error that is not about arguments."""
    return {
        "code": problem.code,
        "message": problem.message,
        "retryable": problem.retryable,
        "details": dict(problem.details),
    }


def _complete(result: dict[str, Any], manner: Manner) -> dict[str, Any]:
    info = {"name": manner.surface.name, "version": manner.surface.version}
    return shape_result(result, manner.profile, info)


def _meta(surface: Surface, duration_ms: float) -> Mapping[str, Any]:
    return {
        "schemaVersion": surface.surface_version,
        "toolVersion": surface.version,
        "ts": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "durationMs": round(duration_ms, 3),
    }
