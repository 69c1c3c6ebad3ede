"""Runs one tool: a coroutine in the loop, a function in a thread of its own, or either in a child process.

What comes out is the tool's JSON payload, or the fault that it declared; everything else that a tool raises is
the call table's to end the call with.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.contract.binding import OutputRejected
from holdfast.contract.content_type import split_content
from holdfast.contract.derive import DerivedTool
from holdfast.contract.model import ToolContract
from holdfast.errors import InputNeeded, StopWork, ToolError
from holdfast.observe.sink import EventSink
from holdfast.present.projection import ProjectionBroken
from holdfast.present.render import DetailLevel, Renderer
from holdfast.present.secrets import secret_places
from holdfast.process.ownership import record_thread
from holdfast.settings import ToolRule
from holdfast.vocabulary.effects import Effect
from holdfast.worker.asking import needed_in
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.faults import declared_fault, internal_fault
from holdfast.worker.isolate import Repeats, run_isolated
from holdfast.worker.shorten import NO_PROMISE, OutputPromise
from holdfast.worker.validate import SchemaValidator

__all__ = ["RegisteredTool", "RichPayload", "Runnable", "invoke", "run_here"]


class RichPayload(NamedTuple):
    """The payload of a tool, None where it has none, with further items of content."""

    payload: Any
    content: Sequence[dict[str, Any]]


class Runnable(Protocol):
    """A function that can be run here: that of a tool, a prompt or a resource."""

    @property
    def function(self) -> Callable[..., Any]:
        """What is called."""

    @property
    def is_async(self) -> bool:
        """Whether it is a coroutine function."""

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the context."""


class RegisteredTool:
    """A tool that is ready to be called: its contract, its function, its compiled schemas."""

    __slots__ = ("arguments", "contract", "derived", "effect", "output", "output_rule", "owns_processes",
                 "renderer", "replays", "result", "secrets", "timeout")  # fmt: skip

    def __init__(
        self,
        derived: DerivedTool,
        renderer: Renderer | None = None,
        output: OutputPromise = NO_PROMISE,
        *,
        owns_processes: bool = False,
    ) -> None:
        self.derived = derived
        self.contract: ToolContract = derived.contract
        self.arguments = SchemaValidator(derived.contract.input_schema)
        self.secrets = secret_places(derived.contract.input_schema)
        self.result = SchemaValidator(derived.contract.output_schema) if derived.contract.output_schema else None
        self.renderer = renderer
        self.output = output
        self.owns_processes = owns_processes
        self.output_rule: ToolRule | None = None
        # Whoever runs the server may say otherwise about these three.
        self.timeout = derived.contract.timeout
        self.effect: Effect = derived.contract.effect
        self.replays: int | None = None

    def is_result(self, payload: Any) -> bool:
        """Whether the output schema allows this payload."""
        return self.result is None or not self.result.violations(payload)


async def invoke(
    tool: RegisteredTool,
    arguments: dict[str, Any],
    keywords: dict[str, Any],
    context: Context,
    log: EventSink,
    replays: int = 0,
    detail: DetailLevel = DetailLevel.FULL,
) -> Any:
    """Run the tool to its end: its payload as `detail` shows it, held to its schema and rules, or its fault.

    `replays` is how often a call whose child process died may be run again; a number of the tool's own goes first.
    """
    try:
        if tool.contract.isolate:
            repeats = Repeats(tool.effect, replays if tool.replays is None else tool.replays)
            payload, content = await run_isolated(tool.derived, arguments, context, log, repeats)
        else:
            value, content = split_content(await run_here(tool.derived, keywords, context))
            payload = tool.derived.dump(value)
        payload = tool.derived.shown(payload, detail)
    except ToolError as error:
        return declared_fault(tool.contract, error, context, log)
    except OutputRejected as error:
        return internal_fault(error, context, log, cause_class="OutputContractViolation")
    except ProjectionBroken as error:
        broken = [{"path": place, "rule": rule} for place, rule in error.violations]
        return internal_fault(
            error, context, log, cause_class="ProjectionViolation", details={"violations": broken}
        )
    except StopWork:
        raise asyncio.CancelledError from None
    except (InputNeeded, BaseExceptionGroup) as error:
        needed = needed_in(error)
        if needed is None:
            raise
        return context.asking.unfinished(needed)
    if tool.result is not None and (violations := tool.result.violations(payload)):
        message = f"{tool.contract.name} returned a value that does not fit its output schema"
        return internal_fault(
            ValueError(message),
            context,
            log,
            cause_class="OutputContractViolation",
            details={"violations": violations},
        )
    if tool.contract.returns_content:
        return RichPayload(None, [*payload, *content])
    return RichPayload(payload, content) if content else payload


async def run_here(derived: Runnable, keywords: dict[str, Any], context: Context) -> Any:
    """Run the tool in this process: a coroutine in the loop, a function in a thread."""
    if derived.is_async:
        if derived.context_parameter is not None:
            keywords = {**keywords, derived.context_parameter: context}
        return await derived.function(**keywords)
    blocking = SyncContext(context, asyncio.get_running_loop())
    if derived.context_parameter is not None:
        keywords = {**keywords, derived.context_parameter: blocking}
    return await _run_in_thread(derived.function, keywords, blocking)


async def _run_in_thread(function: Callable[..., Any], keywords: dict[str, Any], blocking: SyncContext) -> Any:
    """Run in a daemon thread of its own, so that a tool that never returns cannot keep the process alive."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    caller = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is None:
            outcome.set_result(value)
        else:
            outcome.set_exception(error)

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            caller.run(record_thread)
            value = caller.run(function, **keywords)
        except StopIteration as stop:
            error = RuntimeError(f"the tool raised StopIteration({stop.value!r})")
        except BaseException as raised:  # noqa: BLE001 - carried over to the call's own task
            error = raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            return  # the loop is closed: the server ended while this thread would not

    threading.Thread(target=work, name=f"tool {function.__name__}", daemon=True).start()
    return await _until_thread_ends(outcome, blocking)


async def _until_thread_ends(outcome: asyncio.Future[Any], blocking: SyncContext) -> Any:
    try:
        return await asyncio.shield(outcome)
    except asyncio.CancelledError:
        # The thread cannot be interrupted; it is told, its programs are ended, and its return is awaited for
        # as long as the call is not given up.
        blocking.interrupt()
        with contextlib.suppress(BaseException):  # what a stopped tool raises on its way out is nobody's answer
            await outcome
        raise
