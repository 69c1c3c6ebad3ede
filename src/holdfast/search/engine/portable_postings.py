"""The postings of a portable file: what both backends that read it have in common, which is all but the words."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import orjson

from holdfast.search.engine.bm25 import length_code
from holdfast.search.engine.fts_words import FtsWords
from holdfast.search.engine.occurrences import Occurrences
from holdfast.search.engine.portable_file import connect_portable
from holdfast.search.engine.portable_schema import FACT, FIELDS, GRAM, KINDS, encoded
from holdfast.search.engine.table_words import TableWords

__all__ = ["PortablePostings", "codes_of_lengths"]

_BATCH = 400  # values in one IN (...)
_HIGHEST = 1 << 28  # number of a chunk: each takes a few bytes of memory


class _Words(Protocol):
    def counts(self, field: str, word: str) -> Mapping[int, int]: ...

    def phrase_counts(self, field: str, words: tuple[str, ...]) -> Mapping[int, int]: ...


_WORDS: dict[str, Callable[[sqlite3.Connection], _Words]] = {"sqlite": TableWords, "sqlite-fts": FtsWords}


class PortablePostings:
    """One portable file, open to be read by one of its backends."""

    def __init__(self, path: Path, backend: str) -> None:
        self._db = connect_portable(path, backend)
        try:
            notes = dict(self._rows("SELECT key, value FROM portable"))
            generation = self._rows("SELECT value FROM facts_of_index WHERE key = 'generation'")
            self.generation = int(generation[0][0])
            self.modes: tuple[str, ...] = tuple(orjson.loads(notes["modes"]))
            self.has_fts = bool(notes["fts"])
            self.documents = int(notes["documents"])
            self.reckoned = int(notes["reckoned"])
            self.averages: Mapping[str, float] = {field: float(notes[f"average {field}"]) for field in FIELDS}
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self._db.close()
            raise sqlite3.DatabaseError(f"a figure is missing: {error}") from error
        except BaseException:
            self._db.close()
            raise
        words = _WORDS[backend](self._db)
        self.counts, self.phrase_counts = words.counts, words.phrase_counts
        self._frequencies: dict[str, tuple[int, ...]] = {}

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def lengths(self) -> dict[str, bytearray]:
        """The code of the length of each field, by the number of the chunk."""
        rows = self._rows(f"SELECT chunk, {', '.join(FIELDS)} FROM chunk_figures")  # noqa: S608
        return codes_of_lengths(rows)

    def frequency(self, field: str, word: str) -> int:
        """In how many documents a word stands, as the default backend counts them."""
        if word not in self._frequencies:
            rows = self._rows(f"SELECT {', '.join(FIELDS)} FROM frequencies WHERE word = ?", word)  # noqa: S608
            self._frequencies[word] = rows[0] if rows else (0,) * len(FIELDS)
        return self._frequencies[word][FIELDS.index(field)]

    def with_facts(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Chunks with one of these values of a fact."""
        return self._documents(FACT, map(str, self._fact_numbers(name, values)))

    def at_least(self, count: str, least: int) -> frozenset[int]:
        """Chunks with a count that is not below a number."""
        return frozenset(n for (n,) in self._rows(f"SELECT chunk FROM chunk_figures WHERE {count} >= ?", least))  # noqa: S608

    def of_files(self, numbers: Iterable[int]) -> frozenset[int]:
        """The chunks of some files."""
        return frozenset(self._among("SELECT id FROM chunks WHERE file IN", sorted(numbers)))

    def values(self, fact: str) -> list[str]:
        """Every value that a fact has somewhere."""
        return [value for (value,) in self._rows("SELECT value FROM fact_values WHERE name = ?", fact)]

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Numbers of the files with one of these values of a fact about files."""
        facts = self._fact_numbers(name, values)
        return frozenset(self._among("SELECT file FROM file_facts WHERE fact IN", facts))

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Numbers of the files that contain all the trigrams of an alternative; of all files without any."""
        if not all(alternatives) or not alternatives:  # one that demands nothing is met by every file
            return frozenset(number for (number,) in self._rows("SELECT id FROM files"))
        grams = {gram: self._documents(GRAM, [encoded(gram)]) for gram in set[str]().union(*alternatives)}
        return frozenset[int]().union(
            *(frozenset.intersection(*(grams[gram] for gram in one)) for one in alternatives)
        )

    def _documents(self, kind: str, terms: Iterable[str]) -> frozenset[int]:
        """The documents in which one of some terms stands."""
        found: set[int] = set()
        wanted = list(terms)
        for first in range(0, len(wanted), _BATCH):
            batch = wanted[first : first + _BATCH]
            marks = ",".join("?" * len(batch))
            query = f"SELECT block, numbers FROM postings WHERE kind = ? AND term IN ({marks})"  # noqa: S608
            for block, numbers in self._rows(query, KINDS.index(kind), *batch):
                found.update(Occurrences.unpacked(block, numbers, None, None).numbers)
        return frozenset(found)

    def _fact_numbers(self, name: str, values: Sequence[str]) -> list[int]:
        query = "SELECT id FROM fact_values WHERE name = ? AND value IN"
        return sorted(self._among(query, list(values), name))

    def _among(self, query: str, values: Sequence[Any], *before: Any) -> set[int]:
        """The first column of all rows in which a column has one of these values."""
        found: set[int] = set()
        for first in range(0, len(values), _BATCH):
            batch = values[first : first + _BATCH]
            marks = ",".join("?" * len(batch))
            found.update(number for (number,) in self._rows(f"{query} ({marks})", *before, *batch))
        return found

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return self._db.execute(query, values).fetchall()


def codes_of_lengths(rows: Sequence[tuple[int, ...]]) -> dict[str, bytearray]:
    """The code of the length of each field by the number of the chunk, from rows of number and lengths."""
    last = max((row[0] for row in rows), default=0)
    if last > _HIGHEST:
        raise sqlite3.DatabaseError("a chunk has a number that none can have")
    lengths = {field: bytearray(last + 1) for field in FIELDS}
    codes: dict[int, int] = {}
    for place, field in enumerate(FIELDS, 1):
        of_field = lengths[field]
        for row in rows:
            length = row[place]
            if length not in codes:
                codes[length] = length_code(length)
            of_field[row[0]] = codes[length]
    return lengths
