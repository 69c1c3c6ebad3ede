"""From the parameters of `tools/call` to an admitted call: find, admit, validate, normalize, bind.

The path is the same for every surface. Whatever stops a call here is answered through the same `answer` that a
finished call uses, so a surface has one place where answers leave it.
"""

from collections.abc import Callable
from typing import Any

from holdfast.contract.binding import ArgumentsRejected
from holdfast.observe.sink import EventSink
from holdfast.present.normalize import NormalizationError
from holdfast.present.profile import Profile
from holdfast.present.render import META_PREFIX, Presentation, select_presentation
from holdfast.settings import Settings
from holdfast.vocabulary.events import CallEnded
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import INVALID_PARAMS
from holdfast.worker.answer import Answer, ProtocolError, answer_refusal, invalid_arguments
from holdfast.worker.calls import CallTable, LiveCall
from holdfast.worker.context import Context
from holdfast.worker.invoke import RegisteredTool
from holdfast.worker.registry import Registry
from holdfast.worker.validate import Violation

__all__ = ["admit_call", "quoted"]

_META_WORDS = (META_PREFIX + "render", META_PREFIX + "detail")


def admit_call(
    server: Registry,
    calls: CallTable,
    settings: Settings,
    log: EventSink,
    request_id: RequestId,
    params: dict[str, Any],
    profile: Profile,
    answer: Callable[[Answer], None],
    send_progress: Callable[[dict[str, Any]], None],
) -> None:
    """Admit the call, or answer at once why not."""
    shape_problem = _shape_problem(params)
    if shape_problem is not None:
        log.emit(
            _rejection(request_id, calls.next_call_id(), "<malformed>", fault("INVALID_REQUEST", shape_problem))
        )
        answer(ProtocolError(INVALID_PARAMS, shape_problem, {"code": "INVALID_REQUEST"}))
        return
    tool = server.find_tool(params["name"])
    if tool is None:
        message = f"unknown tool {quoted(params['name'])}"
        log.emit(_rejection(request_id, calls.next_call_id(), "<unknown>", fault("NOT_FOUND", message)))
        answer(ProtocolError(INVALID_PARAMS, message, {"code": "NOT_FOUND"}))
        return
    arguments: dict[str, Any] = params.get("arguments") or {}
    meta: dict[str, Any] = params.get("_meta") or {}
    presentation, violations = _presentation(server, settings, arguments, meta)
    manner = calls.manner(server.surface, profile, presentation)
    problem = calls.overload()
    if problem is None:
        violations = [*violations, *tool.arguments.violations(arguments)]
        bound = violations or _bound(tool, arguments)
        if isinstance(bound, list):
            problem = invalid_arguments(server.surface.dialect, tool.contract.name, bound)
    if problem is not None:
        log.emit(_rejection(request_id, calls.next_call_id(), tool.contract.name, problem))
        answer(answer_refusal(manner, problem))
        return
    normalized, keywords = bound
    meter = calls.meter(*_progress_sender(request_id, tool, meta, profile, send_progress))
    context = Context(
        tool=tool.contract.name,
        call_id=calls.next_call_id(),
        request_id=request_id,
        meter=meter,
        grace=settings.kill_grace,
        log=log,
    )
    trace = meta.get("traceparent")
    trace = trace[:128] if isinstance(trace, str) else None
    calls.submit(LiveCall(request_id, tool, normalized, keywords, manner, context, answer, trace))


def quoted(text: object) -> str:
    """What the client sent, as part of a message to it: quoted, and not longer than anybody reads."""
    shown = repr(text)
    return shown if len(shown) <= 120 else shown[:119] + "…"


def _shape_problem(params: dict[str, Any]) -> str | None:
    if not isinstance(params.get("name"), str):
        return "tools/call needs the name of a tool"
    if not isinstance(params.get("arguments", {}), dict):
        return "arguments must be an object"
    if not isinstance(params.get("_meta", {}), dict):
        return "_meta must be an object"
    return None


def _presentation(
    server: Registry, settings: Settings, arguments: dict[str, Any], meta: dict[str, Any]
) -> tuple[Presentation, list[Violation]]:
    """How the caller wants to read the answer; wrong words are violations like any other."""
    default = server.default_presentation(settings)
    if server.surface.presentation_arguments:
        # The input schema names the allowed words, so a wrong one is found by validation.
        words = {key: arguments[key] for key in ("render", "detail") if isinstance(arguments.get(key), str)}
    elif meta:
        words = {key: meta[key] for key in _META_WORDS if key in meta}
    else:
        return default, []
    if not words:
        return default, []
    try:
        return select_presentation(default.render, words), []
    except NormalizationError as error:
        return default, list(error.violations)


def _bound(
    tool: RegisteredTool, arguments: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]] | list[Violation]:
    """Normalized arguments and the keywords of the function, or the violations that prevent them."""
    try:
        if tool.contract.normalization:
            arguments = tool.contract.normalization.apply(arguments)
        return arguments, tool.derived.bind(arguments)
    except (NormalizationError, ArgumentsRejected) as error:
        return list(error.violations)


def _progress_sender(
    request_id: RequestId,
    tool: RegisteredTool,
    meta: dict[str, Any],
    profile: Profile,
    send: Callable[[dict[str, Any]], None],
) -> tuple[Callable[[dict[str, Any]], None] | None, dict[str, Any]]:
    token = meta.get("progressToken")
    if type(token) is not str and type(token) is not int:
        token = None
    if token is None and profile.progress_needs_token:
        return None, {}
    fixed: dict[str, Any] = {} if token is None else {"progressToken": token}
    if profile.legacy_framing:
        fixed["id"] = request_id
    fixed["tool"] = tool.contract.name
    return send, fixed


def _rejection(request_id: RequestId, call_id: str, tool: str, problem: Fault) -> CallEnded:
    return CallEnded(
        request_id=request_id,
        call_id=call_id,
        tool=tool,
        outcome="rejected",
        duration_ms=0.0,
        code=problem.code,
        fault_class=problem.fault_class.value,
    )
