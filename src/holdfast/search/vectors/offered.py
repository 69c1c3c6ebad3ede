"""Vectors as a search meets them: are there any for this index, may they be used, what do they say.

Needs no library by itself, since every search passes here. A search never makes vectors of chunks; it only turns
the question into one.
"""

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ToolError
from holdfast.search.engine.interface import All, Chunks, Condition, Engine
from holdfast.search.home import Build, IndexHome
from holdfast.search.seals import Watched
from holdfast.search.store.reader import StoreReader
from holdfast.search.vectors.available import INSTALL, has_libraries
from holdfast.search.vectors.place import ChosenModel, VectorPlace

if TYPE_CHECKING:
    from holdfast.search.vectors.model import SentenceModel, Vectors
    from holdfast.search.vectors.neighbours import Neighbours

__all__ = ["Meaning", "OfferedVectors"]

ENOUGH = 0.95  # share of the chunks of a mode that need a vector, unless vectors are insisted on
_MOST_FILTERED = 4096  # chunks that are compared one by one where a filter leaves no more
_COMMAND = "holdfast index embed"
_NONE = f"there are no vectors in this index; the answer is by words alone (`{_COMMAND}` makes them)"
_DAMAGED = f"what the index holds of vectors is damaged; the answer is by words alone (`{_COMMAND}` mends it)"


class OfferedVectors:
    """The vectors of one build, looked at again whenever they are asked for."""

    def __init__(self, home: IndexHome, build: Build) -> None:
        self._place = VectorPlace.of(home)
        self._build = build
        self._opened: dict[str, tuple[Hashable, Neighbours]] = {}
        self._seals: dict[Path, Watched] = {}
        self._counted: tuple[StoreReader, int, dict[str, int]] | None = None

    def stamp(self) -> Hashable:
        """Changes whenever answers may change: another model, more vectors."""
        chosen = self._place.chosen()
        if chosen is None:
            return None
        directory = self._place.table(self._build, chosen, "code").parent
        return (chosen, _stamps(directory))

    def ask(
        self,
        question: str,
        modes: Iterable[str],
        store: StoreReader,
        *,
        insist: bool,
        warn: Callable[[str, str], None],
    ) -> "Meaning | None":
        """What is there to answer a question by its meaning; None for words alone.

        With `insist`, whatever is there is used, and what is not is told.
        """
        chosen = self._place.chosen()
        missing = self._what_is_missing(chosen)
        if chosen is None or missing:
            if insist or missing == _DAMAGED:
                warn("ann", missing)
            return None
        counts = self._counts(store)
        modes = list(modes)
        if any(self._is_damaged(chosen, mode) for mode in modes if counts.get(mode)):
            warn("ann", _DAMAGED)
            return None
        opened = {mode: self._neighbours(chosen, mode, store) for mode in modes if counts.get(mode)}
        usable = {
            mode: near
            for mode, near in opened.items()
            if near.count and (insist or near.count >= ENOUGH * counts[mode])
        }
        if insist:
            lacking = sum(counts[mode] - near.count for mode, near in opened.items())
            whole = sum(counts[mode] for mode in opened)
            if lacking and not usable:
                warn("ann", _NONE)
            elif lacking:
                warn("ann", f"{lacking} of {whole} chunks have no vector yet; `{_COMMAND}` makes them")
        if not usable:
            return None
        try:
            model = _model(self._place.model(chosen), chosen)
        except ToolError as error:
            warn("ann", f"{error.message}; the answer is by words alone (`{_COMMAND}` mends it)")
            return None
        return Meaning(usable, model.embed([question])[0])

    def _counts(self, store: StoreReader) -> dict[str, int]:
        """How many chunks each mode has; counted once for a generation."""
        if self._counted is None or self._counted[0] is not store or self._counted[1] != store.generation:
            self._counted = (store, store.generation, store.chunk_counts())
        return self._counted[2]

    def _what_is_missing(self, chosen: ChosenModel | None) -> str:
        if chosen is None:
            return _DAMAGED if self._place.is_chosen() else _NONE
        if not has_libraries():
            return f"vectors need libraries that are not installed: {INSTALL}; the answer is by words alone"
        if not self._place.model(chosen).is_dir():
            return f"the model {chosen.name} is not here; the answer is by words alone (`{_COMMAND}` brings it)"
        return ""

    def _is_damaged(self, chosen: ChosenModel, mode: str) -> bool:
        from holdfast.search.vectors.table import seal_of

        directory = self._place.table(self._build, chosen, mode)
        if directory not in self._seals:
            self._seals[directory] = seal_of(directory).watched()
        return self._seals[directory].damage() is not None

    def _neighbours(self, chosen: ChosenModel, mode: str, store: StoreReader) -> "Neighbours":
        from holdfast.search.vectors.neighbours import Neighbours
        from holdfast.search.vectors.table import stamp

        directory = self._place.table(self._build, chosen, mode)
        key = (directory, stamp(directory), store.generation)
        known = self._opened.get(mode)
        if known is None or known[0] != key:
            known = self._opened[mode] = (key, Neighbours(directory, chosen.dimensions, store.files()))
        return known[1]


