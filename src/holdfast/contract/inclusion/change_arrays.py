"""Changes of arrays: their items, the places of tuples, what they contain."""

from typing import Any

from holdfast.contract.inclusion.changes import Walker
from holdfast.contract.inclusion.model import Effect
from holdfast.contract.inclusion.nodes import Node
from holdfast.contract.inclusion.views import Pair, Side

__all__ = ["array_changes"]


def array_changes(walker: Walker, pair: Pair) -> None:
    """Everything about arrays except the number of their items."""
    _item_changes(walker, pair)
    _flag_changes(walker, pair)
    _contains_changes(walker, pair)


def _tuple(side: Side) -> tuple[list[Any], Any]:
    rest = side.schema.get("items", True)
    if isinstance(rest, list):
        return rest, side.schema.get("additionalItems", True)
    return side.schema.get("prefixItems", []), rest


def _item_changes(walker: Walker, pair: Pair) -> None:
    (old_prefix, old_rest), (new_prefix, new_rest) = _tuple(pair.old), _tuple(pair.new)
    old_nodes = [pair.old.compiler.child(part, pair.old.inner_base) for part in old_prefix]
    new_nodes = [pair.new.compiler.child(part, pair.new.inner_base) for part in new_prefix]
    if len(old_prefix) == len(new_prefix) and not _is_reordered(old_nodes, new_nodes):
        for index, (before, after) in enumerate(zip(old_prefix, new_prefix, strict=True)):
            walker.visit((before, pair.old.inner_base), (after, pair.new.inner_base), pair, ("index", index))
    elif old_nodes != new_nodes:
        _note_places(walker, pair, old_nodes, new_nodes)
    _rest_changes(walker, pair, old_rest, new_rest, bool(old_prefix or new_prefix))


def _is_reordered(old: list[Node], new: list[Node]) -> bool:
    return old != new and sorted(old, key=hash) == sorted(new, key=hash)


def _note_places(walker: Walker, pair: Pair, old: list[Node], new: list[Node]) -> None:
    how = {0: "reordered", 1: "inserted", -1: "removed"}[(len(new) > len(old)) - (len(new) < len(old))]
    compiler = pair.old.compiler
    rest = compiler.child(_tuple(pair.old)[1], pair.old.inner_base)
    hybrid = walker.hybrid(pair, {"items": compiler.items(new, rest)})
    message = f"a tuple of {len(old)} places became one of {len(new)}: {how}"
    walker.note(pair, f"array.prefix_items_{how}", hybrid, message)


def _rest_changes(walker: Walker, pair: Pair, before: Any, after: Any, is_tuple: bool) -> None:
    pool = walker.engine.pool
    if isinstance(before, dict) and isinstance(after, dict):
        walker.visit((before, pair.old.inner_base), (after, pair.new.inner_base), pair, ("items", None))
        return
    old = pair.old.compiler.child(before, pair.old.inner_base)
    new = pair.new.compiler.child(after, pair.new.inner_base)
    if old is new:
        return
    if is_tuple and new is pool.false:
        rule, message = "array.tuple_closed", "no more items are allowed after the last place"
    elif is_tuple and old is pool.false:
        rule, message = "array.tuple_opened", "items are allowed after the last place"
    else:
        effect = walker.engine.relation(old, new)
        how = {Effect.NARROWS: "narrowed", Effect.WIDENS: "widened"}.get(effect, "changed")
        rule, message = f"array.items_{how}", "the schema of items changed"
    prefix = [pair.old.compiler.child(part, pair.old.inner_base) for part in _tuple(pair.old)[0]]
    hybrid = walker.hybrid(pair, {"items": pair.old.compiler.items(prefix, new)})
    walker.note(pair, rule, hybrid, message)


def _flag_changes(walker: Walker, pair: Pair) -> None:
    if pair.differs("uniqueItems"):
        how = "added" if pair.new.schema.get("uniqueItems") is True else "removed"
        message = f"the demand that items differ was {how}"
        walker.note(pair, f"array.unique_items_{how}", walker.exchanged(pair, "uniqueItems"), message)
    before, after = pair.old.schema.get("unevaluatedItems"), pair.new.schema.get("unevaluatedItems")
    if before != after:
        how = "added" if before is None else "removed" if after is None else "changed"
        hybrid = walker.exchanged(pair, "unevaluatedItems")
        walker.note(pair, f"array.unevaluated_items_{how}", hybrid, f"unevaluatedItems was {how}")


def _contains_changes(walker: Walker, pair: Pair) -> None:
    if not pair.differs("contains"):
        return
    old, new = pair.old.schema, pair.new.schema
    hybrid = walker.exchanged(pair, "contains")
    if "contains" not in old or "contains" not in new:
        how = "added" if "contains" not in old else "removed"
        walker.note(pair, f"array.contains_{how}", hybrid, f"contains was {how}")
        return
    compiled = [side.compiler.child(side.schema["contains"], side.inner_base) for side in (pair.old, pair.new)]
    if compiled[0] is not compiled[1]:
        walker.note(pair, "array.contains_changed", hybrid, "what an item must be to be counted changed")
        return
    for keyword, default, rule in (
        ("minContains", 1, "array.min_contains"),
        ("maxContains", float("inf"), "array.max_contains"),
    ):
        was, now = old.get(keyword, default), new.get(keyword, default)
        if was != now:
            how = "raised" if now > was else "lowered"
            walker.note(pair, f"{rule}_{how}", hybrid, f"{keyword} was {was}, is {now}")
