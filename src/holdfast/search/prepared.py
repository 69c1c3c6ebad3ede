"""A file that is ready to be indexed: what a parser process hands to the writer.

All that costs time was done on it already: it is parsed, split into words and compressed. The writer only puts the
parts where they belong, so one writer keeps up with several parsers.
"""

from dataclasses import dataclass
from typing import Any

import orjson

from holdfast.search.packing import pack, unpack

__all__ = [
    "FACT_SEPARATOR",
    "FIELD_SEPARATOR",
    "ChunkWords",
    "PreparedChunk",
    "PreparedFile",
    "fact",
    "spaced",
    "unpacked_words",
    "word_fields",
]

FACT_SEPARATOR = "\x1f"  # between the name of a fact and its value, in one term of the index
FIELD_SEPARATOR = "\x1e"  # between the streams of words in a packed row


def fact(name: str, value: str) -> str:
    """One known thing as one term: `calls<sep>subprocess.run`."""
    return f"{name}{FACT_SEPARATOR}{value}"


@dataclass(slots=True)
class ChunkWords:
    """The words of a chunk, by the field that they stand in: space-separated, stemmed, in order."""

    name: str
    doc: str
    body: str  # sub-words in the order of the text; phrases and distances are measured in it
    identifiers: str  # whole identifiers of more than one part, and dotted names

    def packed(self) -> bytes:
        """The compact form that is stored: `unpacked_words` reads it."""
        streams = (self.name, self.doc, self.body, self.identifiers)
        return pack(FIELD_SEPARATOR.join(map(spaced, streams)).encode("utf-8", "surrogatepass"))


def spaced(words: str) -> str:
    """Words with a space on both sides of each, so that ` word ` can be looked for and counted."""
    return f" {words.replace(' ', '  ')} "


def unpacked_words(data: bytes) -> str:
    """The words of a chunk as one text; `word_fields` takes it apart."""
    return unpack(data).decode("utf-8", "surrogatepass")


def word_fields(words: str) -> list[str]:
    """Name, doc, body and identifiers, each spaced."""
    return words.split(FIELD_SEPARATOR)


@dataclass(slots=True)
class PreparedChunk:
    """One chunk with its words, its facts as terms, and everything that is shown of it, packed."""

    mode: str
    kind: str
    name: str
    start: int
    end: int
    start_line: int
    end_line: int
    words: ChunkWords
    packed_words: bytes
    facts: list[str]
    counts: dict[str, int]
    details: bytes

    @staticmethod
    def unpack_details(data: bytes) -> dict[str, Any]:
        """What is shown of a chunk: signature, doc, visibility, facts, counts, flags, record, flows, text."""
        details: dict[str, Any] = orjson.loads(unpack(data))
        return details


@dataclass(slots=True)
class PreparedFile:
    """One file version with its chunks."""

    path: str
    digest: bytes
    size: int
    mtime_ns: int
    mode: str
    language: str
    encoding: str
    lines: int
    imports: list[str]
    exports: list[str]
    remarks: list[str]
    text: bytes  # packed; snippets and regular expressions read it
    grams: str  # space-separated trigrams of the text
    chunks: list[PreparedChunk]
    costs: dict[str, float]  # CPU seconds of each stage
