"""Runs one tool: a coroutine in the loop, a function in a thread of its own, or either in a child process.

What comes out is the tool's JSON payload or a `Fault`; no exception of a tool leaves this module, except the
cancellation of the call itself.
"""

import asyncio
import contextvars
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

from holdfast.contract.binding import OutputRejected
from holdfast.contract.derive import DerivedTool
from holdfast.contract.model import ToolContract
from holdfast.errors import ProcessError, StopWork, ToolError
from holdfast.observe.sink import EventSink
from holdfast.present.render import Renderer
from holdfast.vocabulary.events import FaultRecorded
from holdfast.vocabulary.faults import Fault, FaultClass, fault
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.isolate import IsolatedFailure, run_isolated
from holdfast.worker.validate import SchemaValidator

__all__ = ["RegisteredTool", "internal_fault", "invoke", "jsonable", "run_here"]


class RegisteredTool:
    """A tool that is ready to be called: its contract, its function, its compiled schemas."""

    __slots__ = ("arguments", "contract", "derived", "renderer", "result")

    def __init__(self, derived: DerivedTool, renderer: Renderer | None = None) -> None:
        self.derived = derived
        self.contract: ToolContract = derived.contract
        self.arguments = SchemaValidator(derived.contract.input_schema)
        self.result = SchemaValidator(derived.contract.output_schema) if derived.contract.output_schema else None
        self.renderer = renderer


async def invoke(
    tool: RegisteredTool, arguments: dict[str, Any], keywords: dict[str, Any], context: Context, log: EventSink
) -> Any:
    """Run the tool to its end: its payload, checked against the output schema, or the fault it ended in."""
    try:
        if tool.contract.isolate:
            payload = await run_isolated(tool.derived, arguments, context)
            if isinstance(payload, Fault):
                return payload
        else:
            payload = tool.derived.dump(await run_here(tool.derived, keywords, context))
    except ToolError as error:
        return _declared_fault(tool.contract, error, context, log)
    except IsolatedFailure as error:
        return internal_fault(error, context, log, cause_class=error.cause_class, trace=error.trace)
    except OutputRejected as error:
        return internal_fault(error, context, log, cause_class="OutputContractViolation")
    except StopWork:
        raise asyncio.CancelledError from None
    except Exception as error:  # noqa: BLE001 - the boundary between a tool and the server
        return internal_fault(error, context, log)
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
        try:
            await outcome
        except Exception:  # noqa: BLE001 - what a stopped tool raised on its way out is nobody's answer
            raise asyncio.CancelledError from None
        except StopWork:
            raise asyncio.CancelledError from None
        raise


def _declared_fault(contract: ToolContract, error: ToolError, context: Context, log: EventSink) -> Fault:
    if error.code not in contract.allowed_codes:
        return internal_fault(error, context, log, cause_class="UndeclaredErrorCode")
    spec = next((spec for spec in contract.errors if spec.code == error.code), None)
    retryable = error.retryable if error.retryable is not None else (spec.retryable if spec else None)
    return fault(
        error.code,
        error.message,
        retryable=retryable,
        details=jsonable(error.details),
        hint=error.hint or (spec.remedy if spec else None),
    )


def internal_fault(
    error: BaseException,
    context: Context,
    log: EventSink,
    *,
    cause_class: str | None = None,
    details: dict[str, Any] | None = None,
    trace: str | None = None,
) -> Fault:
    """A fault that tells the caller only the class of the cause; the event log gets the rest."""
    fault_id = os.urandom(6).hex()
    cause = cause_class or type(error).__name__
    trace = trace or "".join(traceback.format_exception(error))[-32_000:]
    log.emit(FaultRecorded(fault_id, context.call_id, context.tool, cause, str(error), trace, jsonable(details)))
    return fault(
        "INTERNAL",
        f"{context.tool} failed unexpectedly ({cause})",
        fault_class=FaultClass.PROCESS if isinstance(error, ProcessError) else FaultClass.INVARIANT,
        details={"cause_class": cause},
        hint=f"The event log has the full record under fault id {fault_id}.",
        fault_id=fault_id,
    )


def jsonable(value: Any) -> Any:
    """The value with everything that JSON has no form for turned into text."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, fallback=str, inf_nan_mode="null")
