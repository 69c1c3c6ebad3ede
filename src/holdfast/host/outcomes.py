"""The outcomes of deduplicated calls that the host has seen, kept on disk for calls that come again.

It only saves asking again: that a key takes effect once is the promise of the tool. So the host goes on without it
when the disk is full or the file is damaged; each failure is a HoldfastError to tell as an event. There is no file
before the first outcome is kept. Several hosts may share one file. SQLite is loaded only when it is needed.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import sqlite3

    from holdfast.dedup.rows import KeyRows
    from holdfast.dedup.trouble import KeyTableError

__all__ = ["Conflict", "OutcomeStore", "digest_of", "open_outcomes"]

_TIMEOUT = 0.5  # seconds that the loop may be held up by another host's commit, which takes milliseconds
_COMPANIONS = ("-wal", "-shm", "")  # the file itself goes last: without it the others mean nothing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Conflict:
    """The key was kept with other arguments: the digest of those, and of the ones given now."""

    stored: str
    given: str


class OutcomeStore:
    """Tool results by tool and key, each for `ttl` seconds; made by `open_outcomes`.

    Not for several threads. A damaged file is moved aside to `PATH.corrupt-N` and replaced by a new one;
    `take_problems` tells of it.
    """

    def __init__(self, path: Path, ttl: float, max_bytes: int) -> None:
        self._path = path
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._identity: os.stat_result | None = None  # of the file that was opened last
        self._problems: list[str] = []

    def look_up(self, tool: str, key: str, digest: str) -> bytes | Conflict | None:
        """The result kept for this call, None if there is none, or what it is in conflict with."""
        from holdfast.dedup.rows import check_key

        check_key(key)
        if not os.path.lexists(self._path):
            return None
        row = self._mending(lambda connection: self._rows(connection).find(tool, key))
        if row is None or row.created < self._oldest():
            return None
        return row.outcome if row.digest == digest else Conflict(row.digest, digest)

    def keep(self, tool: str, key: str, digest: str, payload: bytes) -> None:
        """Put a result on disk before returning; if the key has one, that one stays.

        Raises KeyConflict if that one is of other arguments, and KeyTableError if the result could not be kept.
        """
        from holdfast.dedup.rows import KeyRow, check_key
        from holdfast.dedup.transaction import transaction
        from holdfast.dedup.trouble import KeyConflict, KeyTableError

        check_key(key)
        if len(payload) > self._max_bytes:
            raise KeyTableError(
                "too_large",
                f"the result of {tool} has {len(payload)} bytes; at most {self._max_bytes} are kept",
                remedy="let the tool return less; a repeated call will ask it again",
            )

        def keep(connection: "sqlite3.Connection") -> KeyRow | None:
            rows = self._rows(connection)
            with transaction(connection):
                rows.forget(self._oldest())
                earlier = rows.find(tool, key)
                if earlier is None:
                    rows.insert(tool, key, KeyRow(digest, time.time(), payload))
                return earlier

        earlier = self._mending(keep)
        if earlier is not None and earlier.digest != digest:
            raise KeyConflict(key, stored=earlier.digest, given=digest)

    def take_problems(self) -> list[str]:
        """What went wrong and was mended since this was asked last, as sentences."""
        problems, self._problems = self._problems, []
        return problems

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def _oldest(self) -> float:
        return time.time() - self._ttl

    def _rows(self, connection: "sqlite3.Connection") -> "KeyRows":
        from holdfast.dedup.database import TABLE
        from holdfast.dedup.rows import KeyRows

        return KeyRows(connection, TABLE)

    def _mending(self, work: Callable[["sqlite3.Connection"], T]) -> T:
        """Do the work; if the file turns out to be damaged, do it on a new one."""
        from holdfast.dedup.trouble import KeyTableError, translated

        try:
            with translated(f"{self._path} could not be used"):
                return work(self._opened())
        except KeyTableError as error:
            if error.reason != "corrupt":
                raise
            with translated(f"{self._path} is damaged and could not be moved aside"):
                self._move_aside(error)
        with translated(f"{self._path} could not be used"):
            return work(self._opened())

    def _opened(self) -> "sqlite3.Connection":
        from holdfast.dedup.database import open_database
        from holdfast.dedup.transaction import transaction

        if self._connection is not None and self._is_in_place():
            return self._connection
        self.close()  # the file was removed, or another host has moved it aside
        with contextlib.suppress(FileNotFoundError):
            self._identity = os.stat(self._path)
        connection = open_database(self._path, timeout=_TIMEOUT)
        self._connection = connection
        self._identity = os.stat(self._path)
        with transaction(connection):
            self._rows(connection).forget(self._oldest())
        return connection

    def _is_in_place(self) -> bool:
        try:
            return self._identity is not None and os.path.samestat(os.stat(self._path), self._identity)
        except FileNotFoundError:
            return False

    def _move_aside(self, error: "KeyTableError") -> None:
        self.close()
        if not self._is_in_place():
            return  # another host was faster
        number = 1
        while os.path.lexists(aside := f"{self._path}.corrupt-{number}"):
            number += 1
        for suffix in _COMPANIONS:
            with contextlib.suppress(FileNotFoundError):
                os.replace(f"{self._path}{suffix}", f"{aside}{suffix}")
        self._problems.append(
            f"{error.message}; it was moved to {aside}, and the outcomes kept in it are forgotten"
        )


def open_outcomes(path: Path, ttl: float, *, max_bytes: int = 1024 * 1024) -> OutcomeStore:
    """The store at `path`, which need not exist; outcomes are kept for `ttl` seconds. Touches nothing yet."""
    return OutcomeStore(Path(path).absolute(), ttl, max_bytes)


def digest_of(arguments: Any) -> str:
    """The digest by which the arguments of two calls are compared; see `holdfast.dedup`."""
    from holdfast.dedup.digest import digest_of as digest

    return digest(arguments)
