"""Calls that may lead to a function of the same repository: which these are, by what is known of one file.

Which function it is, if any, is found when a question is asked: another file may change before that.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.search.languages.rules.language import words
from holdfast.search.model import Chunk

__all__ = ["OWN", "Callee", "Surroundings", "callee_of", "is_shadowed", "surroundings_of"]

OWN = frozenset({"self", "this", "$this", "cls", "Self", "static", "@self"})
_FUNCTIONS = frozenset({"function", "method", "constructor"})
# A plain name is of the file or imported by it; whatever else it is comes with the language.
_NAMES_ARE_BOUND = frozenset({"python", "javascript", "typescript", "tsx", "jsx", "vue", "svelte"})
# A plain call may mean a method of the same object.
_IMPLICIT_SELF = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "cpp", "swift", "ruby"})
# Methods of strings, lists and the like. Whoever calls them on an unknown object means those.
_EVERYBODYS = words("""
add all any append apply bind call capitalize catch charAt clear clone close collect compareTo concat connect
contains containsKey copy count create debug decode default delete each empty encode endsWith endswith equals
error exists extend filter find findAll first flatMap flatten flush forEach format from fromJson get getBytes
getClass getName getOrDefault group has hasNext hasOwnProperty hashCode head includes indexOf info insert
intValue into isEmpty items iter join keys last len length lower lowercase lstrip map match merge new next now
of ok on open orElse parse pop print println push put query read readLine readLines reduce remove render
replace replaceAll reverse rstrip run save search seek send set size slice some sort split splitlines start
startsWith startswith status stop stream strip sub substr substring sum tail test then title toArray toInt
toJson toList toLowerCase toString toUpperCase to_a to_i to_s to_sym to_string trim unwrap update upper
uppercase value valueOf values warn wait write
""")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a file says about the names in it."""

    language: str
    functions: frozenset[str] = frozenset()  # by their qualified names


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that is called, by the names that it has here; `is_own`: the same file defines it."""

    names: tuple[str, ...]
    is_own: bool

    @property
    def may_be_sure(self) -> bool:
        """Whether it could be more than a guess which function this is; a guess never cleans anything."""
        head, dot, _ = self.names[0].partition(".")
        return self.is_own or len(self.names) > 1 or not dot or head in OWN or head[:1].isupper()


def surroundings_of(language: str, chunks: list[Chunk]) -> Surroundings:
    """What the chunks of one file tell together."""
    return Surroundings(language, frozenset(chunk.name for chunk in chunks if chunk.kind in _FUNCTIONS))


def callee_of(
    names: tuple[str, ...], chunk: Chunk, around: Surroundings, methods: Mapping[str, str]
) -> Callee | None:
    """The callee that a call by these names may have in the repository; None where it surely has none.

    `methods` are the names of variables and what they were made of, where that is known: `shop`: `Shop`.
    """
    written = names[0]
    head, dot, rest = written.partition(".")
    owner = chunk.name.rpartition(".")[0]
    if not dot:
        is_own = written in around.functions or _is_method(written, owner, around)
        if is_own or len(names) > 1 or around.language not in _NAMES_ARE_BOUND:
            return Callee(names, is_own)
        return None
    if head in OWN and "." not in rest:
        return Callee(names, f"{owner}.{rest}" in around.functions)
    if written in around.functions:
        return Callee(names, is_own=True)
    made = f"{methods[head]}.{rest}" if head in methods else ""
    if made in around.functions:
        return Callee((*names, made), is_own=True)
    if len(names) == 1 and (written.rpartition(".")[2] in _EVERYBODYS or "(" in written or "?" in written):
        return None
    if made:
        return Callee((*names, made), is_own=False)
    return Callee(names, is_own=False)


def is_shadowed(names: tuple[str, ...], chunk: Chunk, around: Surroundings) -> bool:
    """Whether a plain name is that of a function of the repository itself, whatever else has the same name."""
    written = names[0]
    if "." in written:
        return False
    if any(name.startswith((".", "/")) for name in names[1:]):  # imported from a place beside the file
        return True
    owner = chunk.name.rpartition(".")[0]
    return written in around.functions or _is_method(written, owner, around)


def _is_method(name: str, owner: str, around: Surroundings) -> bool:
    return around.language in _IMPLICIT_SELF and f"{owner}.{name}" in around.functions
