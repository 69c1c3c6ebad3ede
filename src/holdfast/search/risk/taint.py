"""What is followed through a function: where something came from, and what was done to it on its way."""

from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.search.risk.matching import Danger

__all__ = [
    "CALL",
    "PARAMETER",
    "SOURCE",
    "Passed",
    "Reached",
    "Returned",
    "Root",
    "Taint",
    "TaintKey",
    "Tracked",
    "Via",
]

SOURCE, PARAMETER, CALL = "source", "parameter", "call"


class Root(NamedTuple):
    """Where something came from: a source (by its number in the findings), a parameter, a call's result."""

    kind: str
    number: int


class Via(NamedTuple):
    """A call whose result stands for what it was given, as far as one function can tell."""

    call: int
    argument: int
    label: str


TaintKey = tuple[Root, frozenset[str], tuple[int, ...], tuple[Via, ...]]


@dataclass(frozen=True, slots=True)
class Taint:
    """Why a name is not to be trusted, for which categories it was cleaned, and the places on its way."""

    root: Root
    cleaned: frozenset[str]
    block: tuple[int, ...]
    path: tuple[int, ...]
    via: tuple[Via, ...] = ()

    @property
    def key(self) -> TaintKey:
        """What makes it another one; the way that it took does not."""
        return (self.root, self.cleaned, self.block, self.via)


@dataclass(frozen=True, slots=True)
class Reached:
    """Something got to a dangerous place."""

    taint: Taint
    danger: Danger


@dataclass(frozen=True, slots=True)
class Passed:
    """Something was given to a function, as an argument."""

    taint: Taint
    call: int
    argument: int
    label: str


@dataclass(frozen=True, slots=True)
class Returned:
    """Something was given back."""

    taint: Taint


@dataclass(slots=True)
class Tracked:
    """Everything that was seen, each in the order of position."""

    reached: list[Reached] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)
    is_whole: bool = True  # False: it was too much, and nothing can be said
