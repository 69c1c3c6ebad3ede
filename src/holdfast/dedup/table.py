"""`KeyTable`: an effect and its key in one transaction of the tool's own SQLite database.

The guarantee is as durable as the connection's `PRAGMA synchronous` says; its settings are not touched here.

Threads: a table lets one `once` block run at a time, the others wait. So a connection opened with
`check_same_thread=False` may be shared, if everything that writes through it does so inside such blocks; otherwise
give each thread its own connection and table. Processes wait for each other as long as the `timeout` of their
connection says. In an async tool, do not `await` inside a block: run it whole with `asyncio.to_thread`.
"""

import contextlib
import math
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.dedup.database import open_database
from holdfast.dedup.digest import digest_of
from holdfast.dedup.rows import MAX_OUTCOME_BYTES, KeyRow, KeyRows, check_key
from holdfast.dedup.transaction import ended_early, transaction
from holdfast.dedup.trouble import KeyConflict, KeyTableError, translated
from holdfast.errors import UsageError, WireError
from holdfast.wire.codec import decode, encode

__all__ = ["KeyTable", "Slot", "open_keys"]

_PATIENCE = 5.0  # seconds; the default of sqlite3.connect too


class Slot:
    """The place of one key inside a `once` block.

    `stored` tells that a call with this key has its outcome already, which `outcome` then is. Otherwise do the
    effect and call `store`, which sets both.
    """

    def __init__(self, rows: KeyRows, tool: str, key: str, max_bytes: int) -> None:
        self.stored = False
        self.outcome: Any = None
        self._rows: KeyRows | None = rows
        self._place = (tool, key)
        self._max_bytes = max_bytes

    def store(self, outcome: Any) -> None:
        """Keep the outcome, any JSON value, for later calls with this key; it is committed with the block."""
        if self._rows is None or self.stored:
            raise UsageError(
                "the outcome of this key is stored already" if self.stored else "the once block has ended",
                remedy="call store once, inside the block, if slot.stored is false",
            )
        raw, value = _as_json(outcome, self._max_bytes)
        with translated("the outcome could not be stored"):
            if not self._rows.store(*self._place, raw):
                raise ended_early()
        self.stored = True
        self.outcome = value

    def _recall(self, row: KeyRow) -> None:
        if row.outcome is None:
            raise KeyTableError(
                "unfinished",
                f"an earlier call with the key {self._place[1]!r} was committed before its outcome was stored",
                remedy="find out whether it took effect; leave commit and rollback to the once block",
            )
        try:
            self.outcome = decode(row.outcome)
        except WireError as error:
            raise KeyTableError(
                "corrupt", f"the stored outcome is damaged: {error}", remedy="restore the database from a copy"
            ) from error
        self.stored = True

    def _end(self) -> None:
        self._rows = None


class KeyTable:
    """The keys that took effect, in a table of the database behind `connection`.

    Keys live as long as the table, or until `forget`. `tool` keeps the keys of several tools apart. Nothing is
    written before the first `once`.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: str = "holdfast_keys",
        *,
        max_outcome_bytes: int = MAX_OUTCOME_BYTES,
        patience: float = _PATIENCE,
    ) -> None:
        """`patience` is how many seconds a thread waits for the block of another thread of this process."""
        self._connection = connection
        self._rows = KeyRows(connection, table)
        self._max_outcome_bytes = max_outcome_bytes
        self._patience = patience
        self._turn = threading.Lock()
        self._owner: int | None = None  # the thread inside a block

    @contextlib.contextmanager
    def once(self, key: str, arguments: Any, *, tool: str = "", join: bool = False) -> Iterator[Slot]:
        """A block whose effect on the same connection is committed together with the key, or not at all.

        The block is one transaction that takes the write lock at its beginning. With `join` it becomes part of a
        transaction that is open already, and takes effect when its owner commits that. An exception rolls
        everything back and leaves the key unused. Raises KeyConflict if the key came with other arguments.
        """
        check_key(key)
        digest = digest_of(arguments)
        with self._alone(), transaction(self._connection, join=join):
            slot = self._claim(tool, key, digest)
            try:
                yield slot
            finally:
                slot._end()
            if not slot.stored:
                raise UsageError(
                    "the once block ended without an outcome, so its effect was rolled back",
                    remedy="call slot.store(...) after the effect, or raise to give up",
                )

    def forget(self, older_than_seconds: float) -> int:
        """Remove the keys that are older, and return their number; a call with such a key takes effect again.

        In a transaction that is open already, they are gone when its owner commits.
        """
        if not 0 <= older_than_seconds < math.inf:
            raise UsageError(f"{older_than_seconds!r} is not an age", remedy="give a number of seconds, 0 or more")
        with self._alone(), transaction(self._connection, join=True), translated("old keys could not be removed"):
            self._rows.create()
            return self._rows.forget(time.time() - older_than_seconds)

    def close(self) -> None:
        """Close the connection; for a table of `open_keys`, whose connection is its own."""
        with self._alone(), translated("the key table could not be closed"):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _claim(self, tool: str, key: str, digest: str) -> Slot:
        slot = Slot(self._rows, tool, key, self._max_outcome_bytes)
        with translated("the key could not be looked up"):
            self._rows.create()
            row = self._rows.find(tool, key)
            if row is None:
                self._rows.insert(tool, key, KeyRow(digest, time.time(), None))
                return slot
        if row.digest != digest:
            raise KeyConflict(key, stored=row.digest, given=digest)
        slot._recall(row)
        return slot

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only block on this table; a block inside a block would wait for itself."""
        if self._owner == threading.get_ident():
            raise UsageError(
                "a once block of this table is open already in this thread",
                remedy="end it first; in an async tool, run the whole block with asyncio.to_thread",
            )
        if not self._turn.acquire(timeout=self._patience):
            raise KeyTableError(
                "busy",
                f"another thread has kept its once block open for {self._patience:g} s",
                remedy="keep slow work out of once blocks",
            )
        self._owner = threading.get_ident()
        try:
            yield
        finally:
            self._owner = None
            self._turn.release()


def open_keys(
    path: str | Path, *, max_outcome_bytes: int = MAX_OUTCOME_BYTES, timeout: float = _PATIENCE
) -> KeyTable:
    """A key table in a private file of its own, for a tool whose effect is not in an SQLite database.

    The file and the effect are then two things, and a process may be killed between them. So the effect itself
    must bear repetition: write a temporary file and rename it, upsert by the key, send the key along to a
    service that knows it. Do that inside the block, then store: a call that was cut short does the effect again,
    with the same end, and every later one gets the stored outcome. The block holds the lock of the whole table,
    so keep it short. Threads may share the table.
    """
    connection = open_database(Path(path), timeout=timeout)
    return KeyTable(connection, max_outcome_bytes=max_outcome_bytes, patience=timeout)


def _as_json(outcome: Any, max_bytes: int) -> tuple[bytes, Any]:
    """The outcome as it is stored, and as it will be read again."""
    try:
        raw = encode(outcome)
        value = decode(raw) if len(raw) <= max_bytes else None
    except (TypeError, ValueError, WireError) as error:
        raise UsageError(
            f"the outcome is not a JSON value: {error}",
            remedy='store texts, numbers, lists and objects; of a model, `model_dump(mode="json")`',
        ) from error
    if len(raw) > max_bytes:
        raise KeyTableError(
            "too_large",
            f"the outcome has {len(raw)} bytes; at most {max_bytes} can be stored",
            remedy="store less, such as the number under which the rest is found",
        )
    return raw, value
