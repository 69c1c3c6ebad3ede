"""What a library of Java offers: the public types of its packages with their public members.

Where a `module-info.java` says which packages are exported, only those count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from holdfast.launch.elements import elements
from holdfast.launch.evidence import Definition, Module, parsed
from holdfast.launch.facts.ecosystems.declared import Dialect, Offered, Told, module_symbol, one_line, symbols_of
from holdfast.launch.facts.ecosystems.java.documentation import read_javadoc
from holdfast.launch.facts.ecosystems.left_out import is_left_out
from holdfast.launch.facts.interface import Import, Interface, Symbol
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.usage import Usage

__all__ = ["java_interface"]

_MOST_FILES = 3_000
_SOURCES = ("src/main/java/", "src/java/", "src/")
_PACKAGE = re.compile(r"^[^\S\n]*package\s+([\w.]+)\s*;", re.MULTILINE)
_EXPORTS = re.compile(r"^[^\S\n]*exports\s+([\w.]+)\s*;", re.MULTILINE)
_ANNOTATION = re.compile(r"@(?!interface\b)[\w.]+(?:\((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\([^()]*\))*\))?\s*")
_HIDDEN = re.compile(r"(?:^|\.)(?:internals?|impl)(?:\.|$)")
_ASIDE = re.compile(r"\.(?:examples?|samples?|demos?|tests?|testing|benchmarks?|jmh)(?:\.|$)")
_LONGEST_VALUE = 100
_TYPES = ("class", "interface", "enum")


def java_interface(repository: Repository, manifests: Sequence[Manifest], _names: Sequence[str]) -> Interface:
    """The public types of everything that is published."""
    found = _Finder(repository, manifests)
    return found.interface()


class _Finder:
    def __init__(self, repository: Repository, manifests: Sequence[Manifest]) -> None:
        self._repository = repository
        self._folder = str(PurePosixPath(manifests[0].path).parent).removeprefix(".") if manifests else ""
        self._exported: set[str] = set()
        self._packages: dict[str, list[Module]] = {}
        self._notes: dict[str, str] = {}

    def interface(self) -> Interface:
        self._read()
        interface = Interface()
        offered = {name: list(self._offered(name)) for name in sorted(self._packages)}
        offered = {name: found for name, found in offered.items() if found}
        interface.packages = _outermost(offered)
        for name, found in offered.items():
            interface.symbols.append(self._package(name, found))
            is_exported = name in interface.packages
            interface.symbols += symbols_of((one._replace(is_exported=is_exported) for one in found), _DIALECT)
        every = [module for modules in self._packages.values() for module in modules]
        interface.lines = sum((self._text(module.path)).count("\n") for module in every)
        interface.broken = sorted(module.path for module in every if module.has_errors)
        interface.imports += self._imports(interface.packages, offered)
        return interface

    def _imports(self, packages: Sequence[str], offered: Mapping[str, Sequence[Offered]]) -> Iterator[Import]:
        """The two types that the project shows most; the first ones where it shows none."""
        outer = [one for found in offered.values() for one in found if "." not in one.name]
        first = [one for one in outer if one.module in packages[:1]]
        by_name: dict[str, str] = {}
        for one in [*first, *outer]:
            by_name.setdefault(one.name, f"{one.module}.{one.name}")
        imported = r"^\s*import\s+" + f"(?:{'|'.join(re.escape(name) for name in offered)})" + r"\.NAME\s*;"
        names = Usage(self._repository).ranked(by_name, imported) or [one.name for one in first]
        for name in names[:2]:
            yield Import(f"import {by_name[name]};", by_name[name])

    def _text(self, path: str) -> str:
        return self._repository.text(path, LARGEST_CODE) or ""

    def _read(self) -> None:
        paths = [
            path for path in self._repository.under([self._folder], (".java",)) if _is_source(path, self._folder)
        ]
        for path in paths[:_MOST_FILES]:
            text = self._text(path)
            if path.endswith("module-info.java"):
                self._exported.update(_EXPORTS.findall(text))
                continue
            declared = _PACKAGE.search(text)
            if declared is None:
                continue
            if path.endswith("package-info.java"):
                self._notes[declared[1]] = path
            elif (module := parsed("java", path, text)) is not None:
                self._packages.setdefault(declared[1], []).append(module)

    def _offered(self, package: str) -> Iterator[Offered]:
        if package not in self._exported if self._exported else self._is_hidden(package):
            return
        for module in self._packages[package]:
            source = self._text(module.path).split("\n")
            for item in module.definitions:
                if item.kind in _TYPES and item.visibility == "public" and _is_reached(item, module):
                    members = tuple(Told(one, source, module.path) for one in _members(item, module))
                    yield Offered(package, item.name, (Told(item, source, module.path),), members)

    def _is_hidden(self, package: str) -> bool:
        """Whether its name says that it is not for users, where no module says what is exported.

        `examples` says so beside other packages only: everything may lie in `com.example`.
        """
        return _HIDDEN.search(package) is not None or any(
            self._is_beside(package[: found.start()], package[: found.end()].rstrip("."))
            for found in _ASIDE.finditer(package)
        )

    def _is_beside(self, outer: str, inner: str) -> bool:
        """Whether the outer package holds anything but the inner one."""
        return any(
            f"{name}.".startswith(outer + ".") and not f"{name}.".startswith(inner + ".")
            for name in self._packages
        )

    def _package(self, name: str, found: Sequence[Offered]) -> Symbol:
        path = self._notes.get(name, "")
        text = self._text(path) if path else ""
        comment = next(elements(text, re.compile(r"/\*\*"), re.compile(r"\*/")), None)
        if path and comment:
            opening, inside, end = comment
            doc = "\n".join(re.sub(r"^\s*\* ?", "", line) for line in inside.split("\n"))
            lines = (text.count("\n", 0, opening.start()) + 1, text.count("\n", 0, end) + 1)
            return module_symbol(name, name.rpartition(".")[2], path, doc, lines, _DIALECT)
        first = found[0].told[0]
        at = next((n for n, line in enumerate(first.source, 1) if _PACKAGE.match(line)), 1)
        return module_symbol(name, name.rpartition(".")[2], first.path, "", (at, at), _DIALECT)


def _is_source(path: str, folder: str) -> bool:
    inner = path.removeprefix(folder).lstrip("/")
    place = next((inner.find(start) + len(start) for start in _SOURCES if start in inner), 0)
    before, behind = inner[:place], inner[place:]
    if "src/test/" in inner or "src/it/" in inner or is_left_out(before.replace("src/", "")):
        return False
    return place > 0 and not re.search(r"(?:^|/)(?:tests?|jmh)/", behind)


def _is_reached(item: Definition, module: Module) -> bool:
    """Whether everything that a nested type stands in is public as well."""
    owners = {one.name: one for one in module.definitions if one.kind in _TYPES}
    owner = item.owner
    while owner:
        if owner in owners and owners[owner].visibility != "public":
            return False
        owner = owner.rpartition(".")[0]
    return True


def _members(owner: Definition, module: Module) -> Iterator[Definition]:
    for item in module.definitions:
        if item.owner != owner.name or item.kind in _TYPES or item.visibility != "public":
            continue
        if "Override" in item.decorators and not item.doc:
            continue  # what the interface says of it is said there
        yield item


def _outermost(names: dict[str, list[Offered]]) -> list[str]:
    """The packages that are in no other one of them."""
    return [name for name in names if not any(name.startswith(other + ".") for other in names)]


def _signature(told: Told) -> str:
    item = told.definition
    text = _ANNOTATION.sub("", one_line(told)).strip()
    if item.kind == "variable":
        return text if len(text) <= _LONGEST_VALUE and "(" not in text else text.partition(" = ")[0]
    return re.sub(r"(?<=[(,])(\s*)final\s+", r"\1", text)


_DIALECT = Dialect(read_javadoc, _signature)
