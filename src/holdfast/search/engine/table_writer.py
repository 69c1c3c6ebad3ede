"""The writing side of the postings in plain tables: gathers what comes and goes, and merges it into the rows."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from holdfast.search.engine.collected import Collected
from holdfast.search.engine.occurrences import Occurrences, block_of
from holdfast.search.engine.portable_schema import KINDS

__all__ = ["PostingWriter"]

_MOST_GATHERED = 6_000_000  # places and members in memory, of some 10 bytes each

_Key = tuple[int, str, int]

_HAS_ROWS = "SELECT EXISTS (SELECT 1 FROM postings)"
_HELD = "SELECT numbers, counts, places FROM postings WHERE kind = ? AND term = ? AND block = ?"
_PUT = "INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM postings WHERE kind = ? AND term = ? AND block = ?"


class PostingWriter:
    """Writes into the draft of one portable file; `flush` makes it complete."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._blocks: dict[int, Collected] = {}
        self._gone: dict[_Key, list[int]] = {}

    def add_words(self, kind: str, number: int, words: Sequence[str]) -> None:
        """The words of one field of a chunk, in their order."""
        self._block(number).add_words(kind, number, words)

    def add_terms(self, kind: str, number: int, terms: Collection[str]) -> None:
        """The facts of a chunk, or the trigrams of a file."""
        self._block(number).add_terms(kind, number, terms)

    def remove(self, kind: str, number: int, terms: Iterable[str]) -> None:
        """A document that is gone; the terms have to be those that it came with."""
        place, block = KINDS.index(kind), block_of(number)
        for term in set(terms):
            self._gone.setdefault((place, term, block), []).append(number)

    def flush(self) -> None:
        """Write everything that was gathered."""
        (has_rows,) = self._db.execute(_HAS_ROWS).fetchone()
        empty: list[_Key] = []
        self._db.executemany(_PUT, self._rows(empty, has_rows=bool(has_rows)))
        self._db.executemany(_DELETE, empty)
        self._blocks, self._gone = {}, {}

    def _block(self, number: int) -> Collected:
        block = block_of(number)
        if block not in self._blocks:  # seldom enough to look how much there is
            if sum(one.size for one in self._blocks.values()) > _MOST_GATHERED:
                self.flush()
            self._blocks[block] = Collected()
        return self._blocks[block]

    def _rows(self, empty: list[_Key], *, has_rows: bool) -> Iterator[tuple[Any, ...]]:
        """The rows as they are to be, in the order of the table; `empty` is told of those that are to go."""
        come = {
            (place, term, block): found
            for block, gathered in self._blocks.items()
            for place, kind in enumerate(KINDS)
            for term, found in gathered.by_kind[kind].items()
        }
        for key in sorted(come.keys() | self._gone.keys()):
            row = come[key] if key in come else Occurrences.none()
            held = self._db.execute(_HELD, key).fetchone() if has_rows else None
            if held is not None:
                row = Occurrences.unpacked(key[2], *held).without(self._gone.get(key, ())).extended(row)
            if row.numbers:
                yield (*key, *row.packed())
            else:
                empty.append(key)
