"""Runs one tool: a coroutine in the loop, a function in a thread of its own, or either in a child process.

What comes out is the tool's JSON payload, or the fault that it declared; everything else that a tool raises is
the call table's to end the call with.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from holdfast.contract.binding import OutputRejected
from holdfast.contract.derive import DerivedTool
from holdfast.contract.model import ToolContract
from holdfast.errors import StopWork, ToolError
from holdfast.observe.sink import EventSink
from holdfast.present.render import Renderer
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.faults import declared_fault, internal_fault
from holdfast.worker.isolate import run_isolated
from holdfast.worker.validate import SchemaValidator

__all__ = ["RegisteredTool", "invoke", "run_here"]


class RegisteredTool:
    """A tool that is ready to be called: its contract, its function, its compiled schemas."""

    __slots__ = ("arguments", "contract", "derived", "renderer", "result", "timeout")

    def __init__(self, derived: DerivedTool, renderer: Renderer | None = None) -> None:
        self.derived = derived
        self.contract: ToolContract = derived.contract
        self.arguments = SchemaValidator(derived.contract.input_schema)
        self.result = SchemaValidator(derived.contract.output_schema) if derived.contract.output_schema else None
        self.renderer = renderer
        self.timeout = derived.contract.timeout  # whoever runs the server may give it another


async def invoke(
    tool: RegisteredTool, arguments: dict[str, Any], keywords: dict[str, Any], context: Context, log: EventSink
) -> Any:
    """Run the tool to its end: its payload, checked against the output schema, or the fault it ended in."""
    try:
        if tool.contract.isolate:
            payload = await run_isolated(tool.derived, arguments, context)
        else:
            payload = tool.derived.dump(await run_here(tool.derived, keywords, context))
    except ToolError as error:
        return declared_fault(tool.contract, error, context, log)
    except OutputRejected as error:
        return internal_fault(error, context, log, cause_class="OutputContractViolation")
    except StopWork:
        raise asyncio.CancelledError from None
    if tool.result is not None and (violations := tool.result.violations(payload)):
        message = f"{tool.contract.name} returned a value that does not fit its output schema"
        return internal_fault(
            ValueError(message),
            context,
            log,
            cause_class="OutputContractViolation",
            details={"violations": violations},
        )
    return payload


async def run_here(derived: DerivedTool, keywords: dict[str, Any], context: Context) -> Any:
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
