"""The run store of a pool: several machines on one PostgreSQL database, which also holds their objects.

Whoever is in the pool gives signs of life. One that gives none for as long as its lease is dead to the others: its
runs are free, its token void, what it was asked for is pending again. All of that is decided here, in transactions
of this store and by the clock of the database; no scheduler has a say in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql

from holdfast.errors import UsageError
from holdfast.launch import states
from holdfast.launch.identifiers import stamp
from holdfast.launch.store.chain import json_text
from holdfast.launch.store.change import Owes, nothing_owed
from holdfast.launch.store.pool_tables import MEMBERS, OBJECTS, POOL_SCHEMA
from holdfast.launch.store.records import LASTING, OPEN, OutboxRow
from holdfast.launch.store.refusals import LeaseLost
from holdfast.launch.store.rows import checked_text
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.store.tables import META, REQUESTS, RUNS

__all__ = ["Freed", "Member", "PoolStore"]

_TURN = 4_830_215_106_884_172_232  # the lock under which tables are made, and names are taken
_BOUND = "pool_concurrency"
_NOW = sql.func.clock_timestamp()
_IS_ALIVE = MEMBERS.c.seen_at > _NOW - sql.func.make_interval(0, 0, 0, 0, 0, 0, MEMBERS.c.lease_seconds)


@dataclass(frozen=True, slots=True)
class Member:
    """A process of the pool that executes runs."""

    identity: str
    name: str
    host: str
    pid: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class Freed:
    """What the dead have left: runs that can be claimed again, requests that are pending again or void."""

    members: tuple[str, ...]
    runs: tuple[str, ...]
    requests: int


class PoolStore(RunStore):
    """All runs of a pool, and who is in it."""

    delivers_as: str | None = None  # the identity of the member in this process, if there is one

    def __init__(self, url: str, *, owes: Owes = nothing_owed) -> None:
        super().__init__(url, owes=owes)
        try:
            if self._database.is_sqlite:
                raise UsageError(
                    "a pool of machines needs PostgreSQL, and the run store is an SQLite file",
                    remedy="set HOLDFAST_LAUNCH_STORE=postgresql://user@host/database, or --launch-engine local",
                )
            self._make_tables()
        except BaseException:
            self.close()
            raise

    def _make_tables(self) -> None:
        with self._database.writing() as connection:
            connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_TURN)))
            POOL_SCHEMA.create_all(connection)

    # --- who is there ----------------------------------------------------------------------------------------

    def join(self, identity: str, name: str, *, host: str, pid: int, concurrency: int, lease: float) -> None:
        """Become one that executes; UsageError while another one of this name lives."""
        row = {
            "identity": checked_text("the identity of an executor", identity),
            "name": checked_text("the name of an executor", name),
            "host": host, "pid": pid, "concurrency": concurrency, "lease_seconds": lease,
        }  # fmt: skip
        with self._database.writing() as connection:
            connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_TURN)))
            connection.execute(sql.delete(MEMBERS).where(MEMBERS.c.name == name, ~_IS_ALIVE))
            other = connection.execute(sql.select(MEMBERS).where(MEMBERS.c.name == name)).mappings().one_or_none()
            if other is not None:
                raise UsageError(
                    f"an executor {name!r} is in the pool already (process {other['pid']} on {other['host']})",
                    remedy="choose another name (--executor), or wait until that one has ended",
                )
            connection.execute(sql.insert(MEMBERS).values(**row, joined_at=_NOW, seen_at=_NOW))

    def wait_here(self, identity: str, *, host: str, pid: int, lease: float) -> None:
        """Say that somebody waits for an answer under this identity, and still lives."""
        row = {"identity": identity, "host": host, "pid": pid, "concurrency": 0, "lease_seconds": lease}
        with self._database.writing() as connection:
            self._database.insert_new(connection, MEMBERS, {**row, "joined_at": _NOW, "seen_at": _NOW})
            connection.execute(_seen(identity))

    def beat(self, identity: str) -> bool:
        """Give a sign of life; False where the others have given this one up."""
        with self._database.writing() as connection:
            return connection.execute(_seen(identity)).rowcount == 1

    def leave(self, identity: str) -> None:
        """Be in the pool no more; what this one still holds is free at the next look."""
        with self._database.writing() as connection:
            connection.execute(sql.delete(MEMBERS).where(MEMBERS.c.identity == identity))

    def members(self) -> list[Member]:
        """Those who execute, and live."""
        columns = [MEMBERS.c[name] for name in ("identity", "name", "host", "pid", "concurrency")]
        query = sql.select(*columns).where(MEMBERS.c.name.is_not(None), _IS_ALIVE).order_by(MEMBERS.c.name)
        with self._database.reading() as connection:
            return [Member(**row) for row in connection.execute(query).mappings()]

    def _check_holder(self, connection: sql.Connection, run_id: str, holder: str) -> None:
        """Whoever was given up claims nothing any more; whoever claims is not given up before that is kept."""
        query = sql.select(MEMBERS.c.identity).where(MEMBERS.c.identity == holder).with_for_update(read=True)
        if connection.execute(query).one_or_none() is None:
            raise LeaseLost(run_id, 0)

    def outbox(self, limit: int = 100, *, now: datetime | None = None) -> list[OutboxRow]:
        """The calls that are due, for one process of the pool: what a run owes has to arrive in its order."""
        oldest = sql.select(MEMBERS.c.identity).where(MEMBERS.c.name.is_not(None), _IS_ALIVE)
        oldest = oldest.order_by(MEMBERS.c.joined_at, MEMBERS.c.identity).limit(1)
        with self._database.reading() as connection:
            is_ours = connection.execute(oldest).scalar_one_or_none() == self.delivers_as
        return super().outbox(limit, now=now) if self.delivers_as and is_ours else []

    # --- what the dead have left -----------------------------------------------------------------------------

    def free_the_dead(self, interrupted: Mapping[str, Any]) -> Freed:
        """Take from those who give no sign of life what they hold, with their tokens.

        `interrupted` becomes the outcome of what they did for somebody, and of what nobody waits for any more.
        """
        live = sql.select(MEMBERS.c.identity)  # without those who are struck off in the same transaction
        with self._database.writing() as connection:
            # Whoever claims a run at this moment holds its row, and is left for the next look.
            silent = sql.select(MEMBERS.c.identity).where(~_IS_ALIVE).with_for_update(skip_locked=True)
            gone = tuple(sorted(connection.execute(silent).scalars()))
            connection.execute(sql.delete(MEMBERS).where(MEMBERS.c.identity.in_(gone)))
            held = sql.select(RUNS.c.run_id).where(RUNS.c.holder.is_not(None), RUNS.c.holder.not_in(live))
            runs = tuple(sorted(connection.execute(held.with_for_update()).scalars()))
            void = sql.update(RUNS).where(RUNS.c.run_id.in_(runs))
            connection.execute(void.values(holder=None, token=RUNS.c.token + 1))
            lost = sql.and_(REQUESTS.c.state == "running", REQUESTS.c.owner.not_in(live))
            lasting = REQUESTS.c.kind.in_(LASTING)
            unwanted = sql.and_(lost, REQUESTS.c.wants_cancel)
            now = stamp(datetime.now(UTC))
            ended = {"answered_at": now}
            count = _rows(connection, sql.update(REQUESTS).where(unwanted).values(state="cancelled", **ended))
            again = sql.update(REQUESTS).where(lost, lasting).values(state="pending", owner=None)
            count += _rows(connection, again)
            forsaken = sql.and_(REQUESTS.c.state == "pending", ~lasting, REQUESTS.c.asked_by.not_in(live))
            told = {"state": "done", "outcome": json_text(dict(interrupted)), **ended}
            count += _rows(connection, sql.update(REQUESTS).where(sql.or_(lost, forsaken)).values(**told))
        return Freed(gone, runs, count)

    def hand_back(self, request_id: str, owner: str) -> None:
        """Leave a request that this owner has taken to the others; it is over where nobody wants it any more."""
        mine = sql.and_(
            REQUESTS.c.request_id == request_id, REQUESTS.c.state == "running", REQUESTS.c.owner == owner
        )
        ended = {"state": "cancelled", "answered_at": stamp(datetime.now(UTC))}
        with self._database.writing() as connection:
            connection.execute(sql.update(REQUESTS).where(mine, REQUESTS.c.wants_cancel).values(**ended))
            connection.execute(sql.update(REQUESTS).where(mine).values(state="pending", owner=None))

    def unattended(self) -> list[str]:
        """The runs that are neither at rest nor held, and that nobody has asked for."""
        wanted = sql.select(REQUESTS.c.run_id).where(REQUESTS.c.state.in_(OPEN))
        query = sql.select(RUNS.c.run_id).where(
            RUNS.c.holder.is_(None), RUNS.c.state.not_in(sorted(states.RESTING)), RUNS.c.run_id.not_in(wanted)
        )
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(RUNS.c.started_at, RUNS.c.run_id)).scalars())

    # --- how much at once ------------------------------------------------------------------------------------

    def bound(self) -> int:
        """How many runs the whole pool may execute at the same time; 0 means as many as its members do."""
        query = sql.select(META.c.value).where(META.c.name == _BOUND)
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one_or_none() or 0

    def set_bound(self, most: int) -> None:
        """From now on the pool executes at most so many runs at the same time."""
        with self._database.writing() as connection:
            self._database.insert_new(connection, META, {"name": _BOUND, "value": most})
            connection.execute(sql.update(META).where(META.c.name == _BOUND).values(value=most))

    def queue_place(self) -> tuple[str, str]:
        """Where the tables of the queue go: the URL of this database, and a schema beside that of the store."""
        with self._database.reading() as connection:
            schema = connection.execute(sql.select(sql.func.current_schema())).scalar_one()
        return self._database.url, "holdfast_dbos" if schema in (None, "public") else f"{schema}_dbos"

    # --- contents --------------------------------------------------------------------------------------------

    def keep_object(self, sha256: str, content: bytes) -> None:
        """Keep a content for all machines; once."""
        with self._database.writing() as connection:
            self._database.insert_new(connection, OBJECTS, {"sha256": sha256, "content": content})

    def has_object(self, sha256: str) -> bool:
        """Whether all machines can have this content."""
        query = sql.select(sql.exists().where(OBJECTS.c.sha256 == sha256))
        with self._database.reading() as connection:
            return bool(connection.execute(query).scalar_one())

    def object(self, sha256: str) -> bytes | None:
        """A content that some machine has kept."""
        query = sql.select(OBJECTS.c.content).where(OBJECTS.c.sha256 == sha256)
        with self._database.reading() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else bytes(found)


def _seen(identity: str) -> sql.Update:
    return sql.update(MEMBERS).where(MEMBERS.c.identity == identity).values(seen_at=_NOW)


def _rows(connection: sql.Connection, statement: sql.Update) -> int:
    return connection.execute(statement).rowcount
