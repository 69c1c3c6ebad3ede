"""The file in which telemetry is kept: two tables of SQLite, and transactions that several processes may share.

Records are kept as the JSON they came as; what is asked for by has a column of its own. What a record may hold is
not decided here.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.errors import ToolError, UsageError

__all__ = ["Ledger"]

_VERSION = 1
_PATIENCE = 5.0  # seconds that one process waits for another to finish writing
_TABLES = """
CREATE TABLE runs (
    event_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, parent_run_id TEXT, status TEXT NOT NULL,
    job_type TEXT NOT NULL, agent_name TEXT NOT NULL, product TEXT, started TEXT NOT NULL, document TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_by_run ON runs (run_id, created_at, event_id);
CREATE INDEX runs_by_parent ON runs (parent_run_id, started, event_id);
CREATE INDEX runs_by_status ON runs (status, started);
CREATE INDEX runs_by_job ON runs (job_type, started);
CREATE INDEX runs_by_age ON runs (started DESC, event_id);
CREATE TABLE events (
    event_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, seq INTEGER NOT NULL, ts TEXT NOT NULL, type TEXT NOT NULL,
    trace_id TEXT NOT NULL, span_id TEXT NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX events_by_run ON events (run_id, seq, event_id);
"""


class Ledger:
    """One file; safe to use from several threads, and to open in several processes at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            _use_write_ahead_log(self._connection)
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._make_tables()
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"{path} cannot be used for telemetry: {error}", remedy="name another file"
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One picture of the file for everything that is read in the block."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is kept as a whole or, where the block fails, not at all."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection.execute(begin)
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                finally:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
            except sqlite3.OperationalError as error:  # locked for too long, disk full: it may pass
                message = f"the telemetry file cannot be used right now: {error}"
                raise ToolError("NOT_READY", message, retryable=True) from error

    def _make_tables(self) -> None:
        if self._found_version() == _VERSION:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        with contextlib.closing(self._connection.cursor()) as cursor:
            if self._found_version() == 0:  # nobody else was quicker
                for statement in _TABLES.split(";"):
                    cursor.execute(statement)
                cursor.execute(f"PRAGMA user_version = {_VERSION}")
            cursor.execute("COMMIT")

    def _found_version(self) -> int:
        found = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if found > _VERSION:
            raise UsageError("the telemetry file was written by a newer version", remedy="use that version")
        return found


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Two processes that open a new file at once both want this, and SQLite lets the second one fail."""
    deadline, pause = time.monotonic() + _PATIENCE, threading.Event()
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            pause.wait(0.01)
