"""The interface of a product, whatever its language: what every ecosystem finds, before it becomes claims."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.launch.facts.docstrings import Docstring

__all__ = ["Described", "Import", "Interface", "Symbol"]


class Described(NamedTuple):
    """What is said of a symbol; `more` are further lines of its file that it rests on."""

    signature: str
    parameters: list[dict[str, Any]]
    returns: str
    document: Docstring
    is_deprecated: bool = False
    more: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Symbol:
    """A public name. Reading its documentation is paid for only if it is told: `read` does it."""

    sort: str  # exported, thing, module, member or constant: how near it is to those who look for it
    kind: str
    module: str
    name: str
    qualified: str
    path: str
    lines: tuple[int, int]  # of the definition
    cited: tuple[int, int]  # of what is told: the head and the documentation
    is_documented: bool
    read: Callable[[], Described]
    parent: str = ""


class Import(NamedTuple):
    """The line of code by which users reach the product, and the symbol that it rests on."""

    code: str
    qualified: str


@dataclass(slots=True)
class Interface:
    """Everything that is offered. `packages` are the names that users know the outermost modules by."""

    symbols: list[Symbol] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    lines: int = 0
    broken: list[str] = field(default_factory=list)
    language: str = ""  # where it is another than the ecosystem's usual one
