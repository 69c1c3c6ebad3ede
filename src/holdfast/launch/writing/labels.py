"""What the headings of the API reference are called: each name of a module under a fragment of its own.

A fragment has no capitals and few signs, so that `Evil` and `evil`, or a class `Methods` and the heading above all
methods, would lead to the same place. The second of two then says what it is: `evil` (function).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.launch.writing.inline import anchor, code

__all__ = ["displayed", "labels"]

_TITLES = (
    "Classes", "Functions", "Interfaces", "Types", "Exceptions", "Constants", "Members",
    "Constructor", "Methods", "Properties", "Other members", "See also",
)  # fmt: skip


def displayed(symbol: Mapping[str, Any]) -> str:
    """A name as its heading has it: with its class, without its module."""
    if symbol["kind"] == "module":
        return str(symbol["module"])
    name: str = symbol["name"]
    if not symbol.get("parent"):
        return name
    full: str = symbol["qualified_name"]
    return full.removeprefix(symbol["module"]).lstrip(".:")


def labels(symbols: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The text of the heading of each name, by its full name."""
    taken: dict[str, set[str]] = {}
    found: dict[str, str] = {}
    for symbol in symbols:
        if symbol["kind"] == "module":
            continue
        here = taken.setdefault(symbol["module"], {anchor(title) for title in _TITLES})
        label = plain = code(displayed(symbol))
        number = 1
        while anchor(label) in here:
            label = f"{plain} ({symbol['kind']}{f' {number}' if number > 1 else ''})"
            number += 1
        here.add(anchor(label))
        found[symbol["qualified_name"]] = label
    return found
