"""The interface of a product from the definitions of its files: what all languages but Python have in common.

An ecosystem says which definitions users reach and by which name; here each becomes a symbol with its members.
Several definitions of one name, as overloading allows, are one symbol with several signatures.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from holdfast.launch.evidence import Definition
from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.interface import Described, Symbol

__all__ = ["Dialect", "Offered", "Told", "module_symbol", "one_line", "symbols_of"]

_LONGEST = 1_900
_MOST_OVERLOADS = 8
_TYPES = frozenset({"class", "interface", "struct", "enum", "trait", "type"})
_ERRORS = re.compile(r"(?:Error|Exception|Throwable)$")
_DEPRECATED = ("Deprecated", "deprecated", "Obsolete", "obsolete")


class Told(NamedTuple):
    """A definition and the lines of its file."""

    definition: Definition
    source: Sequence[str]
    path: str


class Offered(NamedTuple):
    """A public name: where users find it, everything that it is defined by, and the definitions inside of it."""

    module: str
    name: str
    told: tuple[Told, ...]
    members: tuple[Told, ...] = ()
    is_exported: bool = True  # by the package itself, and not by something deep in it


class Dialect(NamedTuple):
    """How a language writes signatures and documentation."""

    document: Callable[[str], Docstring]
    signature: Callable[[Told], str]
    joiner: str = "."
    has_exceptions: bool = True


def symbols_of(offered: Iterable[Offered], dialect: Dialect) -> Iterator[Symbol]:
    """A symbol for each name that is offered, followed by those of its members."""
    for one in offered:
        qualified = f"{one.module}{dialect.joiner}{one.name}"
        kind = _kind(one.told[0].definition, dialect)
        sort = "exported" if one.is_exported else "constant" if kind == "constant" else "thing"
        yield _symbol(sort, kind, one.module, one.name, qualified, one.told, dialect)
        for name, told in _by_name(one.members).items():
            full = f"{qualified}{dialect.joiner}{name}"
            member_kind = _member_kind(told[0].definition)
            yield _symbol("member", member_kind, one.module, name, full, told, dialect, qualified)


def module_symbol(
    module: str, name: str, path: str, document: str, lines: tuple[int, int], dialect: Dialect, shown: str = ""
) -> Symbol:
    """A module, a package or a namespace with what is said of it as a whole."""

    def read() -> Described:
        return Described(shown, [], "", dialect.document(document) if document else Docstring())

    return Symbol("module", "module", module, name, module, path, lines, lines, bool(document), read)


def one_line(told: Told) -> str:
    """The head of a definition as the engine has it, on one line."""
    return told.definition.signature.rstrip(" ;{")


def _by_name(members: Iterable[Told]) -> dict[str, tuple[Told, ...]]:
    found: dict[str, tuple[Told, ...]] = {}
    for told in members:
        name = told.definition.plain_name
        found[name] = (*found.get(name, ()), told)
    return found


def _kind(definition: Definition, dialect: Dialect) -> str:
    kind = definition.kind
    names = (*definition.bases, definition.plain_name)
    if dialect.has_exceptions and kind in ("class", "struct") and any(map(_ERRORS.search, names)):
        return "exception"
    if kind in _TYPES or kind == "function":
        return kind
    return {"variable": "constant", "method": "function"}.get(kind, "class")


def _member_kind(definition: Definition) -> str:
    if definition.kind in _TYPES:
        return definition.kind
    if definition.kind == "variable":
        is_fixed = {"const", "final"} & set(definition.modifiers) or definition.signature.startswith("pub const ")
        return "constant" if is_fixed else "property"
    return "property" if {"get", "set"} & set(definition.modifiers) else "method"


def _symbol(
    sort: str,
    kind: str,
    module: str,
    name: str,
    qualified: str,
    told: tuple[Told, ...],
    dialect: Dialect,
    parent: str = "",
) -> Symbol:
    first = next((one for one in told if one.definition.doc), told[0])
    rest = [one for one in told if one is not first]
    item = first.definition
    return Symbol(
        sort, kind, module, name, qualified, first.path, (item.start_line, item.end_line), _cited(first),
        bool(item.doc), partial(_read, (first, *rest), dialect), parent,
    )  # fmt: skip


def _cited(told: Told) -> tuple[int, int]:
    """From the first line of the documentation to the end of what is shown: the head, or a short definition."""
    item = told.definition
    head = item.start_line + min(item.end_line - item.start_line, 40 if item.kind in _TYPES else 12)
    first = item.doc_line if 0 < item.doc_line <= item.start_line else item.start_line
    return first, max(head, first)


def _read(told: tuple[Told, ...], dialect: Dialect) -> Described:
    shown: dict[str, None] = {}
    for one in told[:_MOST_OVERLOADS]:
        signature = dialect.signature(one)
        if signature and sum(map(len, shown)) + len(signature) <= _LONGEST:
            shown[signature] = None
    document = dialect.document(told[0].definition.doc) if told[0].definition.doc else Docstring()
    for other in told[1:_MOST_OVERLOADS]:
        _complete(document, dialect.document(other.definition.doc) if other.definition.doc else Docstring())
    item = told[0].definition
    marked = any(mark.rpartition(".")[2].startswith(_DEPRECATED) for mark in item.decorators)
    names = dict.fromkeys(name for one in told for name in one.definition.parameters)
    names |= dict.fromkeys(entry.name for entry in document.parameters)
    more = tuple(_cited(one) for one in told[1:_MOST_OVERLOADS] if one.path == told[0].path)
    parameters = [{"name": name[:200]} for name in names if name]
    return Described("\n".join(shown), parameters, "", document, marked, more)


def _complete(document: Docstring, other: Docstring) -> None:
    """Take from the documentation of another overload what the first does not say."""
    names = {entry.name for entry in document.parameters}
    document.parameters += [entry for entry in other.parameters if entry.name not in names]
    raised = {entry.name for entry in document.raises}
    document.raises += [entry for entry in other.raises if entry.name not in raised]
    document.returns = document.returns or other.returns
