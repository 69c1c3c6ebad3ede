"""A change of one run: everything that is done inside is kept together, or not at all.

What happens is told as events; the tables that follow from them are written in the same transaction, and so is
what telemetry is owed for it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sql

from holdfast.errors import UsageError
from holdfast.launch import identifiers, issues, states
from holdfast.launch.store.chain import json_text, sealed
from holdfast.launch.store.objects import address_of
from holdfast.launch.store.records import Artifact, Event, Run, SectionFacts, WorkItem
from holdfast.launch.store.refusals import IllegalTransition, WorkItemError
from holdfast.launch.store.rows import checked_text, event_row, issues_of, items_of, optional_json
from holdfast.launch.store.tables import ARTIFACTS, EVENTS, ISSUES, OUTBOX, RUNS, WORK_ITEMS

__all__ = ["OWN_TYPES", "Change", "Owes", "nothing_owed"]

Owes = Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[tuple[str, str, Mapping[str, Any]]]]
"""The calls (method, path, document) that an event of a run with this configuration owes to telemetry."""

OWN_TYPES = frozenset(
    {
        "ARTIFACT_WRITTEN", "FIX_ATTEMPTED", "INVALID_STATE_TRANSITION", "ISSUE_CHANGED", "ISSUE_OPENED",
        "ISSUE_RESOLVED", "RUN_CANCELLED", "RUN_COMPLETED", "RUN_CREATED", "RUN_FAILED", "RUN_STATE_CHANGED",
        "WORK_ITEM_FAILED", "WORK_ITEM_FINISHED", "WORK_ITEM_QUEUED", "WORK_ITEM_SKIPPED", "WORK_ITEM_STARTED",
    }
)  # fmt: skip
"""The events that only the store itself writes, together with what follows from them."""

_TYPE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_LONGEST_MESSAGE = 2000
_ENDS = {states.DONE: "RUN_COMPLETED", states.FAILED: "RUN_FAILED", states.CANCELLED: "RUN_CANCELLED"}


def nothing_owed(event: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[()]:  # noqa: ARG001
    """What is owed where nobody listens."""
    return ()


class Change:
    """One transaction on one run; given out by `RunStore.change`.

    `run` is the run as it was read, locked against everybody else; `state` is its state with what was done here.
    """

    def __init__(
        self,
        connection: sql.Connection,
        run: Run,
        now: datetime,
        span_id: str | None = None,
        owes: Owes = nothing_owed,
    ) -> None:
        self.run = run
        self.owes_telemetry = False
        self._connection = connection
        self._owes = owes
        self._now = identifiers.stamp(now)
        self._span_id = span_id or identifiers.span_id(run.run_id)
        self._next = run
        self._events: list[Event] = []
        self._artifacts: dict[str, Artifact] = {}
        self._owed: list[dict[str, Any]] = []
        self._refused: IllegalTransition | None = None

    @property
    def state(self) -> str:
        """The state of the run, with the moves of this change."""
        return self._next.state

    def event(
        self,
        type_: str,
        payload: Mapping[str, Any],
        *,
        span_id: str | None = None,
        parent_span_id: str | None = None,
    ) -> Event:
        """Tell that something happened. What the store tells itself cannot be told for it."""
        if not _TYPE.fullmatch(type_) or type_ in OWN_TYPES:
            raise UsageError(f"{type_!r:.100} is not an event that can be told from outside")
        sections = _sections_after(self._next.sections, type_, payload)
        made = self._tell(type_, payload, span_id=span_id, parent_span_id=parent_span_id)
        self._next = replace(self._next, sections=sections)
        return made

    def move(self, state: str, *, reason: str = "", failure: Mapping[str, Any] | None = None) -> None:
        """Go to another state; IllegalTransition where no edge leads there, and then nothing done here is kept.

        A run that ends says so: completed, cancelled, or failed with `failure` (by default only the reason).
        """
        before = self._next.state
        if not states.is_edge(before, state):
            self._refused = IllegalTransition(self.run.run_id, before, state, reason)
            raise self._refused
        self._tell("RUN_STATE_CHANGED", {"from": before, "to": state, "reason": reason})
        self._next = replace(self._next, state=state)
        if state in states.TERMINAL:
            told = (
                {"failure": dict(failure or {"reason": reason})} if state == states.FAILED else {"reason": reason}
            )
            ended = self._tell(_ENDS[state], told)
            self._next = replace(self._next, finished_at=self._now, failure=ended.payload.get("failure"))

    def queue_item(self, worker: str, scope: str, attempt: int, inputs: Mapping[str, str]) -> str:
        """Plan a piece of work; its id. One that is queued already stays as it is."""
        item_id = identifiers.work_item_id(self.run.run_id, worker, attempt, scope)
        checked_text("the id of a work item", item_id)
        _check_digests(inputs)
        status = self._status(item_id)
        if status == "queued":
            return item_id
        if status is not None:
            raise WorkItemError(item_id, status, "queued again")
        told = {"work_item_id": item_id, "worker": worker, "scope_key": scope, "attempt": attempt}
        event = self._tell_item(item_id, "WORK_ITEM_QUEUED", told | {"inputs": dict(inputs)})
        item = WorkItem(item_id, worker, scope, attempt, "queued", event.seq, event.payload["inputs"])
        row = asdict(item) | {"inputs": json_text(item.inputs), "outputs": "{}", "run_id": self.run.run_id}
        self._connection.execute(sql.insert(WORK_ITEMS).values(row))
        return item_id

    def start_item(self, item_id: str, owner: str, token: int) -> None:
        """Begin a piece of work, or begin it again after whoever did it was lost."""
        checked_text("the owner of a work item", owner)
        told = self._told_of(item_id, ("queued", "running"), "started")
        self._tell_item(item_id, "WORK_ITEM_STARTED", told | {"owner": owner, "lease_token": token})
        lease = {"lease_owner": owner, "lease_token": token, "leased_at": self._now}
        self._amend(item_id, status="running", started_at=self._now, **lease)

    def finish_item(self, item_id: str, outputs: Mapping[str, str]) -> None:
        """A piece of work is done: the artifacts that it made, with their digests."""
        _check_digests(outputs)
        told = self._told_of(item_id, ("running",), "finished")
        self._tell_item(item_id, "WORK_ITEM_FINISHED", told | {"outputs": dict(outputs)})
        self._end(item_id, status="finished", outputs=json_text(dict(outputs)))

    def fail_item(self, item_id: str, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        """A piece of work has failed, and this is why."""
        told = self._told_of(item_id, ("queued", "running"), "failed")
        error = {"code": code, "message": message[:_LONGEST_MESSAGE], "details": dict(details or {})}
        event = self._tell_item(item_id, "WORK_ITEM_FAILED", told | {"error": error})
        self._end(item_id, status="failed", error=json_text(event.payload["error"]))

    def skip_item(self, item_id: str, reason: str = "") -> None:
        """A piece of work turned out not to be needed."""
        told = self._told_of(item_id, ("queued", "running"), "skipped")
        self._tell_item(item_id, "WORK_ITEM_SKIPPED", told | {"reason": reason})
        self._end(item_id, status="skipped")

    def items(self) -> list[WorkItem]:
        """The work of the run, with what was done here."""
        return items_of(self._connection, self.run.run_id)

    def artifact(self, name: str, sha256: str, schema_id: str, writer_worker: str, size: int) -> None:
        """An artifact was written; it is the newest of its name from now on."""
        told: dict[str, Any] = {
            "name": checked_text("the name of an artifact", name),
            "path": address_of(sha256),
            "sha256": sha256,
            "schema_id": checked_text("the schema of an artifact", schema_id),
            "writer_worker": checked_text("the writer of an artifact", writer_worker),
            "size": size,
        }
        event = self._tell("ARTIFACT_WRITTEN", told)
        self._artifacts[name] = Artifact(**told, seq=event.seq, event_id=event.event_id, ts=event.ts)

    def issues(self, found: Sequence[Mapping[str, Any]]) -> None:
        """These are the issues now, and no others: tells what is new, what has changed, and what is resolved."""
        known = {item["issue_id"]: item for item in issues_of(self._connection, self.run.run_id)}
        current = [item for item in issues.ordered(found) if item["status"] != "RESOLVED"]
        for item in current:
            before = known.pop(item["issue_id"], None)
            if before == item:
                continue
            is_known = before is not None and before["status"] != "RESOLVED"
            event = self._tell("ISSUE_CHANGED" if is_known else "ISSUE_OPENED", {"issue": item})
            self._keep_issue(event.payload["issue"], is_new=before is None)
        for item in known.values():
            if item["status"] != "RESOLVED":
                self._tell("ISSUE_RESOLVED", {"issue_id": item["issue_id"]})
                self._keep_issue(item | {"status": "RESOLVED"}, is_new=False)

    def count_fix_attempt(self) -> int:
        """One more attempt to fix something; how many there are with it."""
        attempt = self._next.fix_attempts + 1
        self._tell("FIX_ATTEMPTED", {"attempt": attempt})
        self._next = replace(self._next, fix_attempts=attempt)
        return attempt

    def telemetry(self, method: str, path: str, document: Mapping[str, Any]) -> None:
        """Owe telemetry a call; it is made some time after this change is kept, and never if it is not."""
        self.owes_telemetry = True
        self._owed.append(
            {
                "run_id": self.run.run_id,
                "method": checked_text("the method of a call", method),
                "path": checked_text("the path of a call", path),
                "document": json_text(dict(document)),
                "created_at": self._now,
                "attempts": 0,
            }
        )

    def finish(self) -> None:
        """Write what was collected; called by the store at the end of the block."""
        if self._refused is not None:
            raise self._refused  # the block went on as if nothing had been refused
        for event in self._events:
            for method, path, document in self._owes(event.document(), self.run.config):
                self.telemetry(method, path, document)
        if self._events:
            self._connection.execute(sql.insert(EVENTS), [event_row(event) for event in self._events])
            self._connection.execute(
                sql.update(RUNS).where(RUNS.c.run_id == self.run.run_id).values(_changed(self.run, self._next))
            )
        if self._artifacts:
            mine = ARTIFACTS.c.run_id == self.run.run_id
            self._connection.execute(
                sql.delete(ARTIFACTS).where(mine, ARTIFACTS.c.name.in_(list(self._artifacts)))
            )
            rows = [asdict(item) | {"run_id": self.run.run_id} for item in self._artifacts.values()]
            self._connection.execute(sql.insert(ARTIFACTS), rows)
        if self._owed:
            self._connection.execute(sql.insert(OUTBOX), self._owed)

    def record_refusal(self, refused: IllegalTransition) -> None:
        """Tell that a move was refused; the store does this in a change of its own."""
        told = {"from": refused.before, "to": refused.after, "reason": refused.reason}
        self._tell("INVALID_STATE_TRANSITION", told)

    def record_creation(self, payload: Mapping[str, Any]) -> None:
        """Tell that there is a new run; the first event of all."""
        self._tell("RUN_CREATED", payload)

    def _tell(
        self,
        type_: str,
        payload: Mapping[str, Any],
        *,
        span_id: str | None = None,
        parent_span_id: str | None = None,
    ) -> Event:
        event = sealed(
            self.run.run_id,
            self._next.last_seq + 1,
            self._now,
            type_,
            payload,
            span_id=span_id or self._span_id,
            parent_span_id=parent_span_id,
            prev_hash=self._next.last_hash,
        )
        self._events.append(event)
        self._next = replace(self._next, last_seq=event.seq, last_hash=event.event_hash)
        return event

    def _tell_item(self, item_id: str, type_: str, payload: Mapping[str, Any]) -> Event:
        return self._tell(type_, payload, span_id=identifiers.span_id(item_id), parent_span_id=self._span_id)

    def _row(self, item_id: str) -> sql.ColumnElement[bool]:
        return sql.and_(WORK_ITEMS.c.run_id == self.run.run_id, WORK_ITEMS.c.work_item_id == item_id)

    def _status(self, item_id: str) -> str | None:
        query = sql.select(WORK_ITEMS.c.status).where(self._row(item_id))
        return self._connection.execute(query).scalar_one_or_none()

    def _told_of(self, item_id: str, statuses: Sequence[str], wanted: str) -> dict[str, Any]:
        columns = (WORK_ITEMS.c.worker, WORK_ITEMS.c.scope, WORK_ITEMS.c.attempt, WORK_ITEMS.c.status)
        row = self._connection.execute(sql.select(*columns).where(self._row(item_id))).one_or_none()
        if row is None or row.status not in statuses:
            raise WorkItemError(item_id, None if row is None else row.status, wanted)
        return {"work_item_id": item_id, "worker": row.worker, "scope_key": row.scope, "attempt": row.attempt}

    def _end(self, item_id: str, **values: Any) -> None:
        lease = {"lease_owner": None, "lease_token": None, "leased_at": None}
        self._amend(item_id, finished_at=self._now, **lease, **values)

    def _amend(self, item_id: str, **values: Any) -> None:
        self._connection.execute(sql.update(WORK_ITEMS).where(self._row(item_id)).values(**values))

    def _keep_issue(self, item: Mapping[str, Any], *, is_new: bool) -> None:
        values = {"status": item["status"], "document": json_text(dict(item))}
        if is_new:
            keys = {"run_id": self.run.run_id, "issue_id": item["issue_id"]}
            self._connection.execute(sql.insert(ISSUES).values(**keys, **values))
        else:
            mine = (ISSUES.c.run_id == self.run.run_id, ISSUES.c.issue_id == item["issue_id"])
            self._connection.execute(sql.update(ISSUES).where(*mine).values(**values))


def _changed(before: Run, after: Run) -> dict[str, Any]:
    """The columns of a run that a change may write; who holds it is written by claims alone."""
    values: dict[str, Any] = {
        "state": after.state,
        "finished_at": after.finished_at,
        "fix_attempts": after.fix_attempts,
        "last_seq": after.last_seq,
        "last_hash": after.last_hash,
    }
    if after.failure != before.failure:
        values["failure"] = optional_json(after.failure)
    if after.sections != before.sections:
        values["sections"] = json_text(asdict(after.sections))
    return values


def _check_digests(artifacts: Mapping[str, str]) -> None:
    """Work is compared by the digests of what went in and came out; anything else there is a mistake."""
    for digest in artifacts.values():
        address_of(digest)


def _sections_after(facts: SectionFacts, type_: str, payload: Mapping[str, Any]) -> SectionFacts:
    """What an event from outside says about the sections; UsageError where it says it wrongly."""
    if type_ == "SECTIONS_PLANNED":
        return SectionFacts(planned=_sections(payload.get("sections")))
    if type_ == "SECTION_DRAFTED":
        return replace(facts, drafted=tuple(sorted({*facts.drafted, *_sections([payload.get("section")])})))
    return replace(facts, is_merged=True) if type_ == "PATCHES_APPLIED" else facts


def _sections(told: Any) -> tuple[str, ...]:
    if not isinstance(told, list | tuple) or not all(item in states.SECTIONS for item in told):
        raise UsageError(f"not a list of sections: {told!r:.100}", remedy=f"they are {', '.join(states.SECTIONS)}")
    return tuple(told)
