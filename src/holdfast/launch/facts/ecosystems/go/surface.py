"""What a module of Go offers: the exported names of its packages, except below `internal`, and no programs.

A folder is a package, whatever it is called: `doc` beside the root of a module is imported as often as not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from holdfast.launch.evidence import Definition, Module, parsed
from holdfast.launch.facts.ecosystems.declared import Dialect, Offered, Told, module_symbol, one_line, symbols_of
from holdfast.launch.facts.ecosystems.fields import body_of, fields_of
from holdfast.launch.facts.ecosystems.go.documentation import read_godoc
from holdfast.launch.facts.ecosystems.left_out import OF_PEOPLE, is_left_out
from holdfast.launch.facts.interface import Import, Interface
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.usage import Usage

__all__ = ["go_interface"]

_MOST_FILES = 3_000
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_FIELD = re.compile(r"^\s*([A-Z]\w*)(?:\s*,\s*[A-Z]\w*)*\s+\S")
_PUBLIC_LINE = re.compile(r"^\s*(?:[A-Z]|[\w.*]+$|\}|\))")
_BEHIND = re.compile(r"\s//\s*(\S.*)$")


def go_interface(repository: Repository, manifests: Sequence[Manifest], _names: Sequence[str]) -> Interface:
    """The packages of the module that the first manifest describes."""
    if not manifests:
        return Interface()
    root = manifests[0].value("name")
    folder = str(PurePosixPath(manifests[0].path).parent).removeprefix(".")
    interface = Interface(packages=[root])
    for place, files in sorted(_packages(repository, folder).items()):
        inner = place.removeprefix(folder).strip("/")
        _tell(interface, repository, f"{root}/{inner}" if inner else root, files, is_root=not inner)
    names = [symbol.qualified for symbol in interface.symbols if symbol.kind == "module"]
    used = Usage(repository).ranked(names, r'^\s*(?:import\s+)?(?:\w+\s+)?"NAME"')
    interface.imports += [Import(f'import "{name}"', name) for name in (used or names)[:1]]
    return interface


def _packages(repository: Repository, folder: str) -> dict[str, list[str]]:
    """The files of each package by its folder."""
    found: dict[str, list[str]] = {}
    for path in repository.under([folder], (".go",))[:_MOST_FILES]:
        inner = path.removeprefix(folder).lstrip("/")
        if not path.endswith("_test.go") and not is_left_out(inner, OF_PEOPLE):
            parent = str(PurePosixPath(path).parent)
            found.setdefault("" if parent == "." else parent, []).append(path)
    return found


def _tell(interface: Interface, repository: Repository, name: str, files: list[str], *, is_root: bool) -> None:
    texts = {path: repository.text(path, LARGEST_CODE) or "" for path in files}
    declared = {path: found[1] for path, text in texts.items() if (found := _PACKAGE.search(text))}
    if not declared or set(declared.values()) == {"main"}:
        return
    modules = [module for path in declared if (module := parsed("go", path, texts[path])) is not None]
    interface.lines += sum(text.count("\n") for text in texts.values())
    interface.broken += [module.path for module in modules if module.has_errors]
    offered = list(_offered(name, modules, texts, is_root=is_root))
    if not offered:
        return
    path, doc, lines = _package_doc(declared, texts)
    shown = f'import "{name}"'
    interface.symbols.append(module_symbol(name, name.rpartition("/")[2], path, doc, lines, _DIALECT, shown))
    interface.symbols += symbols_of(offered, _DIALECT)


def _offered(name: str, modules: Sequence[Module], texts: dict[str, str], *, is_root: bool) -> Iterator[Offered]:
    every = [one for module in modules for one in _told(module, texts[module.path].split("\n"))]
    owned: dict[str, list[Told]] = {}
    for told in every:
        if told.definition.kind == "method":
            owned.setdefault(told.definition.owner, []).append(told)
    taken: set[str] = set()
    for told in every:
        item = told.definition
        if item.owner or item.visibility != "public" or item.plain_name in taken:
            continue
        taken.add(item.plain_name)
        yield Offered(
            name, item.name, (told,), tuple(_members(told, owned.get(item.name, ()))), is_exported=is_root
        )


def _told(module: Module, source: list[str]) -> Iterator[Told]:
    """The definitions of a file; of a constant, what stands behind it on its line is said of it, too."""
    for item in module.definitions:
        behind = _BEHIND.search(source[item.start_line - 1]) if item.kind == "variable" else None
        if behind and not item.doc:
            item = replace(item, doc=behind[1], doc_line=item.start_line)  # noqa: PLW2901
        yield Told(item, source, module.path)


def _members(owner: Told, methods: Sequence[Told]) -> Iterator[Told]:
    """The methods of a type from all files of its package, and the fields that something is said of."""
    item = owner.definition
    if item.kind == "struct":
        yield from (
            Told(one, owner.source, owner.path) for one in fields_of(item, owner.source, _FIELD) if one.doc
        )
    seen: set[str] = set()
    for told in methods:
        method = told.definition
        if method.visibility == "public" and method.plain_name not in seen:
            seen.add(method.plain_name)
            yield told


def _package_doc(declared: dict[str, str], texts: dict[str, str]) -> tuple[str, str, tuple[int, int]]:
    """The comment right above the `package` clause of the file that has the longest one."""
    best = ("", "", (1, 1))
    for path in sorted(declared):
        lines = texts[path].split("\n")
        at = next(number for number, line in enumerate(lines) if line.startswith("package "))
        first = at
        while first and (lines[first - 1].startswith("//") or _in_block(lines, first - 1)):
            first -= 1
        said = [re.sub(r"^// ?|^/\*\s?|\s*\*/$", "", line) for line in lines[first:at]]
        text = "\n".join(line for line in said if not line.startswith(("go:", "+build", "nolint")))
        if len(text) > len(best[1]):
            best = (path, text, (first + 1, at + 1))
    path = best[0] or min(declared)
    at = next(number for number, line in enumerate(texts[path].split("\n"), 1) if line.startswith("package "))
    return path, best[1], best[2] if best[1] else (at, at)


def _in_block(lines: list[str], at: int) -> bool:
    """Whether a line belongs to a comment between /* and */ that ends right above."""
    if lines[at].rstrip().endswith("*/"):
        return True
    below = next(
        (line for line in lines[at + 1 :] if line.rstrip().endswith("*/") or line.startswith("package ")), ""
    )
    opening = next(
        (line for line in reversed(lines[: at + 1]) if line.startswith("/*") or line.endswith("*/")), ""
    )
    return below.rstrip().endswith("*/") and opening.startswith("/*")


def _signature(told: Told) -> str:
    item: Definition = told.definition
    if item.kind in ("struct", "interface"):
        shown = body_of(item, told.source, _PUBLIC_LINE if item.kind == "struct" else None)
        return shown if shown.startswith("type ") else one_line(told)
    text = one_line(told)
    if item.kind == "variable" and not item.owner and not text.startswith(("var ", "const ")):
        return text if len(text) <= 120 else item.plain_name
    return text


_DIALECT = Dialect(read_godoc, _signature, has_exceptions=False)
