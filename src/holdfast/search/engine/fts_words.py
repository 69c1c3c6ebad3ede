"""Where words stand, as FTS5 tells it: for the backend `sqlite-fts`, which shares all else with `sqlite`.

The order that FTS5 offers itself is another one than that of the default backend, so only places are asked for.
"""

import sqlite3
from collections import Counter
from typing import Any

from holdfast.search.engine.occurrences import OFFSET_BITS
from holdfast.search.engine.portable_schema import encoded

__all__ = ["FtsWords"]

_FEW = 400  # values in one IN (...)


class FtsWords:
    """The words of one portable file, looked up in FTS5."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def counts(self, field: str, word: str) -> Counter[int]:
        """How often a word stands in each chunk."""
        query = "SELECT doc FROM word_places WHERE term = ? AND col = ?"
        return Counter(number for (number,) in self._rows(query, encoded(word), field))

    def phrase_counts(self, field: str, words: tuple[str, ...]) -> Counter[int]:
        """How often words follow each other in each chunk.

        FTS5 says which chunks these are, but not how often: that is told by the places of the words.
        """
        phrase = f'{field} : "{" ".join(map(encoded, words))}"'
        numbers = [number for (number,) in self._rows("SELECT rowid FROM words WHERE words MATCH ?", phrase)]
        if not numbers:
            return Counter()
        few = numbers if len(numbers) <= _FEW else []
        only = f" AND doc IN ({','.join('?' * len(few))})" if few else ""
        query = f"SELECT (doc << {OFFSET_BITS}) + offset - ? FROM word_places WHERE term = ? AND col = ?{only}"  # noqa: S608
        starts = set.intersection(
            *(
                {start for (start,) in self._rows(query, place, encoded(word), field, *few)}
                for place, word in enumerate(words)
            )
        )
        return Counter(start >> OFFSET_BITS for start in starts)

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return self._db.execute(query, values).fetchall()
