"""Which function of the repository a call means: by its file, its class or its import, else by a unique name.

Only functions of the same family of languages are looked at. A name that says where it comes from is never
guessed: what is imported from elsewhere is elsewhere.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.search.risk.summary import Called, Summary

__all__ = ["GUESS", "SURE", "Function", "Resolver", "family"]

SURE, GUESS = "sure", "guess"
_OWN = frozenset({"self", "this", "$this", "cls", "Self", "static", "super", "parent"})
_SCRIPTS = ("javascript", "typescript", "tsx", "jsx", "vue", "svelte")
_FAMILY = {
    **dict.fromkeys(_SCRIPTS, "script"),
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), "jvm"),
    **dict.fromkeys(("c", "cpp"), "c"),
}
_SHARES_DIRECTORY = frozenset({"go", "java", "kotlin", "scala", "swift", "csharp"})
_MARKS = re.compile(r"::|->|[./\\]")
_UPWARDS = frozenset({"", "crate", "self", "super"})
_WHOLE = frozenset({"__init__", "index", "mod", "lib", "main"})  # files that stand for their directory


class Function(NamedTuple):
    """A function with a summary, and where it stands."""

    chunk: int
    file: int
    path: str
    language: str
    name: str
    summary: Summary

    @property
    def last(self) -> str:
        """Its name without what it belongs to."""
        return self.name.rpartition(".")[2]


class Resolver:
    """Functions by their names; `is_only` says whether a name is defined once in the whole repository."""

    def __init__(self, functions: Iterable[Function], is_only: Callable[[str, str], bool]) -> None:
        self._functions: dict[str, list[Function]] = {}
        for one in functions:
            self._functions.setdefault(one.last, []).append(one)
        self._is_only = is_only

    def resolve(self, called: Called, caller: Function) -> tuple[Function, str] | None:
        """The function that is meant and how surely that is known; None where it is not of this repository."""
        names = [name for name in called.names if name]
        lasts = dict.fromkeys(name.rpartition(".")[2] for name in names)
        alike = [
            one
            for last in lasts
            for one in self._functions.get(last, ())
            if family(one.language) == family(caller.language) and one.chunk != caller.chunk
        ]
        if not alike:
            return None
        for look in (_in_the_file, _in_its_class, _imported, _in_the_directory):
            found = look(names, caller, alike)
            if found is not None:
                return found, SURE
        if called.is_own or _is_from_elsewhere(names):
            return None
        return self._guessed(names[0], alike)

    def _guessed(self, name: str, alike: Sequence[Function]) -> tuple[Function, str] | None:
        if len(alike) != 1 or not self._is_only(alike[0].last, family(alike[0].language)):
            return None
        function = alike[0]
        # A plain call does not mean a method of some other class, nor `x.f()` a plain function.
        if ("." in name) != ("." in function.name):
            return None
        return function, GUESS


def family(language: str) -> str:
    """Languages whose functions call each other have one name."""
    return _FAMILY.get(language, language)


def _in_the_file(names: Sequence[str], caller: Function, alike: Sequence[Function]) -> Function | None:
    here = [one for one in alike if one.file == caller.file]
    for name in names:
        exactly = [one for one in here if one.name == name or (one.name.endswith(f".{name}") and "." in name)]
        if exactly:
            return exactly[0]
    return None


def _in_its_class(names: Sequence[str], caller: Function, alike: Sequence[Function]) -> Function | None:
    """A method of the same class, also where its other parts stand in other files."""
    owner = caller.name.rpartition(".")[0]
    head, dot, rest = names[0].partition(".")
    if not owner or (dot and (head not in _OWN or "." in rest)):
        return None
    wanted = f"{owner}.{rest if dot else names[0]}"
    alike_here = [one for one in alike if one.name == wanted]
    same_file = [one for one in alike_here if one.file == caller.file]
    return next(iter(same_file or (alike_here if dot and len(alike_here) == 1 else [])), None)


def _imported(names: Sequence[str], caller: Function, alike: Sequence[Function]) -> Function | None:
    """The function that a full name leads to: the end of its path, and its own name."""
    for name in names[1:]:
        parts = _full_parts(name, caller.path)
        for one in alike:
            own = one.name.split(".")
            before = parts[: -len(own)]
            places = _places(one.path, own)
            is_there = any(place[-len(before) :] == before for place in places) if before else len(own) > 1
            if parts[-len(own) :] == own and is_there:
                return one
    return None


def _in_the_directory(names: Sequence[str], caller: Function, alike: Sequence[Function]) -> Function | None:
    """Where the files of a directory share their names: a plain name, or that of a class and its function."""
    if caller.language not in _SHARES_DIRECTORY:
        return None
    folder = posixpath.dirname(caller.path)
    beside = [one for one in alike if posixpath.dirname(one.path) == folder and one.file != caller.file]
    return next((one for name in names for one in beside if one.name == name), None)


def _is_from_elsewhere(names: Sequence[str]) -> bool:
    """Whether the file says where the name comes from, and that led nowhere."""
    return len(names) > 1 and any(name.count(".") > names[0].count(".") or "/" in name for name in names[1:])


def _full_parts(name: str, path: str) -> list[str]:
    """The parts of a full name, without those that only lead upwards or say the ending of a file."""
    if name.startswith(("./", "../")):
        folder, _, rest = name.rpartition("/")
        module, dot, behind = rest.partition(".")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), folder, module))
        behind = re.sub(r"\A(?:[cm]?[jt]sx?)(?=\.|\Z)\.?", "", behind) if dot else ""
        return [*(part for part in place.split("/") if part != "."), *_split(behind)]
    return _split(name)


def _split(name: str) -> list[str]:
    return [part for part in _MARKS.split(name) if part not in _UPWARDS]


def _places(path: str, own: Sequence[str]) -> list[list[str]]:
    """What the modules of a file can be called: by its path, and by the directory that it stands for."""
    folder, _, file = path.rpartition("/")
    parts = folder.split("/") if folder else []
    stem = file.partition(".")[0]
    places = [[*parts, stem], parts]
    if len(own) > 1 and stem == own[0]:  # a class in a file of its own name: com/x/Util.java
        places.append(parts)
    return [place for place in places if place] if stem not in _WHOLE else [parts]
