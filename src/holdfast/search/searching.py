"""One search over an open index: parse -> plan -> match -> rank -> shape, in this order."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.search.engine.interface import Condition, Engine
from holdfast.search.filters import used_fields
from holdfast.search.plan import Planner, looked_up
from holdfast.search.query import tree
from holdfast.search.query.parser import parse
from holdfast.search.rank import rank, terms_with_idf
from holdfast.search.request import SHORTCUTS, SearchRequest, modes
from holdfast.search.scoring import DEFAULT_WEIGHTS, Ranked, Weights
from holdfast.search.shape import KEYS, bundles, hits
from holdfast.search.store.reader import ChunkRow, StoreReader
from holdfast.search.tokens import exact_words

__all__ = ["Found", "Searching"]

_CANDIDATES = 64  # ranked for a page of results; more of them made no answer better
_MOST_CANDIDATES = 4096  # looked at when a condition can only be checked on the text or by git
_Check = Callable[[list[ChunkRow]], list[ChunkRow]]


@dataclass(slots=True)
class Found:
    """What one mode gave."""

    ranked: list[Ranked]
    total: int
    hits: list[dict[str, Any]] = field(default_factory=list)


class Searching:
    """The search of one request; `engine` and `store` are held at one generation while it lasts."""

    def __init__(
        self,
        request: SearchRequest,
        engine: Engine,
        store: StoreReader,
        *,
        chunk_authors: Callable[[list[ChunkRow], str], list[ChunkRow]],
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._request = request
        self._engine = engine
        self._store = store
        self._weights = weights
        self._chunk_authors = chunk_authors
        self._parsed = parse(request.query, fields=SHORTCUTS)
        self.warnings: list[dict[str, str]] = [{"code": "query", "message": note} for note in self._parsed.notes]

    def run(self) -> dict[str, Any]:
        """The lists of hits by mode, their totals, and the files they stand in."""
        found = {mode: self._search(mode) for mode in modes(self._request)}
        lists = {KEYS[mode]: found[mode].hits if mode in found else [] for mode in KEYS}
        totals = {KEYS[mode]: found[mode].total if mode in found else 0 for mode in KEYS}
        self._warn_about_languages(empty=not any(totals.values()))
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

    def _search(self, mode: str) -> Found:
        planner = Planner(self._engine, self._store, mode, time.time())
        condition = planner.plan(self._parsed.tree, self._request)
        for text in planner.warnings:
            self.warn("regex", text)
        found = self._match(mode, condition)
        self._warn_about_dead_rows(found)
        shown = found.ranked[: self._request.top]
        found.hits = hits(shown, self._request, self._store, self._highlighted(), self._reasons())
        return found

    def _match(self, mode: str, condition: Condition) -> Found:
        """Candidates, checked where the index alone cannot tell, in their final order."""
        limit = max(_CANDIDATES, 2 * self._request.top)
        checks = list(self._checks())
        while True:
            candidates = self._engine.candidates(mode, condition, limit)
            rows = list(self._store.chunks(candidates.chunks).values())
            for check in checks:
                rows = check(rows)
            complete = len(candidates.chunks) >= candidates.total or limit >= _MOST_CANDIDATES
            if not checks or complete or len(rows) >= self._request.top:
                break
            limit = min(limit * 4, _MOST_CANDIDATES)
        total = len(rows) if checks else candidates.total
        if checks and len(candidates.chunks) < candidates.total:
            message = (
                f"only the {len(candidates.chunks)} likeliest of {candidates.total} {mode} chunks were checked"
            )
            self.warn("checked", message)
        paths = self._store.paths({row.file for row in rows})
        terms = terms_with_idf(self._words(), self._engine)
        return Found(rank(rows, paths, terms, self._weights), total)

    def _checks(self) -> Iterable[_Check]:
        if self._request.tokens_match_case:
            yield self._with_exact_words
        if self._request.chunk_author is not None:
            author = self._request.chunk_author
            yield lambda rows: self._chunk_authors(rows, author)

    def _with_exact_words(self, rows: list[ChunkRow]) -> list[ChunkRow]:
        """Chunks in which a word of the query stands exactly as it is written there."""
        wanted = [exact_words(text) for text in self._parsed.words]
        texts = {file: self._store.text(file) for file in {row.file for row in rows}}
        kept = []
        for row in rows:
            present = exact_words(texts[row.file][row.start : row.end].decode("utf-8", "replace"))
            if any(words <= present for words in wanted):
                kept.append(row)
        return kept

    def _words(self) -> list[tuple[str, tuple[str, ...], str]]:
        """What ranking looks for: every word that is asked for, once; a phrase is its words."""
        words: dict[tuple[tuple[str, ...], str], str] = {}
        for node in tree.positive(self._parsed.tree):
            texts = (
                node.text.split()
                if isinstance(node, tree.Phrase)
                else [node.text]
                if isinstance(node, tree.Word)
                else []
            )
            for text in texts:
                parts, identifier = looked_up(text)
                if parts or identifier:
                    words.setdefault((parts, identifier), text)
        return [(text, parts, identifier) for (parts, identifier), text in words.items()]

    def _highlighted(self) -> Sequence[str]:
        """The words of the query, and the words inside of its names."""
        return sorted({word.lower() for text, _, _ in self._words() for word in exact_words(text)})

    def _reasons(self) -> list[str]:
        """The filters that every hit meets, as a person would say them."""
        arguments = self._request.to_arguments()
        said = {name: value for name, value in arguments.items() if name not in _NOT_A_REASON}
        return [
            f"{name} {'yes' if value is True else 'no' if value is False else _text(value)}"
            for name, value in said.items()
        ]

    def _warn_about_languages(self, *, empty: bool) -> None:
        """A filter on a field that a language cannot have must not look like an honest nothing."""
        self._warn_about_names("type", self._request.type, "kind")
        used = list(used_fields(self._request))
        if not used and not self._request.lang:
            return
        from holdfast.search.languages import fields_of

        asked = self._languages_in_scope()
        self._warn_about_names("lang", tuple(asked), "lang")
        for argument, name in used:
            without = sorted(language for language in asked if name not in fields_of(language))
            if without and (empty or self._request.lang or len(without) == len(asked)):
                some = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
                message = f"{argument}: the index knows no such thing of {some}"
                self.warn("field-unavailable", message)

    def _warn_about_names(self, argument: str, wanted: Sequence[str], fact: str) -> None:
        present = self._engine.vocabulary(fact).values
        missing = sorted(set(wanted) - set(present)) if not set(wanted) & set(present) else []
        if missing:
            self.warn("unknown-value", f"{argument}: there is nothing of {', '.join(missing)} in this index")

    def _languages_in_scope(self) -> set[str]:
        present = set(self._engine.vocabulary("lang").values)
        if not self._request.lang:
            return present
        from holdfast.search.discover.kinds import language_ids

        return {one for name in self._request.lang for one in language_ids(name)}

    def _warn_about_dead_rows(self, found: Found) -> None:
        if found.total and not found.ranked:
            self.warn("moved", "the index changed during the search; search again")


_NOT_A_REASON = frozenset(
    {"query", "repoPath", "mode", "top", "context", "output", "backend", "ann", "explain", "branch"}
)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
