"""The order of the results: one scoring for every backend, over the words of the candidates.

A candidate is scored by fielded BM25 over its words (name, signature, doc, path, body), then lifted when it is the
definition that the query names, when it matches more of the query, and when the words stand close together; tests
and vendored code are lowered a little. The numbers are in `Weights`, in one place; they were tuned on development
queries of `benchmarks/search_quality.py` and are reported on others. Equal scores are settled by path and
position.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from holdfast.search.engine.interface import Engine
from holdfast.search.kinship import kinship
from holdfast.search.prepared import FIELD_SEPARATOR, spaced, word_fields
from holdfast.search.store.reader import ChunkRow
from holdfast.search.tokens import body_streams

__all__ = ["DEFAULT_WEIGHTS", "QueryTerm", "Ranked", "Weights", "is_stop_word", "rank", "terms_with_idf"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign of relevance counts."""

    name: float = 7.0
    container: float = 2.2  # the names that a name is qualified by
    signature: float = 0.0
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
    proximity_candidates: int = 24
    test_path: float = 0.9
    vendored_path: float = 0.75
    kinds: Mapping[str, float] = field(default_factory=lambda: {"module": 0.75, "variable": 0.9, "block": 0.9})


DEFAULT_WEIGHTS = Weights()

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|specs)/|(^|/)(test_|conftest)[^/]*$|[._-](test|tests|spec)\.\w+$"
)
_VENDORED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third_party|third-party|node_modules|site-packages|external)/"
)
_STOP_WORDS = frozenset(  # stemmed, as they stand in the index
    (
        *(
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "been",
            "but",
            "by",
            "can",
            "could",
            "did",
            "do",
            "doe",
            "does",
        ),
        *(
            "for",
            "from",
            "had",
            "has",
            "have",
            "how",
            "i",
            "if",
            "in",
            "into",
            "is",
            "it",
            "its",
            "may",
            "me",
            "my",
        ),
        *("no", "not", "of", "on", "or", "our", "over", "should", "so", "such", "than", "that", "the", "their"),
        *("them", "then", "there", "these", "they", "thi", "this", "to", "up", "us", "use", "used", "was", "we"),
        *("were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your"),
    )
)


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
    matched: list[str]


def is_stop_word(parts: Sequence[str]) -> bool:
    """Whether a word of a sentence says little: where, is, the."""
    return len(parts) == 1 and parts[0] in _STOP_WORDS


def terms_with_idf(words: Iterable[tuple[str, tuple[str, ...], str]], engine: Engine) -> list[QueryTerm]:
    """The words of a query with how rare each is, without those of a sentence that say nothing."""
    total = max(engine.document_count(), 1)
    listed = list(words)
    telling = [word for word in listed if not is_stop_word(word[1])]
    terms = []
    for text, parts, identifier in telling or listed:
        idf = tuple(_idf(engine.document_frequency(part, identifier=False), total) for part in parts)
        whole = _idf(engine.document_frequency(identifier, identifier=True), total) if identifier else 0.0
        terms.append(QueryTerm(text, parts, identifier, idf, whole))
    return terms


def _idf(frequency: int, total: int) -> float:
    return math.log(1.0 + (total - frequency + 0.5) / (frequency + 0.5)) if frequency <= total else 0.1


def rank(
    rows: Iterable[ChunkRow],
    paths: Mapping[int, str],
    terms: Sequence[QueryTerm],
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Ranked]:
    """Candidates in their final order."""
    about_tests = any("test" in term.parts for term in terms)
    asked = frozenset(part for term in terms for part in term.parts)
    nearness = _Nearness(asked)
    ranked = []
    for row in rows:
        path = paths.get(row.file, "")
        near = nearness.of(_own_words(row.name))
        one = _score(row, path, terms, near, weights)
        lift = _name_lift(row.name, terms, near, weights)
        prior = _prior(row.kind, path, about_tests=about_tests, weights=weights)
        one.parts["symbol"], one.parts["prior"] = lift, prior
        one.score *= (1.0 + lift) * prior
        ranked.append(one)
    ranked.sort(key=_order)
    if len(asked) > 1 and weights.proximity:
        for one in ranked[: weights.proximity_candidates]:
            body = word_fields(one.row.unpacked_words())[3].split()
            lift = weights.proximity * _closeness(body, asked)
            one.parts["proximity"] = lift
            one.score *= 1.0 + lift
        ranked.sort(key=_order)
    return ranked


def _order(one: Ranked) -> tuple[float, str, int, int]:
    return (-round(one.score, 6), one.path, one.row.start, one.row.id)


