"""The backend `memory`: postings in this process, gathered from the store of an index that is open anyway.

Nothing is written, and nothing is read but the store. That takes seconds for tens of thousands of chunks, once per
generation, and about five kilobytes of memory for each of them; so there is a limit to what it takes up.
"""

from collections.abc import Callable, Hashable, Iterable
from weakref import WeakValueDictionary

from holdfast.errors import ToolError
from holdfast.search.chunk_terms import chunk_terms, grams_of_text
from holdfast.search.engine.collected import Collected
from holdfast.search.engine.memory_postings import Gathered, GatheredChunks, MemoryPostings
from holdfast.search.engine.portable_schema import FACT, FIELDS, GRAM
from holdfast.search.engine.scored import ScoredEngine
from holdfast.search.engine.tantivy_figures import Figures
from holdfast.search.engine.tantivy_schema import COUNT_FIELDS
from holdfast.search.prepared import fact
from holdfast.search.store.reader import FileRow, StoreReader
from holdfast.search.tokens import body_streams

__all__ = ["MOST_CHUNKS", "memory_engine"]

MOST_CHUNKS = 200_000  # of some five kilobytes each

# By the state of an index. Several readers of it in one process share what was gathered; the last one lets it go.
_GATHERED: WeakValueDictionary[Hashable, Gathered] = WeakValueDictionary()


def memory_engine(store: StoreReader, state: Hashable, figures: Callable[[], Figures]) -> ScoredEngine:
    """An engine over the store at its generation; ToolError CAPABILITY_MISSING where that has too many chunks.

    `state` tells this generation of this index from all others.
    """
    chunks = sum(row.chunks for row in store.files().values())
    if chunks > MOST_CHUNKS:
        raise ToolError(
            "CAPABILITY_MISSING",
            f"the backend memory holds {MOST_CHUNKS:,} chunks at most, and this index has {chunks:,}",
            hint="use the backend auto",
        )
    gathered = _GATHERED.get(state) or _GATHERED.setdefault(state, Gathered(figures()))
    return ScoredEngine("memory", MemoryPostings(_Gathering(store, gathered), gathered))


class _Gathering:
    """Reads the store file by file, so that it can be stopped between two of them."""

    def __init__(self, store: StoreReader, gathered: Gathered) -> None:
        self._store = store
        self._figures = gathered.figures

    def chunks(self) -> GatheredChunks:
        """What is known of all chunks."""
        gathered = GatheredChunks(counts={name: [] for name in COUNT_FIELDS})
        facts = set(self._figures.facts)  # that are looked up
        for file in sorted(self._store.files().values()):
            self._gather(file, facts, gathered)
        return gathered

    def files(self) -> Collected:
        """The trigrams of all files, and what they import."""
        terms = Collected()
        numbers = sorted(self._store.files())
        summaries = self._store.summaries(numbers)
        for number in numbers:
            terms.add_terms(GRAM, number, grams_of_text(self._store.text(number)))
            imports = summaries.get(number, {}).get("imports", [])
            terms.add_terms(FACT, number, {fact("imports", name) for name in imports})
        return terms

    def numbers_of_files(self) -> Iterable[int]:
        """All files."""
        return self._store.files().keys()

    def check_stop(self) -> None:
        """Raise where nobody waits for it any more."""
        self._store.check_stop()

    def _gather(self, file: FileRow, facts: set[tuple[str, str]], gathered: GatheredChunks) -> None:
        rows = sorted(self._store.chunks_of(file.id))
        details = self._store.details([row.id for row in rows])
        rows = [row for row in rows if row.id in details]  # a version that died may be forgotten between two looks
        path_words = body_streams(file.path)[0]
        gathered.by_file[file.id] = [row.id for row in rows]
        for row in rows:
            about = (row.mode, row.kind, row.name, row.words)
            terms = chunk_terms(about, details[row.id], file.language, file.path, path_words)
            gathered.lengths.append((row.id, *terms.lengths))
            for field, text in zip(FIELDS, terms.texts, strict=True):
                gathered.terms.add_words(field, row.id, text.split())
            known = [fact(*pair) for pair in terms.facts if pair in facts]
            gathered.terms.add_terms(FACT, row.id, known)
            for name, value in zip(COUNT_FIELDS, terms.counts, strict=True):
                if value is not None:
                    gathered.counts[name].append((value, row.id))
