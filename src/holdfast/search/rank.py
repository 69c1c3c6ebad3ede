"""The order of the results: one scoring for every backend, over the words of the candidates.

A candidate is scored (`scoring`), lifted when the words of the query stand close together, and lowered a little
where it is a test or vendored code. Equal scores are settled by path and position: equal questions, equal answers.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from holdfast.search.engine.interface import Engine
from holdfast.search.scoring import QueryTerm, Ranked, Scorer, Weights
from holdfast.search.store.reader import ChunkRow

__all__ = ["is_stop_word", "rank", "terms_with_idf"]

_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|specs)/|(^|/)(test_|conftest)[^/]*$|[._-](test|tests|spec)\.\w+$"
)
_VENDORED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third_party|third-party|node_modules|site-packages|external)/"
)
_STOP_WORDS = frozenset({  # stemmed, as they stand in the index
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "between", "but", "by", "can",
    "could", "did", "do", "doe", "does", "each", "for", "from", "had", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "may", "me", "my", "no", "nobody", "not", "of", "on", "or", "other", "our",
    "over", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "thi", "this", "to", "up", "us", "use", "used", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


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
    return math.log(1.0 + max(total - frequency + 0.5, 0.5) / (frequency + 0.5))


def rank(rows: Iterable[ChunkRow], paths: Mapping[int, str], scorer: Scorer) -> list[Ranked]:
    """Candidates in their final order."""
    weights, about_tests = scorer.weights, "test" in scorer.asked
    ranked = []
    for row in rows:
        path = paths.get(row.file, "")
        one = scorer.score(row, path)
        prior = one.parts["prior"] = _prior(row.kind, path, about_tests=about_tests, weights=weights)
        one.score *= prior
        ranked.append(one)
    ranked.sort(key=_order)
    if len(scorer.asked) > 1 and weights.proximity:
        for one in ranked[: weights.proximity_candidates]:
            lift = one.parts["proximity"] = weights.proximity * _closeness(one, len(scorer.asked))
            one.score *= 1.0 + lift
        ranked.sort(key=_order)
    return ranked


def _order(one: Ranked) -> tuple[float, str, int, int]:
    return (-round(one.score, 6), one.path, one.row.start, one.row.id)


def _prior(kind: str, path: str, *, about_tests: bool, weights: Weights) -> float:
    prior = weights.kinds.get(kind, 1.0)
    is_test, is_vendored = _place(path)
    if is_test and not about_tests:
        prior *= weights.test_path
    return prior * weights.vendored_path if is_vendored else prior


@lru_cache(maxsize=1 << 14)
def _place(path: str) -> tuple[bool, bool]:
    return _TEST.search(path) is not None, _VENDORED.search(path) is not None


def _closeness(one: Ranked, wanted: int) -> float:
    """1 when all words of the query stand side by side, towards 0 when they are spread out or alone."""
    present = set(one.present)
    if len(present) < 2:
        return 0.0
    places = _places(one.body, present)
    best, counts, left = len(one.body), dict.fromkeys(present, 0), 0
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
    return len(present) / wanted * len(present) / max(best, len(present))


def _places(body: str, words: Iterable[str]) -> list[tuple[int, str]]:
    """Which word of the body each occurrence is, counted from the first of them; the body is not taken apart."""
    found = []
    for word in words:
        key = f" {word} "
        at = body.find(key)
        while at >= 0:
            found.append((at, word))
            at = body.find(key, at + len(key))
    found.sort()
    places, place, before = [], 0, found[0][0]
    for at, word in found:
        place += body.count("  ", before, at + 1)  # what stands between the words that are passed
        before = at
        places.append((place, word))
    return places
