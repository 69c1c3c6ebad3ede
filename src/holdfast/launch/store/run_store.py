"""The run store: what is known of every run, in one database that several processes share.

A change of a run is one transaction: its events, what follows from them, and what telemetry is owed. Events are
the truth; the other tables can be made from them again, and `export.replay` checks that they would come out alike.
"""

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import sqlalchemy as sql

from holdfast.errors import UsageError
from holdfast.launch import identifiers, states
from holdfast.launch.store import rows
from holdfast.launch.store.asked import Requests
from holdfast.launch.store.chain import BEGINNING, json_text
from holdfast.launch.store.change import Change, Owes, nothing_owed
from holdfast.launch.store.database import Database
from holdfast.launch.store.folding import section_states, snapshot_of
from holdfast.launch.store.outbox import Outbox
from holdfast.launch.store.records import Artifact, Event, Run, RunPicture, WorkItem
from holdfast.launch.store.refusals import Busy, IllegalTransition, KeyConflict, LeaseLost, NoSuchRun
from holdfast.launch.store.tables import IDEMPOTENCY, META, RUNS

__all__ = ["RunStore"]

T = TypeVar("T")

_AT_ONCE = 500  # ids in one query
_NO_SECTIONS = '{"drafted":[],"is_merged":false,"planned":[]}'


