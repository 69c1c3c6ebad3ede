"""The postings of the backend `memory`: dictionaries in this process, gathered when they are first needed.

Where they are gathered from is said by whoever opens it. Chunks and the texts of files are gathered apart: a
process that never searches by a regular expression never reads the texts.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from holdfast.search.engine.collected import Collected
from holdfast.search.engine.portable_postings import codes_of_lengths
from holdfast.search.engine.portable_schema import FACT, FIELDS, GRAM, encoded
from holdfast.search.engine.table_words import phrase_counts_of
from holdfast.search.engine.tantivy_figures import Figures
from holdfast.search.prepared import fact

__all__ = ["Gathered", "GatheredChunks", "MemoryPostings", "Source"]

_POLL = 0.1  # seconds between two questions whether to stop, while somebody else gathers
_Part = TypeVar("_Part", "GatheredChunks", Collected)


@dataclass(slots=True)
class GatheredChunks:
    """What is known of all chunks."""

    terms: Collected = field(default_factory=Collected)  # words, and facts as the default backend writes them
    lengths: list[tuple[int, ...]] = field(default_factory=list)  # the number of a chunk, and words of each field
    counts: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by name: value, number of the chunk
    by_file: dict[int, list[int]] = field(default_factory=dict)


class Source(Protocol):
    """Where everything is gathered from: the store of an index, at one generation."""

    def chunks(self) -> GatheredChunks:
        """What is known of all chunks."""

    def files(self) -> Collected:
        """The trigrams of all files, and what they import."""

    def numbers_of_files(self) -> Iterable[int]:
        """All files."""

    def check_stop(self) -> None:
        """Raise where nobody waits for it any more."""


class Gathered:
    """What was gathered of one generation, for all who search it in this process at the same time."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.values: dict[str, list[str]] = {}
        for name, value in figures.facts:
            self.values.setdefault(name, []).append(value)
        self._lock = threading.Lock()
        self._parts: dict[str, GatheredChunks | Collected] = {}

    def part(self, name: str, source: Source, gather: Callable[[], _Part]) -> _Part:
        """One part of it; whoever needs it first gathers it, and the others wait."""
        while name not in self._parts:
            if not self._lock.acquire(timeout=_POLL):
                source.check_stop()
                continue
            try:
                if name not in self._parts:
                    self._parts[name] = gather()
            finally:
                self._lock.release()
        part: _Part = self._parts[name]  # type: ignore[assignment]  # each name has one type
        return part


class MemoryPostings:
    """Everything that is looked up, in memory, at one generation; the figures are those of the default backend."""

    def __init__(self, source: Source, gathered: Gathered) -> None:
        self._source = source
        self._gathered = gathered
        figures = gathered.figures
        self.generation = figures.generation
        self.documents, self.reckoned = figures.documents, figures.reckoned
        self.averages: Mapping[str, float] = figures.averages

    def lengths(self) -> dict[str, bytearray]:
        """The code of the length of each field, by the number of the chunk."""
        return codes_of_lengths(self._chunks.lengths)

    def frequency(self, field: str, word: str) -> int:
        """In how many documents a word stands, as the default backend counts them."""
        known = self._gathered.figures.frequencies.get(word)
        return known[FIELDS.index(field)] if known else 0

    def counts(self, field: str, word: str) -> dict[int, int]:
        """How often a word stands in each chunk."""
        return self._chunks.terms.of(field, encoded(word)).counted()

    def phrase_counts(self, field: str, words: tuple[str, ...]) -> Counter[int]:
        """How often words follow each other in each chunk."""
        return phrase_counts_of([self._chunks.terms.of(field, encoded(word)) for word in words])

    def with_facts(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Chunks with one of these values of a fact."""
        return _members(self._chunks.terms, FACT, [fact(name, value) for value in values])

    def at_least(self, count: str, least: int) -> frozenset[int]:
        """Chunks with a count that is not below a number."""
        return frozenset(number for value, number in self._chunks.counts.get(count, ()) if value >= least)

    def of_files(self, numbers: Iterable[int]) -> frozenset[int]:
        """The chunks of some files."""
        by_file = self._chunks.by_file
        return frozenset[int]().union(*(by_file.get(number, ()) for number in numbers))

    def values(self, fact: str) -> list[str]:
        """Every value that a fact has somewhere."""
        return self._gathered.values.get(fact, [])

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Numbers of the files with one of these values of a fact about files."""
        return _members(self._files, FACT, [fact(name, value) for value in values])

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Numbers of the files that contain all the trigrams of an alternative; of all files without any."""
        if not all(alternatives) or not alternatives:
            return frozenset(self._source.numbers_of_files())
        having = (
            frozenset.intersection(*(_members(self._files, GRAM, [gram]) for gram in grams))
            for grams in alternatives
        )
        return frozenset[int]().union(*having)

    @property
    def _chunks(self) -> GatheredChunks:
        return self._gathered.part("chunks", self._source, self._source.chunks)

    @property
    def _files(self) -> Collected:
        return self._gathered.part("files", self._source, self._source.files)


def _members(terms: Collected, kind: str, wanted: Iterable[str]) -> frozenset[int]:
    return frozenset[int]().union(*(terms.of(kind, term).numbers for term in wanted))
