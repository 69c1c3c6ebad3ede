"""Every backend but the default one: the chunks that meet a condition, scored here as the default backend does it.

Where words stand is told by `Postings`: FTS5, plain tables or dictionaries. How much they count is reckoned from
that (`bm25`), with the figures of the default backend, so that the same candidates come out in the same order
whatever they are looked up in. Every chunk that meets a condition is scored: there is no shortcut, so a word that
stands everywhere costs more here.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from functools import cached_property
from heapq import nsmallest
from typing import Any, Protocol, TypeVar

from holdfast.search.engine.bm25 import FieldScoring
from holdfast.search.engine.combine import Everything, Matched, added, all_of, any_of, within
from holdfast.search.engine.interface import (
    All,
    AtLeast,
    Candidates,
    Chunks,
    Condition,
    Either,
    Facts,
    Files,
    NoneOf,
    Phrase,
    Sentence,
    Word,
)
from holdfast.search.engine.portable_schema import FIELDS
from holdfast.search.engine.tantivy_schema import COUNT_FIELDS, PHRASE_FIELDS
from holdfast.search.engine.vocabulary import Vocabulary

__all__ = ["Postings", "ScoredEngine"]

# How much a match in a field counts when candidates are chosen, as in the default backend.
_BOOSTS = (("body", 1.0), ("name", 1.5))
_IDENTIFIER_BOOST = 1.5
_WIDER = 8  # times as many candidates, where equal scores are cut in the middle
_MOST_KEPT = 500_000  # scores of words, and members of sets, that are kept for the next query
_Found = TypeVar("_Found", bound=Sized)


class Postings(Protocol):
    """Where words and facts stand, at one generation; numbers are those of chunks unless said otherwise."""

    generation: int
    documents: int  # that can be found, files among them
    reckoned: int  # that count for the rarity of words
    averages: Mapping[str, float]  # words of a field in a chunk

    def lengths(self) -> Mapping[str, bytearray]:
        """The code of the length of each field, by the number of the chunk."""

    def frequency(self, field: str, word: str) -> int:
        """In how many documents a word stands, as the default backend counts them."""

    def counts(self, field: str, word: str) -> Mapping[int, int]:
        """How often a word stands in each chunk."""

    def phrase_counts(self, field: str, words: tuple[str, ...]) -> Mapping[int, int]:
        """How often words follow each other in each chunk."""

    def with_facts(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Chunks with one of these values of a fact."""

    def at_least(self, count: str, least: int) -> frozenset[int]:
        """Chunks with a count that is not below a number."""

    def of_files(self, numbers: Iterable[int]) -> frozenset[int]:
        """The chunks of some files."""

    def values(self, fact: str) -> Iterable[str]:
        """Every value that a fact has somewhere."""

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Numbers of the files with one of these values of a fact about files."""

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Numbers of the files that contain all the trigrams of an alternative; of all files without any."""


