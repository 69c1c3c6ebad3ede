"""The tables that a portable file has beside those of the store, and how words are written in them.

Facts and trigrams stand in plain tables. Words stand there too, and once more in FTS5, where SQLite has it: the
backend `sqlite` reads the former and works with any SQLite, `sqlite-fts` reads the latter.

FTS5 must neither split nor fold anything: words were made by `tokens` already, and are the same for every backend.
Its plainest tokenizer keeps small letters, digits, a few signs and everything beyond ASCII as they are; a word
with anything else in it is written as hexadecimal digits.
"""

import contextlib
import re
import sqlite3
from functools import cache, lru_cache
from typing import NamedTuple

from holdfast.search.engine.tantivy_schema import COUNT_FIELDS
from holdfast.search.prepared import unpacked_words, word_fields

__all__ = [
    "APPLICATION",
    "FACT",
    "FIELDS",
    "GRAM",
    "KINDS",
    "Streams",
    "create_fts",
    "create_tables",
    "encoded",
    "has_fts5",
    "streams",
]

# What SQLite keeps in the head of a file, to tell whose it is: three letters of ours and a number, which rises
# whenever these tables, or what is in them, change their meaning.
APPLICATION = 0x484F4C02
FIELDS = ("body", "name", "identifiers")
FACT, GRAM = "fact", "gram"  # by their number, and of files
# What a row of postings is of; the place in this list is its number.
KINDS = (*FIELDS, FACT, GRAM)

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
CREATE TABLE postings (
    kind INTEGER NOT NULL, term TEXT NOT NULL, block INTEGER NOT NULL,
    numbers BLOB NOT NULL, counts BLOB, places BLOB, PRIMARY KEY (kind, term, block)
) WITHOUT ROWID;
"""
_FTS_TABLES = f"""
CREATE VIRTUAL TABLE words USING fts5({", ".join(FIELDS)}, content='', columnsize=0, tokenize="{_TOKENIZER}");
CREATE VIRTUAL TABLE word_places USING fts5vocab(words, instance);
"""


class Streams(NamedTuple):
    """The words of a chunk by field, written for SQLite, and how many each field has."""

    texts: tuple[str, ...]
    lengths: tuple[int, ...]


def create_tables(connection: sqlite3.Connection) -> None:
    """Add the plain tables to those of a new store."""
    connection.executescript(_TABLES)


def create_fts(connection: sqlite3.Connection) -> None:
    """Add the tables of FTS5."""
    connection.executescript(_FTS_TABLES)


@cache
def has_fts5() -> bool:
    """Whether the SQLite of this Python has FTS5."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            create_fts(connection)
        except sqlite3.OperationalError:
            return False
    return True


@lru_cache(1 << 16)
def encoded(word: str) -> str:
    """A word as SQLite and FTS5 take it, as one token; no two words become the same."""
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
