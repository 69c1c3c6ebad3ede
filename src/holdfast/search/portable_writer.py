"""The writing side of a portable file: brings a draft of it to the present state of an index.

A draft is empty, for a full build, or a copy of the file as it was: then only file versions that came or went are
written. Nobody reads a draft, so it has no journal; whoever made it throws it away when this fails.
"""

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson

from holdfast.search.chunk_terms import chunk_terms, grams_of_text
from holdfast.search.engine.portable_schema import (
    APPLICATION,
    FACT,
    FIELDS,
    GRAM,
    create_fts,
    create_tables,
    encoded,
)
from holdfast.search.engine.table_writer import PostingWriter
from holdfast.search.engine.tantivy_figures import Figures
from holdfast.search.engine.tantivy_schema import COUNT_FIELDS
from holdfast.search.packing import unpack_text
from holdfast.search.prepared import PreparedChunk
from holdfast.search.store.database import ALIVE, create
from holdfast.search.tokens import body_streams

__all__ = ["PortableWriter", "SourceFile", "differs_in_notes", "held_files", "optimize", "source_files"]

_BUFFER = 64 << 20  # bytes of postings in memory before FTS5 writes a segment
_NOTES = ("skipped", "directories", "history")
_FILE_COLUMNS = "id, path, born, {died}, digest, size, mtime_ns, mode, language, encoding, lines, chunks, summary"
_LEFT_OUT = "key NOT IN ('history', 'deaths', 'next_file', 'next_chunk', 'pending')"  # only updates need them


class SourceFile(NamedTuple):
    """One version of a file, and all that tells it from any other."""

    id: int
    path: str
    born: int
    digest: bytes
    first_chunk: int | None


