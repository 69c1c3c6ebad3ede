"""The findings of linters in a small SQLite file beside the index, by the content that they are about.

A file that changes back has its findings back, and one that is the same in another build needs no second look. A
database that cannot be used is like an empty one: findings can be had again.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import orjson

from holdfast.search.engine.interface import Chunks, Condition, Files, NoneOf
from holdfast.search.linting.linters import LINTERS, Finding, Linter
from holdfast.search.private import private_files
from holdfast.search.seals import Seal
from holdfast.search.store.database import is_damage
from holdfast.search.store.reader import ChunkRow, FileRow, StoreReader

__all__ = [
    "FindingsFile",
    "configuration_digest",
    "findings_of",
    "is_damaged",
    "lint_conditions",
    "outdated_linters",
]

_BUSY_SECONDS = 5.0
_MOST_ROWS = 200_000
_TABLES = """
CREATE TABLE IF NOT EXISTS findings (linter TEXT, state BLOB, path TEXT, digest BLOB, found BLOB,
    PRIMARY KEY (linter, path, digest));
CREATE TABLE IF NOT EXISTS linters (linter TEXT PRIMARY KEY, version TEXT, configuration BLOB);
"""


class FindingsFile:
    """The database, open to be written by one process at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path, self._seal = path, _seal(path)
        if self._seal.damage():
            path.unlink(missing_ok=True)
        self._seal.remove()
        for attempt in range(2):
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS)
            try:
                with private_files():  # only now the file is made
                    self._db.executescript(_TABLES)
                return
            except sqlite3.OperationalError:  # a full disk, or another process: not the fault of the file
                self._db.close()
                raise
            except sqlite3.DatabaseError:
                self._db.close()
                if attempt:
                    raise
                path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        self._seal.write([self._path])

    def known(self, linter: str, state: bytes) -> dict[tuple[str, bytes], int]:
        """(path, digest) of everything that this linter has seen in this state (its version and configuration),
        and how much it found there."""
        query = "SELECT path, digest, found FROM findings WHERE linter = ? AND state = ?"
        rows = self._db.execute(query, (linter, state))
        return {(path, digest): len(orjson.loads(found)) for path, digest, found in rows}

    def note(self, linter: str, version: str, configuration: bytes) -> None:
        """Which linter looks at the files now, and by which configuration."""
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO linters VALUES (?, ?, ?)", (linter, version, configuration))

    def keep(self, linter: str, state: bytes, seen: Mapping[tuple[str, bytes], Iterable[Finding]]) -> None:
        """Note what a linter said; the oldest rows make room."""
        rows = [(linter, state, *key, orjson.dumps([list(one) for one in found])) for key, found in seen.items()]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?)", rows)
            oldest = "SELECT max(rowid) - ? FROM findings"
            self._db.execute(f"DELETE FROM findings WHERE rowid <= ({oldest})", (_MOST_ROWS,))  # noqa: S608


def findings_of(path: Path, files: Iterable[FileRow]) -> dict[int, list[tuple[str, Finding]]]:
    """What linters say of files as they are indexed: (linter, finding) by the number of the file, in order."""
    query = "SELECT linter, found FROM findings WHERE path = ? AND digest = ?"
    said: dict[int, list[tuple[str, Finding]]] = {}
    with _opened(path) as db:
        for file in files:
            rows = [] if db is None else db.execute(query, (file.path, file.digest)).fetchall()
            found = [(linter, Finding._make(one)) for linter, packed in rows for one in orjson.loads(packed)]
            said[file.id] = sorted(found, key=lambda one: (one[1].line, one[1].column, one[1].rule))
    return said


def configuration_digest(linter: Linter, files: Iterable[FileRow]) -> bytes:
    """What tells two configurations of a linter apart, as far as they are among the indexed files."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(files, key=lambda file: file.path):
        if file.path.rpartition("/")[2].startswith(linter.configuration):
            digest.update(file.path.encode("utf-8", "surrogateescape") + file.digest)
    return digest.digest()


def outdated_linters(path: Path, store: StoreReader) -> list[str]:
    """Linters whose findings were made by another configuration than the present one."""
    with _opened(path) as db:
        rows = (
            []
            if db is None
            else db.execute("SELECT linter, configuration FROM linters ORDER BY linter").fetchall()
        )
    files = store.files().values()
    return [name for name, seen in rows if name in LINTERS and seen != configuration_digest(LINTERS[name], files)]


def is_damaged(path: Path) -> bool:
    """Whether the file is not what was written; nothing in it counts then."""
    return _seal(path).damage() is not None


def lint_conditions(wanted: bool, store: StoreReader) -> Iterable[Condition]:
    """Chunks with findings; or, of files that a linter has seen, those without."""
    path, stamp = store.lint, store.lint_stamp()
    if path is None or stamp == (0, 0):
        yield Chunks(frozenset())  # no linter has run: nothing is known of anything
        return
    chunks = Chunks(store.remembered(("lint", stamp), lambda: _with_findings(path, store)))
    if wanted:
        yield chunks
    else:
        yield Files(store.remembered(("linted", stamp), lambda: frozenset(_seen(path, store))))
        yield NoneOf(chunks)


def _with_findings(path: Path, store: StoreReader) -> frozenset[int]:
    chunks: set[int] = set()
    for number, found in _seen(path, store).items():
        lines = {one[0] for one in found}
        chunks |= {row.id for row in _innermost(store.chunks_of(number), lines)} if lines else set()
    return frozenset(chunks)


def _innermost(rows: list[ChunkRow], lines: set[int]) -> Iterable[ChunkRow]:
    """For each line the smallest chunk of code around it: a remark about a method is none about its class."""
    code = sorted((row for row in rows if row.mode == "code"), key=lambda row: row.end - row.start)
    for line in lines:
        yield from [row for row in code if row.start_line <= line <= row.end_line][:1]


def _seen(path: Path, store: StoreReader) -> dict[int, list[list[int]]]:
    """The findings of every indexed file that a linter has seen as it is, by the number of the file."""
    numbers = {(row.path, row.digest): row.id for row in store.files().values()}
    seen: dict[int, list[list[int]]] = {}
    with _opened(path) as db:
        rows = [] if db is None else db.execute("SELECT path, digest, found FROM findings").fetchall()
    for file, digest, found in rows:
        number = numbers.get((file, digest))
        if number is not None:
            seen.setdefault(number, []).extend(orjson.loads(found))
    return seen


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """The database, open to be read; None where it is damaged. One that is busy for long is an error."""
    if is_damaged(path):
        yield None
        return
    with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as db:
        try:
            db.execute("SELECT linter, path, digest, found FROM findings LIMIT 0")
        except sqlite3.DatabaseError as error:
            if not is_damage(error) and "no such table" not in str(error):
                raise
            yield None
        else:
            yield db


def _seal(path: Path) -> Seal:
    return Seal(path.with_name(f"{path.name}.seal"))
