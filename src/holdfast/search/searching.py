"""One search over an open index: parse -> plan -> match -> rank -> shape, in this order.

Where the index has vectors, what is near to the question by its meaning joins the candidates, and ranks with them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from holdfast.search.advice import advice
from holdfast.search.engine.interface import All, Candidates, Chunks, Condition, Engine
from holdfast.search.filters import asks_for_risk
from holdfast.search.plan import Planner, looked_up
from holdfast.search.query import tree
from holdfast.search.query.parser import parse
from holdfast.search.rank import is_stop_word, rank, terms_with_idf
from holdfast.search.request import SHORTCUTS, SearchRequest, modes
from holdfast.search.scoring import DEFAULT_WEIGHTS, Ranked, Scorer, Weights
from holdfast.search.shape import KEYS, bundles, hits
from holdfast.search.store.reader import ChunkRow, StoreReader
from holdfast.search.symbols import MOST_TIED, asked_symbols, plain_names, tied
from holdfast.search.tokens import exact_words
from holdfast.search.vectors.fusion import FEWEST, LEAST, fuse
from holdfast.search.vectors.offered import Meaning, OfferedVectors

__all__ = ["Found", "Searching"]

_CANDIDATES = 32  # ranked for a page of results; more of them made no answer better
_OF_SEVERAL = 12  # the same in a search over several repositories, where each shows only its best
_MOST_CANDIDATES = 4096  # looked at when a condition can only be checked on the text or by git
_Check = Callable[[list[ChunkRow]], list[ChunkRow]]


@dataclass(slots=True)
class Found:
    """What one mode gave."""

    ranked: list[Ranked]
    total: int
    hits: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Matched:
    """The candidates of one mode: by their words, and by their meaning with their cosines."""

    mode: str
    candidates: Candidates
    near: dict[int, float]
    beyond: int  # of those that are near, how many are not found by their words

    def numbers(self) -> dict[int, None]:
        """The chunks, each once."""
        return dict.fromkeys([*self.candidates.chunks, *self.near])


class Searching:
    """The search of one request; `engine` and `store` are held at one generation while it lasts."""

    def __init__(
        self,
        request: SearchRequest,
        engine: Engine,
        store: StoreReader,
        *,
        chunk_authors: Callable[[list[ChunkRow], str], tuple[list[ChunkRow], list[str]]],
        weights: Weights = DEFAULT_WEIGHTS,
        vectors: OfferedVectors | None = None,
        is_one_of_several: bool = False,
    ) -> None:
        self._request = request
        self._engine = engine
        self._store = store
        self._weights = weights
        self._chunk_authors = chunk_authors
        self._parsed = _parsed(request.query)
        self._words = _words(request.query)
        self._asks_for_symbols = bool(asked_symbols(request))
        candidates = _OF_SEVERAL if is_one_of_several else _CANDIDATES
        self._fewest = MOST_TIED if self._asks_for_symbols else candidates
        self._for_each_hit = 1.2 if is_one_of_several else 2.0  # candidates
        self._checks = list(self._told_by_rows())
        self._vectors = vectors
        self._meaning: Meaning | None = None
        self.warnings: list[dict[str, str]] = [{"code": "query", "message": note} for note in self._parsed.notes]

    def look(self) -> dict[str, Found]:
        """What is found, in its order; nothing of it is shown yet."""
        self._meaning = self._asked_of_vectors()
        planner = Planner(self._parsed.tree, self._request, self._engine, self._store, time.time())
        matched = [self._match(mode, planner) for mode in modes(self._request)]
        for text in planner.warnings:
            self.warn("regex", text)
        # All of them at once: to ask for a few rows costs as much as the rows.
        rows = self._store.chunks(dict.fromkeys(number for one in matched for number in one.numbers()))
        scorer = Scorer(terms_with_idf(self._words, self._engine), self._weights)
        return {one.mode: self._ordered(one, rows, scorer) for one in matched}

    def show(self, found: dict[str, Found], counts: Mapping[str, int]) -> dict[str, Any]:
        """The first so many hits of each mode with their texts, all totals, and the files that they stand in."""
        for mode, one in found.items():
            shown = one.ranked[: counts.get(mode, 0)]
            if shown:
                self._tell_risk(shown)
                one.hits = hits(shown, self._request, self._store, self._highlighted, self._reasons)
        lists = {KEYS[mode]: found[mode].hits if mode in found else [] for mode in KEYS}
        totals = {KEYS[mode]: found[mode].total if mode in found else 0 for mode in KEYS}
        empty = not any(totals.values())
        query = self._parsed.tree
        for code, message in advice(self._request, query, self._engine, self._store, empty=empty):
            self.warn(code, message)
        truncated = any(len(one.hits) < one.total for one in found.values())
        return {**lists, "bundles": bundles(lists), "total": totals, "truncated": truncated}

    @staticmethod
    def nothing() -> dict[str, Any]:
        """The answer of an index that is not the one that was asked for."""
        lists: dict[str, list[dict[str, Any]]] = {key: [] for key in KEYS.values()}
        return {**lists, "bundles": bundles(lists), "total": dict.fromkeys(lists, 0), "truncated": False}

    def warn(self, code: str, message: str) -> None:
        """Say something beside the answer."""
        self.warnings.append({"code": code, "message": message})

    def _match(self, mode: str, planner: Planner) -> "_Matched":
        """Candidates of a mode: by their words, and by their meaning."""
        condition = planner.plan(mode)
        near = self._nearest(mode, planner)
        enough = max(self._fewest, int(self._for_each_hit * self._request.top))
        limit = _MOST_CANDIDATES if self._checks else enough
        candidates = self._engine.candidates(mode, condition, limit)
        return _Matched(mode, candidates, near, self._count_beyond(mode, condition, near))

    def _tell_risk(self, shown: list[Ranked]) -> None:
        """In full answers, and in every answer to a question about it."""
        if self._request.output != "compact" or asks_for_risk(self._request):
            from holdfast.search.risk.telling import tell_risk

            tell_risk(shown, self._engine, self._store)

    def _asked_of_vectors(self) -> Meaning | None:
        """What vectors say to the words of the question; a filter, an expression or a symbol has no meaning."""
        if self._vectors is None or self._request.ann is False or self._asks_for_symbols or not self._parsed.words:
            return None
        is_sentence = isinstance(self._parsed.tree, tree.Soft | tree.Word)
        question = self._request.query if is_sentence else " ".join(self._parsed.words)
        insist = self._request.ann is True
        return self._vectors.ask(question, modes(self._request), self._store, insist=insist, warn=self.warn)

    def _nearest(self, mode: str, planner: Planner) -> dict[int, float]:
        """The chunks that mean what is asked for and meet everything that is required, with their cosines."""
        if self._meaning is None or not self._meaning.has(mode):
            return {}
        required = planner.plan_without_words(mode)
        near = self._meaning.nearest(mode, self._engine, required, max(FEWEST, 2 * self._request.top))
        return {chunk: cosine for chunk, cosine in near.items() if cosine >= LEAST}

    def _ordered(self, matched: "_Matched", every: Mapping[int, ChunkRow], scorer: Scorer) -> Found:
        """The candidates of a mode, checked where the index alone cannot tell, in their final order."""
        mode, candidates = matched.mode, matched.candidates
        rows = [every[number] for number in matched.numbers() if number in every]
        for check in self._checks:
            rows = check(rows)
        total = len(rows) if self._checks else candidates.total + matched.beyond
        if self._checks and len(candidates.chunks) < candidates.total:
            checked = (
                f"the {len(candidates.chunks)} likeliest of {candidates.total:,} chunks of {mode} were checked"
            )
            self.warn("checked", f"{checked}; there may be more hits")
        ranked = rank(rows, self._store.paths({row.file for row in rows}), scorer)
        if self._meaning is not None and self._meaning.has(mode):
            cosines = self._meaning.cosines(mode, [row.id for row in rows])
            ranked = fuse(ranked, cosines, self._meaning.source(mode))
        found = Found(ranked, total)
        self._warn_about_dead_rows(found)
        if self._asks_for_symbols:
            found.ranked = tied(found.ranked, self._request, self._engine, self._store)
        return found

    def _count_beyond(self, mode: str, condition: Condition, near: dict[int, float]) -> int:
        """How many of the near chunks are not found by words as well."""
        if not near or self._checks:
            return 0
        both = self._engine.candidates(mode, All((condition, Chunks(frozenset(near)))), len(near))
        return len(near) - both.total

    def _told_by_rows(self) -> Iterator[_Check]:
        """What no index can tell."""
        if self._request.tokens_match_case:
            yield self._with_exact_words
        if self._request.chunk_author is not None:
            yield self._by_author

    def _by_author(self, rows: list[ChunkRow]) -> list[ChunkRow]:
        """Chunks of which the wanted person wrote a line, as far as git could be asked."""
        kept, reasons = self._chunk_authors(rows, self._request.chunk_author or "")
        for reason in dict.fromkeys(reasons):
            self.warn("blame", reason)
        return kept

    def _with_exact_words(self, rows: list[ChunkRow]) -> list[ChunkRow]:
        """Chunks in which a word of the query stands exactly as it is written there."""
        wanted = [(text.encode(), exact_words(text)) for text in self._parsed.words]
        texts = {file: self._store.text(file) for file in {row.file for row in rows}}
        return [row for row in rows if _has_exactly(texts[row.file][row.start : row.end], wanted)]

    @cached_property
    def _highlighted(self) -> Sequence[str]:
        """The words of the query, and the words inside of its names."""
        telling = [text for text, parts, _ in self._words if not is_stop_word(parts)]
        texts = [*(telling or self._parsed.words), *plain_names(self._request)]
        return sorted({word.lower() for text in texts for word in exact_words(text)})

    @cached_property
    def _reasons(self) -> list[str]:
        """The filters that every hit meets, as a person would say them."""
        arguments = self._request.to_arguments()
        said = {name: value for name, value in arguments.items() if name not in _NOT_A_REASON}
        return [
            f"{name} {'yes' if value is True else 'no' if value is False else _text(value)}"
            for name, value in said.items()
        ]

    def _warn_about_dead_rows(self, found: Found) -> None:
        if found.total and not found.ranked:
            self.warn("moved", "the index changed during the search; search again")


@lru_cache(maxsize=64)
def _parsed(query: str) -> tree.Parsed:
    """A query that was taken apart: the same one is often asked of several indexes."""
    return parse(query, fields=SHORTCUTS)


@lru_cache(maxsize=64)
def _words(query: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """What ranking looks for: every word that is asked for, once; a phrase is its words."""
    words: dict[tuple[tuple[str, ...], str], str] = {}
    for node in tree.positive(_parsed(query).tree):
        for text in () if isinstance(node, tree.Regex) else node.text.split():
            parts, identifier = looked_up(text)
            if parts or identifier:
                words.setdefault((parts, identifier), text)
    return tuple((text, parts, identifier) for (parts, identifier), text in words.items())


def _has_exactly(source: bytes, wanted: Sequence[tuple[bytes, set[str]]]) -> bool:
    possible = [words for text, words in wanted if text in source or len(words) > 1]
    present = exact_words(source.decode("utf-8", "replace")) if possible else set()
    return any(words <= present for words in possible)


_NOT_A_REASON = frozenset(
    {
        "query",
        "repoPath",
        "workspacePath",
        "mode",
        "top",
        "context",
        "output",
        "backend",
        "ann",
        "explain",
        "branch",
    }
    | {"definition", "references", "callers"}  # each hit says itself how it is tied to them
)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
