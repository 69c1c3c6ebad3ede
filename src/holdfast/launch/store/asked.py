"""Requests: what a process that does not own the engine asks of the one that does, and what became of it."""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql

from holdfast.launch.identifiers import stamp
from holdfast.launch.store.chain import json_text
from holdfast.launch.store.database import Database
from holdfast.launch.store.records import OPEN, AskedRequest
from holdfast.launch.store.rows import checked_text
from holdfast.launch.store.tables import REQUESTS

__all__ = ["Requests", "asked_from"]


class Requests:
    """The part of the run store that carries requests: pending, then running under an owner, then done."""

    _database: Database

    def ask(self, request_id: str, run_id: str, kind: str, asked_by: str, now: datetime | None = None) -> None:
        """Ask for something; asking again under the same id changes nothing."""
        told = {"request_id": request_id, "run_id": run_id, "kind": kind, "asked_by": asked_by}
        row = {
            **{name: checked_text(name, text) for name, text in told.items()},
            "asked_at": stamp(now or datetime.now(UTC)),
            "state": "pending",
            "wants_cancel": False,
        }
        with self._database.writing() as connection:
            self._database.insert_new(connection, REQUESTS, row)

    def requests(
        self, *, state: str | Collection[str] | None = None, run_id: str | None = None
    ) -> list[AskedRequest]:
        """What was asked, the oldest first; what is in one of several states is found whichever it goes to."""
        query = sql.select(REQUESTS).order_by(REQUESTS.c.number)
        if state is not None:
            query = query.where(REQUESTS.c.state.in_([state] if isinstance(state, str) else list(state)))
        if run_id is not None:
            query = query.where(REQUESTS.c.run_id == run_id)
        with self._database.reading() as connection:
            return [asked_from(row) for row in connection.execute(query).mappings()]

    def request(self, request_id: str) -> AskedRequest | None:
        """One request, as it is now."""
        query = sql.select(REQUESTS).where(REQUESTS.c.request_id == request_id)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else asked_from(row)

    def take_request(self, request_id: str, owner: str) -> bool:
        """Begin to work on a pending request; False when somebody else did, or it was cancelled."""
        return self._amend(request_id, ("pending",), state="running", owner=checked_text("owner", owner))

    def answer_request(self, request_id: str, outcome: Mapping[str, Any], *, owner: str | None = None) -> None:
        """Say what became of a request; one that has its answer, or another owner than the given one, keeps it."""
        told = {"outcome": json_text(dict(outcome)), "answered_at": stamp(datetime.now(UTC))}
        mine = () if owner is None else (REQUESTS.c.owner == owner,)
        self._amend(request_id, OPEN, *mine, state="done", **told)

    def cancel_request(self, request_id: str) -> None:
        """Want it no more: a pending request is over, a running one is asked to stop."""
        with self._database.writing() as connection:
            asked = sql.update(REQUESTS).where(REQUESTS.c.request_id == request_id, REQUESTS.c.state.in_(OPEN))
            connection.execute(asked.values(wants_cancel=True))
            _end_unwanted(connection, REQUESTS.c.request_id == request_id)

    def forget_requests(self, older_than: datetime) -> int:
        """Forget what was answered or cancelled before this moment; how many."""
        gone = sql.delete(REQUESTS).where(
            REQUESTS.c.state.not_in(OPEN), REQUESTS.c.answered_at < stamp(older_than)
        )
        with self._database.writing() as connection:
            return connection.execute(gone).rowcount

    def _amend(
        self, request_id: str, states: Collection[str], *more: sql.ColumnElement[bool], **values: Any
    ) -> bool:
        amended = sql.update(REQUESTS).where(
            REQUESTS.c.request_id == request_id, REQUESTS.c.state.in_(list(states)), *more
        )
        with self._database.writing() as connection:
            return connection.execute(amended.values(**values)).rowcount == 1


def _end_unwanted(connection: sql.Connection, which: sql.ColumnElement[bool]) -> None:
    unwanted = sql.update(REQUESTS).where(REQUESTS.c.state == "pending", REQUESTS.c.wants_cancel, which)
    connection.execute(unwanted.values(state="cancelled", answered_at=stamp(datetime.now(UTC))))


def asked_from(row: Mapping[Any, Any]) -> AskedRequest:
    """A request, as its row tells it."""
    return AskedRequest(
        request_id=row["request_id"],
        run_id=row["run_id"],
        kind=row["kind"],
        asked_by=row["asked_by"],
        asked_at=row["asked_at"],
        state=row["state"],
        owner=row["owner"],
        outcome=None if row["outcome"] is None else json.loads(row["outcome"]),
        wants_cancel=row["wants_cancel"],
    )
