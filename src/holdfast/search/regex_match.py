"""Regular expressions over the indexed texts: trigrams choose the files, the expression decides.

A match belongs to the innermost chunk that it begins in. Each file is looked at once, for all modes together, and
no longer than there are chunks in it that are not yet known to match.
"""

import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.search.engine.interface import Engine
from holdfast.search.regex import compiled
from holdfast.search.regex_grams import required_grams
from holdfast.search.regex_lines import Reach, reach_of
from holdfast.search.store.reader import ChunkPlace, StoreReader

__all__ = ["RegexMatches", "beginnings"]

_SECONDS = 5.0  # for one expression over all files
_MOST_PER_FILE = 2000  # matches that are looked at one after the other
_MOST_CHUNKS = 20_000  # of a mode
_MOST_NESTED = 4000  # chunks that may lie between the beginning of a chunk and a place in it


class RegexMatches:
    """Looks for expressions in some modes; says in `warnings` where it had to stop early."""

    def __init__(self, engine: Engine, store: StoreReader, modes: Sequence[str]) -> None:
        self._engine = engine
        self._store = store
        self._modes = modes
        self._known: dict[tuple[str, str], dict[str, frozenset[int]]] = {}
        self.warnings: list[str] = []

    def chunks(self, pattern: str, flags: str, mode: str) -> frozenset[int]:
        """The chunks of a mode that an expression matches in."""
        key = (pattern, flags)
        if key not in self._known:
            self._known[key] = self._look(pattern, flags)
        return self._known[key].get(mode, frozenset())

    def _look(self, pattern: str, flags: str) -> dict[str, frozenset[int]]:
        expression, reach = compiled(pattern, flags), reach_of(pattern, flags)
        files = sorted(self._engine.files_with_grams(required_grams(pattern, flags)))
        until = time.monotonic() + _SECONDS
        found: dict[str, set[int]] = {mode: set() for mode in self._modes}
        wanted = [*self._modes]
        for count, file in enumerate(files):
            full = [mode for mode in wanted if len(found[mode]) > _MOST_CHUNKS]
            if full or time.monotonic() > until:
                self._warn(pattern, f"{count} of {len(files)} files")
                wanted = [mode for mode in wanted if mode not in full] if time.monotonic() <= until else []
            if not wanted:
                break
            for row in self._in_file(expression, file, wanted, reach):
                found[row.mode].add(row.id)
        return {mode: frozenset(numbers) for mode, numbers in found.items()}

    def _warn(self, pattern: str, where: str) -> None:
        self.warnings.append(f"/{pattern}/ was looked for in {where} that may match")

    def _in_file(self, expression: Any, file: int, modes: Sequence[str], reach: Reach) -> Iterable[ChunkPlace]:
        of_mode: dict[str, list[ChunkPlace]] = {}
        for row in self._store.places_of(file):
            if row.mode in modes:
                of_mode.setdefault(row.mode, []).append(row)
        if not of_mode:
            return
        text = self._store.text(file)
        edges = sorted({edge for rows in of_mode.values() for row in rows for edge in (row.start, row.end)})
        for place in beginnings(expression, text, edges, reach):
            around = (_innermost(rows, place) for rows in of_mode.values())
            yield from (one for one in around if one is not None)


def beginnings(expression: Any, text: bytes, edges: Sequence[int], reach: Reach) -> Iterator[int]:
    """Where matches begin: at least one of every stretch between two edges that has any, and few more."""
    return _steps(expression, text) if reach is Reach.TEXT else _strides(expression, text, edges, reach)


def _steps(expression: Any, text: bytes) -> Iterator[int]:
    """Where matches begin, one after the other, as far as that is bearable."""
    for count, match in enumerate(expression.finditer(text)):
        if count >= _MOST_PER_FILE:
            return
        yield match.start()


def _strides(expression: Any, text: bytes, edges: Sequence[int], reach: Reach) -> Iterator[int]:
    """Where matches begin, as far as that can make a difference: up to the next edge the chunks are the same."""
    at = 0
    while at <= len(text) and (match := expression.search(text, at)) is not None:
        start, end = match.span()
        yield start
        beyond = bisect_right(edges, start)
        if beyond == len(edges):
            return
        at = max(end + (start == end), _safe(text, edges[beyond], reach))


def _safe(text: bytes, edge: int, reach: Reach) -> int:
    """The last place up to an edge that no match can hang over, so that all can be looked for from there."""
    if reach is Reach.CHARACTER or text[edge : edge + 1] in (b"", b"\n"):
        return edge
    return text.rfind(b"\n", 0, edge) + 1


def _innermost(rows: list[ChunkPlace], place: int) -> ChunkPlace | None:
    """Of the chunks around a place the one that begins last; rows are in order of their start."""
    last = bisect_right(rows, place, key=_start)
    return next((row for row in reversed(rows[max(0, last - _MOST_NESTED) : last]) if row.end > place), None)


def _start(row: ChunkPlace) -> int:
    return row.start
