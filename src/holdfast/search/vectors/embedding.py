"""Making the vectors that an index lacks: what is known by its content is taken over, the rest asks the model.

It may be stopped or killed at any time: every batch is kept as soon as it is done, so at most one is lost. The
index may be updated or built anew meanwhile; then there is another round. Searches never wait for it.
"""

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from holdfast.errors import ToolError
from holdfast.search.engine.tantivy_writer import committed_generation
from holdfast.search.home import Build, IndexHome
from holdfast.search.model import MODES
from holdfast.search.store.reader import FileRow, StoreReader
from holdfast.search.vectors.cache import KEY_BYTES, VectorCache, key_of
from holdfast.search.vectors.graph import bring_graph_up_to_date
from holdfast.search.vectors.passages import Passage, passages_of
from holdfast.search.vectors.place import ChosenModel, VectorPlace
from holdfast.search.vectors.table import ROW, TableView, TableWriter, coded, rewrite, seal_of

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop
    from holdfast.search.vectors.model import SentenceModel

__all__ = ["Embedded", "adopt_known", "embed_missing"]

_WINDOW = 1024  # passages that are looked at together
_BATCH = 32  # passages between two savings
_ROUNDS = 8  # an index that changes all the time is left to the next call
_MOST_UNUSED = 3  # vectors in the cache for every one that the index uses
_ALWAYS_KEPT = 20_000


@dataclass(slots=True)
class Embedded:
    """What was done."""

    embedded: int = 0  # by the model
    adopted: int = 0  # known by their content
    cpu_seconds: float = 0.0
    chunks: dict[str, int] = field(default_factory=dict)  # in the index, by mode
    vectors: dict[str, int] = field(default_factory=dict)  # of them, those that have one now


def embed_missing(
    home: IndexHome,
    chosen: ChosenModel,
    model: "SentenceModel",
    modes: Sequence[str],
    progress: "Progress",
    stop: "Stop",
) -> Embedded:
    """Make every vector that the current build lacks; needs the lock of the vectors. CANCELLED when stopped."""
    done = Embedded()
    began = time.process_time()
    with contextlib.closing(VectorCache(VectorPlace.of(home).cache)) as cache:
        for _ in range(_ROUNDS):
            with _round(home, chosen, cache, modes) as work:
                work.fill(model, done, progress, stop)
                work.tidy(progress)
                done.chunks, done.vectors = work.counts()
            if not work.is_outdated():
                break
    done.cpu_seconds = time.process_time() - began
    return done


def adopt_known(home: IndexHome, stop: "Stop") -> int:
    """Give vectors to new chunks as far as they are known by their content; how many. The model is not needed.

    Nothing happens where vectors were never asked for, or where somebody else makes them just now.
    """
    place = VectorPlace.of(home)
    chosen = place.chosen()
    if chosen is None or home.current() is None:
        return 0
    done = Embedded()
    try:
        with (
            place.making(),
            contextlib.closing(VectorCache(place.cache)) as cache,
            _round(home, chosen, cache, MODES) as work,
        ):
            work.fill(None, done, lambda *_: None, stop)
    except ToolError as error:
        if error.code not in ("QUEUE_OVERLOADED", "CANCELLED"):
            raise
    return done.adopted


@contextlib.contextmanager
def _round(home: IndexHome, chosen: ChosenModel, cache: VectorCache, modes: Sequence[str]) -> "Iterator[_Round]":
    """One look at the current build, which is kept from being removed meanwhile."""
    build = home.current()
    if build is None:
        raise ToolError("NO_INDEX", "there is no index of this repository yet", hint="run `holdfast index build`")
    with home.reading(build):
        build.check()
        generation = committed_generation(build.terms)
        with contextlib.closing(StoreReader(build.store, generation)) as store:
            yield _Round(home, build, generation, store, chosen, cache, modes)


