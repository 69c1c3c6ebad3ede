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

from holdfast.search.engine.tantivy_writer import generation_of
from holdfast.search.prepared import FACT_SEPARATOR

__all__ = ["Figures", "TermsError", "read_figures", "segments_digest"]

_AVERAGE = "avgdl"


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
    segments: str  # which parts the index is made of


def read_figures(directory: Path, fields: tuple[str, ...]) -> Figures:
    """The figures of the newest commit; needs the writer's lock, so that nothing is merged meanwhile.

    TermsError where the term index cannot be read.
    """
    try:
        return _read(directory, fields)
    except ValueError as error:  # tantivy tells everything that it cannot read like this
        raise TermsError(str(error)) from error


def _read(directory: Path, fields: tuple[str, ...]) -> Figures:
    import tantivy

    index = tantivy.Index.open(str(directory))
    searcher, schema = index.searcher(), index.schema
    frequencies: dict[str, list[int]] = {}
    averages = {}
    for place, field in enumerate(fields):
        terms = searcher.terms_with_prefix(field, "")
        for word, count in terms:
            frequencies.setdefault(word, [0] * len(fields))[place] = count
        averages[field] = _average(searcher, schema, field, [word for word, _ in terms])
    named = (term.partition(FACT_SEPARATOR) for term, _ in searcher.terms_with_prefix("facts", ""))
    return Figures(
        generation=generation_of(searcher, schema),
        documents=int(searcher.num_docs),
        reckoned=sum(segment["max_doc"] for segment in _segments(directory)),
        averages=averages,
        frequencies=frequencies,
        facts=sorted((name, value) for name, _, value in named),
        segments=segments_digest(directory),
    )


def segments_digest(directory: Path) -> str:
    """Changes whenever documents come, go or are merged."""
    text = json.dumps(_segments(directory), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _segments(directory: Path) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = json.loads((directory / "meta.json").read_text())["segments"]
    return segments


def _average(searcher: Any, schema: Any, field: str, words: list[str]) -> float:
    """The average length of a field. Only the explanation of a score tells it; 0.0 where no document has it."""
    import tantivy

    for word in words:  # the most frequent first; those of removed documents find nothing
        query = tantivy.Query.term_query(schema, field, word, "freq")
        hits = searcher.search(query, 1, count=False).hits
        if hits:
            explained = json.loads(query.explain(searcher, hits[0][1]).to_json())
            return next(_values(explained, _AVERAGE))
    return 0.0


def _values(explained: dict[str, Any], name: str) -> Iterator[float]:
    if explained["description"].startswith(name):
        yield explained["value"]
    for part in explained.get("details", []):
        yield from _values(part, name)
