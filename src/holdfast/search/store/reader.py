"""The reading side of the store, held at one generation.

Rows are fetched by number, a few dozen for an answer; tables that a filter needs as a whole (files and their
history) are read once and kept while the generation lasts.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from holdfast.errors import ToolError
from holdfast.search.engine.vocabulary import Vocabulary
from holdfast.search.packing import unpack_text
from holdfast.search.prepared import PreparedChunk, unpacked_words
from holdfast.search.store.database import ALIVE, connect_to_read

__all__ = ["ChunkPlace", "ChunkRow", "FileRow", "IndexFacts", "StoreReader"]

_BATCH = 256  # values in one IN (...)
_MOST_REMEMBERED = 64  # sets of files and the like
_MOST_PATHS = 4096  # kept, where one after the other is asked for
_T = TypeVar("_T")


def _never() -> bool:
    return False


class ChunkRow(NamedTuple):
    """Where a chunk stands, and its words, packed."""

    id: int
    file: int
    mode: str
    kind: str
    name: str
    start: int
    end: int
    start_line: int
    end_line: int
    words: bytes

    def unpacked_words(self) -> str:
        """The words of the chunk; ranking counts them."""
        return unpacked_words(self.words)


class ChunkPlace(NamedTuple):
    """Where a chunk stands, for those who look at many and show few of them."""

    id: int
    mode: str
    start: int
    end: int


class FileRow(NamedTuple):
    """One version of a file, with what git knows of it (None: nothing)."""

    id: int
    path: str
    digest: bytes
    size: int
    mtime_ns: int
    mode: str
    language: str
    encoding: str
    lines: int
    chunks: int
    author: str | None
    modified: int | None
    churn: int | None
    commits: int | None


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What holds for the whole index."""

    generation: int
    build: str
    commit: str | None
    branch: str | None
    written_at: float
    values: dict[str, Any]