class _Round:
    """The work on one generation of one build."""

    def __init__(
        self,
        home: IndexHome,
        build: Build,
        generation: int,
        store: StoreReader,
        chosen: ChosenModel,
        cache: VectorCache,
        modes: Sequence[str],
    ) -> None:
        self._home, self._build, self._generation = home, build, generation
        self._store, self._chosen, self._cache = store, chosen, cache
        self._files = store.files()
        counts = store.chunk_counts()
        self._chunks = {mode: counts[mode] for mode in modes if counts.get(mode)}
        for table in map(self._table, self._chunks):
            if seal_of(table).damage():  # what it held is still in the cache
                shutil.rmtree(table)

    def fill(self, model: "SentenceModel | None", done: Embedded, progress: "Progress", stop: "Stop") -> None:
        """Add the rows that are missing, mode by mode: code can be searched before comments are done."""
        total, known = sum(self._chunks.values()), sum(self.counts()[1].values())
        for mode in self._chunks:
            with contextlib.closing(TableWriter(self._table(mode), self._chosen.dimensions)) as writer:
                passages = self._missing(mode)
                while window := list(islice(passages, _WINDOW)):
                    for added, fresh in self._rows(window, writer, model):
                        known += added
                        done.embedded += added if fresh else 0
                        done.adopted += 0 if fresh else added
                        progress("embed", known, total, mode)
                        if stop():
                            raise ToolError("CANCELLED", "stopped; what was embedded so far is kept")

    def tidy(self, progress: "Progress") -> None:
        """Leave out what nothing uses any more; and beyond the reach of an exact search, make the graph."""
        used: set[bytes] = set()
        for mode in self._chunks:
            alive = self._alive(mode)
            if alive.size > 2 * max(int(alive.sum()), 1):
                rewrite(self._table(mode), self._chosen.dimensions, alive)
            bring_graph_up_to_date(self._table(mode), self._view(mode), progress)
        for mode in MODES:
            used.update(key.tobytes() for key in self._view(mode).rows["key"])
        if self._cache.count() > max(_MOST_UNUSED * len(used), _ALWAYS_KEPT):
            self._cache.keep_only(used)

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many chunks there are by mode, and how many of them have a vector."""
        return self._chunks, {mode: int(self._alive(mode).sum()) for mode in self._chunks}

    def is_outdated(self) -> bool:
        """Whether another build or generation is current by now."""
        return self._home.current() != self._build or committed_generation(self._build.terms) != self._generation

    def _missing(self, mode: str) -> Iterator[Passage]:
        """The passages of chunks without a row. A version of a file never changes, so counting its rows tells
        whether any of its chunks is without one."""
        have = set(map(int, self._view(mode).rows["chunk"]))
        for file in self._incomplete():
            for one in passages_of(self._store, file.id, file.path, mode):
                if one.chunk not in have:
                    yield one

    def _incomplete(self) -> list[FileRow]:
        rows: Counter[int] = Counter()
        for mode in self._chunks:
            numbers, counts = np.unique(self._view(mode).rows["file"], return_counts=True)
            rows.update(dict(zip(map(int, numbers), map(int, counts), strict=True)))
        return [file for file in self._files.values() if rows[file.id] < file.chunks]

    def _rows(
        self, window: list[Passage], writer: TableWriter, model: "SentenceModel | None"
    ) -> Iterator[tuple[int, bool]]:
        """Add rows for passages: (how many, whether by the model), after each saving."""
        keys = [key_of(self._chosen.digest, one.text) for one in window]
        known = self._cache.get(keys, self._chosen.dimensions)
        there = [(one, key) for one, key in zip(window, keys, strict=True) if key in known]
        if there:
            self._add(writer, there, known)
            yield len(there), False
        if model is None:
            return
        by_key: dict[bytes, list[Passage]] = {}
        for one, key in zip(window, keys, strict=True):
            if key not in known:
                by_key.setdefault(key, []).append(one)
        missing = sorted(by_key, key=lambda key: len(by_key[key][0].text))  # a batch is as wide as its longest
        for first in range(0, len(missing), _BATCH):
            batch = missing[first : first + _BATCH]
            codes, _ = coded(model.embed([by_key[key][0].text for key in batch]))
            made = {key: row.tobytes() for key, row in zip(batch, codes, strict=True)}
            self._cache.put(list(made.items()))
            rows = [(one, key) for key in batch for one in by_key[key]]
            self._add(writer, rows, made)
            yield len(rows), True

    def _add(self, writer: TableWriter, rows: list[tuple[Passage, bytes]], codes: dict[bytes, bytes]) -> None:
        matrix = np.frombuffer(b"".join(codes[key] for _, key in rows), np.int8).reshape(len(rows), -1)
        table = np.empty(len(rows), ROW)
        table["chunk"] = [one.chunk for one, _ in rows]
        table["file"] = [one.file for one, _ in rows]
        table["scale"] = 1.0 / np.maximum(np.linalg.norm(matrix.astype(np.float32), axis=1), 1.0)
        table["key"] = np.frombuffer(b"".join(key for _, key in rows), f"V{KEY_BYTES}")
        writer.add(table, matrix)

    def _alive(self, mode: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        alive = np.fromiter(self._files, np.int64, len(self._files))
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(self._view(mode).rows["file"], alive)
        return found

    def _view(self, mode: str) -> TableView:
        return TableView.open(self._table(mode), self._chosen.dimensions)

    def _table(self, mode: str) -> Path:
        return VectorPlace.of(self._home).table(self._build, self._chosen, mode)
