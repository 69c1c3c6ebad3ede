"""An ecosystem: everything about a product that depends on where its language lives, behind one interface.

What its manifests say, how it is installed, which names it offers and how they are imported, how documentation is
written beside its code, and which files are examples. Everything else of a launch run is the same for all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.launch.facts.interface import Interface
from holdfast.launch.facts.manifest import Entry, Manifest, Reader
from holdfast.launch.facts.reading import Repository
from holdfast.launch.facts.shown import Shown

__all__ = ["Ecosystem", "Examples", "Installing", "plain_requirement"]


Examples = Callable[[Repository, Mapping[str, Any], int], Iterable[Shown]]
"""Finds examples in a repository, given the facts and how many examples are known from elsewhere."""


class Installing(NamedTuple):
    """One way to get the product: commands for a shell, or a declaration for a file of the user's project."""

    method: str
    lead: str  # what stands before it on a page; "" for the first, which needs nothing said
    identifier: str
    commands: tuple[str, ...] = ()
    declaration: str = ""
    language: str = ""  # of the declaration
    sentence: str = ""  # `{}` is the product; where there is none, the first command says it


def plain_requirement(entry: Entry) -> tuple[str, str, str]:
    """A dependency whose entry has the name and the version apart: name, version, condition."""
    return entry.name, entry.value, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecosystem:
    """One ecosystem: declarative, without state. A new one is a folder beside the others and a row."""

    id: str
    platforms: tuple[str, ...]  # the values of `target_platform` that mean it
    language: str  # in which signatures are shown
    runtime: str  # what a product of it needs to run: Python, Node.js
    nouns: tuple[str, str]  # what a module is called: the outermost, and those in it
    readers: Mapping[str, Reader]  # by the name of the file, or `*` and the end of it; the best first
    installing: Callable[[Manifest], Sequence[Installing]]
    interface: Callable[[Repository, Sequence[Manifest], Sequence[str]], Interface]
    checkout: tuple[str, Callable[[str, str], int]] | None = None  # the command in a clone; see `_ways`
    requirement: Callable[[Entry], tuple[str, str, str]] = plain_requirement
    merged: Callable[[Sequence[Manifest]], list[Manifest]] = list  # manifests that say one thing together
    extra: tuple[str, str] = ("", "")  # what an optional part is called, and the command that adds it
    languages: frozenset[str] = frozenset()  # of snippets, besides the one above
    suffixes: Mapping[str, str] = field(default_factory=dict)  # of programs, and their language
    is_fenced: bool = True  # whether examples in its documentation are code between fences, once it is Markdown
    examples: Examples | None = None  # further examples that lie beside the code

    def reader(self, name: str) -> Reader | None:
        """Who reads a manifest with this file name."""
        found = self.readers.get(name)
        return found or next(
            (reader for ending, reader in self.readers.items() if ending[:1] == "*" and name.endswith(ending[1:])),
            None,
        )

    def rank(self, name: str) -> int:
        """How good a manifest of this file name is; 0 is the best."""
        order = list(self.readers)
        return next(
            (at for at, key in enumerate(order) if key == name or (key[0] == "*" and name.endswith(key[1:]))),
            len(order),
        )

    def speaks(self, language: str) -> bool:
        """Whether code in this language is code for users of the product."""
        return language == self.language or language in self.languages
