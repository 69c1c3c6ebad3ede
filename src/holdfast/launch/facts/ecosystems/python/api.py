"""The interface of a Python package: a symbol for each public thing, read from source that is never imported."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from holdfast.launch.evidence import Definition, Module
from holdfast.launch.facts.docstrings import Docstring, read_docstring
from holdfast.launch.facts.ecosystems.python.signatures import Signature, class_fields, read_signature
from holdfast.launch.facts.ecosystems.python.surface import Offered, Surface, python_surface
from holdfast.launch.facts.interface import Described, Interface, Symbol
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository

__all__ = ["python_interface"]

_PROPERTIES = ("property", "cached_property", "abstractproperty")
_ONE_LINE = 48
_CONSTRUCTORS = ("__init__", "__new__")
_NO_MAKERS = ("object", "ABC", "Generic", "Protocol")
"""Bases that have no say in how an object is made."""
_ERRORS = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt)$")


def python_interface(repository: Repository, _manifests: Sequence[Manifest], names: Sequence[str]) -> Interface:
    """What the packages of the repository offer."""
    surface = python_surface(repository, list(names))
    symbols = [*_modules(surface), *_definitions(repository, surface)]
    return Interface(symbols, surface.packages, lines=surface.lines, broken=surface.broken)


def _modules(surface: Surface) -> Iterator[Symbol]:
    used = {offered.module for offered in surface.offered}
    for name, module in surface.modules.items():
        if module.doc or name in used:
            last = module.doc_line + module.doc.count("\n") if module.doc else 1
            cited = (max(module.doc_line, 1), max(last, module.doc_line, 1))
            short = name.rpartition(".")[2]
            yield Symbol(
                "module", "module", name, short, name, module.path, (1, max(cited)), cited, bool(module.doc),
                partial(_module, short, module),
            )  # fmt: skip


def _module(name: str, module: Module) -> Described:
    return Described(f"import {name}", [], "", read_docstring(module.doc) if module.doc else Docstring())


def _definitions(repository: Repository, surface: Surface) -> Iterator[Symbol]:
    for offered in surface.offered:
        item = offered.definition
        sort = "thing" if "." in offered.module else "exported"
        if item.kind == "class":
            yield from _class_with_members(repository, offered, sort)
        elif item.kind == "function":
            yield _symbol(
                sort, "function", offered, item, partial(_callable, item, _last(offered), "function", "")
            )
        elif item.kind == "variable":
            sort = "constant" if sort == "thing" else sort
            lines = (item.start_line, item.end_line)
            yield _symbol(sort, "constant", offered, item, partial(_constant, item, _last(offered)), cited=lines)


def _symbol(
    sort: str,
    kind: str,
    offered: Offered,
    item: Definition,
    read: "partial[Described]",
    parent: str = "",
    cited: tuple[int, int] | None = None,
) -> Symbol:
    name = item.plain_name if parent else _last(offered)
    full = f"{parent}.{name}" if parent else offered.qualified
    lines = (item.start_line, item.end_line)
    return Symbol(
        sort, kind, offered.module, name, full, offered.home.path, lines, cited or _cited(item), bool(item.doc),
        read, parent,
    )  # fmt: skip


def _class_with_members(repository: Repository, offered: Offered, sort: str) -> Iterator[Symbol]:
    owner = offered.definition
    members = _members(owner, offered.home)
    kind = "exception" if _is_error(owner, offered.home) else "class"
    yield _symbol(sort, kind, offered, owner, partial(_class, repository, offered))
    for item in _public_members(members):
        is_property = any(mark.rpartition(".")[2] in _PROPERTIES for mark in item.decorators)
        member = "property" if is_property else "method"
        parent = offered.qualified
        yield _symbol(
            "member", member, offered, item, partial(_callable, item, item.plain_name, member, parent), parent
        )


def _class(repository: Repository, offered: Offered) -> Described:
    definition, home = offered.definition, offered.home
    lines = (repository.text(home.path, LARGEST_CODE) or "").split("\n")
    signature, maker = Signature("", [], ""), None
    for item in _makers(definition, home):
        fields = class_fields(lines[item.start_line - 1 : item.end_line], item.decorators, item.bases)
        maker = next((one for one in _members(item, home) if one.plain_name in _CONSTRUCTORS), None)
        if fields is not None and item is definition:
            signature = fields
        if fields is not None or maker is not None:
            break
    document = read_docstring(definition.doc)
    if maker is not None:
        made = read_signature(maker.signature, drop_first=True)
        signature = Signature(made.text.rpartition(" -> ")[0] if made.returns else made.text, made.parameters, "")
        initial = read_docstring(maker.doc)
        document.parameters = document.parameters or initial.parameters
        document.raises = document.raises or initial.raises
    shown = f"class {_last(offered)}{signature.text}"
    more = (_cited(maker),) if maker is not None else ()
    return Described(shown, signature.parameters, "", document, _is_deprecated(definition), more)


def _members(owner: Definition, home: Module) -> list[Definition]:
    return [item for item in home.definitions if item.owner == owner.name and _within(item, owner)]


def _makers(definition: Definition, home: Module) -> Iterator[Definition]:
    """The class and its bases, up to one from elsewhere, which may make objects in its own way."""
    classes = {item.name: item for item in home.definitions if item.kind == "class"}
    left: list[Definition | None] = [definition]
    seen: set[str] = set()
    while left:
        item = left.pop(0)
        if item is None or item.name in seen:
            return
        seen.add(item.name)
        yield item
        bases = [base.partition("[")[0] for base in item.bases]
        left = [*(classes.get(base) for base in bases if base.rpartition(".")[2] not in _NO_MAKERS), *left]


def _is_error(definition: Definition, home: Module) -> bool:
    """Whether a class is an exception by its name or by a base, those of its own file looked through."""
    classes = {item.name: item for item in home.definitions if item.kind == "class"}
    left, seen = [definition], {definition.name}
    while left:
        item = left.pop()
        if any(_ERRORS.search(base) for base in (*item.bases, item.name)):
            return True
        bases = [classes[base] for base in item.bases if base in classes and base not in seen]
        seen.update(base.name for base in bases)
        left += bases
    return False


def _last(offered: Offered) -> str:
    return offered.name.rpartition(".")[2]


def _within(item: Definition, owner: Definition) -> bool:
    return owner.start_line <= item.start_line <= owner.end_line


def _public_members(members: list[Definition]) -> list[Definition]:
    """One definition of each public name: setters and overloads are not further ones."""
    found: dict[str, Definition] = {}
    for item in members:
        if item.plain_name.startswith("_") or item.kind not in ("method", "function"):
            continue
        if any(mark.endswith((".setter", ".deleter")) for mark in item.decorators):
            continue
        known = found.get(item.plain_name)
        if known is None or any(mark.endswith("overload") for mark in known.decorators):
            found[item.plain_name] = item
    return list(found.values())


def _callable(item: Definition, name: str, kind: str, parent: str) -> Described:
    static = any(mark.endswith("staticmethod") for mark in item.decorators)
    signature = read_signature(item.signature, drop_first=bool(parent) and not static)
    if kind == "property":
        signature = Signature(f": {signature.returns}" if signature.returns else "", [], signature.returns)
    shown = ("async " if item.is_async else "") + name + signature.text
    document = read_docstring(item.doc)
    return Described(shown, signature.parameters, signature.returns, document, _is_deprecated(item))


def _constant(item: Definition, name: str) -> Described:
    value = item.signature.partition("=")[2].strip()
    shown = f"{name} = {value}" if value and len(value) <= 120 else name
    return Described(shown, [], "", Docstring(), _is_deprecated(item))


def _is_deprecated(item: Definition) -> bool:
    return any(mark.endswith("deprecated") for mark in item.decorators)


def _cited(item: Definition) -> tuple[int, int]:
    """The signature and all of the documentation: pages tell both."""
    if not item.doc_line:
        return item.start_line, max(item.start_line, min(item.end_line, _head_end(item)))
    return item.start_line, max(item.start_line, min(item.end_line, item.doc_line + item.doc.count("\n")))


def _head_end(item: Definition) -> int:
    """Decorators and the parameters of a long signature take lines of their own."""
    wrapped = item.signature.count(",") + 1 if len(item.signature) > _ONE_LINE else 0
    return item.start_line + len(item.decorators) + 1 + wrapped
