"""One typed fault for everything that goes wrong; the dialects and the event log are made from it.

A fault is not an exception: it is what is left of one once somebody decided how to end the call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from holdfast.errors import CODES

__all__ = ["Fault", "FaultClass", "fault"]


class FaultClass(Enum):
    """The typed category underneath every failure."""

    TRANSPORT = "transport"
    PROCESS = "process"
    PROTOCOL = "protocol"
    TIMEOUT = "timeout"
    DOWNSTREAM = "downstream"
    RESOURCE = "resource"
    REPLAY = "replay"
    ROLLOUT = "rollout"
    AMBIGUOUS_OUTCOME = "ambiguous_outcome"
    INVARIANT = "invariant"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call failed: category, stable code, words for a person, data for a program.

    `timeout_ms` is set on timeouts only; `fault_id` on internal errors, where it finds the record in the
    event log that holds what the caller is not shown.
    """

    fault_class: FaultClass
    code: str
    message: str
    retryable: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    hint: str | None = None
    timeout_ms: int | None = None
    fault_id: str | None = None


def fault(
    code: str,
    message: str,
    *,
    fault_class: FaultClass | None = None,
    retryable: bool | None = None,
    details: Mapping[str, Any] | None = None,
    hint: str | None = None,
    timeout_ms: int | None = None,
    fault_id: str | None = None,
) -> Fault:
    """A fault whose class and retry word come from the code's row unless said otherwise."""
    row = CODES.get(code)
    return Fault(
        fault_class=fault_class or FaultClass(row.fault_class if row else "downstream"),
        code=code,
        message=message,
        retryable=(row.retryable if row else False) if retryable is None else retryable,
        details=dict(details or {}),
        hint=hint,
        timeout_ms=timeout_ms,
        fault_id=fault_id,
    )
