"""What happened, one frozen class per event; its docstring is its documentation.

Every event becomes one line of the event log: `{"event": NAME, "ts": ISO time, ...fields}`. The writer adds
the time; `None` fields are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = ["EVENTS", "CallEnded", "CallQuarantined", "CallReplayed", "Event", "FaultRecorded", "FrontLost",
           "FrontStarted",
           "HostStarted", "HostStopped", "HotPaths", "KillFailed", "LeftoversReaped", "MessageRejected",
           "RequestEnded", "RolloutDone", "ServerStarted", "ServerStopped", "StdoutNoise", "TokenRefused",
           "ToolsNotListed", "WorkAbandoned", "WorkerLost", "WorkerReady", "WorkerStarted",
           "WorkerSuspected"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; `name` is the value of the `event` field in the log.

    `ours` are the fields whose text this package or the author of a server made up: they hold no secret and no
    path of anybody, so the log need not look for any. Fields that are `unwritten`, and an event that is not
    `is_logged`, are there to be counted only.
    """

    name: ClassVar[str] = "event"
    ours: ClassVar[frozenset[str]] = frozenset()
    unwritten: ClassVar[frozenset[str]] = frozenset()
    is_logged: ClassVar[bool] = True


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
    """A call reached its one terminal outcome: ok, error, cancelled, timeout, rejected or disconnected.

    It is a call of a tool, or with its `method` a read of a resource, a prompt or a completion.

    `trace` is the W3C trace parent that the client sent. A host also tells the `method`, who ended the call
    (`ended_by` worker or host), how often workers were given it (`attempts`, 0 for never), and the words of an
    error (`message`). `path`, what an argument called path, file or uri says, is counted and not written here; nor
    are `trace_state`, what the makers of the trace say in it to each other, and `is_modern`, whether the request
    described itself.
    """

    name: ClassVar[str] = "tool_call"
    ours: ClassVar[frozenset[str]] = frozenset(
        {"call_id", "tool", "outcome", "code", "fault_class", "fault_id", "method", "ended_by"}
    )
    # To look for secrets in each would cost too much.
    unwritten: ClassVar[frozenset[str]] = frozenset({"path", "trace_state", "is_modern"})
    request_id: int | str | None
    call_id: str
    tool: str
    outcome: str
    duration_ms: float
    code: str | None = None
    fault_class: str | None = None
    fault_id: str | None = None
    trace: str | None = None
    method: str | None = None
    ended_by: str | None = None
    attempts: int | None = None
    message: str | None = None
    path: str | None = None
    trace_state: str | None = None
    is_modern: bool = False


@dataclass(frozen=True, slots=True)
class RequestEnded(CallEnded):
    """A request of any other method has ended, or a call whose line the worker writes itself."""

    name: ClassVar[str] = "request"
    is_logged: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class HotPaths(Event):
    """What was called most and what took longest so far, written once in a while.

    At most twelve of each: tools by their name, and what arguments called path, file or uri say. One is `{name,
    calls, errors, avg_ms, max_ms}`; equal ones are in the order of their names.
    """

    name: ClassVar[str] = "hot_paths"
    ours: ClassVar[frozenset[str]] = frozenset({"hottest_tools", "slowest_tools"})
    calls: int
    hottest_tools: tuple[Mapping[str, Any], ...]
    slowest_tools: tuple[Mapping[str, Any], ...]
    hottest_paths: tuple[Mapping[str, Any], ...]
    slowest_paths: tuple[Mapping[str, Any], ...]


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


@dataclass(frozen=True, slots=True)
class HostStarted(Event):
    """A host is ready to read its input; `command` is what it runs as its workers."""

    name: ClassVar[str] = "host_started"
    ours: ClassVar[frozenset[str]] = frozenset({"server", "version"})
    server: str
    version: str
    pid: int
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostStopped(Event):
    """A host ends, for the reason eof, broken_pipe, parent_died, signal, asked or error."""

    name: ClassVar[str] = "host_stopped"
    ours: ClassVar[frozenset[str]] = frozenset({"server", "reason"})
    server: str
    pid: int
    reason: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkerStarted(Event):
    """The process of a worker was started, as the active one, a spare or a successor."""

    name: ClassVar[str] = "worker_started"
    ours: ClassVar[frozenset[str]] = frozenset({"role"})
    generation: int
    pid: int
    role: str


