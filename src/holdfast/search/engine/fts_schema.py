"""The tables that a portable file has beside those of the store, and how words are written for FTS5.

FTS5 must neither split nor fold anything: words were made by `tokens` already, and are the same for every backend.
Its plainest tokenizer keeps small letters, digits, a few signs and everything beyond ASCII as they are; a word
with anything else in it is written as hexadecimal digits.
"""

import re
import sqlite3
from functools import lru_cache
from typing import NamedTuple

from holdfast.search.engine.tantivy_schema import COUNT_FIELDS
from holdfast.search.prepared import unpacked_words, word_fields

__all__ = ["APPLICATION", "FIELDS", "Streams", "create_tables", "encoded", "streams"]

# What SQLite keeps in the head of a file, to tell whose it is: three letters of ours and a number, which rises
# whenever these tables, or what is in them, change their meaning.
APPLICATION = 0x484F4C01
FIELDS = ("body", "name", "identifiers")

_TOKENIZER = "ascii tokenchars '_$.'"
_CODED = "$x"
_PLAIN = re.compile(r"(?!\$x)[a-z0-9_$.\x80-\ud7ff\ue000-\U0010ffff]+")
_END = "\x1e"  # a word that no phrase reaches across

_TABLES = f"""
CREATE TABLE portable (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE frequencies (
    word TEXT PRIMARY KEY, body INTEGER NOT NULL, name INTEGER NOT NULL, identifiers INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE fact_values (
    name TEXT NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (name, value)
) WITHOUT ROWID;
CREATE TABLE file_facts (fact INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (fact, file)) WITHOUT ROWID;
CREATE TABLE chunk_figures (
    chunk INTEGER PRIMARY KEY, {", ".join(f"{field} INTEGER NOT NULL" for field in FIELDS)},
    {", ".join(f"{count} INTEGER" for count in COUNT_FIELDS)}
);
CREATE VIRTUAL TABLE words USING fts5({", ".join(FIELDS)}, content='', columnsize=0, tokenize="{_TOKENIZER}");
CREATE VIRTUAL TABLE word_places USING fts5vocab(words, instance);
CREATE VIRTUAL TABLE chunk_facts USING fts5(facts, content='', columnsize=0, detail=none, tokenize='ascii');
CREATE VIRTUAL TABLE file_grams USING fts5(grams, content='', columnsize=0, detail=none, tokenize="{_TOKENIZER}");
"""


class Streams(NamedTuple):
    """The words of a chunk by field, ready for FTS5, and how many each field has."""

    texts: tuple[str, ...]
    lengths: tuple[int, ...]


def create_tables(connection: sqlite3.Connection) -> None:
    """Add the tables to those of a new store."""
    connection.executescript(_TABLES)


@lru_cache(1 << 16)
def encoded(word: str) -> str:
    """A word as FTS5 takes it, as one token; no two words become the same."""
    return word if _PLAIN.fullmatch(word) else _CODED + word.encode("utf-8", "surrogatepass").hex()


def streams(packed: bytes, path_words: str) -> Streams:
    """The words of a stored chunk as they are looked up: the comment above it and the path count as its body."""
    name, doc, body, identifiers = (_unspaced(stream) for stream in word_fields(unpacked_words(packed)))
    above = "" if doc in body else doc
    texts = (f"{body} {_END} {above} {_END} {path_words}", name, identifiers)
    words = [[encoded(word) for word in text.split(" ") if word] for text in texts]
    return Streams(tuple(map(" ".join, words)), tuple(map(len, words)))


def _unspaced(stream: str) -> str:
    """The stream as it was before every word got a space on both sides."""
    return stream[1:-1].replace("  ", " ")