class PortableWriter:
    """Writes one draft; `source` is the store of the index, which nobody writes meanwhile.

    With `fts` the words go into FTS5 as well. A draft that is not fresh has them there, or has them not, already.
    """

    def __init__(self, draft: Path, source: Path, modes: Iterable[str], *, fresh: bool, fts: bool) -> None:
        self._modes = tuple(modes)
        self._fts = fts
        self._facts: dict[tuple[str, str], int] = {}
        if fresh:
            create(draft).close()
        self.db = sqlite3.connect(draft, isolation_level=None, uri=True)
        try:
            self.db.execute("PRAGMA journal_mode = OFF")
            self.db.execute("PRAGMA synchronous = OFF")
            if fresh:
                create_tables(self.db)
            if fresh and fts:
                create_fts(self.db)
            self.db.execute("ATTACH ? AS source", (f"file:{quote(str(source))}?mode=ro",))
            self.db.execute("BEGIN")
        except BaseException:
            self.db.close()
            raise
        self._postings = PostingWriter(self.db)

    def close(self) -> None:
        """Let go of the draft."""
        self.db.close()

    def bring_up(self, figures: Figures, segments: str, tick: Callable[[int, int, str], None]) -> None:
        """Make the draft a copy of the index at one generation; `tick` is told of every file.

        `segments` tells which parts the index is made of: others mean other figures.
        """
        held = set(held_files(self.db, "main", self._modes))
        wanted = set(source_files(self.db, "source", figures.generation, self._modes))
        gone, come = sorted(held - wanted), sorted(wanted - held)
        total = len(gone) + len(come)
        if self._fts:
            self.db.execute(f"INSERT INTO words (words, rank) VALUES ('hashsize', {_BUFFER})")  # noqa: S608
        self._facts = {(name, value): number for name, value, number in self.db.execute(_ALL_FACTS)}
        for done, file in enumerate(gone, 1):
            tick(done, total, file.path)
            self._remove(file)
        self._replace_facts(figures.facts)
        self._replace_notes(figures.generation)
        for done, file in enumerate(come, 1 + len(gone)):
            tick(done, total, file.path)
            self._add(file)
        self._postings.flush()
        self._note(figures, segments)

    def finish(self, *, compact: bool) -> None:
        """Complete the draft, without gaps if that is wanted: it still has to be sealed."""
        if compact and self._fts:
            optimize(self.db)
        self.db.execute("COMMIT")
        self.db.execute("DETACH source")
        if compact:
            self.db.execute("VACUUM")
        self.db.execute(f"PRAGMA application_id = {APPLICATION}")

    # Files.

    def _add(self, file: SourceFile) -> None:
        marks = ",".join("?" * len(self._modes))
        copied = self.db.execute(
            f"INSERT INTO chunks SELECT * FROM source.chunks WHERE file = ? AND mode IN ({marks})",  # noqa: S608
            (file.id, *self._modes),
        )
        self._write_chunks(file, removing=False)
        if copied.rowcount:  # the text of a file without a chunk of these modes is never shown
            self.db.execute("INSERT INTO texts SELECT * FROM source.texts WHERE file = ?", (file.id,))
            self._write_grams(file, removing=False)
        imports = self._summary(file).get("imports", [])
        facts = {self._facts[("imports", name)] for name in imports if ("imports", name) in self._facts}
        self.db.executemany("INSERT INTO file_facts VALUES (?, ?)", [(fact, file.id) for fact in sorted(facts)])

    def _remove(self, file: SourceFile) -> None:
        self._write_chunks(file, removing=True)
        self._write_grams(file, removing=True)
        chunks = "SELECT id FROM chunks WHERE file = ?"
        self.db.execute(f"DELETE FROM chunk_figures WHERE chunk IN ({chunks})", (file.id,))  # noqa: S608
        for table in ("file_facts", "texts", "chunks"):
            self.db.execute(f"DELETE FROM {table} WHERE file = ?", (file.id,))  # noqa: S608

    def _write_chunks(self, file: SourceFile, *, removing: bool) -> None:
        """Put the words and facts of a file's chunks into the tables, or take them out, by the same texts."""
        path_words = body_streams(file.path)[0]
        language = self.db.execute(_LANGUAGE, (file.id,)).fetchone()[0]
        columns = "id, mode, kind, name, words, details"
        rows = self.db.execute(f"SELECT {columns} FROM chunks WHERE file = ? ORDER BY id", (file.id,))  # noqa: S608
        words, figures = [], []
        for number, *row, packed_details in rows.fetchall():
            details = PreparedChunk.unpack_details(packed_details)
            terms = chunk_terms(tuple(row), details, language, file.path, path_words)
            words.append((number, *terms.texts))
            figures.append((number, *terms.lengths, *terms.counts))
            facts = [str(self._facts[pair]) for pair in terms.facts if pair in self._facts]
            self._write_postings(number, terms.texts, facts, removing=removing)
        if self._fts:
            self._write_fts(words, removing=removing)
        if not removing:
            marks = ",".join("?" * (1 + len(FIELDS) + len(COUNT_FIELDS)))
            self.db.executemany(f"INSERT INTO chunk_figures VALUES ({marks})", figures)  # noqa: S608

    def _write_postings(self, number: int, texts: Iterable[str], facts: list[str], *, removing: bool) -> None:
        for field, text in zip(FIELDS, texts, strict=True):
            if removing:
                self._postings.remove(field, number, text.split())
            else:
                self._postings.add_words(field, number, text.split())
        change = self._postings.remove if removing else self._postings.add_terms
        change(FACT, number, facts)

    def _write_grams(self, file: SourceFile, *, removing: bool) -> None:
        row = self.db.execute("SELECT text FROM texts WHERE file = ?", (file.id,)).fetchone()
        if row is not None:
            change = self._postings.remove if removing else self._postings.add_terms
            change(GRAM, file.id, set(map(encoded, grams_of_text(unpack_text(row[0])))))

    def _write_fts(self, rows: list[Any], *, removing: bool) -> None:
        names, marks = ", ".join(FIELDS), ", ".join("?" * (1 + len(FIELDS)))
        command, value = ("words, ", "'delete', ") if removing else ("", "")
        self.db.executemany(f"INSERT INTO words ({command}rowid, {names}) VALUES ({value}{marks})", rows)  # noqa: S608

    def _summary(self, file: SourceFile) -> dict[str, list[str]]:
        row = self.db.execute("SELECT summary FROM files WHERE id = ?", (file.id,)).fetchone()
        summary: dict[str, list[str]] = orjson.loads(row[0])
        return summary

    # What holds for the whole.

    def _replace_facts(self, wanted: list[tuple[str, str]]) -> None:
        """The values of every fact; one that stays keeps its number, under which chunks have it."""
        lost = self._facts.keys() - set(wanted)
        self.db.executemany("DELETE FROM fact_values WHERE name = ? AND value = ?", sorted(lost))
        next_number = max(self._facts.values(), default=0) + 1
        new = [pair for pair in wanted if pair not in self._facts]
        rows = [(*pair, number) for number, pair in enumerate(new, next_number)]
        self.db.executemany("INSERT INTO fact_values VALUES (?, ?, ?)", rows)
        for pair in lost:
            del self._facts[pair]
        self._facts |= {(name, value): number for name, value, number in rows}

    def _replace_notes(self, generation: int) -> None:
        self.db.execute("DELETE FROM files")
        self.db.execute(
            f"INSERT INTO files SELECT {_FILE_COLUMNS.format(died='NULL')} FROM source.files WHERE {ALIVE}",  # noqa: S608
            (generation, generation),
        )
        for table in _NOTES:
            self.db.execute(f"DELETE FROM {table}")  # noqa: S608
            self.db.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")  # noqa: S608
        self.db.execute("DELETE FROM facts_of_index")
        self.db.execute(f"INSERT INTO facts_of_index SELECT * FROM source.facts_of_index WHERE {_LEFT_OUT}")  # noqa: S608

    def _note(self, figures: Figures, segments: str) -> None:
        self.db.execute("DELETE FROM frequencies")
        rows = [(word, *counts) for word, counts in sorted(figures.frequencies.items())]
        self.db.executemany("INSERT INTO frequencies VALUES (?, ?, ?, ?)", rows)
        notes = {
            "modes": orjson.dumps(self._modes).decode(),
            "documents": figures.documents,
            "reckoned": figures.reckoned,
            "segments": segments,
            "fts": int(self._fts),
            **{f"average {field}": figures.averages[field] for field in FIELDS},
        }
        self.db.executemany("INSERT OR REPLACE INTO portable VALUES (?, ?)", list(notes.items()))


