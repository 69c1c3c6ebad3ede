"""What a crate offers: everything public that can be reached from its root, through modules and `pub use`.

What its authors keep out of their own documentation (`#[doc(hidden)]`) is not offered; it is there for macros.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from holdfast.launch.evidence import Module, parsed
from holdfast.launch.facts.ecosystems.declared import Dialect, Offered, Told, module_symbol, one_line, symbols_of
from holdfast.launch.facts.ecosystems.fields import body_of, fields_of
from holdfast.launch.facts.ecosystems.rust.documentation import read_rustdoc
from holdfast.launch.facts.interface import Import, Interface
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.usage import Usage

__all__ = ["rust_interface"]

_MOST_FILES = 2_000
_DEEPEST = 12
_MOD = re.compile(r"^[ \t]*((?:#\[[^\]\n]*\]\s*)*)(pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([;{])", re.MULTILINE)
_PATH = re.compile(r"#\[path\s*=\s*\"([^\"]+)\"\]")
_USE = re.compile(r"^[ \t]*((?:#\[[^\]\n]*\]\s*)*)pub\s+use\s+(?:::)?([^;]+);", re.MULTILINE)
_HIDDEN = re.compile(r"#\[\s*doc\s*\((?:[^\"\])]*,)?\s*hidden\s*[,)]")
# A line with nothing but attributes or a comment; one that goes on with an item is the head of no other.
_HEAD = re.compile(r"\s*(?:#\[.*\]\s*(?://.*)?$|//)")
_DOC = re.compile(r"^[ \t]*//! ?(.*)$")
_FIELD = re.compile(r"^\s*pub\s+(\w+)\s*:")
_VARIANT = re.compile(r"^\s*([A-Z]\w*)\s*(?:[,({=]|$)")
_PUBLIC_LINE = re.compile(r"^\s*(?:pub\s|[A-Z]\w*\s*[,({=]|[A-Z]\w*$|\}|\))")


@dataclass(slots=True)
class _Mod:
    """A module of the crate: its lines of a file, and what it holds."""

    name: str  # in full: semver::op
    path: str
    first: int
    last: int
    is_public: bool
    module: Module
    inner: dict[str, "_Mod"] = field(default_factory=dict)


def rust_interface(repository: Repository, manifests: Sequence[Manifest], _names: Sequence[str]) -> Interface:
    """The crate that the first manifest describes."""
    if not manifests:
        return Interface()
    return _Finder(repository, manifests[0]).found()


class _Finder:
    def __init__(self, repository: Repository, manifest: Manifest) -> None:
        self._repository = repository
        folder = str(PurePosixPath(manifest.path).parent).removeprefix(".")
        self._root = f"{folder}/{manifest.entry_points[''][0]}".lstrip("/")
        self._crate = manifest.packages[0]
        self._mods: list[_Mod] = []
        self._taken: set[tuple[str, str, int]] = set()
        self._by_owner: dict[str, list[Told]] = {}

    def found(self) -> Interface:
        interface = Interface(packages=[self._crate])
        root = self._loaded(self._crate, self._root, is_public=True, depth=0)
        if root is None:
            return interface
        offered = [*self._offered(root, self._crate, 0), *self._macros()]
        used = {one.module for one in offered}
        for mod in self._mods:
            if mod.name in used:
                doc, lines = self._doc(mod)
                name = mod.name.rpartition("::")[2]
                interface.symbols.append(module_symbol(mod.name, name, mod.path, doc, lines, _DIALECT))
        interface.symbols += symbols_of(offered, _DIALECT)
        files = dict.fromkeys(mod.path for mod in self._mods)
        interface.lines = sum(self._text(path).count("\n") for path in files)
        interface.broken = sorted({mod.path for mod in self._mods if mod.module.has_errors})
        first = [one for one in offered if one.module == self._crate and one.told[0].definition.kind != "variable"]
        types = [one for one in first if one.told[0].definition.kind in ("struct", "enum", "trait")] or first
        if types:
            names = self._main(first) or [one.name for one in types[:3]]
            what = names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
            interface.imports.append(Import(f"use {self._crate}::{what};", f"{self._crate}::{names[0]}"))
        return interface

    def _main(self, offered: Sequence[Offered]) -> list[str]:
        """The names of the crate that the project shows most; macros are written where they are used."""
        imported = rf"^\s*use\s+{re.escape(self._crate)}::(?:NAME\b|\{{[^{{}}]*\bNAME\b[^{{}}]*\}})"
        return Usage(self._repository).ranked((one.name for one in offered), imported, [self._crate])[:3]

    def _text(self, path: str) -> str:
        return self._repository.text(path, LARGEST_CODE) or ""

    def _loaded(self, name: str, path: str, *, is_public: bool, depth: int) -> _Mod | None:
        text = self._repository.text(path, LARGEST_CODE)
        module = parsed("rust", path, text) if text is not None and len(self._mods) < _MOST_FILES else None
        if text is None or module is None or depth > _DEEPEST:
            return None
        mod = _Mod(name, path, 1, text.count("\n") + 1, is_public, module)
        self._mods.append(mod)
        self._inside(mod, text, depth)
        return mod

    def _inside(self, mod: _Mod, text: str, depth: int) -> None:
        """Find the modules that a module declares, in its file or in others."""
        lines = text.split("\n")
        for found in _MOD.finditer(text):
            line = text.count("\n", 0, found.start(3)) + 1
            if not mod.first <= line <= mod.last or "cfg(test)" in found[1] or self._is_deeper(mod, line):
                continue
            is_public = (found[2] or "").strip() == "pub" and mod.is_public and not _HIDDEN.search(found[1])
            name = f"{mod.name}::{found[3]}"
            if found[4] == "{":
                inner = _Mod(name, mod.path, line + 1, _block_end(lines, line), is_public, mod.module)
                self._mods.append(inner)
                mod.inner[found[3]] = inner
                if depth < _DEEPEST:
                    self._inside(inner, text, depth + 1)
                continue
            given = _PATH.search(found[1])
            for path in self._places(mod, found[3], given[1] if given else ""):
                loaded = self._loaded(name, path, is_public=is_public, depth=depth + 1)
                if loaded:
                    mod.inner[found[3]] = loaded
                    break

    def _is_deeper(self, mod: _Mod, line: int) -> bool:
        return any(one.path == mod.path and one.first <= line <= one.last for one in mod.inner.values())

    def _places(self, mod: _Mod, name: str, given: str) -> list[str]:
        here = PurePosixPath(mod.path)
        own = here.stem in ("lib", "main", "mod")
        folder = here.parent if own else here.parent / here.stem
        places = [str(here.parent / given)] if given else []
        places += [str(folder / f"{name}.rs"), str(folder / name / "mod.rs")]
        return [place for place in places if self._repository.is_text(place)]

    def _offered(self, mod: _Mod, name: str, depth: int) -> Iterator[Offered]:
        """What users reach in a module under this name: its own, and what it takes from others."""
        if depth > _DEEPEST:
            return
        yield from (one for item in self._own(mod) if (one := self._one(name, item.definition.name, item)))
        for path, alias in self._uses(mod):
            yield from self._used(mod, name, path, alias, depth)
        for key, inner in sorted(mod.inner.items()):
            if inner.is_public:
                yield from self._offered(inner, f"{name}::{key}", depth + 1)

    def _own(self, mod: _Mod) -> list[Told]:
        source = self._text(mod.path).split("\n")
        return [
            Told(item, source, mod.path)
            for item in mod.module.definitions
            if not item.owner and mod.first <= item.start_line <= mod.last
            and not self._is_deeper(mod, item.start_line)
            and item.visibility == "public" and not _is_hidden(source, item.start_line)
        ]  # fmt: skip

    def _macros(self) -> Iterator[Offered]:
        """What `macro_export` lifts to the root of the crate, from whatever module it stands in."""
        found: dict[str, list[Told]] = {}
        for path, module in {mod.path: mod.module for mod in self._mods}.items():
            source = self._text(path).split("\n")
            for item in module.definitions:
                is_exported = any(mark.endswith("macro_export") for mark in item.decorators)
                if is_exported and not _is_hidden(source, item.start_line):
                    found.setdefault(item.plain_name, []).append(Told(item, source, path))
        for name, told in found.items():
            yield Offered(self._crate, name, tuple(told))

    def _one(self, module: str, name: str, told: Told) -> Offered | None:
        key = (told.path, told.definition.name, told.definition.start_line)
        if key in self._taken or told.definition.doc.strip().startswith("@hidden"):
            return None
        self._taken.add(key)
        return Offered(module, name, (told,), tuple(self._members(told)), is_exported=module == self._crate)

    def _uses(self, mod: _Mod) -> Iterator[tuple[tuple[str, ...], str]]:
        text = self._text(mod.path)
        for found in _USE.finditer(text):
            line = text.count("\n", 0, found.start(2)) + 1
            is_here = mod.first <= line <= mod.last and not self._is_deeper(mod, line)
            if is_here and not _HIDDEN.search(found[1]):
                yield from _flattened("".join(found[2].split("\n")))

    def _used(self, mod: _Mod, name: str, path: tuple[str, ...], alias: str, depth: int) -> Iterator[Offered]:
        home = self._walk(mod, path[:-1])
        if home is None:
            return
        last = path[-1]
        if last == "*":
            yield from (one for item in self._own(home) if (one := self._one(name, item.definition.name, item)))
            for further, other in self._uses(home):
                yield from self._used(home, name, further, other, depth + 1) if depth < _DEEPEST else ()
        elif last in home.inner:
            yield from self._offered(home.inner[last], f"{name}::{alias}", depth + 1)
        else:
            for item in self._own(home):
                if item.definition.name == last and (one := self._one(name, alias, item)):
                    yield one
            for further, other in self._uses(home) if depth < _DEEPEST else ():
                if other == last:
                    yield from self._used(home, name, (*further[:-1], further[-1]), alias, depth + 1)

    def _walk(self, mod: _Mod, path: Sequence[str]) -> _Mod | None:
        """The module that a path leads to; None where that is in another crate."""
        by_name = {one.name: one for one in self._mods}
        here: _Mod | None = mod
        for number, part in enumerate(path):
            if part in ("crate", self._crate) and not number:
                here = by_name.get(self._crate)
            elif part == "super":
                here = by_name.get(here.name.rpartition("::")[0]) if here else None
            elif part != "self":
                here = here.inner.get(part) if here else None
            if here is None:
                return None
        return here

    def _members(self, owner: Told) -> Iterator[Told]:
        item = owner.definition
        if item.kind in ("struct", "enum"):
            pattern = _FIELD if item.kind == "struct" else _VARIANT
            yield from (
                Told(one, owner.source, owner.path)
                for one in fields_of(item, owner.source, pattern, ("///",))
                if one.doc and not _is_hidden(owner.source, one.start_line)
            )
        seen: set[str] = set()
        for told in self._owned().get(item.name, ()):
            one = told.definition
            in_trait = item.kind == "trait" and told.path == owner.path
            is_public = (one.visibility == "public" or in_trait) and not _is_hidden(told.source, one.start_line)
            if one.plain_name not in seen and is_public:
                seen.add(one.plain_name)
                yield told

    def _owned(self) -> dict[str, list[Told]]:
        """What belongs to each type, wherever in the crate it stands; found once."""
        if not self._by_owner:
            for path, module in {mod.path: mod.module for mod in self._mods}.items():
                source = self._text(path).split("\n")
                for one in module.definitions:
                    if one.owner:
                        self._by_owner.setdefault(one.owner, []).append(Told(one, source, path))
        return self._by_owner

    def _doc(self, mod: _Mod) -> tuple[str, tuple[int, int]]:
        """The lines `//!` with which a module begins."""
        lines = self._text(mod.path).split("\n")[mod.first - 1 : mod.last]
        said: list[str] = []
        first = last = 0
        for number, line in enumerate(lines):
            found = _DOC.match(line)
            if found:
                first, last = first or number + 1, number + 1
                said.append(found[1])
            elif said or (line.strip() and not line.strip().startswith(("//", "#!["))):
                break
        if not said:
            return "", (mod.first, mod.first)
        return "\n".join(said), (mod.first + first - 1, mod.first + last - 1)


def _is_hidden(source: Sequence[str], start: int) -> bool:
    """Whether attributes keep a definition out of the documentation; they may stand above its first line."""
    first = start - 1
    while first and _HEAD.match(source[first - 1]):
        first -= 1
    last = start - 1
    while last < len(source) - 1 and _HEAD.match(source[last]):
        last += 1
    return any(_HIDDEN.search(re.sub(r"(?:(?<!\s)\s+)?//.*", "", line)) for line in source[first : last + 1])


def _block_end(lines: Sequence[str], start: int) -> int:
    depth = 0
    for number in range(start, len(lines) + 1):
        bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|//.*$", "", lines[number - 1])
        depth += bare.count("{") - bare.count("}")
        if depth <= 0 and "{" in "".join(lines[start - 1 : number]):
            return number
    return len(lines)


def _flattened(tree: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of `a::{b, c as d, e::*}`, each with the name that it gets."""
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        parts = tuple(part.strip() for part in path.split("::") if part.strip())
        if parts:
            name = parts[-2] if parts[-1] == "self" and len(parts) > 1 else parts[-1]
            yield (parts[:-1] if parts[-1] == "self" else parts), (alias.strip() or name)
        return
    depth, piece = 0, ""
    for char in rest.rstrip().removesuffix("}") + ",":
        depth += (char == "{") - (char == "}")
        if char == "," and not depth:
            if piece.strip():
                yield from _flattened(head.strip() + piece.strip())
            piece = ""
        else:
            piece += char


def _signature(told: Told) -> str:
    item = told.definition
    if item.kind in ("struct", "enum"):
        shown = body_of(item, told.source, _PUBLIC_LINE)
        shown = "\n".join(line for line in shown.split("\n") if not line.lstrip().startswith("#["))
        if shown.startswith("pub ") and shown.endswith("{\n}"):
            return shown.removesuffix("{\n}") + "{ /* private fields */ }"
        return shown if shown.startswith("pub ") else one_line(told)
    if item.signature.startswith("macro_rules!"):
        return f"macro_rules! {item.plain_name}"
    text = one_line(told)
    return text if item.kind != "variable" or len(text) <= 120 else text.partition(" = ")[0]


_DIALECT = Dialect(read_rustdoc, _signature, joiner="::", has_exceptions=False)
