"""The outbox: calls that telemetry is owed, written together with what they tell of, delivered when it answers.

Bounded: a telemetry service that is gone for good costs the oldest calls, counted, and nothing else.
"""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql

from holdfast.launch.identifiers import stamp
from holdfast.launch.store.chain import json_text
from holdfast.launch.store.database import Database
from holdfast.launch.store.records import OutboxRow
from holdfast.launch.store.tables import META, OUTBOX

__all__ = ["Outbox"]

_LONGEST_ERROR = 1000


class Outbox:
    """The part of the run store that owes calls to telemetry."""

    _database: Database
    outbox_cap = 10_000

    def outbox(self, limit: int = 100, *, now: datetime | None = None) -> list[OutboxRow]:
        """The calls that are due, the oldest first; what a run owes stays in its order, behind one that waits."""
        moment, earlier = stamp(now or datetime.now(UTC)), OUTBOX.alias()
        waits = sql.exists().where(
            earlier.c.run_id == OUTBOX.c.run_id, earlier.c.id <= OUTBOX.c.id, earlier.c.next_at > moment
        )
        query = sql.select(OUTBOX).where(~waits).order_by(OUTBOX.c.id).limit(limit)
        with self._database.reading() as connection:
            return [_owed(row) for row in connection.execute(query).mappings()]

    def owe(self, method: str, path: str, document: Mapping[str, Any], *, run_id: str = "") -> None:
        """Owe a call that no event tells of; `run_id` is empty where it is about no run."""
        row = {
            "run_id": run_id, "method": method, "path": path, "document": json_text(dict(document)),
            "created_at": stamp(datetime.now(UTC)), "attempts": 0,
        }  # fmt: skip
        with self._database.writing() as connection:
            connection.execute(sql.insert(OUTBOX).values(row))
        self._trim_outbox()

    def delivered(self, ids: Collection[int]) -> None:
        """These calls were answered; they are owed no more."""
        with self._database.writing() as connection:
            connection.execute(sql.delete(OUTBOX).where(OUTBOX.c.id.in_(list(ids))))

    def undeliverable(self, ids: Collection[int]) -> None:
        """These calls were refused for good; they are dropped, and counted."""
        with self._database.writing() as connection:
            _drop(connection, OUTBOX.c.id.in_(list(ids)))

    def failed_delivery(self, row_id: int, error: str, next_at: datetime) -> None:
        """This call failed; it is due again at the given moment."""
        values = {
            "attempts": OUTBOX.c.attempts + 1,
            "error": error.replace("\0", "")[:_LONGEST_ERROR].encode("utf-8", "replace").decode(),
            "next_at": stamp(next_at),
        }
        with self._database.writing() as connection:
            connection.execute(sql.update(OUTBOX).where(OUTBOX.c.id == row_id).values(values))

    def outbox_dropped(self) -> int:
        """How many calls were dropped, ever."""
        query = sql.select(META.c.value).where(META.c.name == "outbox_dropped")
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one_or_none() or 0

    def _trim_outbox(self) -> None:
        """Drop the oldest calls beyond the cap."""
        with self._database.reading() as connection:
            # Numbers rise, so this is never less than the rows there are, and needs no counting.
            span = connection.execute(sql.select(sql.func.max(OUTBOX.c.id) - sql.func.min(OUTBOX.c.id))).scalar()
        if span is None or span < self.outbox_cap:
            return
        kept = sql.select(OUTBOX.c.id).order_by(OUTBOX.c.id.desc()).limit(1).offset(self.outbox_cap - 1)
        with self._database.writing() as connection:
            oldest = connection.execute(kept).scalar_one_or_none()
            if oldest is not None:
                _drop(connection, OUTBOX.c.id < oldest)


def _drop(connection: sql.Connection, which: sql.ColumnElement[bool]) -> None:
    dropped = connection.execute(sql.delete(OUTBOX).where(which)).rowcount
    if not dropped:
        return
    counter = sql.update(META).where(META.c.name == "outbox_dropped")
    connection.execute(counter.values(value=META.c.value + dropped))


def _owed(row: Mapping[Any, Any]) -> OutboxRow:
    return OutboxRow(
        id=row["id"],
        run_id=row["run_id"],
        method=row["method"],
        path=row["path"],
        document=json.loads(row["document"]),
        created_at=row["created_at"],
        attempts=row["attempts"],
        next_at=row["next_at"],
        error=row["error"],
    )
