"""The fields of the term index, and how a prepared file becomes documents."""

from collections.abc import Iterator
from typing import Any

from holdfast.search.prepared import PreparedFile, fact

__all__ = [
    "COUNT_FIELDS",
    "GENERATION_TERM",
    "PHRASE_FIELDS",
    "build_schema",
    "documents",
    "generation_document",
    "generation_of",
]

COUNT_FIELDS = ("branches", "loops", "breaks", "continues")
PHRASE_FIELDS = ("body", "name")  # a method of RetryBudget is found by "retry budget" too
GENERATION_TERM = fact("mode", "generation")

_CHUNK_STREAMS = ("name", "body", "identifiers")
_END = "\x1e"  # a word that no phrase reaches across


def build_schema() -> Any:
    """The schema; a change of it is a new format of the index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("chunk", indexed=True, fast=True)
    builder.add_unsigned_field("file", indexed=True, fast=True)
    for name in _CHUNK_STREAMS:
        option = "position" if name in PHRASE_FIELDS else "freq"
        builder.add_text_field(name, tokenizer_name="whitespace", index_option=option)
    builder.add_text_field("facts", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("grams", tokenizer_name="whitespace", index_option="basic")
    for name in COUNT_FIELDS:
        builder.add_unsigned_field(name, fast=True)
    return builder.build()


def documents(file: PreparedFile, number: int, chunk_numbers: range, path_words: str) -> Iterator[Any]:
    """One document for every chunk, and one for the file with its trigrams."""
    import tantivy

    for chunk_number, chunk in zip(chunk_numbers, file.chunks, strict=True):
        document = tantivy.Document()
        document.add_unsigned("chunk", chunk_number)
        document.add_unsigned("file", number)
        words = chunk.words
        # The comment above it and the path of the file are found like the text itself: fewer fields to look up.
        above = "" if words.doc in words.body else words.doc
        streams = (words.name, f"{words.body} {_END} {above} {_END} {path_words}", words.identifiers)
        for name, text in zip(_CHUNK_STREAMS, streams, strict=True):
            if text:
                document.add_text(name, text)
        for term in chunk.facts:
            document.add_text("facts", term)
        for name in COUNT_FIELDS:
            if name in chunk.counts:  # a section of a text has no branches: not even 0
                document.add_unsigned(name, chunk.counts[name])
        yield document
    document = tantivy.Document()
    document.add_unsigned("file", number)
    document.add_text("facts", fact("mode", "file"))
    for name in file.imports:
        document.add_text("facts", fact("imports", name))
    document.add_text("grams", file.grams)
    yield document


def generation_document(generation: int) -> Any:
    """The one document that says which generation the index carries."""
    import tantivy

    document = tantivy.Document()
    document.add_unsigned("chunk", generation)
    document.add_text("facts", GENERATION_TERM)
    return document


def generation_of(searcher: Any, schema: Any) -> int:
    """The generation that an open searcher sees."""
    import tantivy

    query = tantivy.Query.term_query(schema, "facts", GENERATION_TERM)
    hits = searcher.search(query, 2).hits
    values = searcher.fast_field_values("chunk", [address for _, address in hits])
    return max((int(value) for value in values), default=0)
