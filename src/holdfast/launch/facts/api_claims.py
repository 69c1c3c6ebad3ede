"""The interface of a product as facts: a symbol for each public name, and a claim that says what it does."""

import re
from collections.abc import Sequence
from typing import Any

from holdfast.launch.facts.claims import Citation
from holdfast.launch.facts.ecosystems.ecosystem import Ecosystem
from holdfast.launch.facts.gathered import Gathered
from holdfast.launch.facts.interface import Described, Interface, Symbol
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.module_names import depth

__all__ = ["gather_api"]

_MOST_SYMBOLS = 2_000
# Of what a very large package has, how much of each may be told before anything else is looked at.
_SHARES = {"exported": 2_000, "thing": 900, "module": 400, "member": 600, "constant": 100}
_NOUNS = {
    "class": "a class", "function": "a function", "method": "a method", "property": "a property",
    "constant": "a constant", "exception": "an exception", "module": "a module", "interface": "an interface",
    "struct": "a struct", "enum": "an enumeration", "trait": "a trait", "type": "a type",
}  # fmt: skip
_NOT_SHOWN = re.compile(r"\ufffc|^[^A-Za-z`\"'“(0-9]")


def gather_api(
    known: Gathered, ecosystem: Ecosystem, manifests: Sequence[Manifest], names: Sequence[str]
) -> Interface:
    """Tell what the product offers, and how it is imported."""
    found = ecosystem.interface(known.repository, manifests, names)
    known.packages = found.packages
    told = {symbol.qualified: _told(known, symbol) for symbol in _bounded(found)}
    known.listed["api_symbols"] = list(told.values())
    for item in found.imports:
        if item.qualified in told:
            known.enter("imports", code=item.code, claim_id=told[item.qualified]["claim_id"])
    for path in found.broken:
        known.repository.skipped.setdefault(path, "syntax_error")
    return found


def _bounded(found: Interface) -> list[Symbol]:
    """What the package itself exports; then classes and functions, then modules, members and constants; in order.

    Of each the nearest to the root come first, and of those the documented ones. No sort takes the room of the
    others: a list of a thousand modules describes nothing.
    """
    packages = found.packages
    nearest = sorted(
        found.symbols,
        key=lambda item: (depth(item.qualified, packages), not item.is_documented, item.qualified, item.lines),
    )
    by_sort = {sort: [item for item in nearest if item.sort == sort] for sort in _SHARES}
    first = [item for sort, most in _SHARES.items() for item in by_sort[sort][:most]]
    rest = [item for sort, most in _SHARES.items() for item in by_sort[sort][most:]]
    return sorted([*first, *rest][:_MOST_SYMBOLS], key=lambda item: (item.qualified, item.lines))


def _told(known: Gathered, symbol: Symbol) -> dict[str, Any]:
    described = symbol.read()
    summary = _summary(known, described)
    text = f"`{symbol.qualified}`: {summary}" if summary else _undocumented(symbol)
    source = "docstring" if summary else "code_constant"
    citations = [Citation(symbol.path, *lines, source) for lines in (symbol.cited, *described.more)]
    claim = known.ledger.add(text[:4_000], "api", *citations, topic=symbol.qualified)
    found: dict[str, Any] = {
        "name": symbol.name[:200],
        "qualified_name": symbol.qualified[:500],
        "kind": symbol.kind,
        "module": symbol.module[:200],
        "signature": described.signature[:2_000],
        "summary": summary[:2_000],
        "path": symbol.path,
        "start_line": symbol.lines[0],
        "end_line": symbol.lines[1],
        "claim_id": claim,
        "public": True,
    }
    return found | _details(symbol, described)


def _summary(known: Gathered, described: Described) -> str:
    summary = described.document.summary
    if not summary or _NOT_SHOWN.search(summary):
        return ""
    if summary[0].islower() and summary.split(" ", 1)[0] not in (known.name, *known.packages):
        return summary[0].upper() + summary[1:]
    return summary


def _undocumented(symbol: Symbol) -> str:
    if symbol.kind == "module":
        return f"`{symbol.qualified}` is a public module."
    return f"`{symbol.qualified}` is {_NOUNS[symbol.kind]} of `{symbol.parent or symbol.module}`."


def _details(symbol: Symbol, described: Described) -> dict[str, Any]:
    document = described.document
    told = {entry.name: entry.text for entry in document.parameters}
    found: dict[str, Any] = {}
    if symbol.parent:
        found["parent"] = symbol.parent[:500]
    if document.documentation:
        found["documentation"] = document.documentation[:8_000]
    if described.parameters:
        found["parameters"] = [
            entry | ({"description": text[:1_000]} if (text := told.get(entry["name"], "")) else {})
            for entry in described.parameters
        ]
    if described.returns:
        found["returns"] = described.returns[:500]
    if document.returns:
        found["returns_description"] = document.returns[:1_000]
    if document.raises:
        found["raises"] = [
            {"name": entry.name[:200], "description": entry.text[:1_000]} for entry in document.raises
        ]
    if document.deprecated or described.is_deprecated or document.summary.lower().startswith("deprecated"):
        found["deprecated"] = (document.deprecated or "deprecated")[:500]
    return found
