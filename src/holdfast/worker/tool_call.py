"""From the parameters of `tools/call` to an admitted call: find, admit, validate, normalize, bind.

The path is the same for every surface. Whatever stops a call here is answered through the same `answer` that a
finished call uses, so a surface has one place where answers leave it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from holdfast.contract.binding import ArgumentsRejected
from holdfast.observe.sink import EventSink
from holdfast.present.continuation import CursorRefused
from holdfast.present.dialects import Dialect
from holdfast.present.normalize import NormalizationError
from holdfast.present.profile import Profile
from holdfast.present.render import META_PREFIX, Presentation, select_presentation
from holdfast.present.secrets import NO_SECRETS, Secrets
from holdfast.settings import Settings
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import INVALID_PARAMS
from holdfast.worker.admission import call_context, rejection, trace_parent
from holdfast.worker.answer import (
    Answer,
    Manner,
    ProtocolError,
    ToolResult,
    answer_fault,
    answer_incapable,
    answer_refusal,
    answer_unfinished,
    answer_value,
    cursor_refused,
    invalid_arguments,
    is_about_arguments,
)
from holdfast.worker.asking import MUTE, Asking, Unfinished
from holdfast.worker.calls import CallTable, LiveCall
from holdfast.worker.client_log import SILENT, ClientLog
from holdfast.worker.context import Context
from holdfast.worker.invoke import RegisteredTool, RichPayload, invoke
from holdfast.worker.pages import page_request
from holdfast.worker.registry import Registry
from holdfast.worker.validate import Violation

__all__ = ["ToolCall", "admit_call", "quoted"]

_META_WORDS = (META_PREFIX + "render", META_PREFIX + "detail")


class ToolCall(LiveCall):
    """A call of a tool, with arguments that fit."""

    __slots__ = ("arguments", "keywords", "manner", "tool")

    def __init__(
        self,
        request_id: RequestId,
        tool: RegisteredTool,
        bound: tuple[dict[str, Any], dict[str, Any]],
        manner: Manner,
        context: Context,
        answer: Callable[[Answer], None],
        trace: str | None,
    ) -> None:
        super().__init__(request_id, context, answer, trace, timeout=tool.timeout)
        self.tool = tool
        self.owns_processes = tool.owns_processes
        self.arguments, self.keywords = bound
        self.manner = manner

    @property
    def dialect(self) -> Dialect:
        """The dialect of the server."""
        return self.manner.dialect

    async def run(self, log: EventSink, settings: Settings) -> Any:
        """Run the tool."""
        detail = self.manner.presentation.detail
        return await invoke(self.tool, self.arguments, self.keywords, self.context, log, settings.replays, detail)

    def told(self, outcome: Any, settings: Settings) -> ToolResult | Fault:
        """The result, shortened where the tool says how and there is too much of it."""
        tool = self.tool
        if isinstance(outcome, Unfinished):
            return answer_unfinished(self.manner, tool.contract, outcome.requests, outcome.state)
        payload, content = outcome if isinstance(outcome, RichPayload) else (outcome, ())
        limits = tool.output.limits(settings, tool.output_rule)

        def answer(payload: Any) -> ToolResult | Fault:
            return answer_value(self.manner, tool.contract, payload, tool.renderer, content, limits)

        if not tool.output.shorten:
            return answer(payload)
        return tool.output.fitted(payload, limits, answer, tool.is_result)

    def failed(self, problem: Fault, duration_ms: float = 0.0) -> Answer:
        """A tool error; a JSON-RPC error where the protocol has one for it."""
        refused = answer_incapable(self.manner.profile, problem)
        if refused is None and is_about_arguments(problem):
            return answer_refusal(self.manner, problem)
        return refused or answer_fault(self.manner, problem, duration_ms)


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
    asking: Asking = MUTE,
    client_log: ClientLog = SILENT,
) -> None:
    """Admit the call, or answer at once why not."""
    shape_problem = _shape_problem(params)
    if shape_problem is not None:
        log.emit(
            rejection(request_id, calls.next_call_id(), "<malformed>", fault("INVALID_REQUEST", shape_problem))
        )
        answer(ProtocolError(INVALID_PARAMS, shape_problem, {"code": "INVALID_REQUEST"}))
        return
    tool = server.find_tool(params["name"])
    if tool is None:
        message = f"unknown tool {quoted(params['name'])}"
        log.emit(rejection(request_id, calls.next_call_id(), "<unknown>", fault("NOT_FOUND", message)))
        answer(ProtocolError(INVALID_PARAMS, message, {"code": "NOT_FOUND"}))
        return
    arguments: dict[str, Any] = params.get("arguments") or {}
    meta: dict[str, Any] = params.get("_meta") or {}
    presentation, violations = _presentation(server, settings, tool, arguments, meta)
    manner = calls.manner(server.surface, profile, presentation)
    secrets = Secrets(tool.secrets, arguments) if tool.secrets else NO_SECRETS
    problem = calls.overload()
    if problem is None:
        violations = [*violations, *tool.arguments.violations(arguments)]
        bound = violations or _bound(tool, arguments)
        if isinstance(bound, list):
            bound = secrets.violations(bound) if secrets else bound
            problem = invalid_arguments(server.surface.dialect, tool.contract.name, bound)
        elif tool.contract.paging is not None:
            manner, problem = _with_page(manner, tool.contract.name, bound[0])
    if problem is not None:
        log.emit(rejection(request_id, calls.next_call_id(), tool.contract.name, problem))
        answer(answer_refusal(manner, problem))
        return
    assert isinstance(bound, tuple)
    context = call_context(
        calls,
        settings,
        log,
        request_id,
        tool.contract.name,
        meta,
        profile,
        send_progress,
        secrets=secrets,
        asking=asking,
        client_log=client_log,
    )
    calls.submit(ToolCall(request_id, tool, bound, manner, context, answer, trace_parent(meta)))


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
    server: Registry, settings: Settings, tool: RegisteredTool, arguments: dict[str, Any], meta: dict[str, Any]
) -> tuple[Presentation, list[Violation]]:
    """How the caller wants to read the answer; wrong words are violations like any other."""
    default = server.default_presentation(settings)
    if tool.contract.returns_content:
        return default, []  # its items are their own form
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
        return default, [] if server.surface.presentation_arguments else list(error.violations)


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


def _with_page(manner: Manner, tool: str, arguments: dict[str, Any]) -> tuple[Manner, Fault | None]:
    """How to answer a call of a tool that has pages, or why its cursor is of no use; the tool is not run then."""
    try:
        return replace(manner, page=page_request(tool, arguments, time.time())), None
    except CursorRefused as error:
        return manner, cursor_refused(manner.dialect, tool, str(error))
