"""What happened, one frozen class per event; its docstring is its documentation.

Every event becomes one line of the event log: `{"event": NAME, "ts": ISO time, ...fields}`. The writer adds
the time; `None` fields are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = ["EVENTS", "CallEnded", "Event", "FaultRecorded", "KillFailed", "MessageRejected", "ServerStarted",
           "ServerStopped", "WorkAbandoned"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; `name` is the value of the `event` field in the log.

    `ours` are the fields whose text this package or the author of a server made up: they hold no secret and no
    path of anybody, so the log need not look for any.
    """

    name: ClassVar[str] = "event"
    ours: ClassVar[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class ServerStarted(Event):
    """A server process is ready to read its input."""

    name: ClassVar[str] = "server_started"
    ours: ClassVar[frozenset[str]] = frozenset({"server", "version", "mode"})
    server: str
    version: str
    mode: str
    pid: int


@dataclass(frozen=True, slots=True)
class ServerStopped(Event):
    """A server process ends, for the reason eof, broken_pipe, parent_died, signal or error.

    `late` counts what came for a call after its end, `unmatched` the cancellations that fit no call.
    """

    name: ClassVar[str] = "server_stopped"
    ours: ClassVar[frozenset[str]] = frozenset({"server", "reason"})
    server: str
    pid: int
    reason: str
    calls: int
    late: int
    unmatched: int = 0


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """A tool call reached its one terminal outcome: ok, error, cancelled, timeout, rejected or disconnected."""

    name: ClassVar[str] = "tool_call"
    ours: ClassVar[frozenset[str]] = frozenset({"call_id", "tool", "outcome", "code", "fault_class", "fault_id"})
    request_id: int | str | None
    call_id: str
    tool: str
    outcome: str
    duration_ms: float
    code: str | None = None
    fault_class: str | None = None
    fault_id: str | None = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class FaultRecorded(Event):
    """An internal error, with what the caller was not shown."""

    name: ClassVar[str] = "fault"
    fault_id: str
    call_id: str | None
    tool: str | None
    cause_class: str
    message: str
    traceback: str
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MessageRejected(Event):
    """Input that is not a usable message was answered with a protocol error."""

    name: ClassVar[str] = "message_rejected"
    jsonrpc_code: int
    message: str


@dataclass(frozen=True, slots=True)
class KillFailed(Event):
    """A process tree could not be ended; `survivors` are the process ids still alive."""

    name: ClassVar[str] = "kill_failed"
    call_id: str | None
    survivors: tuple[int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class WorkAbandoned(Event):
    """A tool ignored its interruption for the whole grace time and was left behind, still running."""

    name: ClassVar[str] = "work_abandoned"
    ours: ClassVar[frozenset[str]] = frozenset({"call_id", "tool"})
    call_id: str
    tool: str


EVENTS: tuple[type[Event], ...] = (
    ServerStarted,
    ServerStopped,
    CallEnded,
    FaultRecorded,
    MessageRejected,
    KillFailed,
    WorkAbandoned,
)
