"""From the outcome of a call to the one terminal answer on the wire, in the server's dialect.

An answer is a tool result, a protocol error, or silence. Which of them an outcome becomes depends only on the
call's profile and dialect; nothing here runs or waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from holdfast.contract.model import ToolContract
from holdfast.contract.surface import Surface
from holdfast.present.continuation import CursorRefused
from holdfast.present.dialects import Dialect, success
from holdfast.present.eras import MISSING_CAPABILITY, content_for_revision, input_required
from holdfast.present.output_bounds import Verdict, judge
from holdfast.present.output_cost import Limits
from holdfast.present.profile import Profile, shape_result
from holdfast.present.render import Presentation, Renderer, RenderMode, failure_text, text_of
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INTERNAL_ERROR, INVALID_PARAMS
from holdfast.worker.pages import PageRequest
from holdfast.worker.validate import Violation

__all__ = [
    "ENVELOPE_BYTES",
    "Answer",
    "Manner",
    "ProtocolError",
    "ToolResult",
    "answer_fault",
    "answer_incapable",
    "answer_refusal",
    "answer_unfinished",
    "answer_value",
    "cursor_refused",
    "error_data",
    "invalid_arguments",
    "is_about_arguments",
    "is_within",
    "stop_fault",
]


MAX_FAILURE_BYTES = 256 * 1024  # a failure is read by somebody; more than this is spew
ENVELOPE_BYTES = 1024  # what is added around a result: id, version, stamps
_NO_LIMITS = Limits()
_VIOLATION = {"instancePath", "schemaPath", "keyword", "params", "message"}


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
    page: PageRequest | None = None

    @property
    def dialect(self) -> Dialect:
        """The error and success envelopes of the server."""
        return self.surface.dialect


def answer_value(
    manner: Manner,
    contract: ToolContract,
    payload: Any,
    renderer: Renderer | None = None,
    content: Sequence[dict[str, Any]] = (),
    limits: Limits = _NO_LIMITS,
) -> ToolResult | Fault:
    """The result of a call that succeeded; a fault when it is too large to be sent.

    `content` are the items that the tool made itself: behind its text, or alone where it has no payload. A page
    has fewer rows where that keeps it within `limits`; nothing else is shortened here.
    """
    items = [content_for_revision(item, manner.profile.revision) for item in content]
    if contract.returns_content:
        return _sent(manner, contract, {"content": items, "isError": False})
    if manner.page is not None:
        return _answer_page(manner, manner.page, contract, payload, limits)
    return _answer_whole(manner, contract, payload, items, renderer=renderer)


def is_within(answer: ToolResult | Fault, limits: Limits) -> bool:
    """Whether an answer can be sent and is within its limits; a failure is not about size, as a rule."""
    if isinstance(answer, Fault):
        return answer.code != "RESULT_TOO_LARGE"
    return judge(answer.result, limits, "", None) is Verdict.WITHIN


def _answer_page(
    manner: Manner, request: PageRequest, contract: ToolContract, payload: Any, limits: Limits
) -> ToolResult | Fault:
    """One page of the list in the payload: with fewer rows where all of them would be too large."""
    most: int | None = None
    while True:
        try:
            page = request.page(contract, payload, manner.presentation, most)
        except CursorRefused as error:
            return cursor_refused(manner.dialect, contract.name, str(error))
        if page is None:
            return _answer_whole(manner, contract, payload, [])
        answer = _answer_whole(manner, contract, page.payload, [], text=page.text)
        if is_within(answer, limits) or page.rows <= 1:
            return answer
        most = page.rows // 2


def _answer_whole(
    manner: Manner,
    contract: ToolContract,
    payload: Any,
    content: list[dict[str, Any]],
    *,
    renderer: Renderer | None = None,
    text: str | None = None,
) -> ToolResult | Fault:
    document = success(manner.dialect, payload)
    if text is None:
        shown = document if manner.presentation.render is RenderMode.JSON else payload
        text = text_of(shown, manner.presentation, surface=contract.policy.kind, renderer=renderer)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}, *content], "isError": False}
    if manner.profile.structured_content and manner.surface.output_schema_published:
        result["structuredContent"] = document
    return _sent(manner, contract, result)


def _sent(manner: Manner, contract: ToolContract, result: dict[str, Any]) -> ToolResult | Fault:
    return _too_large(manner, contract, result) or ToolResult(_complete(result, manner))


def _too_large(manner: Manner, contract: ToolContract, result: dict[str, Any]) -> Fault | None:
    # Encoding it here also finds what cannot be sent at all, while the call can still end in a fault.
    if len(encode(result)) <= manner.max_bytes - ENVELOPE_BYTES:
        return None
    return fault(
        "RESULT_TOO_LARGE",
        f"the answer of {contract.name} is larger than {manner.max_bytes} bytes",
        details={"limitBytes": manner.max_bytes},
        hint="Ask for less: narrow the request or page through it.",
    )


def answer_unfinished(
    manner: Manner, contract: ToolContract, requests: Mapping[str, Any], state: str
) -> ToolResult | Fault:
    """The result of a run that ended with questions; the client calls again with their answers."""
    result = input_required(requests, state, {"name": manner.surface.name, "version": manner.surface.version})
    return _too_large(manner, contract, result) or ToolResult(result)


def answer_incapable(profile: Profile, problem: Fault) -> ProtocolError | None:
    """The protocol error for a client that did not declare what a tool needs of it, where the era has one."""
    required = problem.details.get("requiredCapabilities")
    if not profile.self_describing or problem.code != "CAPABILITY_MISSING" or not isinstance(required, dict):
        return None
    return ProtocolError(
        MISSING_CAPABILITY, problem.message, {"code": problem.code, "requiredCapabilities": required}
    )


def answer_refusal(manner: Manner, problem: Fault) -> ToolResult | ProtocolError:
    """The answer to a call that never began (overload, invalid arguments): a protocol error where one is due."""
    if problem.code == "QUEUE_OVERLOADED":
        return ProtocolError(manner.profile.overload_code, problem.message, error_data(problem))
    if problem.code == "INTERNAL":
        return ProtocolError(INTERNAL_ERROR, problem.message, error_data(problem))
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


def is_about_arguments(problem: Fault) -> bool:
    """Whether a tool refused its arguments itself, in the form of validation, by a rule that no schema holds."""
    found = problem.details.get("violations")
    if problem.code != "INVALID_REQUEST" or not isinstance(found, list) or not found:
        return False
    # Violations of a file, such as a workspace, are not about the arguments.
    return all(
        isinstance(item, dict) and item.keys() == _VIOLATION and "file" not in item["params"] for item in found
    )


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


def cursor_refused(dialect: Dialect, tool: str, reason: str) -> Fault:
    """The fault of a call that continues an answer which cannot be continued."""
    wrong: Violation = {
        "instancePath": "/cursor",
        "schemaPath": "#/properties/cursor",
        "keyword": "cursor",
        "params": {},
        "message": reason,
    }
    return replace(
        invalid_arguments(dialect, tool, [wrong]),
        hint="Start over: call again with the same arguments and without cursor.",
    )


def stop_fault(why: Stop, tool: str, timeout: float | None, dialect: Dialect) -> Fault:
    """The fault of a call that was ended from outside; a server of runs says that no run was ended with it."""
    details = {"scope": "request"} if dialect is Dialect.LAUNCH else {}
    if why is Stop.TIMEOUT:
        timeout_ms = round((timeout or 0) * 1000)
        return fault(
            "TOOL_TIMEOUT",
            f"{tool} did not finish within {timeout_ms} ms and was aborted",
            timeout_ms=timeout_ms,
            hint="Narrow the request or raise the timeout.",
        )
    if why is Stop.SHUTDOWN:
        message = f"{tool} was stopped because the server is shutting down"
        return fault("CANCELLED", message, retryable=True, details=details)
    return fault("CANCELLED", f"{tool} was cancelled", details=details)


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
