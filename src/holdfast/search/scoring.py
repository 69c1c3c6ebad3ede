"""How well one candidate fits a query: fielded BM25 over its words, and what the query says of its name.

Everything that depends on the query alone is worked out once, since dozens of candidates are scored for an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from holdfast.search.kinship import nearest
from holdfast.search.prepared import word_fields
from holdfast.search.store.reader import ChunkRow
from holdfast.search.tokens import subwords

__all__ = ["DEFAULT_WEIGHTS", "QueryTerm", "Ranked", "Scorer", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign of relevance counts; tuned on development questions of benchmarks/search_quality.py."""

    name: float = 7.0
    container: float = 2.2  # the names that a name is qualified by
    doc: float = 0.9
    path: float = 2.5
    body: float = 1.0
    identifier: float = 2.0  # a whole identifier of the query, found as such
    k1: float = 3.0
    body_norm: float = 0.8  # how much long bodies are lowered
    body_pivot: float = 40.0  # words of a body of ordinary length
    name_norm: float = 0.5
    name_pivot: float = 3.0
    coordination: float = 0.35  # exponent of the share of the query that matches
    name_coverage: float = 0.35  # when the query says all words of the name
    exact_name: float = 1.2  # when a word of the query is the name
    proximity: float = 0.1
    proximity_candidates: int = 8
    test_path: float = 0.85
    vendored_path: float = 0.75
    kinds: Mapping[str, float] = field(default_factory=lambda: {"module": 0.75, "variable": 0.9, "block": 0.7})


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of the query: its stemmed sub-words, the identifier as a whole, and how rare it is."""

    text: str
    parts: tuple[str, ...]
    identifier: str
    part_idf: tuple[float, ...]
    identifier_idf: float


@dataclass(slots=True)
class Ranked:
    """A candidate with its score and the parts that it is made of."""

    row: ChunkRow
    path: str
    score: float
    parts: dict[str, float]
    matched: list[str]  # words of the query
    body: str  # its words, spaced
    present: list[str]  # words of the query that stand in the body, stemmed
    notes: list[str] = field(default_factory=list)  # further reasons why it was found
    more: dict[str, Any] = field(default_factory=dict)  # further fields of the hit


class Scorer:
    """Scores the candidates of one query."""

    def __init__(self, terms: Sequence[QueryTerm], weights: Weights) -> None:
        self.weights = weights
        self.asked = frozenset(part for term in terms for part in term.parts)
        self._texts = [term.text for term in terms]
        # (number of the term, word, the word as it is looked for, how rare it is)
        self._parts = [
            (number, part, f" {part} ", idf)
            for number, term in enumerate(terms)
            for part, idf in zip(term.parts, term.part_idf, strict=True)
        ]
        self._identifiers = [
            (number, f" {term.identifier} ", weights.identifier * term.identifier_idf)
            for number, term in enumerate(terms)
            if term.identifier
        ]
        self._all_idf = sum(idf for *_, idf in self._parts)
        self._names = {
            term.text.lower().removesuffix("()") for term in terms if term.identifier or len(terms) == 1
        }
        self._kin = _kin_of(self.asked)

    def score(self, row: ChunkRow, path: str) -> Ranked:
        """Fielded BM25, lowered by the share of the query that does not match, lifted where the name is said."""
        weights = self.weights
        words = row.unpacked_words()
        own, path_words = _own_words(row.name), _path_words(path)
        near_parts = self._nearness(own)
        name, doc, body, identifiers = word_fields(words)
        per_name, per_body = _lengths(len(own), body, weights)
        k1, container, per_doc, per_path = weights.k1, weights.container, weights.doc, weights.path
        in_names = elsewheres = found_idf = 0.0
        hits, present = set(), []
        for number, part, key, idf in self._parts:
            on_path = part in path_words
            in_name = near_parts[part] * per_name if part in near_parts else 0.0
            if key in words:
                if in_body := body.count(key):
                    present.append(part)
                around = name.count(key) - own.count(part)  # the class of a method
                elsewhere = in_body * per_body + around * container + on_path * per_path
                elsewhere += doc.count(key) * per_doc
            elif on_path:
                elsewhere = per_path
            elif in_name:
                elsewhere = 0.0
            else:
                continue  # most words of a sentence are not in most candidates
            frequency = in_name + elsewhere
            if frequency:
                gain = idf * (k1 + 1) / (k1 + frequency)
                in_names += gain * in_name
                elsewheres += gain * elsewhere
                found_idf += idf
                hits.add(number)
        identified = 0.0
        for number, key, value in self._identifiers:
            count = identifiers.count(key) + 2 * name.count(key)
            if count:
                identified += value * count / (1 + count)
                hits.add(number)
        coordination = (found_idf / self._all_idf) ** weights.coordination if self._all_idf else 1.0
        symbol = self._name_lift(row.name, len(own), near_parts)
        score = (in_names + elsewheres + identified) * coordination * (1.0 + symbol)
        parts = {
            "body": elsewheres, "name": in_names, "identifier": identified,
            "coordination": coordination, "symbol": symbol,
        }  # fmt: skip
        return Ranked(row, path, score, parts, [self._texts[number] for number in sorted(hits)], body, present)

    def _nearness(self, own: tuple[str, ...]) -> dict[str, float]:
        """How much the words of a name count for words of the query; each word of the name counts once."""
        found: dict[str, float] = {}
        for word in own:
            kin = self._kin.get(word)
            if kin is None:  # the same words come back in many names
                kin = self._kin[word] = nearest(word, self.asked)
            near, part = kin
            if near:
                found[part] = found.get(part, 0.0) + near
        return found

    def _name_lift(self, name: str, words: int, near_parts: dict[str, float]) -> float:
        """The query says the name: as one of its words, or with all of its words."""
        if not near_parts:
            return 0.0
        low = name.lower()
        lift = self.weights.name_coverage * (sum(near_parts.values()) / words) ** 2
        if low in self._names:
            return lift + self.weights.exact_name * 1.25
        said = low.rpartition(".")[2]
        if said not in self._names and ", " in low:  # one of the names of the same
            said = next((one for one in said.split(", ") if one in self._names), "")
        return lift + self.weights.exact_name if said in self._names else lift


@lru_cache(maxsize=32)
def _kin_of(_asked: frozenset[str]) -> dict[str, tuple[float, str]]:
    """What is known already of words in names, for the words of a query, whichever index it is asked of."""
    return {}


def _lengths(own_words: int, body: str, weights: Weights) -> tuple[float, float]:
    """What one occurrence counts in the name and in the body; in long ones it counts less."""
    name = 1 - weights.name_norm + weights.name_norm * own_words / weights.name_pivot
    long = 1 - weights.body_norm + weights.body_norm * body.count("  ") / weights.body_pivot
    return weights.name / name, weights.body / long


@lru_cache(maxsize=1 << 14)
def _path_words(path: str) -> frozenset[str]:
    return frozenset(subwords(path))


@lru_cache(maxsize=1 << 14)
def _own_words(name: str) -> tuple[str, ...]:
    """The words of a name without what it is qualified by."""
    return tuple(subwords(name.rpartition(".")[2]))
