"""What a query asks for, as a tree of plain values.

The parser only builds trees of one normal form, so that whoever carries them out has few cases: `Not` stands only
in an `And` that also has a part which is not negated, `And` does not stand in `And` nor `Or` in `Or`, and a `Soft`
holds nothing but words.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "And",
    "Everything",
    "Filter",
    "Node",
    "Not",
    "Or",
    "Parsed",
    "Phrase",
    "Regex",
    "Soft",
    "Word",
    "asked_filters",
    "positive",
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a name as it was typed, without the punctuation around it: `subprocess.run`, `std::vector`."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must stand side by side in this order."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression that the text must match somewhere; it has been checked to be valid and bounded."""

    pattern: str
    flags: str
    column: int


@dataclass(frozen=True, slots=True)
class Filter:
    """One of the filters of a request, written as `field:value`."""

    field: str
    value: str
    column: int


@dataclass(frozen=True, slots=True)
class Everything:
    """Whatever there is."""


@dataclass(frozen=True, slots=True)
class And:
    """What matches all parts."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """What matches at least one part."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """What does not match the part."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class Soft:
    """Words of a sentence: the more of them match, and the closer together, the better.

    At least one must, unless they are `optional`: then something else in the query decides what is found and the
    words only rank it.
    """

    parts: tuple[Word, ...]
    optional: bool = False


Node = Word | Phrase | Regex | Filter | Everything | And | Or | Not | Soft


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query that was understood."""

    tree: Node
    notes: tuple[str, ...]  # what a reader may not expect: a quote that was read as text, ignored punctuation
    words: tuple[str, ...]  # the words and phrases that are asked for, for highlighting; not the negated ones


def positive(node: Node) -> Iterator[Word | Phrase | Regex]:
    """The words, phrases and expressions that a match may be found by, in the order of the query."""
    match node:
        case Word() | Phrase() | Regex():
            yield node
        case And(parts) | Or(parts) | Soft(parts):
            for part in parts:
                yield from positive(part)
        case _:
            return


def asked_filters(node: Node) -> Iterator[Filter]:
    """The filters that a match may have to meet, in the order of the query; not the negated ones."""
    match node:
        case Filter():
            yield node
        case And(parts) | Or(parts):
            for part in parts:
                yield from asked_filters(part)
        case _:
            return
