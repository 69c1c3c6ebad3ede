"""What the default backend counts over all of its documents, taken from it as it is.

Another backend that reckons with these figures chooses the same candidates. They cannot be counted again from the
chunks: documents that were removed count until they are merged away.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.search.engine.tantivy_schema import generation_of
from holdfast.search.prepared import FACT_SEPARATOR

__all__ = ["Figures", "TermsError", "figures_of", "read_figures", "segments_digest"]

_AVERAGE, _RECKONED = "avgdl", "N, total"  # what the explanation of a score calls them


class TermsError(ValueError):
    """The term index of the default backend is damaged."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one commit."""

    generation: int
    documents: int  # that can be found
    reckoned: int  # that count for the rarity of words: those that were removed are among them
    averages: dict[str, float]  # words of a field in a document
    frequencies: dict[str, list[int]]  # of a word: documents that have it, by field
    facts: list[tuple[str, str]]  # every name and value


def read_figures(directory: Path, fields: tuple[str, ...]) -> Figures:
    """The figures of the newest commit; TermsError where the term index cannot be read."""
    import tantivy

    try:
        index = tantivy.Index.open(str(directory))
        return figures_of(index.searcher(), index.schema, fields)
    except ValueError as error:  # tantivy tells everything that it cannot read like this
        raise TermsError(str(error)) from error


def figures_of(searcher: Any, schema: Any, fields: tuple[str, ...]) -> Figures:
    """The figures of the commit that a searcher holds."""
    frequencies: dict[str, list[int]] = {}
    averages, reckoned = {}, 0.0
    for place, field in enumerate(fields):
        terms = searcher.terms_with_prefix(field, "")
        for word, count in terms:
            frequencies.setdefault(word, [0] * len(fields))[place] = count
        explained = _explained(searcher, schema, field, [word for word, _ in terms])
        averages[field] = next(_values(explained, _AVERAGE), 0.0)
        reckoned = max(reckoned, next(_values(explained, _RECKONED), 0.0))
    named = (term.partition(FACT_SEPARATOR) for term, _ in searcher.terms_with_prefix("facts", ""))
    return Figures(
        generation=generation_of(searcher, schema),
        documents=int(searcher.num_docs),
        reckoned=int(reckoned),
        averages=averages,
        frequencies=frequencies,
        facts=sorted((name, value) for name, _, value in named),
    )


def segments_digest(directory: Path) -> str:
    """Changes whenever documents come, go or are merged: which parts the index is made of."""
    segments = json.loads((directory / "meta.json").read_text())["segments"]
    return hashlib.blake2b(json.dumps(segments, sort_keys=True).encode(), digest_size=16).hexdigest()


def _explained(searcher: Any, schema: Any, field: str, words: list[str]) -> dict[str, Any]:
    """How a score in a field comes about: only this tells some figures. Empty where no document has the field."""
    import tantivy

    for word in words:  # the most frequent first; those of removed documents find nothing
        query = tantivy.Query.term_query(schema, field, word, "freq")
        hits = searcher.search(query, 1, count=False).hits
        if hits:
            explained: dict[str, Any] = json.loads(query.explain(searcher, hits[0][1]).to_json())
            return explained
    return {}


def _values(explained: dict[str, Any], name: str) -> Iterator[float]:
    if explained.get("description", "").startswith(name):
        yield explained["value"]
    for part in explained.get("details", []):
        yield from _values(part, name)
