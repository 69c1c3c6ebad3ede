"""What a backend has to offer: candidates for a plan, and the figures that ranking needs.

A plan is a tree of plain conditions. A backend turns it into its own query and returns the numbers of the chunks
that satisfy it, the likeliest first. It decides nothing about the final order: ranking is above it and the same
for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.search.engine.vocabulary import Vocabulary

__all__ = [
    "All",
    "AtLeast",
    "Candidates",
    "Chunks",
    "Condition",
    "Either",
    "Engine",
    "Facts",
    "Files",
    "NoneOf",
    "Phrase",
    "Sentence",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: all of its sub-words, or the identifier as a whole."""

    parts: tuple[str, ...]  # stemmed sub-words
    identifier: str = ""  # the whole, lower-cased, where it has more than one part


@dataclass(frozen=True, slots=True)
class Phrase:
    """Sub-words that follow each other in the body."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """At least one of these values of a fact."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A count that is not below a number."""

    count: str
    least: int


@dataclass(frozen=True, slots=True)
class Files:
    """Chunks of these file versions."""

    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Chunks:
    """These chunks."""

    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class All:
    """Every one of these conditions; none means everything."""

    conditions: tuple["Condition", ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of these conditions."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words that need not all match: the more, the better. Without anything required, one of them has to."""

    required: tuple["Condition", ...]
    words: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """What must not match."""

    condition: "Condition"


Condition = Word | Phrase | Facts | AtLeast | Files | Chunks | All | Either | Sentence | NoneOf


@dataclass(frozen=True, slots=True)
class Candidates:
    """Numbers of chunks, the likeliest first, and how many chunks satisfy the plan in all."""

    chunks: list[int]
    total: int


class Engine(Protocol):
    """One backend, held at one generation."""

    name: str
    generation: int

    def candidates(self, mode: str, condition: Condition, limit: int) -> Candidates:
        """Chunks of one mode that satisfy a condition."""

    def document_frequency(self, word: str, *, identifier: bool) -> int:
        """In how many chunks a sub-word or a whole identifier stands."""

    def document_count(self) -> int:
        """How many chunks there are."""

    def vocabulary(self, fact: str) -> Vocabulary:
        """Every value that a fact has somewhere."""

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Files with at least one of these values of a fact about files, such as `imports`."""

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Files that contain all the trigrams of at least one alternative."""