class StoreReader:
    """One connection, one generation; safe to use from several threads."""

    def __init__(self, path: Path, generation: int) -> None:
        self._db = connect_to_read(path)
        self._lock = threading.Lock()
        self.generation = generation
        # Whatever a search does, it asks the store again and again: there is where it can be stopped.
        self.stop: Callable[[], bool] = _never
        self.lint: Path | None = None  # what linters said of the files, if somebody has asked them
        self._files: dict[int, FileRow] | None = None
        self._paths: tuple[Vocabulary, dict[str, int]] | None = None
        self._known_paths: dict[int, str] = {}  # of the files that were hits lately
        self._remembered: dict[Hashable, Any] = {}

    def check_stop(self) -> None:
        """Raise ToolError CANCELLED where nobody waits for the search any more."""
        if self.stop():
            raise ToolError("CANCELLED", "the search was stopped")

    def close(self) -> None:
        """Leave the store."""
        self._db.close()

    def at(self, generation: int) -> None:
        """Look at another generation, or at new notes beside the same one, from now on."""
        self.generation, self._files, self._paths = generation, None, None
        self._remembered, self._known_paths = {}, {}

    def lint_stamp(self) -> tuple[int, ...]:
        """Changes whenever linters said more, and with the seal of it; zeros where none was asked."""
        if self.lint is None or not os.access(self.lint, os.F_OK):
            return (0, 0)
        try:
            status = self.lint.stat()
        except OSError:
            return (0, 0)
        try:
            sealed = os.stat(f"{self.lint}.seal").st_mtime_ns
        except OSError:
            sealed = 0
        return (status.st_mtime_ns, status.st_size, sealed)

    def facts(self) -> IndexFacts:
        """What holds for the whole index."""
        values = dict(self._all("SELECT key, value FROM facts_of_index WHERE key <> 'history'"))
        return IndexFacts(
            generation=self.generation,
            build=values.get("build", ""),
            commit=values.get("commit"),
            branch=values.get("branch"),
            written_at=values.get("written_at") or 0.0,
            values=values,
        )

    def history(self) -> bytes | None:
        """What git said, as it was stored."""
        rows = self._all("SELECT value FROM facts_of_index WHERE key = 'history'")
        return rows[0][0] if rows else None

    def version(self) -> int:
        """Changes whenever another connection has written, also where the generation stays the same."""
        version: int = self._all("PRAGMA data_version")[0][0]
        return version

    def chunks(self, numbers: Iterable[int]) -> dict[int, ChunkRow]:
        """Chunks by their number, with their words."""
        columns = "id, file, mode, kind, name, start, end, start_line, end_line, words"
        return {row[0]: ChunkRow(*row) for row in self._by_number(f"SELECT {columns} FROM chunks", "id", numbers)}  # noqa: S608

    def chunks_of(self, file: int) -> list[ChunkRow]:
        """Every chunk of a file, in order."""
        columns = "id, file, mode, kind, name, start, end, start_line, end_line, words"
        rows = self._all(f"SELECT {columns} FROM chunks WHERE file = ? ORDER BY start, id", file)  # noqa: S608
        return [ChunkRow(*row) for row in rows]

    def places_of(self, file: int) -> list[ChunkPlace]:
        """Every chunk of a file, in order, without its words."""
        return [
            ChunkPlace(*row)
            for row in self._all(
                'SELECT id, mode, start, "end" FROM chunks WHERE file = ? ORDER BY start, id', file
            )
        ]

    def details(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """All that is shown of chunks: signature, facts, counts, ..."""
        rows = self._by_number("SELECT id, details FROM chunks", "id", numbers)
        return {row[0]: PreparedChunk.unpack_details(row[1]) for row in rows}

    def text(self, file: int, *, until: int | None = None) -> bytes:
        """The text of a file version as it was indexed, in UTF-8; its beginning only, if that is enough."""
        row = self._all("SELECT text FROM texts WHERE file = ?", file)
        return unpack_text(row[0][0], until) if row else b""

    def paths(self, numbers: Collection[int]) -> Mapping[int, str]:
        """Paths of file versions, and maybe of others too; cheaper than all `files` when only a few are shown."""
        known = self._known_paths
        wanted = [number for number in numbers if number not in known]
        if wanted:
            if len(known) > _MOST_PATHS:
                known = self._known_paths = {}
                wanted = [*numbers]
            known.update(self._by_number("SELECT id, path FROM files", "id", wanted))
        return known

    def files(self) -> dict[int, FileRow]:
        """Every file of this generation."""
        if self._files is None:
            generation = self.generation
            columns = "id, files.path, digest, size, mtime_ns, mode, language, encoding, lines, chunks"
            rows = self._all(
                f"SELECT {columns}, author, modified, added + deleted, commits "  # noqa: S608
                f"FROM files LEFT JOIN history ON history.path = files.path WHERE {ALIVE} ORDER BY files.path",
                generation,
                generation,
            )
            self._files = {row[0]: FileRow(*row) for row in rows}
        return self._files

    def path_vocabulary(self) -> tuple[Vocabulary, dict[str, int]]:
        """The paths of this generation, to be searched, and the number of each file."""
        if self._paths is None:
            generation = self.generation
            rows = self._all(f"SELECT path, id FROM files WHERE {ALIVE}", generation, generation)  # noqa: S608
            self._paths = (Vocabulary(path for path, _ in rows), dict(rows))
        return self._paths

    def remembered(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """What was found out about this generation before, such as a set of files, or is found out now."""
        if key not in self._remembered:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = find()
        known: _T = self._remembered[key]
        return known

    def file_rows(self, numbers: Iterable[int]) -> dict[int, FileRow]:
        """Some files of this generation."""
        if self._files is not None:
            return {n: self._files[n] for n in numbers if n in self._files}
        columns = "id, files.path, digest, size, mtime_ns, mode, language, encoding, lines, chunks"
        query = (
            f"SELECT {columns}, author, modified, added + deleted, commits "  # noqa: S608
            "FROM files LEFT JOIN history ON history.path = files.path"
        )
        return {row[0]: FileRow(*row) for row in self._by_number(query, "id", numbers)}

    def summaries(self, numbers: Iterable[int]) -> dict[int, dict[str, list[str]]]:
        """Imports, exports and remarks of files."""
        rows = self._by_number("SELECT id, summary FROM files", "id", numbers)
        return {row[0]: orjson.loads(row[1]) for row in rows}

    def history_coverage(self) -> tuple[int, int]:
        """Of how many files git told something, and how many there are."""
        rows = self.files().values()
        return sum(row.modified is not None for row in rows), len(rows)

    def skipped(self) -> list[tuple[str, str, str, int, int]]:
        """Every path that is not indexed: path, reason, detail, size and time (-1 where it is no file)."""
        return self._all("SELECT path, reason, detail, size, mtime_ns FROM skipped ORDER BY path")

    def directories(self) -> dict[str, int]:
        """The directories that were looked into, with their times."""
        return dict(self._all("SELECT path, mtime_ns FROM directories"))

    def known_paths(self) -> list[tuple[str, int, int]]:
        """Path, size and time of every indexed file; what a freshness check compares."""
        generation = self.generation
        return self._all(f"SELECT path, size, mtime_ns FROM files WHERE {ALIVE}", generation, generation)  # noqa: S608

    def chunk_counts(self) -> dict[str, int]:
        """How many chunks each mode has."""
        generation = self.generation
        alive = f"SELECT id FROM files WHERE {ALIVE}"  # noqa: S608
        query = f"SELECT mode, count(*) FROM chunks WHERE file IN ({alive}) GROUP BY mode"  # noqa: S608
        return dict(self._all(query, generation, generation))

    def _by_number(self, query: str, column: str, numbers: Iterable[int]) -> list[Any]:
        wanted = list(numbers)
        rows: list[Any] = []
        for first in range(0, len(wanted), _BATCH):
            batch = wanted[first : first + _BATCH]
            # Of a few lengths only, so that statements are prepared once; the last value may stand there often.
            length = 1 << (len(batch) - 1).bit_length()
            marks = ",".join("?" * length)
            rows += self._all(f"{query} WHERE {column} IN ({marks})", *batch, *[batch[-1]] * (length - len(batch)))
        return rows

    def _all(self, query: str, *values: Any) -> list[Any]:
        self.check_stop()
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.ProgrammingError:
                raise RuntimeError("this index was closed") from None
