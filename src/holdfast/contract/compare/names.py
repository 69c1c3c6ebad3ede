"""Which tool is which: renamed ones found again, names that now stand for something else, a call to show."""

import re
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.view import SurfaceView, ToolView
from holdfast.contract.inclusion.compare import compare_schemas

__all__ = ["find_renames", "is_replaced", "sample_call"]

_WORD = re.compile(r"[A-Za-z]{3,}")
_ALIKE = 0.25  # of all words of two descriptions, the part that both have
_NOTHING = False  # the schema that no value meets


def find_renames(old: SurfaceView, new: SurfaceView) -> dict[str, str]:
    """Old name -> new name of tools that seem to have been renamed, each new name once."""
    come = {name: tool for name, tool in sorted(new.tools.items()) if name not in old.owners}
    same: dict[str, list[str]] = {}
    spelled: dict[str, list[str]] = {}
    for name, tool in come.items():
        same.setdefault(_content(tool), []).append(name)
        spelled.setdefault(name.lower(), []).append(name)
    found: dict[str, str] = {}
    for name, tool in sorted(old.tools.items()):
        if name in new.owners:
            continue
        heirs = [*same.get(_content(tool), ()), *spelled.get(name.lower(), ())]
        heir = next((one for one in heirs if one in come and _may_be(tool, come[one])), None)
        if heir is not None:
            found[name] = heir
            del come[heir]
    return found


def _content(tool: ToolView) -> str:
    return fingerprint([tool.facets["input"], tool.facets["output"]])


def _may_be(one: ToolView, other: ToolView) -> bool:
    """Two tools that take nothing look alike without being the same; then their words decide."""
    has_same_words = one.facets.get("description") == other.facets.get("description")
    return has_same_words or one.name.lower() == other.name.lower() or bool(_names(one.facets["input"]))


def is_replaced(old: ToolView, new: ToolView) -> bool:
    """Whether the name was kept for what seems to be another tool: neither fields nor words are the same."""
    before, after = old.facets, new.facets
    if before["input"] == after["input"] or before.get("description") == after.get("description"):
        return False
    fields = [_names(facets["input"]) | _names(facets["output"]) for facets in (before, after)]
    if not fields[0] or not fields[1] or fields[0] & fields[1] - {"status", "render", "detail"}:
        return False
    words = [set(_WORD.findall(str(facets.get("description")).lower())) for facets in (before, after)]
    every = words[0] | words[1]
    return bool(every) and len(words[0] & words[1]) / len(every) < _ALIKE


def sample_call(tool: ToolView) -> dict[str, Any] | None:
    """A call that the tool accepts, to show what a client can do with it."""
    examples = tool.facets.get("examples")
    if isinstance(examples, list) and examples and isinstance(examples[0], dict):
        return {"name": tool.name, "arguments": examples[0]}
    witness = compare_schemas(tool.facets["input"], _NOTHING).witness_lost
    return None if witness is None else {"name": tool.name, "arguments": witness.value}


def _names(schema: Any) -> set[str]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return set(found) if isinstance(found, dict) else set()