class RunStore(Requests, Outbox):
    """All runs. For any number of threads and processes; opened by URL, with its tables made at first use."""

    def __init__(self, url: str, *, owes: Owes = nothing_owed) -> None:
        self._database = Database(url)
        self._owes = owes

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def belongs_to(self, workspace: int) -> bool:
        """Whether this is the store of that workspace; the first that asks has it for good."""
        with self._database.writing() as connection:
            self._database.insert_new(connection, META, {"name": "workspace", "value": workspace})
            kept = connection.execute(sql.select(META.c.value).where(META.c.name == "workspace")).scalar_one()
        return bool(kept == workspace)

    def create_run(
        self,
        run_id: str,
        config: Mapping[str, Any],
        config_sha256: str,
        *,
        now: datetime,
        idempotency_key: str | None = None,
    ) -> tuple[Run, bool]:
        """A new run, or the one that the same key and configuration made before; and whether it was made now.

        Of two at once with one key, one makes the run and the other gets it. KeyConflict if the key belongs to a
        run of another configuration.
        """
        if not identifiers.is_run_id(run_id):
            raise UsageError(f"{run_id!r:.100} cannot be the id of a run")
        key = _digest(idempotency_key)
        with self._database.writing() as connection:
            if key is not None:
                row = {"key_sha256": key, "run_id": run_id, "config_sha256": config_sha256}
                if not self._database.insert_new(connection, IDEMPOTENCY, row):
                    return _made_before(connection, key, config_sha256), False
            run = self._insert_run(connection, run_id, config, config_sha256, now)
            change = Change(connection, run, now, owes=self._owes)
            change.record_creation(
                {
                    "product_slug": run.product_slug,
                    "config": run.config,
                    "config_sha256": config_sha256,
                    "idempotency_key_sha256": key,
                }
            )
            change.finish()
            return rows.run_of(connection, run_id), True

    def run(self, run_id: str) -> Run | None:
        """One run, or None."""
        try:
            return self._read(lambda connection: rows.run_of(connection, run_id))
        except NoSuchRun:
            return None

    def runs(
        self,
        *,
        product_slug: str | None = None,
        state: str | None = None,
        limit: int = 100,
        before: str | None = None,
    ) -> list[Run]:
        """Runs, the newest first; `before` is the id of the last one of the page before."""
        query = sql.select(RUNS).order_by(RUNS.c.started_at.desc(), RUNS.c.run_id.desc()).limit(limit)
        if product_slug is not None:
            query = query.where(RUNS.c.product_slug == product_slug)
        if state is not None:
            query = query.where(RUNS.c.state == state)
        with self._database.reading() as connection:
            if before is not None:
                last = rows.run_of(connection, before)
                older = sql.and_(RUNS.c.started_at == last.started_at, RUNS.c.run_id < last.run_id)
                query = query.where(sql.or_(RUNS.c.started_at < last.started_at, older))
            return [rows.run_from(row) for row in connection.execute(query).mappings()]

    def whereabouts(self, run_ids: Collection[str]) -> dict[str, tuple[str, bool]]:
        """The state of each of these runs, and whether somebody executes it; cheap enough to look often."""
        columns = (RUNS.c.run_id, RUNS.c.state, RUNS.c.holder)
        wanted = sorted(run_ids)
        found: dict[str, tuple[str, bool]] = {}
        with self._database.reading() as connection:
            for at in range(0, len(wanted), _AT_ONCE):
                query = sql.select(*columns).where(RUNS.c.run_id.in_(wanted[at : at + _AT_ONCE]))
                found |= {row.run_id: (row.state, row.holder is not None) for row in connection.execute(query)}
        return found

    def claim(self, run_id: str, holder: str) -> int:
        """Take the run in order to execute it; the token under which to write. Busy while somebody holds it."""
        rows.checked_text("the holder of a run", holder)
        with self._database.writing() as connection:
            self._check_holder(connection, run_id, holder)
            run = rows.run_of(connection, run_id, is_locked=True)
            if run.holder is not None:
                raise Busy(run_id, run.holder)
            token = run.token + 1
            taken = sql.update(RUNS).where(RUNS.c.run_id == run_id)
            connection.execute(taken.values(holder=holder, token=token))
            return token

    def _check_holder(self, connection: sql.Connection, run_id: str, holder: str) -> None:
        """Whether this holder may claim a run; anybody may, where nobody is given up."""

    def release(self, run_id: str, token: int) -> None:
        """Let go of the run; does nothing where it was taken away before."""
        held = sql.update(RUNS).where(RUNS.c.run_id == run_id, RUNS.c.token == token)
        with self._database.writing() as connection:
            connection.execute(held.values(holder=None))

    def release_all(self, *, except_holders: Collection[str] = ()) -> list[str]:
        """Void what everybody else holds, who must be dead, with their tokens: the runs that were freed."""
        held = sql.select(RUNS.c.run_id).where(
            RUNS.c.holder.is_not(None), RUNS.c.holder.not_in(list(except_holders))
        )
        with self._database.writing() as connection:
            freed = sorted(connection.execute(held.with_for_update()).scalars())
            void = sql.update(RUNS).where(RUNS.c.run_id.in_(freed))
            connection.execute(void.values(holder=None, token=RUNS.c.token + 1))
            return freed

    @contextlib.contextmanager
    def change(
        self,
        run_id: str,
        *,
        token: int | None = None,
        now: datetime | None = None,
        span_id: str | None = None,
    ) -> Iterator[Change]:
        """One transaction on one run. LeaseLost with a token that is not the current one.

        `span_id` is the span that the events belong to; work items have their own below it. An illegal move undoes
        everything and is then told as an event, in a transaction of its own.
        """
        moment = now or datetime.now(UTC)
        try:
            with self._database.writing() as connection:
                run = rows.run_of(connection, run_id, is_locked=True)
                if token is not None and (run.holder is None or run.token != token):
                    raise LeaseLost(run_id, token)
                change = Change(connection, run, moment, span_id, self._owes)
                yield change
                change.finish()
        except IllegalTransition as refused:
            if refused.run_id == run_id:
                self._tell_refusal(refused, moment, span_id)
            raise
        if change.owes_telemetry:
            self._trim_outbox()

    def events(self, run_id: str, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """The events of a run behind a number, in their order; none for a run that does not exist."""
        return self._read(lambda connection: rows.events_of(connection, run_id, after=after, limit=limit))

    def artifacts(self, run_id: str) -> dict[str, Artifact]:
        """The newest artifact of each name, by name."""
        return self._read(lambda connection: rows.artifacts_of(connection, run_id))

    def items(self, run_id: str) -> list[WorkItem]:
        """The work of a run, in the order in which it was queued."""
        return self._read(lambda connection: rows.items_of(connection, run_id))

    def issues(self, run_id: str, *, status: str | None = None) -> list[dict[str, Any]]:
        """The issues of a run, in their order; those of one status where one is given."""
        return self._read(lambda connection: rows.issues_of(connection, run_id, status=status))

    def picture(self, run_id: str) -> RunPicture:
        """Everything that the tables tell of a run, at one moment; NoSuchRun if there is none."""
        return self._read(lambda connection: rows.picture_from(connection, run_id))

    def snapshot(self, run_id: str) -> dict[str, Any]:
        """The run as its snapshot document; NoSuchRun if there is none."""
        return snapshot_of(self.picture(run_id))

    def section_states(self, run_id: str) -> dict[str, str]:
        """How far each section of a run is; NoSuchRun if there is none."""
        return section_states(self.picture(run_id))

    def history(self, run_id: str, *, after: int = 0) -> tuple[RunPicture, list[Event]]:
        """What the tables tell of a run, and its events behind a number, both at the same moment."""
        return self._read(
            lambda connection: (
                rows.picture_from(connection, run_id),
                rows.events_of(connection, run_id, after=after),
            )
        )

    def _read(self, read: Callable[[sql.Connection], T]) -> T:
        with self._database.reading() as connection:
            return read(connection)

    def _tell_refusal(self, refused: IllegalTransition, now: datetime, span_id: str | None) -> None:
        with self._database.writing() as connection:
            run = rows.run_of(connection, refused.run_id, is_locked=True)
            change = Change(connection, run, now, span_id, self._owes)
            change.record_refusal(refused)
            change.finish()

    def _insert_run(
        self, connection: sql.Connection, run_id: str, config: Mapping[str, Any], config_sha256: str, now: datetime
    ) -> Run:
        row = {
            "run_id": run_id,
            "state": states.CREATED,
            "product_slug": rows.checked_text("product_slug", str(config.get("product_slug", ""))),
            "config": json_text(dict(config)),
            "config_sha256": config_sha256,
            "started_at": identifiers.stamp(now),
            "fix_attempts": 0,
            "sections": _NO_SECTIONS,
            "last_seq": 0,
            "last_hash": BEGINNING,
            "token": 0,
        }
        if not self._database.insert_new(connection, RUNS, row):
            raise UsageError(f"there is a run {run_id} already", remedy="give the new run an id of its own")
        return rows.run_of(connection, run_id)


def _digest(key: str | None) -> str | None:
    return None if key is None else hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _made_before(connection: sql.Connection, key: str, config_sha256: str) -> Run:
    query = sql.select(IDEMPOTENCY.c.run_id, IDEMPOTENCY.c.config_sha256).where(IDEMPOTENCY.c.key_sha256 == key)
    kept = connection.execute(query).one()
    if kept.config_sha256 != config_sha256:
        raise KeyConflict(kept.run_id, kept.config_sha256, config_sha256)
    return rows.run_of(connection, kept.run_id)
