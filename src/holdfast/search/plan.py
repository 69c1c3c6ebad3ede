"""From a parsed query and a request's filters to one condition that a backend can carry out."""

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.search.engine.interface import (
    All,
    Chunks,
    Condition,
    Either,
    Engine,
    NoneOf,
    Phrase,
    Sentence,
    Word,
)
from holdfast.search.filters import conditions
from holdfast.search.query import tree
from holdfast.search.rank import is_stop_word
from holdfast.search.regex_match import RegexMatches
from holdfast.search.request import SearchRequest, modes, with_shortcuts
from holdfast.search.store.reader import StoreReader
from holdfast.search.tokens import terms_of

__all__ = ["Planner", "looked_up"]

_EVERYWHERE = 0.15  # share of the chunks; a word that stands in more of them tells nothing apart
_MOST_WORDS = 6  # of a sentence, the rarest, that candidates are found by; all of them rank


@lru_cache(maxsize=1 << 10)  # every index that a query is asked of wants to know
def looked_up(text: str) -> tuple[tuple[str, ...], str]:
    """What a word of a query is looked up as: its sub-words, and itself as a whole identifier."""
    terms = terms_of(text)
    return terms.subwords, terms.identifiers[0] if terms.identifiers else ""


class Planner:
    """Turns one query, asked of one generation of an index, into conditions."""

    def __init__(
        self, query: tree.Node, request: SearchRequest, engine: Engine, store: StoreReader, now: float
    ) -> None:
        self._query = query
        self._request = request
        self._engine = engine
        self._store = store
        self._now = now
        self._mode = ""
        self._filtered: tuple[Condition, ...] | None = None
        self._common: Condition | None = None  # what was planned, where it is the same for every mode
        self._matching: dict[tuple[str, str, str], Condition] = {}  # what regular expressions were found to match
        self._matches = RegexMatches(engine, store, modes(request))

    @property
    def warnings(self) -> list[str]:
        """What could not be looked for everywhere."""
        return self._matches.warnings

    def plan(self, mode: str) -> Condition:
        """The condition that a chunk of a mode has to meet."""
        if self._common is not None:
            return self._common
        self._mode = mode
        node, filters = self._node(self._query), self._filters()
        planned = All((node, *filters)) if filters else node
        if not self._matching:  # an expression matches other chunks in each mode; words and facts are the same
            self._common = planned
        return planned

    def plan_without_words(self, mode: str) -> Condition:
        """The condition that a chunk has to meet that is found by its meaning, whatever words it has.

        Words of a sentence ask for something; what is written in the language of queries is still required, and so
        is a name. `All()` where nothing is.
        """
        self._mode = mode
        required = tuple(part for part in (self._required(self._query), *self._filters()) if part != All())
        return required[0] if len(required) == 1 else All(required)

    def _filters(self) -> tuple[Condition, ...]:
        if self._filtered is None:
            self._filtered = tuple(conditions(self._request, self._engine, self._store, self._now))
        return self._filtered

    def _node(self, node: tree.Node) -> Condition:
        match node:
            case tree.Word(text):
                return self._word(text)
            case tree.Phrase(text):
                return self._phrase(text)
            case tree.Regex(pattern, flags):
                return self._regex(pattern, flags)
            case tree.Filter(field, value):
                return self._filter(field, value)
            case tree.Soft(parts):
                return Sentence((), self._words(parts))
            case tree.And(parts):
                return self._and(parts)
            case tree.Or(parts):
                return Either(tuple(map(self._node, parts)))
            case tree.Not(part):
                return NoneOf(self._node(part))
            case tree.Everything():
                return All()

    def _required(self, node: tree.Node) -> Condition:
        match node:
            case tree.Soft():
                return All()
            case tree.Word(text):
                return self._word(text) if looked_up(text)[1] else All()
            case tree.And(parts):
                # One word beside filters is a sentence of one word; several were joined by AND.
                is_sentence = sum(not isinstance(p, tree.Filter | tree.Not | tree.Everything) for p in parts) == 1
                free = (tree.Soft, tree.Word) if is_sentence else tree.Soft
                found = (self._required(p) if isinstance(p, free) else self._node(p) for p in parts)
                return All(tuple(part for part in found if part != All()))
            case _:
                return self._node(node)

    def _and(self, parts: Iterable[tree.Node]) -> Condition:
        """Words that only rank stand beside what decides."""
        words = tuple(
            w for part in parts if isinstance(part, tree.Soft) and part.optional for w in self._words(part.parts)
        )
        required = tuple(self._node(p) for p in parts if not (isinstance(p, tree.Soft) and p.optional))
        return Sentence(required, words) if words else All(required)

    def _words(self, parts: Iterable[tree.Word]) -> tuple[Condition, ...]:
        """The words of a sentence that tell chunks apart: not "is" and "the", nor what stands everywhere.

        Nor what stands nowhere, as long as another word does: it would be the rarest, and find nothing.
        """
        looked = [looked_up(part.text) for part in parts]
        words = [Word(*terms) for terms in looked if any(terms)]
        telling = [word for word in words if not is_stop_word(word.parts)] or words
        counted = [(self._frequency(word), word) for word in telling]
        counted = [one for one in counted if one[0] or not one[1].parts] or counted
        most = _EVERYWHERE * self._engine.document_count()
        rare = [one for one in counted if one[0] <= most]
        return tuple(word for _, word in sorted(rare or counted, key=_first)[:_MOST_WORDS])

    def _frequency(self, word: Word) -> int:
        """In how many chunks a word can stand at most."""
        return min((self._engine.document_frequency(part, identifier=False) for part in word.parts), default=0)

    def _word(self, text: str) -> Condition:
        parts, identifier = looked_up(text)
        if not parts and not identifier:
            return self._regex(re.escape(text), "i")
        return Word(parts, identifier)

    def _phrase(self, text: str) -> Condition:
        parts, _ = looked_up(text)
        return Phrase(parts) if parts else self._regex(re.escape(text), "i")

    def _regex(self, pattern: str, flags: str) -> Condition:
        key = (pattern, flags, self._mode)
        if key not in self._matching:
            self._matching[key] = Chunks(self._matches.chunks(pattern, flags, self._mode))
        return self._matching[key]

    def _filter(self, field: str, value: str) -> Condition:
        alone = with_shortcuts(SearchRequest(query="*"), [(field, value)])
        return All(tuple(conditions(alone, self._engine, self._store, self._now)))


def _first(counted: tuple[int, Word]) -> int:
    return counted[0]
