"""The database of a run store: connections, transactions, its tables, and its failures in words.

One code for both kinds. SQLite: write-ahead log, every commit synced (4 ms on a busy disk; without it a power
failure may take back a state that somebody was told of), writers take their turn before they begin. PostgreSQL:
rows are locked, readers see one moment.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event as hooks
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from holdfast.errors import UsageError
from holdfast.launch.store.addresses import parsed, shown
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.store.tables import META, SCHEMA, VERSION

__all__ = ["Database"]

_PATIENCE_S = 30  # that a writer waits for its turn; a transaction takes milliseconds
_READS, _WRITES = {"holdfast_writes": False}, {"holdfast_writes": True}
_CREATION = 4_830_215_106_884_172_231  # the lock under which a PostgreSQL database gets its tables

_SQLITE_REASONS = {
    "FULL": "full", "IOERR": "disk", "BUSY": "busy", "LOCKED": "busy", "READONLY": "unwritable",
    "CANTOPEN": "unwritable", "PERM": "unwritable", "CORRUPT": "damaged", "NOTADB": "damaged",
}  # fmt: skip
_POSTGRES_REASONS = {
    "53100": "full", "53200": "busy", "53300": "busy", "55P03": "busy", "40P01": "busy", "40001": "busy",
    "57014": "busy", "25006": "unwritable", "42501": "unwritable", "42P01": "damaged", "XX001": "damaged",
}  # fmt: skip
_REMEDIES = {
    "full": "free some space and try again; nothing was lost",
    "disk": "check the disk, its space and its limits, and try again; nothing was lost",
    "busy": "try again",
    "unavailable": "check that the database server runs and can be reached, then try again",
    "unwritable": "change the permissions, or choose another place",
    "damaged": "restore it from a backup; the exported events.ndjson of each run still tells what happened",
}


class Database:
    """The tables of a run store, ready for use. For any number of threads and processes."""

    def __init__(self, url: str) -> None:
        address = parsed(url)
        self.url = address.render_as_string(hide_password=False)
        self.is_sqlite = address.get_backend_name() == "sqlite"
        self.name = str(address.database) if self.is_sqlite else shown(address)
        self._turn = threading.Lock()
        self._inside = threading.local()
        if self.is_sqlite:
            _make_directory(Path(str(address.database)).parent)
        engine = _engine(address, is_sqlite=self.is_sqlite)
        self._writing = engine.execution_options(**_WRITES)
        more = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = engine.execution_options(**_READS, **more)
        try:
            self._prepare()
        except StoreError as error:
            self.close()
            raise UsageError(error.message, remedy=error.remedy) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of every connection that is not in use."""
        self._writing.dispose()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the whole store, and holds nobody up."""
        with self._translated(), self._reading.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it is kept when the block ends well, and nothing otherwise."""
        if getattr(self._inside, "is_writing", False):
            # In SQLite it would wait for itself; elsewhere half of it would stay when the other half fails.
            raise AssertionError("a thread writes in one transaction at a time")
        self._inside.is_writing = True
        try:
            with self._translated(), self._in_turn(), self._writing.connect() as connection, connection.begin():
                yield connection
        finally:
            self._inside.is_writing = False

    def insert_new(self, connection: Connection, table: sql.Table, row: dict[str, Any]) -> bool:
        """Insert a row unless there is one with the same key; whether it was inserted. Of two at once, one is."""
        insert = sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)
        inserted = connection.execute(
            insert.values(row).on_conflict_do_nothing(), execution_options={"preserve_rowcount": True}
        )
        return inserted.rowcount == 1

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """SQLite has one writer: threads of this process queue here, where waiting is fair and costs nothing."""
        if not self.is_sqlite:
            yield
            return
        if not self._turn.acquire(timeout=_PATIENCE_S):
            raise self._trouble("busy", "another writer holds it")
        try:
            yield
        finally:
            self._turn.release()

    def _prepare(self) -> None:
        with self.reading() as connection:
            self._check_encoding(connection)
            version = _version(connection)
        if version is None:
            version = self._create()
        if version > VERSION:
            raise UsageError(
                f"the run store {self.name} was written by a newer version ({version}, this one knows {VERSION})",
                remedy="update holdfast, or use another store",
            )

    def _create(self) -> int:
        """Make the tables, all of them or none; the version of those that another process made meanwhile."""
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_CREATION)))
            version = _version(connection)
            if version is None:
                SCHEMA.create_all(connection, checkfirst=False)
                values = {"outbox_dropped": 0, "version": VERSION}
                connection.execute(sql.insert(META), [{"name": name, "value": values[name]} for name in values])
            return version or VERSION

    def _check_encoding(self, connection: Connection) -> None:
        if not self.is_sqlite:
            encoding = connection.execute(sql.text("SHOW server_encoding")).scalar_one()
            if encoding != "UTF8":
                raise UsageError(f"the database is encoded in {encoding}", remedy="create it with ENCODING 'UTF8'")

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise self._trouble("busy", "all its connections are in use") from error
        except DBAPIError as error:
            # What is wrong with the statement itself is a mistake of ours, and looks like one.
            if isinstance(error, sql.exc.IntegrityError | sql.exc.DataError):
                raise
            raise self._trouble(_reason(error), str(error.orig).strip()) from error

    def _trouble(self, reason: str, what: str) -> StoreError:
        return StoreError(reason, f"the run store {self.name}: {what}", remedy=_REMEDIES.get(reason, ""))


def _reason(error: DBAPIError) -> str:
    name = getattr(error.orig, "sqlite_errorname", None)
    if name == "SQLITE_ERROR" and str(error.orig).startswith("no such "):  # it has no code of its own
        return "damaged"
    if name is not None:
        return _SQLITE_REASONS.get(str(name).removeprefix("SQLITE_").split("_")[0], "failed")
    state = getattr(error.orig, "sqlstate", None)
    if state is None or state[:2] == "08" or state[:4] == "57P0":
        return "unavailable"
    return _POSTGRES_REASONS.get(state, "failed")


def _version(connection: Connection) -> int | None:
    if not sql.inspect(connection).has_table(META.name):
        return None
    return connection.execute(sql.select(META.c.value).where(META.c.name == "version")).scalar_one_or_none()


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the directory of the run store cannot be made: {error.strerror}: {directory}",
            remedy="choose another place for it",
        ) from error


def _engine(address: URL, *, is_sqlite: bool) -> Engine:
    if is_sqlite:
        engine = sql.create_engine(
            address, connect_args={"timeout": _PATIENCE_S}, pool_size=8, max_overflow=120, pool_timeout=_PATIENCE_S
        )
        hooks.listen(engine, "connect", _prepare_file)
        hooks.listen(engine, "begin", _begin_file)
        return engine
    patience = {} if "connect_timeout" in address.query else {"connect_timeout": 10}
    engine = sql.create_engine(
        address, connect_args=patience, pool_size=5, max_overflow=15, pool_timeout=_PATIENCE_S, pool_pre_ping=True
    )
    hooks.listen(engine, "connect", _prepare_session)
    return engine


def _prepare_file(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so, and not at the first write
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_file(connection: Connection) -> None:
    is_writer = connection.get_execution_options()["holdfast_writes"]
    # A reader that turns into a writer cannot wait for its turn: it fails. So whoever may write says so first.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")


def _prepare_session(connection: Any, _record: object) -> None:
    connection.execute(f"SET lock_timeout = '{_PATIENCE_S}s'")
    # A process that is frozen inside of a transaction must not hold up the others for good.
    connection.execute(f"SET idle_in_transaction_session_timeout = '{2 * _PATIENCE_S}s'")
    connection.commit()
