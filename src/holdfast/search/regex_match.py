"""Regular expressions over the indexed texts: trigrams choose the files, the expression decides.

A match belongs to the innermost chunk that it begins in.
"""

import time
from bisect import bisect_right
from itertools import islice
from typing import Any

from holdfast.search.engine.interface import Engine
from holdfast.search.regex import compiled
from holdfast.search.regex_grams import required_grams
from holdfast.search.store.reader import ChunkRow, StoreReader

__all__ = ["RegexMatches"]

_SECONDS = 5.0  # for one expression over all files
_MOST_PER_FILE = 2000
_MOST_CHUNKS = 20_000
_MOST_NESTED = 4000  # chunks that may lie between the beginning of a chunk and a place in it


class RegexMatches:
    """Looks for one expression; says in `warnings` where it had to stop early."""

    def __init__(self, engine: Engine, store: StoreReader) -> None:
        self._engine = engine
        self._store = store
        self.warnings: list[str] = []

    def chunks(self, pattern: str, flags: str, mode: str) -> frozenset[int]:
        """The chunks of a mode that an expression matches in."""
        expression = compiled(pattern, flags)
        files = sorted(self._engine.files_with_grams(required_grams(pattern, flags)))
        until = time.monotonic() + _SECONDS
        found: set[int] = set()
        for count, file in enumerate(files):
            if time.monotonic() > until or len(found) > _MOST_CHUNKS:
                self.warnings.append(f"/{pattern}/ was looked for in {count} of {len(files)} files that may match")
                break
            found |= self._in_file(expression, file, mode)
        return frozenset(found)

    def _in_file(self, expression: Any, file: int, mode: str) -> set[int]:
        places = [match.start() for match in islice(expression.finditer(self._store.text(file)), _MOST_PER_FILE)]
        if not places:
            return set()
        rows = [row for row in self._store.chunks_of(file) if row.mode == mode]
        return {row.id for place in places if (row := _innermost(rows, place)) is not None}


def _innermost(rows: list[ChunkRow], place: int) -> ChunkRow | None:
    """Of the chunks around a place the one that begins last; rows are in order of their start."""
    last = bisect_right(rows, place, key=_start)
    return next((row for row in reversed(rows[max(0, last - _MOST_NESTED) : last]) if row.end > place), None)


def _start(row: ChunkRow) -> int:
    return row.start
