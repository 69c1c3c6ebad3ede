"""The default backend: tantivy. Turns a plan into its query, and returns numbers of chunks.

A searcher is a snapshot: what a writer commits meanwhile is seen by the next one. Filters are part of the query,
so a page of results is never shortened afterwards.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from holdfast.search.engine.tantivy_schema import PHRASE_FIELDS, build_schema, generation_of
from holdfast.search.engine.vocabulary import Vocabulary
from holdfast.search.prepared import FACT_SEPARATOR, fact

if TYPE_CHECKING:
    from holdfast.search.engine.tantivy_figures import Figures

__all__ = ["TantivyEngine"]

# How much a match in a field counts when candidates are chosen. The final order is made by `rank`.
_BOOSTS = (("body", 1.0), ("name", 1.5))
_IDENTIFIER_BOOST = 1.5
_MOST_FILES = 1_000_000
_MOST_SETS = 64
_WIDER = 8  # times as many candidates, where equal scores are cut in the middle
_MANY = 16  # values from which on a set is cheaper than a term for each


class TantivyEngine:
    """One term index, held at one generation."""

    name = "tantivy"

    def __init__(self, directory: Path) -> None:
        import tantivy

        self._index = tantivy.Index.open(str(directory))
        self._index.config_reader(reload_policy="manual")
        self._schema = _schema()
        self._searcher: Any = None
        self.generation = 0
        self._vocabularies: dict[str, Vocabulary] = {}
        self._sets: dict[tuple[str, frozenset[int]], Any] = {}
        self._compiled: tuple[Condition, list[Any]] | None = None
        self.reload()

    def reload(self) -> int:
        """Look at the newest commit; returns its generation."""
        self._index.reload()
        searcher = self._index.searcher()
        generation = generation_of(searcher, self._schema)
        if generation != self.generation:
            self._vocabularies = {}
        self._searcher, self.generation = searcher, generation
        return generation

    def candidates(self, mode: str, condition: Condition, limit: int) -> Candidates:
        """Chunks of one mode that satisfy a condition, the likeliest first."""
        if self._compiled is None or self._compiled[0] is not condition:  # the same one is asked of every mode
            wanted = condition.conditions if isinstance(condition, All) else (condition,)
            self._compiled = (condition, list(map(self._compile, wanted)))
        query = _must(_of_mode(mode), *self._compiled[1])
        result = self._searcher.search(query, limit + 1)  # one more, to see whether equal scores are cut apart
        hits = result.hits
        if len(hits) > limit and hits[-1][0] == hits[0][0]:
            hits = self._first(query, limit)  # nothing tells them apart, such as in a search by filters alone
        elif len(hits) > limit and hits[-1][0] == hits[-2][0]:
            hits = self._searcher.search(query, limit * _WIDER, count=False).hits
        numbers = self._searcher.fast_field_values("chunk", [address for _, address in hits])
        # Equal scores come in the order of the segments, which differs from build to build: numbers settle it.
        scored = sorted((-round(score, 5), number) for (score, _), number in zip(hits, numbers, strict=True))
        return Candidates([number for _, number in scored[:limit]], result.count)

    def _first(self, query: Any, limit: int) -> list[Any]:
        """The chunks with the lowest numbers, in place of an order by score."""
        import tantivy

        order = tantivy.Order.Asc
        found = self._searcher.search(query, limit, count=False, order_by_field="chunk", order=order).hits
        return [(0.0, address) for _, address in found]

    def document_frequency(self, word: str, *, identifier: bool) -> int:
        """In how many chunks a sub-word or a whole identifier stands."""
        return int(self._searcher.doc_freq("identifiers" if identifier else "body", word))

    def document_count(self) -> int:
        """How many chunks there are, with a document for each file on top."""
        return int(self._searcher.num_docs)

    def figures(self, fields: tuple[str, ...]) -> "Figures":
        """What is counted over all documents, for another backend that reckons with it."""
        from holdfast.search.engine.tantivy_figures import figures_of

        return figures_of(self._searcher, self._schema, fields)

    def vocabulary(self, fact: str) -> Vocabulary:
        """Every value that a fact has somewhere."""
        if fact not in self._vocabularies:
            prefix = fact + FACT_SEPARATOR
            found = self._searcher.terms_with_prefix("facts", prefix)
            self._vocabularies[fact] = Vocabulary(term[len(prefix) :] for term, _ in found)
        return self._vocabularies[fact]

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Files with at least one of these values of a fact about files, such as `imports`."""
        return self._files(_facts(name, values)) if values else frozenset()

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Files that contain all the trigrams of at least one alternative."""
        choices = [_all([_term("grams", gram) for gram in sorted(grams)]) for grams in alternatives]
        return self._files(_any(choices) if choices else _all([]))

    def _files(self, query: Any) -> frozenset[int]:
        import tantivy

        silent = tantivy.Query.const_score_query(_must(_facts("mode", ("file",)), query), 1.0)
        hits = self._searcher.search(silent, _MOST_FILES, count=False).hits
        return frozenset(self._searcher.fast_field_values("file", [address for _, address in hits]))

    # From a plan to a query.

    def _compile(self, condition: Condition) -> Any:  # noqa: C901 - one line for each kind of condition
        match condition:
            case Word():
                return _any(_ways(condition))
            case Phrase(parts):
                return self._phrase(parts)
            case Facts(name, values):
                return _silent(_facts(name, values))
            case AtLeast(count, least):
                return _silent(self._at_least(count, least))
            case Files(numbers):
                return _silent(self._numbers("file", numbers))
            case Chunks(numbers):
                return _silent(self._numbers("chunk", numbers))
            case All(conditions):
                return _all([self._compile(one) for one in conditions])
            case Either(conditions):
                return _any([self._compile(one) for one in conditions])
            case Sentence(required, words):
                return self._sentence([self._compile(one) for one in required], words)
            case NoneOf(inner):
                return _none(self._compile(inner))

    def _sentence(self, required: list[Any], words: Sequence[Condition]) -> Any:
        import tantivy

        # Whatever a word is found by stands beside what the others are: a level less, and a quarter of the time.
        found = [way for one in words for way in (_ways(one) if isinstance(one, Word) else [self._compile(one)])]
        if not required or not found:
            return _all(required) if required else _any(found)
        must = [(tantivy.Occur.Must, query) for query in required]
        return tantivy.Query.boolean_query(must + [(tantivy.Occur.Should, query) for query in found])

    def _phrase(self, parts: tuple[str, ...]) -> Any:
        import tantivy

        if len(parts) == 1:
            return _any([_term(field, parts[0]) for field in PHRASE_FIELDS])
        return _any([tantivy.Query.phrase_query(self._schema, field, list(parts)) for field in PHRASE_FIELDS])

    def _at_least(self, count: str, least: int) -> Any:
        import tantivy

        return tantivy.Query.range_query(self._schema, count, tantivy.FieldType.Unsigned, lower_bound=least)

    def _numbers(self, field: str, numbers: frozenset[int]) -> Any:
        import tantivy

        key = (field, numbers)
        if key not in self._sets:  # the same files are asked for again and again, and handing them over takes time
            if len(self._sets) >= _MOST_SETS:
                self._sets.clear()
            self._sets[key] = tantivy.Query.term_set_query(self._schema, field, sorted(numbers))
        return self._sets[key]


# Parts of a query. One that names nothing but words can be asked of any index: all of a format have one schema.


@cache
def _schema() -> Any:
    return build_schema()


@lru_cache(maxsize=1 << 10)  # a question is asked of many indexes, and the same words come back in questions
def _ways(word: Word) -> list[Any]:
    """The ways in which a word is found, each of which is enough, and counts."""
    whole = [_boosted(_term("identifiers", word.identifier), _IDENTIFIER_BOOST)] if word.identifier else []
    parts = [[_boosted(_term(field, part), boost) for field, boost in _BOOSTS] for part in word.parts]
    if len(parts) == 1:
        return [*whole, *parts[0]]
    return [*whole, _all(list(map(_any, parts)))] if parts else whole


@cache
def _of_mode(mode: str) -> Any:
    return _silent(_facts("mode", (mode,)))


def _facts(name: str, values: Sequence[str]) -> Any:
    import tantivy

    terms = [fact(name, value) for value in values]
    if len(terms) > _MANY:
        return tantivy.Query.term_set_query(_schema(), "facts", terms)
    # A set is looked up for all documents at once; a few terms are cheaper beside what else has to match.
    return _any([tantivy.Query.term_query(_schema(), "facts", term, "basic") for term in terms])


def _term(field: str, word: str) -> Any:
    import tantivy

    option = "position" if field in PHRASE_FIELDS else "freq"
    return tantivy.Query.term_query(_schema(), field, word, option)


def _boosted(query: Any, boost: float) -> Any:
    import tantivy

    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _silent(query: Any) -> Any:
    """A filter: it decides, and adds nothing to the score."""
    import tantivy

    return tantivy.Query.const_score_query(query, 0.0)


def _must(*queries: Any) -> Any:
    import tantivy

    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _all(queries: list[Any]) -> Any:
    import tantivy

    return _must(*queries) if queries else tantivy.Query.all_query()


def _any(queries: list[Any]) -> Any:
    import tantivy

    if not queries:
        return tantivy.Query.empty_query()
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _none(query: Any) -> Any:
    import tantivy

    everything = tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, everything), (tantivy.Occur.MustNot, query)])
