"""What changed in the schemas of a tool, in the two directions in which they bind.

Callers write what the input schema accepts and read what the output schema allows, so the same change of a schema
weighs differently on either side. The proofs are made in `contract/inclusion`.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.inclusion.compare import compare_schemas
from holdfast.contract.inclusion.model import Comparison, Effect, SchemaChange
from holdfast.contract.inclusion.rules import acknowledgements_of, bumps_of, strict_bumps_of

__all__ = ["schema_changes"]

Facets = dict[str, Any]

_DEFAULTS = "annotation.default_"  # a default that moves changes what a call does, which matters most if it writes
_STEERING = frozenset({"annotation.description_changed", "annotation.title_changed"})  # models read these

_CURSORS = frozenset(
    {"cursor", "next", "nextcursor", "nextpage", "nextpagetoken", "pagetoken", "hasmore", "ismore"}
)
_PAGE_SIZES = frozenset({"limit", "pagesize", "perpage", "maxresults", "maxitems", "topk", "count", "size"})


def schema_changes(name: str, old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """Everything that changed in what the tool takes and in what it answers."""
    mutates = new.get("annotations", {}).get("readOnlyHint") is not True
    yield from _input(name, old["input"], new["input"], strict=strict, mutates=mutates)
    if old["output"] is None and new["output"] is None and "payload" in old and "payload" in new:
        yield from _output(old["payload"], new["payload"], strict=strict)
    elif old["output"] is None and new["output"] is not None:
        yield change("output.schema_added", "/result", "output schema", strict=strict)
    elif old["output"] is not None and new["output"] is None:
        yield change("output.schema_removed", "/result", "output schema", strict=strict)
    elif old["output"] is not None:
        yield from _output(old["output"], new["output"], strict=strict)
    yield from _pages(old, new, strict=strict)


def _input(name: str, old: Any, new: Any, *, strict: bool, mutates: bool) -> Iterator[Change]:
    if old == new:
        return
    comparison = compare_schemas(old, new)
    for item in comparison.changes:
        bump, acknowledge = _floor(item, 0, strict=strict or (mutates and item.rule.startswith(_DEFAULTS)))
        witness = None
        if bump is Bump.MAJOR and (value := _witness(item, comparison, "old")) is not None:
            witness = {"name": name, "arguments": value}
        yield _change(item, "input", "/arguments", bump, acknowledge or item.rule in _STEERING, witness)


def _output(old: Any, new: Any, *, strict: bool) -> Iterator[Change]:
    if old == new:
        return
    if _root_kind(old) != _root_kind(new):
        what = f"{_root_kind(old)} -> {_root_kind(new)}"
        yield change("output.root_kind_changed", "/result", what, strict=strict)
    comparison = compare_schemas(old, new)
    for item in comparison.changes:
        bump, acknowledge = _floor(item, 1, strict=strict)
        witness = _witness(item, comparison, "new") if bump is Bump.MAJOR else None
        yield _change(item, "output", "/result", bump, acknowledge, witness)


def _floor(item: SchemaChange, side: int, *, strict: bool) -> tuple[Bump, bool]:
    bumps = strict_bumps_of(item) if strict else bumps_of(item)
    return bumps[side], acknowledgements_of(item)[side]


def _witness(item: SchemaChange, comparison: Comparison, side: str) -> Any:
    """The value of this change that only `side` accepts, else that of the whole comparison."""
    overall = comparison.witness_lost if side == "old" else comparison.witness_gained
    for witness in (item.witness, overall):
        if witness is not None and witness.accepted_by == side:
            return witness.value
    return None


def _change(item: SchemaChange, direction: str, root: str, bump: Bump, acknowledge: bool, witness: Any) -> Change:
    message = item.message
    if item.effect is Effect.UNKNOWN:
        message += "; it could not be decided, so it counts as breaking"
    return Change(
        rule=item.rule, path=f"{root}{item.path}", direction=direction, effect=item.effect.value, bump=bump,
        message=message, witness=witness, acknowledge=acknowledge,
    )  # fmt: skip


def _root_kind(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, str) else "several kinds" if isinstance(kind, list) else "any kind"


def _pages(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """A result that was complete and is cut up now: no schema says so, but its words do."""
    was, is_now = _words(old["output"]), _words(new["output"])
    gained = sorted(is_now[word] for word in is_now.keys() - was.keys() if word in _CURSORS)
    if gained and was and _holds_array(old["output"]):
        yield change("result.pagination_introduced", f"/result/{gained[0]}", gained[0], strict=strict)
    then, now = _properties(old["input"]), _properties(new["input"])
    for name in sorted(then.keys() & now.keys()):
        before, after = _default(then[name]), _default(now[name])
        if _plain(name) in _PAGE_SIZES and before is not None and after is not None and after < before:
            what = f"{name} {before} -> {after} by default"
            yield change("result.page_size_cut", f"/arguments/{name}", what, strict=strict)


def _default(part: Any) -> int | None:
    found = part.get("default") if isinstance(part, dict) else None
    return found if type(found) is int else None


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _words(schema: Any) -> dict[str, str]:
    return {_plain(name): name for name in _properties(schema)}


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _holds_array(schema: Any) -> bool:
    return any(isinstance(part, dict) and part.get("type") == "array" for part in _properties(schema).values())