def _score(
    row: ChunkRow, path: str, terms: Sequence[QueryTerm], nearness: dict[str, float], weights: Weights
) -> Ranked:
    """Fielded BM25, lowered by the share of the query that does not match."""
    words = row.unpacked_words() + _path_words(path)
    fields = word_fields(words)
    own = _own_words(row.name)
    lengths = _lengths(len(own), fields[3], weights)
    parts = {"body": 0.0, "name": 0.0, "identifier": 0.0}
    found_idf = all_idf = 0.0
    matched = []
    for term in terms:
        hit = False
        for part, idf in zip(term.parts, term.part_idf, strict=True):
            all_idf += idf
            key = f" {part} "
            near = nearness.get(part, 0.0)
            if near or key in words:  # most words of a sentence are not in most candidates
                in_name = near * lengths[0]
                elsewhere = _elsewhere(key, own.count(part), fields, lengths[1], weights)
                frequency = in_name + elsewhere
                gain = idf * (weights.k1 + 1) * frequency / (weights.k1 + frequency) / (frequency or 1.0)
                parts["name"] += gain * in_name
                parts["body"] += gain * elsewhere
                found_idf += idf
                hit = True
        if term.identifier and (count := _identifier_count(term.identifier, fields)):
            parts["identifier"] += weights.identifier * term.identifier_idf * count / (1 + count)
            hit = True
        if hit:
            matched.append(term.text)
    parts["coordination"] = (found_idf / all_idf) ** weights.coordination if all_idf else 1.0
    score = (parts["body"] + parts["name"] + parts["identifier"]) * parts["coordination"]
    return Ranked(row, path, score, parts, matched)


class _Nearness:
    """How near words of names are to the words of one query; each word is compared once."""

    def __init__(self, asked: frozenset[str]) -> None:
        self._asked = asked
        self._kin: dict[str, tuple[float, str]] = {}

    def of(self, own: tuple[str, ...]) -> dict[str, float]:
        """How much the words of a name count for words of the query; each word of the name counts once."""
        found: dict[str, float] = {}
        for word in own:
            kin = self._kin.get(word)
            if kin is None:
                kin = self._kin[word] = max(
                    ((kinship(part, word), part) for part in self._asked), default=(0.0, "")
                )
            near, part = kin
            if near:
                found[part] = found.get(part, 0.0) + near
        return found


def _lengths(own_words: int, body: str, weights: Weights) -> tuple[float, float]:
    """What one occurrence counts in the name and in the body; in long ones it counts less."""
    name = 1 - weights.name_norm + weights.name_norm * own_words / weights.name_pivot
    long = 1 - weights.body_norm + weights.body_norm * body.count("  ") / weights.body_pivot
    return weights.name / name, weights.body / long


def _elsewhere(key: str, own_count: int, fields: list[str], body_weight: float, weights: Weights) -> float:
    """How often a word stands outside of the chunk's own name, each field by its weight."""
    name, signature, doc, body, _, path = fields
    around = (name.count(key) - own_count) * weights.container  # the class of a method
    inside = body.count(key) * body_weight + signature.count(key) * weights.signature
    return around + inside + doc.count(key) * weights.doc + path.count(key) * weights.path


def _identifier_count(identifier: str, fields: list[str]) -> int:
    key = f" {identifier} "
    return fields[4].count(key) + 2 * fields[0].count(key)


@lru_cache(maxsize=1 << 14)
def _path_words(path: str) -> str:
    """The words of a path, as one more field."""
    return FIELD_SEPARATOR + spaced(body_streams(path)[0])


@lru_cache(maxsize=1 << 14)
def _own_words(name: str) -> tuple[str, ...]:
    """The words of a name without what it is qualified by."""
    return tuple(body_streams(name.rpartition(".")[2])[0].split())


def _name_lift(name: str, terms: Sequence[QueryTerm], nearness: dict[str, float], weights: Weights) -> float:
    """The query says the name: as one of its words, or with all of its words."""
    if not nearness:
        return 0.0
    covered = sum(nearness.values())
    low = name.lower()
    last = low.rpartition(".")[2]
    lift = weights.name_coverage * (covered / len(_own_words(name))) ** 2
    for term in terms:
        text = term.text.lower().removesuffix("()")
        if text in (low, last) and (term.identifier or len(terms) == 1):
            return lift + weights.exact_name * (1.25 if text == low else 1.0)
    return lift


@lru_cache(maxsize=1 << 14)
def _place(path: str) -> tuple[bool, bool]:
    return _TEST.search(path) is not None, _VENDORED.search(path) is not None


def _prior(kind: str, path: str, *, about_tests: bool, weights: Weights) -> float:
    prior = weights.kinds.get(kind, 1.0)
    is_test, is_vendored = _place(path)
    if is_test and not about_tests:
        prior *= weights.test_path
    return prior * weights.vendored_path if is_vendored else prior


def _closeness(body: list[str], wanted: frozenset[str]) -> float:
    """1 when all words of the query stand side by side, towards 0 when they are spread out or alone."""
    places = [(place, word) for place, word in enumerate(body) if word in wanted]
    present = {word for _, word in places}
    if len(present) < 2:
        return 0.0
    best, counts, left = len(body), dict.fromkeys(present, 0), 0
    missing = len(present)
    for place, word in places:
        missing -= counts[word] == 0
        counts[word] += 1
        while missing == 0:
            first, first_word = places[left]
            best = min(best, place - first + 1)
            counts[first_word] -= 1
            missing += counts[first_word] == 0
            left += 1
    return len(present) / len(wanted) * len(present) / max(best, len(present))