class Meaning:
    """One question as a vector, and the vectors that it is compared with."""

    def __init__(self, neighbours: "dict[str, Neighbours]", question: "Vectors") -> None:
        self._neighbours = neighbours
        self._question = question

    def has(self, mode: str) -> bool:
        """Whether the chunks of a mode have vectors."""
        return mode in self._neighbours

    def source(self, mode: str) -> str:
        """How vectors are compared: `dense` is one by one, `hnsw` along a graph."""
        return self._neighbours[mode].source

    def nearest(self, mode: str, engine: Engine, required: Condition, count: int) -> dict[int, float]:
        """The nearest chunks that meet a condition, with their cosines."""
        near = self._neighbours[mode]
        if required == All():
            return near.nearest(self._question, count)
        allowed = engine.candidates(mode, required, _MOST_FILTERED)
        if allowed.total <= len(allowed.chunks):
            found = near.of(allowed.chunks, self._question)
        else:
            nearest = near.nearest(self._question, _MOST_FILTERED)
            kept = engine.candidates(mode, All((required, Chunks(frozenset(nearest)))), len(nearest) or 1)
            found = {chunk: nearest[chunk] for chunk in kept.chunks}
        best = sorted(found, key=lambda chunk: (-found[chunk], chunk))[:count]
        return {chunk: found[chunk] for chunk in best}

    def cosines(self, mode: str, chunks: Iterable[int]) -> dict[int, float]:
        """How near some chunks are, as far as they have a vector."""
        return self._neighbours[mode].of(chunks, self._question)


@lru_cache(maxsize=2)
def _loaded(directory: Path, _: tuple[int, int]) -> "SentenceModel":
    from holdfast.search.vectors.model import SentenceModel

    return SentenceModel(directory)


def _model(directory: Path, chosen: ChosenModel) -> "SentenceModel":
    """A model stays loaded: a server asks it again and again."""
    from holdfast.search.vectors.model import MODEL
    from holdfast.search.vectors.table import seal_of

    if seal_of(directory).damage():
        raise ToolError("CAPABILITY_MISSING", f"the model {chosen.name} is damaged")
    try:
        status = (directory / MODEL).stat()
    except OSError as error:
        raise ToolError("CAPABILITY_MISSING", f"the model {chosen.name} is not here") from error
    model = _loaded(directory, (status.st_ino, status.st_mtime_ns))
    if model.dimensions != chosen.dimensions:
        message = f"the model {chosen.name} has {model.dimensions} dimensions, and its vectors {chosen.dimensions}"
        raise ToolError("INVALID_REQUEST", message)
    return model


def _stamps(directory: Path) -> tuple[tuple[str, int, int], ...]:
    """The rows files of all modes, by inode and size."""
    found = []
    for rows in sorted(directory.glob("[!.]*/rows")):
        try:
            status = rows.stat()
        except OSError:  # written anew this very moment
            continue
        found.append((rows.parent.name, status.st_ino, status.st_size))
    return tuple(found)
