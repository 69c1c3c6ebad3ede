"""Vectors by the content that they are of: what was embedded once is never embedded again, whatever is rebuilt.

One SQLite file per index, for all of its builds, branches and models. It is a cache: where it is damaged, it
begins anew. Each vector has a checksum of its own: one that is damaged is made again.
"""

import contextlib
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from holdfast.search.store.database import is_damage

__all__ = ["KEY_BYTES", "VectorCache", "key_of"]

KEY_BYTES = 16
_CHECKSUM = struct.Struct("<I")  # of the key and the codes, behind them
_BATCH = 400  # values in one IN (...)
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, codes BLOB NOT NULL) WITHOUT ROWID"


Result = TypeVar("Result")


def key_of(model: str, passage: str) -> bytes:
    """What the vector is known by that a model (its digest) gives to a text."""
    return blake2b(f"{model}\0{passage}".encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def _sealed(key: bytes, codes: bytes) -> bytes:
    return codes + _CHECKSUM.pack(zlib.crc32(codes, zlib.crc32(key)))


class VectorCache:
    """Codes of vectors, as bytes; needs the lock of the index's vectors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._db = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise  # a full disk or missing rights: nothing is wrong with the file
            self._forget()
            self._db = self._open()

    def close(self) -> None:
        """Leave the file."""
        self._db.close()

    def get(self, keys: Iterable[bytes], dimensions: int) -> dict[bytes, bytes]:
        """The codes of those that are known; what has another number of dimensions is none of theirs."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, Any] = {}
        for first in range(0, len(wanted), _BATCH):
            batch = wanted[first : first + _BATCH]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, codes FROM vectors WHERE key IN ({marks})"  # noqa: S608
            found.update(self._healed(lambda: self._db.execute(query, batch).fetchall()))  # noqa: B023 - done at once
        return {
            key: codes[:dimensions]
            for key, codes in found.items()
            if isinstance(codes, bytes)
            and len(codes) == dimensions + _CHECKSUM.size
            and codes == _sealed(key, codes[:dimensions])
        }

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Remember codes by their keys; on disk when it returns."""

        def put() -> None:
            with self._transaction():
                sealed = ((key, _sealed(key, codes)) for key, codes in rows)
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", sealed)

        self._healed(put)

    def count(self) -> int:
        """How many are known."""
        count = "SELECT count(*) FROM vectors"
        number: int = self._healed(lambda: self._db.execute(count).fetchone()[0])
        return number

    def keep_only(self, keys: Iterable[bytes]) -> None:
        """Forget all others and give the space back."""
        self._db.execute("CREATE TEMP TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID")
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO used VALUES (?)", ((key,) for key in keys))
            self._db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM used)")
        self._db.execute("DROP TABLE used")
        self._db.execute("VACUUM")

    def _healed(self, step: Callable[[], Result]) -> Result:
        """What a step gives; where the file turns out to be damaged, the same in a new one."""
        try:
            return step()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self._db.close()
            self._forget()
            self._db = self._open()
            return step()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite takes it back by itself where the disk is full
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=10.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
            connection.execute("SELECT key, codes FROM vectors LIMIT 1").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _forget(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
