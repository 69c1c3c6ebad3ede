"""What changed in the schemas of a tool, in the two directions in which they bind.

Callers write what the input schema accepts and read what the output schema allows, so the same change of a schema
weighs differently on either side. The proofs are made in `contract/inclusion`.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.places import escaped, fields, followed, properties
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.inclusion.compare import compare_schemas
from holdfast.contract.inclusion.model import Comparison, Effect, SchemaChange
from holdfast.contract.inclusion.rules import RULES as SCHEMA_RULES
from holdfast.contract.inclusion.rules import acknowledgements_of, bumps_of, strict_bumps_of

__all__ = ["answer_changes", "schema_changes"]

Facets = dict[str, Any]

# Models read these.
_STEERING = frozenset(
    {"annotation.description_changed", "annotation.description_clarified", "annotation.title_changed"}
)

_KINDS = ("object", "array", "string", "number", "boolean", "null")
_CURSORS = frozenset(
    {"cursor", "next", "nextcursor", "nextpage", "nextpagetoken", "pagetoken", "hasmore", "ismore"}
)
_PAGE_SIZES = frozenset({"limit", "pagesize", "perpage", "maxresults", "maxitems", "topk", "count", "size"})


def schema_changes(name: str, old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """Everything that changed in what the tool takes and in what it answers."""
    yield from _input(name, old["input"], new["input"], strict=strict)
    told = list(_answer(old["output"], new["output"], strict=strict))
    yield from told
    if "payload" in old and "payload" in new and not any(item.rule.startswith("output.schema_") for item in told):
        # What the tool returns, before the server puts it into the form of its answers.
        known = {item.address for item in told}
        payload = _answer(old["payload"], new["payload"], strict=strict)
        yield from (item for item in payload if item.address not in known)
    yield from _pages(old, new, strict=strict)


def _answer(old: Any, new: Any, *, strict: bool) -> Iterator[Change]:
    if old is None and new is None:
        return
    if old is None:
        yield change("output.schema_added", "/result", "output schema", strict=strict)
    elif new is None:
        yield change("output.schema_removed", "/result", "output schema", strict=strict)
    elif old != new:
        kinds = _root_kind(old), _root_kind(new)
        if "" not in kinds and kinds[0] != kinds[1]:
            what = f"{kinds[0]} -> {kinds[1]}"
            yield change("output.root_kind_changed", "/result", what, strict=strict)
        yield from answer_changes(old, new, "/result", strict=strict)


def _input(name: str, old: Any, new: Any, *, strict: bool) -> Iterator[Change]:
    if old == new:
        return
    if _is_of_objects(old) and not _is_of_objects(new):
        yield _not_of_objects()
    comparison = compare_schemas(old, new, assert_formats=True)  # servers do refuse what is not in the format
    for item in comparison.changes:
        bump, acknowledge = _floor(item, 0, strict=strict)
        witness = None
        if bump is Bump.MAJOR and (value := _witness(item, comparison, "old")) is not None:
            witness = {"name": name, "arguments": value}
        yield _change(item, "input", "/arguments", bump, acknowledge or item.rule in _STEERING, witness)


def answer_changes(old: Any, new: Any, root: str, *, strict: bool) -> Iterator[Change]:
    """Every change of a schema that clients read by; `root` is where it stands."""
    comparison = compare_schemas(old, new, assert_formats=True)
    for item in comparison.changes:
        bump, acknowledge = _floor(item, 1, strict=strict)
        witness = _witness(item, comparison, "new") if bump is Bump.MAJOR else None
        yield _change(item, "output", root, bump, acknowledge or item.rule in _STEERING, witness)


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


def _is_of_objects(schema: Any) -> bool:
    """Whether only objects meet the schema, as the protocol demands of arguments."""
    if isinstance(schema, dict) and schema.get("type") == "object":
        return True
    return compare_schemas(schema, {"type": "object"}).effect in {Effect.EQUAL, Effect.WIDENS}


def _not_of_objects() -> Change:
    rule = "type.root_not_object"
    message = f"arguments are always an object: {SCHEMA_RULES[rule].meaning}"
    return Change(rule, "/arguments", "input", "incomparable", Bump.MAJOR, message, violation=True)


def _root_kind(schema: Any) -> str:
    """The one type that an answer has at its root, however the schema says it; empty where it has several."""
    target = followed(schema, schema)
    kind = target.get("type") if isinstance(target, dict) else None
    if isinstance(kind, str):
        return "number" if kind == "integer" else kind
    for kind in _KINDS:
        if compare_schemas(schema, {"type": kind}).effect in {Effect.EQUAL, Effect.WIDENS}:
            return kind
    return ""


def _pages(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """A result that was complete and is cut up now: no schema says so, but its words do."""
    before, after = (fields(facets["output"]) for facets in (old, new))
    was, is_now = _cursors(before), _cursors(after)
    gained = sorted(is_now[word] for word in is_now.keys() - was.keys())
    if gained and any(_is_array(part, old["output"]) for part in before.values()):
        yield change("result.pagination_introduced", f"/result{gained[0]}", gained[0][1:], strict=strict)
    then, now = properties(old["input"]), properties(new["input"])
    for name in sorted(then.keys() & now.keys()):
        size, smaller = _default(then[name]), _default(now[name])
        if _plain(name) in _PAGE_SIZES and size is not None and smaller is not None and smaller < size:
            what = f"{name} {size} -> {smaller} by default"
            yield change("result.page_size_cut", f"/arguments/{escaped(name)}", what, strict=strict)


def _cursors(named: dict[str, Any]) -> dict[str, str]:
    """The fields that lead to a next page, by their plain names: where each of them stands."""
    plain = ((_plain(path.rpartition("/")[2]), path) for path in named)
    return {word: path for word, path in plain if word in _CURSORS}


def _is_array(part: Any, root: Any) -> bool:
    target = followed(part, root)
    return isinstance(target, dict) and target.get("type") == "array"


def _default(part: Any) -> int | None:
    found = part.get("default") if isinstance(part, dict) else None
    return found if type(found) is int else None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