@dataclass(frozen=True, slots=True)
class WorkerReady(Event):
    """A worker has been told of the session and has listed its tools."""

    name: ClassVar[str] = "worker_ready"
    ours: ClassVar[frozenset[str]] = frozenset({"role"})
    generation: int
    role: str
    tools: int


@dataclass(frozen=True, slots=True)
class ToolsNotListed(Event):
    """A worker was asked for its tools, and what came cannot be used: it serves, but its tools are not known.

    Calls are passed on all the same. None of them is repeated after a loss, unless a predecessor told its effect.
    """

    name: ClassVar[str] = "tools_not_listed"
    ours: ClassVar[frozenset[str]] = frozenset({"role"})
    generation: int
    role: str
    message: str


@dataclass(frozen=True, slots=True)
class WorkerLost(Event):
    """A worker ended without having been asked to, or had to be ended; `in_flight` requests were with it.

    `stderr` is the last of what it wrote there.
    """

    name: ClassVar[str] = "worker_lost"
    ours: ClassVar[frozenset[str]] = frozenset({"role", "fault_class", "code"})
    generation: int
    role: str
    fault_class: str
    code: str
    message: str
    in_flight: int
    consecutive_failures: int
    degraded: bool
    stderr: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerSuspected(Event):
    """A worker that has calls seems blocked: `verdict` is `stopped`, `stuck` or `unknown`."""

    name: ClassVar[str] = "worker_suspected"
    ours: ClassVar[frozenset[str]] = frozenset({"verdict"})
    generation: int
    verdict: str
    message: str


@dataclass(frozen=True, slots=True)
class RolloutDone(Event):
    """A replacement of the worker ended: `activated`, `failed` (the old one stays), or `rolled_back` later on."""

    name: ClassVar[str] = "rollout"
    ours: ClassVar[frozenset[str]] = frozenset({"outcome"})
    outcome: str
    release: int
    generation: int
    reason: str


@dataclass(frozen=True, slots=True)
class CallReplayed(Event):
    """A request was sent again to another worker, since its effect allows it."""

    name: ClassVar[str] = "call_replayed"
    ours: ClassVar[frozenset[str]] = frozenset({"tool", "method"})
    request_id: int | str
    tool: str
    generation: int
    attempt: int
    method: str | None = None


@dataclass(frozen=True, slots=True)
class CallQuarantined(Event):
    """A tool has ended its worker with the same arguments each time: they are refused for so many seconds."""

    name: ClassVar[str] = "call_quarantined"
    ours: ClassVar[frozenset[str]] = frozenset({"tool"})
    tool: str
    losses: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StdoutNoise(Event):
    """A worker wrote a line to stdout that is no message; it is told once in a while, with the number so far."""

    name: ClassVar[str] = "stdout_noise"
    generation: int
    line: str
    lines: int


@dataclass(frozen=True, slots=True)
class LeftoversReaped(Event):
    """What a host that died hard had left behind was cleaned up."""

    name: ClassVar[str] = "leftovers_reaped"
    ours: ClassVar[frozenset[str]] = frozenset({"host"})
    host: str
    processes: int
    containers: int


@dataclass(frozen=True, slots=True)
class FrontStarted(Event):
    """The process that speaks HTTP was started."""

    name: ClassVar[str] = "front_started"
    pid: int


@dataclass(frozen=True, slots=True)
class FrontLost(Event):
    """The process that speaks HTTP is gone; another one follows. `losses` counts those in a row."""

    name: ClassVar[str] = "front_lost"
    reason: str
    losses: int


@dataclass(frozen=True, slots=True)
class TokenRefused(Event):
    """Wrong bearer tokens came over HTTP from an address, `count` of them since the last such event.

    What was sent is written nowhere. Of an IPv6 address it is the network; without an address it is several
    that share what is left of the report. There is at most one report in ten seconds.
    """

    name: ClassVar[str] = "token_refused"
    ours: ClassVar[frozenset[str]] = frozenset({"address"})
    address: str
    count: int


EVENTS: tuple[type[Event], ...] = (
    ServerStarted,
    ServerStopped,
    CallEnded,
    FaultRecorded,
    MessageRejected,
    KillFailed,
    WorkAbandoned,
    HostStarted,
    HostStopped,
    WorkerStarted,
    WorkerReady,
    ToolsNotListed,
    WorkerLost,
    WorkerSuspected,
    RolloutDone,
    CallReplayed,
    CallQuarantined,
    StdoutNoise,
    LeftoversReaped,
    FrontStarted,
    FrontLost,
    TokenRefused,
    HotPaths,
)
