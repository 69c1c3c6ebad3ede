"""What the run store gives out: frozen records of runs, events, artifacts, work and requests.

Moments are text, as events and artifacts write them (UTC, microseconds, Z), so they sort and compare as they are.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "LASTING",
    "OPEN",
    "POOL",
    "Artifact",
    "AskedRequest",
    "Event",
    "OutboxRow",
    "Run",
    "RunPicture",
    "SectionFacts",
    "WorkItem",
]

POOL = -1
"""What stands in place of the number of a workspace in a store that a pool of machines has."""

LASTING = ("drive",)
"""What is asked for a run's sake: in a pool it outlives whoever asked. Anything else is for somebody who waits."""

OPEN = ("pending", "running")
"""The states of a request that has no outcome yet."""


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """How far the sections have come, as far as neither issues nor failures tell it."""

    planned: tuple[str, ...] = ()
    drafted: tuple[str, ...] = ()
    is_merged: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `holder` executes it now; `token` rises with every claim, so that an old holder is known as one."""

    run_id: str
    state: str
    product_slug: str
    config: dict[str, Any]
    config_sha256: str
    started_at: str
    finished_at: str | None
    fix_attempts: int
    failure: dict[str, Any] | None
    sections: SectionFacts
    last_seq: int
    last_hash: str
    holder: str | None = None
    token: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run, tied by its hash to everything before it."""

    event_id: str
    run_id: str
    seq: int
    ts: str
    type: str
    payload: dict[str, Any]
    trace_id: str
    span_id: str
    parent_span_id: str | None
    prev_hash: str
    event_hash: str

    def document(self) -> dict[str, Any]:
        """The event as it is exported (schema `event`)."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Artifact:
    """The newest artifact of a name. `path` is where the objects of the workspace keep its content."""

    name: str
    path: str
    sha256: str
    schema_id: str
    writer_worker: str
    size: int
    seq: int
    event_id: str
    ts: str


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One piece of work: who did it, from which artifacts, and what came of it; `seq` is when it was queued."""

    work_item_id: str
    worker: str
    scope: str
    attempt: int
    status: str
    seq: int
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    started_at: str | None = None
    finished_at: str | None = None
    error: dict[str, Any] | None = None
    lease_owner: str | None = None
    lease_token: int | None = None
    leased_at: str | None = None


@dataclass(frozen=True, slots=True)
class RunPicture:
    """Everything that is known of a run at one moment, whether it was read from tables or folded from events."""

    run: Run
    artifacts: dict[str, Artifact]
    items: list[WorkItem]
    issues: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """What a process asks of the one that owns the engine."""

    request_id: str
    run_id: str
    kind: str
    asked_by: str
    asked_at: str
    state: str  # pending, running, done, cancelled
    owner: str | None
    outcome: dict[str, Any] | None
    wants_cancel: bool


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One call that telemetry is owed."""

    id: int
    run_id: str
    method: str
    path: str
    document: dict[str, Any]
    created_at: str
    attempts: int
    next_at: str | None
    error: str | None
