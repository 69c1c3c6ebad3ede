"""The vectors of one mode at one generation: which chunks are nearest to a question, and how near some chunks are.

Up to a hundred thousand vectors are all compared; beyond that a graph proposes. Chunks of files that are not part
of the generation do not count.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.search.vectors.graph import open_graph, search_graph
from holdfast.search.vectors.table import TableView, coded

__all__ = ["Neighbours"]

_BLOCK = 4096  # rows that are turned into floats at a time: they stay in the cache of the processor
Floats = NDArray[np.float32]


class Neighbours:
    """One table, opened for searches."""

    def __init__(self, directory: Path, dimensions: int, files: Iterable[int]) -> None:
        self._view = TableView.open(directory, dimensions)
        self._alive = np.isin(self._view.rows["file"], np.fromiter(files, np.int64))
        self._order = np.argsort(self._view.rows["chunk"], kind="stable")
        self._graph: Any = open_graph(directory, len(self._view))
        self.count = int(self._alive.sum())

    @property
    def source(self) -> str:
        """How they are compared: `dense` is one by one."""
        return "dense" if self._graph is None else "hnsw"

    def nearest(self, question: Floats, count: int) -> dict[int, float]:
        """Chunks and their cosines, the nearest first."""
        if not self.count:
            return {}
        rows = np.flatnonzero(self._alive) if self._graph is None else self._proposed(question, count)
        cosines = self._cosines(rows, question)
        if len(rows) > count:
            best = np.argpartition(-cosines, count)[:count]
            rows, cosines = rows[best], cosines[best]
        # Equal cosines are settled by the number of the chunk: equal questions, equal answers.
        order = np.lexsort((self._view.rows["chunk"][rows], -cosines))
        return self._by_chunk(rows[order], cosines[order])

    def of(self, chunks: Iterable[int], question: Floats) -> dict[int, float]:
        """The cosines of some chunks, as far as they have a vector."""
        wanted = np.fromiter(chunks, np.int64)
        if not len(wanted) or not len(self._view):
            return {}
        known = self._view.rows["chunk"]
        places = np.searchsorted(known, wanted, sorter=self._order)
        rows = self._order[np.minimum(places, len(known) - 1)]
        rows = rows[known[rows] == wanted]
        return self._by_chunk(rows, self._cosines(rows, question))

    def _proposed(self, question: Floats, count: int) -> NDArray[np.int64]:
        """Living rows that are about the nearest, and all that the graph does not cover.

        Dead versions of a chunk are as near as the living one, so more are asked for until there are enough.
        """
        (codes,), _ = coded(question[None, :])
        covered = len(self._graph)
        wanted = 2 * count
        while True:
            rows = search_graph(self._graph, codes, min(wanted, covered))
            rows = rows[self._alive[rows]]
            if len(rows) >= count or wanted >= covered:
                break
            wanted *= 4
        tail = covered + np.flatnonzero(self._alive[covered:])
        return np.concatenate([rows, tail])

    def _cosines(self, rows: NDArray[np.int64], question: Floats) -> Floats:
        cosines = np.empty(len(rows), np.float32)
        # All rows in their order need not be gathered first, which takes longer than comparing them.
        everything = len(rows) == len(self._view) and bool((np.diff(rows) > 0).all())
        for first in range(0, len(rows), _BLOCK):
            block = slice(first, first + _BLOCK)
            codes = self._view.vectors[block] if everything else self._view.vectors[rows[block]]
            cosines[block] = codes.astype(np.float32) @ question
        return np.asarray(cosines * self._view.rows["scale"][rows], np.float32)

    def _by_chunk(self, rows: NDArray[np.int64], cosines: Floats) -> dict[int, float]:
        chunks = self._view.rows["chunk"][rows]
        return dict(zip(map(int, chunks), map(float, cosines), strict=True))