def optimize(db: sqlite3.Connection) -> None:
    """Make one segment of the many that updates have left in FTS5."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


_ALL_FACTS = "SELECT name, value, id FROM fact_values"
_LANGUAGE = "SELECT language FROM files WHERE id = ?"


def held_files(db: sqlite3.Connection, schema: str, modes: Iterable[str]) -> list[SourceFile]:
    """The files of a portable file."""
    return _files(db, schema, modes, "1", ())


def source_files(db: sqlite3.Connection, schema: str, generation: int, modes: Iterable[str]) -> list[SourceFile]:
    """The files of an index at one generation."""
    return _files(db, schema, modes, ALIVE, (generation, generation))


def _files(
    db: sqlite3.Connection, schema: str, modes: Iterable[str], condition: str, values: tuple[int, ...]
) -> list[SourceFile]:
    # Numbers are unique in one index only; an exported one that was taken up elsewhere may have given them out
    # differently. Then the first chunk differs as well.
    wanted = tuple(modes)
    marks = ",".join("?" * len(wanted))
    first = f"SELECT min(id) FROM {schema}.chunks WHERE file = files.id AND mode IN ({marks})"  # noqa: S608
    query = f"SELECT id, path, born, digest, ({first}) FROM {schema}.files WHERE {condition}"  # noqa: S608
    return [SourceFile(*row) for row in db.execute(query, (*wanted, *values))]


def differs_in_notes(db: sqlite3.Connection, generation: int) -> bool:
    """Whether anything beside the chunks is not what the store `source` says at this generation."""
    files = _FILE_COLUMNS.format(died="NULL")
    alive = ALIVE.replace("?", str(int(generation)))
    pairs = [
        (f"SELECT {files} FROM main.files", f"SELECT {files} FROM source.files WHERE {alive}"),  # noqa: S608
        ("SELECT * FROM main.facts_of_index", f"SELECT * FROM source.facts_of_index WHERE {_LEFT_OUT}"),  # noqa: S608
        *((f"SELECT * FROM main.{table}", f"SELECT * FROM source.{table}") for table in _NOTES),  # noqa: S608
    ]
    either_way = [f"SELECT 1 FROM ({one} EXCEPT {other})" for a, b in pairs for one, other in ((a, b), (b, a))]  # noqa: S608
    return any(db.execute(f"{query} LIMIT 1").fetchone() for query in either_way)
