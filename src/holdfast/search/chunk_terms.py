"""The terms of a stored chunk or file, as every backend but the default one looks them up: one source for all."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.search.engine.portable_schema import streams
from holdfast.search.engine.tantivy_schema import COUNT_FIELDS
from holdfast.search.fact_terms import fact_pairs
from holdfast.search.regex_grams import grams_of

__all__ = ["ChunkTerms", "chunk_terms", "grams_of_text"]


class ChunkTerms(NamedTuple):
    """The terms of one chunk."""

    texts: tuple[str, ...]  # the words of each field, coded, with spaces between them
    lengths: tuple[int, ...]  # how many words each field has
    facts: set[tuple[str, str]]  # names and values
    counts: tuple[int | None, ...]  # branches, loops, ...; None where a chunk cannot have them


def chunk_terms(
    row: tuple[str, str, str, bytes], details: Mapping[str, Any], language: str, path: str, path_words: str
) -> ChunkTerms:
    """The terms of a chunk, from what the store says: mode, kind, name and words of it, its details, its file."""
    mode, kind, name, words = row
    texts, lengths = streams(words, path_words)
    facts = set(fact_pairs(mode, kind, name, language, path, details))
    return ChunkTerms(texts, lengths, facts, tuple(details["counts"].get(count) for count in COUNT_FIELDS))


def grams_of_text(text: bytes) -> set[str]:
    """The trigrams of the text of a file."""
    return grams_of(text.decode("utf-8", "replace"))
