"""What the parts of the quality task say to each other: definitions, hits, and the questions about them."""

from dataclasses import dataclass

__all__ = ["Definition", "Hit", "Question", "Reading"]


@dataclass(frozen=True)
class Definition:
    """A function, method, class or type: its lines (from 1, inclusive) and the first words of its documentation.

    `header` is the line with its name, which is not the first one where decorators stand above.
    """

    name: str
    kind: str  # function, class, or what the language has besides: interface, struct, enum, trait
    start: int
    header: int
    end: int
    summary: str = ""


@dataclass(frozen=True)
class Reading:
    """The definitions of a file, and where their documentation stands: first byte, end, what takes its place."""

    definitions: list[Definition]
    documentation: list[tuple[int, int, bytes]]


@dataclass(frozen=True)
class Hit:
    """One place that a search system answers with."""

    file: str
    start: int
    end: int


@dataclass(frozen=True)
class Question:
    """A query and the one definition that answers it, in the corpus without documentation."""

    split: str  # dev or test
    query: str
    file: str
    name: str
    kind: str
    start: int
    header: int
    end: int
