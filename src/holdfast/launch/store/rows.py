"""Rows of the tables, read into records and written from them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import sqlalchemy as sql

from holdfast.errors import UsageError
from holdfast.launch import issues
from holdfast.launch.store.chain import json_text
from holdfast.launch.store.records import Artifact, Event, Run, RunPicture, SectionFacts, WorkItem
from holdfast.launch.store.refusals import NoSuchRun
from holdfast.launch.store.tables import ARTIFACTS, EVENTS, ISSUES, RUNS, WORK_ITEMS

__all__ = [
    "artifacts_of",
    "checked_text",
    "event_row",
    "events_of",
    "issues_of",
    "items_of",
    "optional_json",
    "picture_from",
    "run_from",
    "run_of",
]


def checked_text(what: str, text: str) -> str:
    """Text that every database can keep; UsageError for any other, on all of them."""
    if not text.isprintable() or not text:
        raise UsageError(f"{what} is not a printable text: {text!r:.100}")
    return text


def optional_json(value: Mapping[str, Any] | None) -> str | None:
    """The JSON text of a value that may be missing."""
    return None if value is None else json_text(dict(value))


def run_from(row: Mapping[Any, Any]) -> Run:
    """A run, as its row tells it."""
    facts = json.loads(row["sections"])
    return Run(
        run_id=row["run_id"],
        state=row["state"],
        product_slug=row["product_slug"],
        config=json.loads(row["config"]),
        config_sha256=row["config_sha256"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        fix_attempts=row["fix_attempts"],
        failure=_read(row["failure"]),
        sections=SectionFacts(tuple(facts["planned"]), tuple(facts["drafted"]), facts["is_merged"]),
        last_seq=row["last_seq"],
        last_hash=row["last_hash"],
        holder=row["holder"],
        token=row["token"],
    )


def run_of(connection: sql.Connection, run_id: str, *, is_locked: bool = False) -> Run:
    """One run; locked against others until the transaction ends, if that is wanted. NoSuchRun if there is none."""
    query = sql.select(RUNS).where(RUNS.c.run_id == run_id)
    row = connection.execute(query.with_for_update() if is_locked else query).mappings().one_or_none()
    if row is None:
        raise NoSuchRun(run_id)
    return run_from(row)


def event_row(event: Event) -> dict[str, Any]:
    """The row of an event."""
    return asdict(event) | {"payload": json_text(event.payload)}


def events_of(connection: sql.Connection, run_id: str, *, after: int = 0, limit: int | None = None) -> list[Event]:
    """The events of a run behind a number, in their order."""
    query = sql.select(EVENTS).where(EVENTS.c.run_id == run_id, EVENTS.c.seq > after).order_by(EVENTS.c.seq)
    rows = connection.execute(query.limit(limit)).mappings()
    return [Event(**{**row, "payload": json.loads(row["payload"])}) for row in rows]


def artifacts_of(connection: sql.Connection, run_id: str) -> dict[str, Artifact]:
    """The newest artifact of each name, by name."""
    columns = [column for column in ARTIFACTS.c if column.name != "run_id"]
    query = sql.select(*columns).where(ARTIFACTS.c.run_id == run_id).order_by(ARTIFACTS.c.name)
    return {row["name"]: Artifact(**row) for row in connection.execute(query).mappings()}


def items_of(connection: sql.Connection, run_id: str) -> list[WorkItem]:
    """The work of a run, in the order in which it was queued."""
    columns = [column for column in WORK_ITEMS.c if column.name != "run_id"]
    query = sql.select(*columns).where(WORK_ITEMS.c.run_id == run_id).order_by(WORK_ITEMS.c.seq)
    encoded = ("inputs", "outputs", "error")
    rows = connection.execute(query).mappings()
    return [WorkItem(**{**row, **{name: _read(row[name]) for name in encoded}}) for row in rows]


def issues_of(connection: sql.Connection, run_id: str, *, status: str | None = None) -> list[dict[str, Any]]:
    """The issues of a run, in their order."""
    query = sql.select(ISSUES.c.document).where(ISSUES.c.run_id == run_id)
    if status is not None:
        query = query.where(ISSUES.c.status == status)
    return issues.ordered(json.loads(text) for text in connection.execute(query).scalars())


def picture_from(connection: sql.Connection, run_id: str) -> RunPicture:
    """Everything that the tables tell of a run."""
    return RunPicture(
        run_of(connection, run_id),
        artifacts_of(connection, run_id),
        items_of(connection, run_id),
        issues_of(connection, run_id),
    )


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
