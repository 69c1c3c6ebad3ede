"""From what was raised to the fault that a caller may see: its class and an id, never its trace.

The event log gets the rest under the same id. Nothing here raises, whatever the exception does.
"""

import os
import traceback
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.contract.model import ErrorSpec
from holdfast.errors import CODES, ProcessError, QuestionError, ToolError
from holdfast.observe.sink import EventSink
from holdfast.present.compact import json_ready
from holdfast.vocabulary.events import FaultRecorded
from holdfast.vocabulary.faults import Fault, FaultClass, fault
from holdfast.worker.context import Context

if TYPE_CHECKING:
    from holdfast.process import Outcome

__all__ = [
    "MAX_TRACE",
    "Declared",
    "IsolatedDeath",
    "IsolatedFailure",
    "declared_fault",
    "internal_fault",
    "record_fault",
]

MAX_TRACE = 32_000


class IsolatedFailure(Exception):  # noqa: N818 - an outcome of the call, not a defect of ours
    """The tool raised in its child process; carries what the child could tell of it."""

    def __init__(self, cause_class: str, message: str, trace: str) -> None:
        super().__init__(message)
        self.cause_class = cause_class
        self.trace = trace


class IsolatedDeath(Exception):  # noqa: N818 - an outcome of the call, not a defect of ours
    """The child process died before it answered; `code` and `consequence` say what that means to the caller."""

    def __init__(self, tool: str, ended: "Outcome", code: str, consequence: str) -> None:
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.returncode}"
        super().__init__(f"the process of {tool} died before it answered ({how}); {consequence}")
        self.code = code
        self.shown = {"exitCode": ended.returncode, "signal": ended.signal}


class Declared(Protocol):
    """Whatever declares the codes that its function may end with: a tool, a prompt, a resource."""

    @property
    def errors(self) -> tuple[ErrorSpec, ...]:
        """The codes with their words."""

    @property
    def allowed_codes(self) -> frozenset[str]:
        """Every code that may be raised."""


def declared_fault(contract: Declared, error: ToolError, context: Context, log: EventSink) -> Fault:
    """The fault that a tool ended its call with, if it is one that it declares."""
    if error.code not in contract.allowed_codes and not isinstance(error, QuestionError):
        return internal_fault(error, context, log, cause_class="UndeclaredErrorCode")
    spec = next((spec for spec in contract.errors if spec.code == error.code), None)
    retryable = error.retryable if error.retryable is not None else (spec.retryable if spec else None)
    hint = error.hint or (spec.remedy if spec else None)
    secrets = context.secrets
    details = secrets.value(json_ready(error.details)) if secrets else json_ready(error.details)
    message, hint = (
        (secrets.text(error.message), hint and secrets.text(hint)) if secrets else (error.message, hint)
    )
    return fault(error.code, message, retryable=retryable, details=details, hint=hint)


def internal_fault(
    error: BaseException,
    context: Context,
    log: EventSink,
    *,
    cause_class: str | None = None,
    details: dict[str, Any] | None = None,
) -> Fault:
    """The fault of a call that failed in a way that nobody declared."""
    if isinstance(error, IsolatedDeath):
        return record_fault(error, log, context, "ProcessDied", said=str(error), shown=error.shown)
    if isinstance(error, IsolatedFailure):
        return record_fault(error, log, context, error.cause_class, trace=error.trace)
    return record_fault(error, log, context, cause_class, details=details)


def record_fault(
    error: BaseException,
    log: EventSink,
    context: Context | None = None,
    cause_class: str | None = None,
    *,
    said: str | None = None,
    shown: dict[str, Any] | None = None,
    details: dict[str, Any] | None = None,
    trace: str | None = None,
) -> Fault:
    """Write down an error and return the fault that stands for it; the caller reads `said` and `shown` only."""
    fault_id = os.urandom(6).hex()
    cause = cause_class or type(error).__name__
    tool = context.tool if context else None
    call_id = context.call_id if context else None
    trace = trace or "".join(traceback.format_exception(error))
    words, details = _words(error), json_ready(details)
    if context is not None and context.secrets:
        secrets = context.secrets
        words, trace, details = secrets.text(words), secrets.text(trace), secrets.value(details)
        said = said and secrets.text(said)
    trace = trace[-MAX_TRACE:]  # not before: of a secret that is cut, the rest is still told
    log.emit(FaultRecorded(fault_id, call_id, tool, cause, words, trace, details))
    code = error.code if isinstance(error, IsolatedDeath) else "INTERNAL"
    hint = f"The event log has the full record: holdfast events show --fault {fault_id}"
    of_process = isinstance(error, ProcessError | IsolatedDeath)
    fault_class = FaultClass.PROCESS if of_process else FaultClass.INVARIANT
    return fault(
        code,
        said or f"{tool or 'the request'} failed unexpectedly ({cause})",
        fault_class=fault_class if code == "INTERNAL" else None,  # every other code has a class of its own
        details={"cause_class": cause, **(shown or {})},
        hint=hint if code == "INTERNAL" else CODES[code].remedy,
        fault_id=fault_id,
    )


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of a tool may break even here
        return f"<{type(error).__name__} that cannot be printed>"
