"""Changes of types, lists of values, numbers and strings."""

from typing import Any

from holdfast.contract.inclusion.changes import Walker
from holdfast.contract.inclusion.compiler import bounds_of
from holdfast.contract.inclusion.model import Effect
from holdfast.contract.inclusion.values import exact, key_of
from holdfast.contract.inclusion.views import Pair

__all__ = ["count_changes", "number_changes", "string_changes", "type_changes", "value_changes"]

_COUNTS = {
    "minLength": "string.min_length",
    "maxLength": "string.max_length",
    "minItems": "array.min_items",
    "maxItems": "array.max_items",
    "minProperties": "object.min_properties",
    "maxProperties": "object.max_properties",
}
_BOUNDS = {
    "minimum": "number.minimum",
    "maximum": "number.maximum",
    "exclusiveMinimum": "number.exclusive_minimum",
    "exclusiveMaximum": "number.exclusive_maximum",
}
_EXTENSIBLE = ("x-extensible-enum", "x-extensible")


def type_changes(walker: Walker, pair: Pair) -> None:
    """`type`."""
    if not pair.differs("type"):
        return
    hybrid = walker.exchanged(pair, "type")
    rule = {Effect.WIDENS: "type.widened", Effect.NARROWS: "type.narrowed"}.get(
        walker.effect(pair, hybrid), "type.replaced"
    )
    before, after = pair.old.schema.get("type", "any"), pair.new.schema.get("type", "any")
    walker.note(pair, rule, hybrid, f"type was {before}, is {after}")


def value_changes(walker: Walker, pair: Pair) -> None:
    """`enum` and `const`."""
    if not pair.differs("enum", "const"):
        return
    hybrid = walker.exchanged(pair, "enum", "const")
    before, after = _listed(pair.old.schema), _listed(pair.new.schema)
    if before is None or after is None:
        rule, message = ("enum.added", "only listed values are accepted now") if before is None else (
            "enum.dropped", "values are no longer limited to a list"
        )  # fmt: skip
        walker.note(pair, rule, hybrid, message)
        return
    gone = [value for key, value in before.items() if key not in after]
    come = [value for key, value in after.items() if key not in before]
    if gone and come:
        rule = "discriminator.tag_changed" if _is_tag(pair) else "enum.values_replaced"
        message = f"{_some(gone)} became {_some(come)}"
    elif come:
        extensible = any(pair.old.schema.get(word) is True for word in _EXTENSIBLE)
        rule = "enum.value_added_extensible" if extensible else "enum.value_added"
        message = f"{_some(come)} was added"
    else:
        rule, message = "enum.value_removed", f"{_some(gone)} was removed"
    walker.note(pair, rule, hybrid, message)


def _listed(schema: dict[str, Any]) -> dict[Any, Any] | None:
    if "const" in schema:
        return {key_of(schema["const"]): schema["const"]}
    return {key_of(value): value for value in schema["enum"]} if "enum" in schema else None


def _is_tag(pair: Pair) -> bool:
    """Whether one fixed value of a branch was exchanged: then it is what tells the branches apart."""
    single = all(len(_listed(side.schema) or ()) == 1 for side in (pair.old, pair.new))
    return single and pair.branch


def _some(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:3])
    return shown if len(values) <= 3 else f"{shown} and {len(values) - 3} more"


def number_changes(walker: Walker, pair: Pair) -> None:
    """Bounds and `multipleOf`."""
    if pair.differs(*_BOUNDS):
        _bound_changes(walker, pair)
    if not pair.differs("multipleOf"):
        return
    before, after = pair.old.schema.get("multipleOf"), pair.new.schema.get("multipleOf")
    hybrid = walker.exchanged(pair, "multipleOf")
    if before is None or after is None:
        how = "added" if before is None else "removed"
    elif exact(before) % exact(after) == 0:
        how = "relaxed"
    else:
        how = "tightened" if exact(after) % exact(before) == 0 else "replaced"
    walker.note(pair, f"number.multiple_of_{how}", hybrid, _moved("multipleOf", before, after))


def _bound_changes(walker: Walker, pair: Pair) -> None:
    before, after = bounds_of(pair.old.schema), bounds_of(pair.new.schema)
    done: set[str] = set()
    for plain, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        for one, other, how in ((plain, strict, "exclusive"), (strict, plain, "inclusive")):
            moved = one in before and one not in after and other in after and other not in before
            if moved and before[one][0] == after[other][0]:
                hybrid = walker.exchanged(pair, one, other)
                message = f"the bound {pair.old.schema[one]} became {how}"
                walker.note(pair, f"number.bound_became_{how}", hybrid, message)
                done |= {one, other}
    for keyword, rule in _BOUNDS.items():
        if keyword in done or not pair.differs(keyword):
            continue
        was, now = before.get(keyword), after.get(keyword)
        is_low = keyword in ("minimum", "exclusiveMinimum")
        tighter = was is None or (now is not None and _is_tighter(was, now, is_low=is_low))
        how = "tightened" if tighter else "relaxed"
        message = _moved(keyword, pair.old.schema.get(keyword), pair.new.schema.get(keyword))
        walker.note(pair, f"{rule}_{how}", walker.exchanged(pair, keyword), message)


def _is_tighter(was: tuple[Any, bool], now: tuple[Any, bool], *, is_low: bool) -> bool:
    if was[0] == now[0]:
        return now[1]
    return bool(now[0] > was[0]) is is_low


def count_changes(walker: Walker, pair: Pair) -> None:
    """Bounds of lengths and of numbers of items and properties."""
    for keyword, rule in _COUNTS.items():
        if not pair.differs(keyword):
            continue
        was, now = pair.old.schema.get(keyword), pair.new.schema.get(keyword)
        tighter = was is None or (now is not None and (now > was) is keyword.startswith("min"))
        how = "tightened" if tighter else "relaxed"
        walker.note(pair, f"{rule}_{how}", walker.exchanged(pair, keyword), _moved(keyword, was, now))


def string_changes(walker: Walker, pair: Pair) -> None:
    """`pattern` and `format`."""
    for keyword in ("pattern", "format"):
        was, now = pair.old.schema.get(keyword), pair.new.schema.get(keyword)
        if was == now:
            continue
        how = "added" if was is None else "removed" if now is None else "changed"
        hybrid = walker.exchanged(pair, keyword)
        # A format is checked by some validators and ignored by others, so its change counts either way.
        walker.note(pair, f"string.{keyword}_{how}", hybrid, _moved(keyword, was, now), policy=keyword == "format")


def _moved(keyword: str, was: Any, now: Any) -> str:
    if was is None:
        return f"{keyword} {now!r} was added"
    return f"{keyword} {was!r} was removed" if now is None else f"{keyword} was {was!r}, is {now!r}"
