"""Where words stand, as plain tables of a portable file tell it: for the backend `sqlite`, with any SQLite."""

import sqlite3
from collections import Counter

from holdfast.search.engine.occurrences import OFFSET_BITS, Occurrences
from holdfast.search.engine.portable_schema import KINDS, encoded

__all__ = ["TableWords", "occurrences_of", "phrase_counts_of"]

_POSTINGS = "SELECT block, numbers, counts, places FROM postings WHERE kind = ? AND term = ? ORDER BY block"


class TableWords:
    """The words of one portable file, looked up in its tables."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def counts(self, field: str, word: str) -> dict[int, int]:
        """How often a word stands in each chunk."""
        return occurrences_of(self._db, field, encoded(word)).counted()

    def phrase_counts(self, field: str, words: tuple[str, ...]) -> Counter[int]:
        """How often words follow each other in each chunk."""
        return phrase_counts_of([occurrences_of(self._db, field, encoded(word)) for word in words])


def occurrences_of(db: sqlite3.Connection, kind: str, term: str) -> Occurrences:
    """Where a term stands, over all blocks."""
    rows = db.execute(_POSTINGS, (KINDS.index(kind), term))  # in the order of blocks
    return Occurrences.joined([Occurrences.unpacked(block, *columns) for block, *columns in rows])


def phrase_counts_of(words: list[Occurrences]) -> Counter[int]:
    """How often some words follow each other in each document.

    Only documents that have all of them are looked at: of a phrase with one rare word, these are few.
    """
    common = set.intersection(*(set(word.numbers) for word in words))
    if not common:
        return Counter()
    starts = set.intersection(*(word.starts(place, common) for place, word in enumerate(words)))
    return Counter(start >> OFFSET_BITS for start in starts)