class ScoredEngine:
    """A backend over postings; its candidates are those of the default backend."""

    def __init__(self, name: str, postings: Postings) -> None:
        self.name = name
        self.generation = postings.generation
        self._postings = postings
        self._vocabularies: dict[str, Vocabulary] = {}
        self._kept: dict[Hashable, Any] = {}
        self._kept_size = 0

    def candidates(self, mode: str, condition: Condition, limit: int) -> Candidates:
        """Chunks of one mode that satisfy a condition, the likeliest first."""
        every = self._with_facts("mode", (mode,))
        wanted = condition.conditions if isinstance(condition, All) else (condition,)
        found = within(all_of([every, *(self._matched(one, every) for one in wanted)]), every)
        return Candidates(_best(found, limit), len(found))

    def document_frequency(self, word: str, *, identifier: bool) -> int:
        """In how many chunks a sub-word or a whole identifier stands."""
        return self._postings.frequency("identifiers" if identifier else "body", word)

    def document_count(self) -> int:
        """How many chunks there are, with a document for each file on top."""
        return self._postings.documents

    def vocabulary(self, fact: str) -> Vocabulary:
        """Every value that a fact has somewhere."""
        if fact not in self._vocabularies:
            self._vocabularies[fact] = Vocabulary(self._postings.values(fact))
        return self._vocabularies[fact]

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Files with at least one of these values of a fact about files, such as `imports`."""
        return self._postings.files_with_fact(name, values)

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Files that contain all the trigrams of at least one alternative."""
        return self._postings.files_with_grams(alternatives)

    # From a condition to the chunks that meet it.

    def _matched(self, condition: Condition, every: frozenset[int]) -> Matched:  # noqa: C901 - one line for each
        match condition:
            case Word():
                return self._word(condition)
            case Phrase(parts):
                return self._phrase(parts)
            case Facts(name, values):
                return self._with_facts(name, values)
            case AtLeast(count, least):
                return self._postings.at_least(count, least) if count in COUNT_FIELDS else frozenset()
            case Files(numbers):
                return self._keep((Files, numbers), lambda: self._postings.of_files(numbers))
            case Chunks(numbers):
                return numbers
            case All(conditions):
                return all_of([self._matched(one, every) for one in conditions])
            case Either(conditions):
                return any_of([self._matched(one, every) for one in conditions], every)
            case Sentence(required, words):
                return self._sentence(required, words, every)
            case NoneOf(inner):
                return every.difference(within(self._matched(inner, every), every))

    def _sentence(
        self, required: Sequence[Condition], words: Sequence[Condition], every: frozenset[int]
    ) -> Matched:
        found = any_of([self._matched(one, every) for one in words], every)
        if not required:
            return found
        decided = all_of([self._matched(one, every) for one in required])
        if not words:
            return decided
        if isinstance(decided, Everything):
            return any_of([found, decided], every)
        scores = decided if isinstance(decided, dict) else dict.fromkeys(decided, 0.0)
        more = found if isinstance(found, dict) else {}
        return {number: score + more.get(number, 0.0) for number, score in scores.items()}

    def _word(self, word: Word) -> Matched:
        whole = [self._term("identifiers", word.identifier, _IDENTIFIER_BOOST)] if word.identifier else []
        parts = [self._part(part) for part in word.parts]
        return any_of([*whole, all_of(parts)]) if parts else any_of(whole)

    def _part(self, word: str) -> dict[int, float]:
        return self._keep(
            (Word, word), lambda: added([self._term(field, word, boost) for field, boost in _BOOSTS])
        )

    def _phrase(self, parts: tuple[str, ...]) -> Matched:
        if len(parts) == 1:
            return any_of([self._term(field, parts[0]) for field in PHRASE_FIELDS])
        return self._keep(
            (Phrase, parts), lambda: added([self._row_of_words(field, parts) for field in PHRASE_FIELDS])
        )

    def _term(self, field: str, word: str, boost: float = 1.0) -> dict[int, float]:
        weight = self._scoring[field].weight([self._postings.frequency(field, word)], boost)
        return self._scored(field, self._postings.counts(field, word), weight)

    def _row_of_words(self, field: str, words: tuple[str, ...]) -> dict[int, float]:
        weight = self._scoring[field].weight([self._postings.frequency(field, word) for word in words])
        return self._scored(field, self._postings.phrase_counts(field, words), weight)

    def _with_facts(self, name: str, values: Sequence[str]) -> frozenset[int]:
        return self._keep((Facts, name, tuple(values)), lambda: self._postings.with_facts(name, values))

    # Scores.

    def _scored(self, field: str, counts: Mapping[int, int], weight: float) -> dict[int, float]:
        codes, score = self._lengths[field], self._scoring[field].score
        known: dict[tuple[int, int], float] = {}  # few pairs of count and length make up most of the chunks
        scores = {}
        for number, count in counts.items():
            key = (count, codes[number])
            if key not in known:
                known[key] = score(weight, *key)
            scores[number] = known[key]
        return scores

    @cached_property
    def _scoring(self) -> dict[str, FieldScoring]:
        postings = self._postings
        return {field: FieldScoring(postings.averages[field], postings.reckoned) for field in FIELDS}

    @cached_property
    def _lengths(self) -> Mapping[str, bytearray]:
        return self._postings.lengths()

    def _keep(self, key: Hashable, find: Callable[[], _Found]) -> _Found:
        """What was found for an earlier query, or is found now: words and filters come again and again."""
        if key not in self._kept:
            found = find()
            self._kept_size += len(found) + 1
            if self._kept_size > _MOST_KEPT:
                self._kept, self._kept_size = {}, len(found) + 1
            self._kept[key] = found
        kept: _Found = self._kept[key]
        return kept


def _best(found: dict[int, float] | frozenset[int], limit: int) -> list[int]:
    """The candidates that the default backend would choose: what is done about equal scores is part of that."""
    if not isinstance(found, dict):
        return nsmallest(limit, found)
    # In single precision, as they are compared there, and turned round, so that the best come first.
    scores = array("f", [-score for score in found.values()])
    top = nsmallest(limit + 1, zip(scores, found, strict=True))
    if len(top) > limit and top[-1][0] == top[0][0]:
        return nsmallest(limit, found)
    if len(top) > limit and top[-1][0] == top[-2][0]:
        top = nsmallest(limit * _WIDER, zip(scores, found, strict=True))
    rounded = sorted((round(score, 5), number) for score, number in top)
    return [number for _, number in rounded[:limit]]
