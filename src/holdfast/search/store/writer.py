"""The writing side of the store: versions of files, and the generation that they belong to.

An update writes its rows as the *pending* generation, then the term index commits, then the generation becomes the
current one. A crash in between is settled at the next opening by what the term index says: it carries the same
number.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from holdfast.errors import ToolError
from holdfast.search.prepared import PreparedFile
from holdfast.search.store.database import connect, create

__all__ = ["DamagedIndexError", "StoreWriter"]

# Rows of dead versions are kept this long, for readers that still hold an older generation.
GRACE_SECONDS = 600


class DamagedIndexError(ToolError):
    """The store and the term index are of different generations; only a full build helps."""


class StoreWriter:
    """Writes one generation at a time; the caller holds the writer's lock of the repository."""

    def __init__(self, connection: sqlite3.Connection, *, fresh: bool) -> None:
        self._db = connection
        self._fresh = fresh
        self.generation = int(self.fact("generation") or 0)
        # Numbers are never given out twice: a reader of an older generation may still ask for one.
        self._next_file = int(self.fact("next_file") or 1)
        self._next_chunk = int(self.fact("next_chunk") or 1)

    @classmethod
    def create(cls, path: Path) -> "StoreWriter":
        """A store for a full build; its first generation is 1."""
        return cls(create(path), fresh=True)

    @classmethod
    def open(cls, path: Path) -> "StoreWriter":
        """An existing store, to be brought up to date in place."""
        return cls(connect(path, writing=True), fresh=False)

    def close(self, *, is_given_up: bool = False) -> None:
        """Leave the store; a fresh one is put into the form that readers and writers share, or is given up."""
        try:
            if self._fresh and not is_given_up:
                self._db.execute("PRAGMA journal_mode = WAL")
        finally:
            self._db.close()

    # Facts about the whole index.

    def fact(self, key: str) -> Any:
        """A fact about the whole index, or None."""
        return self._one("SELECT value FROM facts_of_index WHERE key = ?", key)

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole index."""
        rows = [(key, value) for key, value in facts.items()]
        self._db.executemany("INSERT OR REPLACE INTO facts_of_index VALUES (?, ?)", rows)

    # One generation.

    def begin(self) -> None:
        """Start the next generation; its files become visible with `publish` only."""
        self._db.execute("BEGIN IMMEDIATE")

    def rollback(self) -> None:
        """Take back everything since `begin`; not in a fresh store, which has no journal and is thrown away."""
        if self._db.in_transaction and not self._fresh:
            self._db.execute("ROLLBACK")

    def add(self, file: PreparedFile) -> tuple[int, range]:
        """A new version of a file: its number, and the numbers of its chunks."""
        number, self._next_file = self._next_file, self._next_file + 1
        first = self._next_chunk
        self._next_chunk += len(file.chunks)
        summary = orjson.dumps({"imports": file.imports, "exports": file.exports, "remarks": file.remarks})
        self._db.execute(
            "INSERT INTO files VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, file.path, self.generation + 1, file.digest, file.size, file.mtime_ns,
                file.mode, file.language, file.encoding, file.lines, len(file.chunks), summary,
            ),
        )  # fmt: skip
        self._db.execute("INSERT INTO texts VALUES (?, ?)", (number, file.text))
        self._db.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    first + i, number, c.mode, c.kind, c.name, c.start, c.end, c.start_line, c.end_line,
                    c.packed_words, c.details,
                )
                for i, c in enumerate(file.chunks)
            ],
        )  # fmt: skip
        return number, range(first, self._next_chunk)

    def bury(self, path: str) -> list[int]:
        """The present version of a file dies with this generation; its numbers."""
        found = self._db.execute("SELECT id FROM files WHERE path = ? AND died IS NULL", (path,)).fetchall()
        numbers = [row[0] for row in found if row[0] < self._next_file]
        self._db.executemany("UPDATE files SET died = ? WHERE id = ?", [(self.generation + 1, n) for n in numbers])
        return numbers

    def checkpoint(self) -> None:
        """During a full build: keep the transaction small."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN IMMEDIATE")

    def prepare(self) -> None:
        """Everything of the pending generation is on disk, and marked as pending."""
        numbers = {"next_file": self._next_file, "next_chunk": self._next_chunk}
        self.set_facts({"pending": self.generation + 1, **numbers})
        self._db.execute("COMMIT")

    def publish(self) -> None:
        """The term index carries the pending generation now: it is the current one."""
        self._db.execute("BEGIN IMMEDIATE")
        self.generation += 1
        self.set_facts({"generation": self.generation, "pending": None, "written_at": time.time()})
        self._purge()
        self._db.execute("COMMIT")
        self._empty_log()

    def settle(self, committed: int) -> str:
        """After a crash: roll the pending generation forward or back, as the term index says; what was done.

        Raises DamagedIndexError when it can be neither.
        """
        pending = self.fact("pending")
        if pending is None and committed == self.generation:
            return "clean"
        if pending is None or committed not in (pending, pending - 1):
            raise DamagedIndexError("INTERNAL", "the two halves of the index do not belong together")
        if committed >= pending:
            self.publish()
            return "rolled forward"
        self._db.execute("BEGIN IMMEDIATE")
        self._delete_files("born = ?", pending)
        self._db.execute("UPDATE files SET died = NULL WHERE died = ?", (pending,))
        self.set_facts({"pending": None})
        self._db.execute("COMMIT")
        return "rolled back"

    # What belongs to no generation: replaced as a whole, in the transaction of the caller.

    def touch(self, times: Iterable[tuple[str, int]]) -> None:
        """Files whose time changed and whose content did not."""
        rows = [(mtime_ns, path) for path, mtime_ns in times]
        self._db.executemany("UPDATE files SET mtime_ns = ? WHERE path = ? AND died IS NULL", rows)

    def replace_skipped(self, rows: Iterable[tuple[str, str, str, int, int]]) -> None:
        """Every path that is not indexed, with its reason."""
        self._db.execute("DELETE FROM skipped")
        self._db.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?)", rows)

    def replace_directories(self, rows: Iterable[tuple[str, int]]) -> None:
        """The directories that were looked into, with their times; a changed one may hold new files."""
        self._db.execute("DELETE FROM directories")
        self._db.executemany("INSERT INTO directories VALUES (?, ?)", rows)

    def replace_history(self, rows: Iterable[tuple[str, str, int, int, int, int]]) -> None:
        """What git says of every file: author, time, lines added and deleted, commits."""
        self._db.execute("DELETE FROM history")
        # A name that is no UTF-8 is that of a file that is skipped; SQLite could not hold it.
        named = (row for row in rows if _is_unicode(row[0]))
        self._db.executemany("INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?)", named)

    def commit_notes(self) -> None:
        """Keep what was noted since `begin`, without a new generation."""
        self._db.execute("COMMIT")
        self._empty_log()

    def compact(self) -> None:
        """Forget every dead version now and give the space back."""
        self._db.execute("BEGIN IMMEDIATE")
        self._delete_files("died <= ?", self.generation)
        self._db.execute("COMMIT")
        self._db.execute("VACUUM")
        self._empty_log()

    def _purge(self) -> None:
        """Forget versions that died long ago; a reader holds a generation for seconds at most."""
        oldest = time.time() - GRACE_SECONDS
        marks = orjson.loads(self.fact("deaths") or b"[]")
        ripe = [generation for generation, when in marks if when < oldest]
        if ripe:
            self._delete_files("died <= ?", max(ripe))
        kept = [[g, t] for g, t in marks if t >= oldest] + [[self.generation, time.time()]]
        self.set_facts({"deaths": orjson.dumps(kept[-64:])})

    def _empty_log(self) -> None:
        """Leave everything in the store itself, as far as readers allow it: it can be read without the log."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _delete_files(self, condition: str, value: int) -> None:
        chosen = f"SELECT id FROM files WHERE {condition}"  # noqa: S608 - conditions are written above, not given
        self._db.execute(f"DELETE FROM chunks WHERE file IN ({chosen})", (value,))  # noqa: S608
        self._db.execute(f"DELETE FROM texts WHERE file IN ({chosen})", (value,))  # noqa: S608
        self._db.execute(f"DELETE FROM files WHERE {condition}", (value,))  # noqa: S608

    def _one(self, query: str, *values: Any) -> Any:
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None


def _is_unicode(path: str) -> bool:
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)
