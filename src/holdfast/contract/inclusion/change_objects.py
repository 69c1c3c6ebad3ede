"""Changes of objects: properties that come, go, move and become required, and what others are allowed."""

from difflib import SequenceMatcher
from typing import Any

from holdfast.contract.inclusion.changes import Walker
from holdfast.contract.inclusion.model import Effect
from holdfast.contract.inclusion.nodes import Node
from holdfast.contract.inclusion.views import Pair, Side

__all__ = ["object_changes"]

_CONTENT = ("properties", "required")
_ALIKE = 0.6
_MAX_SPELLED = 64


class _Shape:
    """The properties of one side as terms, so that one of them can be exchanged."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.schema = side.schema
        compiler, base = side.compiler, side.inner_base
        self.named = {name: compiler.child(part, base) for name, part in self.schema.get("properties", {}).items()}
        self.patterned = {
            text: compiler.child(part, base) for text, part in self.schema.get("patternProperties", {}).items()
        }
        self.rest = compiler.child(self.schema.get("additionalProperties", True), base)
        self.required = dict.fromkeys(self.schema.get("required", ()))

    @property
    def is_closed(self) -> bool:
        """Whether other properties are refused."""
        false = self.side.compiler.pool.false
        return self.rest is false or self.schema.get("unevaluatedProperties") is False


def _edited(
    walker: Walker,
    pair: Pair,
    old: _Shape,
    *,
    drop: str | None = None,
    add: dict[str, Node] | None = None,
    require: str | None = None,
    patterned: dict[str, Node] | None = None,
    rest: Node | None = None,
) -> Node | None:
    """The old schema with one edit of its properties; None when so many were made that no more is spent."""
    if not walker.affords(1 + (len(old.named) + len(old.required)) // 10):
        return None
    named = {name: node for name, node in old.named.items() if name != drop} | (add or {})
    required = [name for name in old.required if name != drop] + ([] if require is None else [require])
    patterns = old.patterned if patterned is None else patterned
    compiler = old.side.compiler
    return walker.hybrid(
        pair,
        {
            "properties": compiler.properties(named, patterns, old.rest if rest is None else rest),
            "required": compiler.required(required),
        },
    )


def object_changes(walker: Walker, pair: Pair) -> None:
    """Everything about objects except the number of their properties."""
    if _speaks_of_objects(pair.old) or _speaks_of_objects(pair.new):
        old, new = _Shape(pair.old), _Shape(pair.new)
        _property_changes(walker, pair, old, new)
        _rest_changes(walker, pair, old, new)
        _pattern_changes(walker, pair, old, new)
    _name_changes(walker, pair)
    _dependency_changes(walker, pair)
    _unevaluated_changes(walker, pair)


def _speaks_of_objects(side: Side) -> bool:
    words = {"properties", "required", "additionalProperties", "patternProperties"}
    return not words.isdisjoint(side.schema)


def _property_changes(walker: Walker, pair: Pair, old: _Shape, new: _Shape) -> None:
    gone = [name for name in old.named if name not in new.named]
    come = [name for name in new.named if name not in old.named]
    for before, after in _renamed(old, new, gone, come):
        gone.remove(before)
        come.remove(after)
        _note_rename(walker, pair, old, new, before, after)
    for name in gone:
        _note_removed(walker, pair, old, new, name)
    for name in come:
        _note_added(walker, pair, old, new, name)
    moved = {*gone, *come}
    for name in sorted({*old.required} ^ {*new.required}):
        if name not in moved and not _was_renamed(name, old, new):
            _note_required(walker, pair, old, new, name)
    for name in old.named:
        if name in new.named:
            old_part, new_part = old.schema["properties"][name], new.schema["properties"][name]
            places = (old_part, pair.old.inner_base), (new_part, pair.new.inner_base)
            walker.visit(*places, pair, ("name", name), required=name in new.required)


def _was_renamed(name: str, old: _Shape, new: _Shape) -> bool:
    return (name in old.named) != (name in new.named)


def _renamed(old: _Shape, new: _Shape, gone: list[str], come: list[str]) -> list[tuple[str, str]]:
    """Pairs of a name that went and one that came whose schemas are alike."""
    scored = sorted(
        ((_likeness(old, new, before, after), before, after) for before in gone[:20] for after in come[:20]),
        key=lambda item: (-item[0], item[1], item[2]),
    )
    pairs: list[tuple[str, str]] = []
    for score, before, after in scored:
        used = {name for pair in pairs for name in pair}
        if score >= _ALIKE and before not in used and after not in used:
            pairs.append((before, after))
    return pairs


def _likeness(old: _Shape, new: _Shape, before: str, after: str) -> float:
    was, now = old.named[before], new.named[after]
    free = (old.side.compiler.pool.true, old.side.compiler.pool.false)
    same = was is now and was not in free
    if not same and old.schema["properties"][before] != new.schema["properties"][after]:
        return 0.0
    spelled = SequenceMatcher(None, _letters(before), _letters(after)).ratio()  # quadratic, so of the beginning
    required = (before in old.required) == (after in new.required)
    words = _words(old.schema["properties"][before]), _words(new.schema["properties"][after])
    # Any two strings have the same schema; one more sign is needed that they are the same thing.
    if words == (None, None):
        return 0.75 * spelled + 0.25 * required
    return 0.4 * spelled + 0.35 * (words[0] == words[1]) + 0.25 * required


def _letters(name: str) -> str:
    return name[:_MAX_SPELLED].replace("_", "").replace("-", "").lower()


def _words(schema: Any) -> tuple[Any, Any] | None:
    words = (schema.get("title"), schema.get("description")) if isinstance(schema, dict) else (None, None)
    return None if words == (None, None) else words


def _note_rename(walker: Walker, pair: Pair, old: _Shape, new: _Shape, before: str, after: str) -> None:
    require = after if after in new.required else None
    hybrid = _edited(walker, pair, old, drop=before, add={after: new.named[after]}, require=require)
    message = f"{before!r} is called {after!r} now; keep {before!r} as an alias"
    walker.note(pair, "object.property_renamed", hybrid, message, token=("name", before), policy=True)


def _note_removed(walker: Walker, pair: Pair, old: _Shape, new: _Shape, name: str) -> None:
    if new.is_closed:
        rule = "object.property_removed_from_closed"
    elif name in old.required:
        rule = "object.required_property_removed_from_open"
    else:
        rule = "object.property_removed_from_open"
    hybrid = _edited(walker, pair, old, drop=name)
    invisible = old.named[name] is old.rest
    walker.note(pair, rule, hybrid, f"{name!r} was removed", token=("name", name), policy=invisible)


def _note_added(walker: Walker, pair: Pair, old: _Shape, new: _Shape, name: str) -> None:
    schema = new.schema["properties"][name]
    if name in new.required:
        default = isinstance(schema, dict) and "default" in schema
        rule = f"object.required_property_{'with_default_' if default else ''}added"
    elif old.is_closed:
        rule = "object.optional_property_added_to_closed"
    else:
        rule = f"object.optional_property_added_{'free' if new.named[name] is old.rest else 'typed'}"
    require = name if name in new.required and name not in old.required else None
    hybrid = _edited(walker, pair, old, add={name: new.named[name]}, require=require)
    what = "required" if name in new.required else "optional"
    invisible = new.named[name] is old.rest
    walker.note(pair, rule, hybrid, f"{what} {name!r} was added", token=("name", name), policy=invisible)


def _note_required(walker: Walker, pair: Pair, old: _Shape, new: _Shape, name: str) -> None:
    if not walker.affords(1 + len(old.required) // 10):
        hybrid = None
    else:
        names = (
            [*old.required, name] if name in new.required else [other for other in old.required if other != name]
        )
        hybrid = walker.hybrid(pair, {"required": old.side.compiler.required(names)})
    how, message = ("required", "must be given") if name in new.required else ("optional", "may be left out")
    walker.note(pair, f"object.property_became_{how}", hybrid, f"{name!r} {message} now", token=("name", name))


def _rest_changes(walker: Walker, pair: Pair, old: _Shape, new: _Shape) -> None:
    pool = walker.engine.pool
    before = old.schema.get("additionalProperties", True)
    after = new.schema.get("additionalProperties", True)
    if isinstance(before, dict) and isinstance(after, dict):
        walker.visit((before, pair.old.inner_base), (after, pair.new.inner_base), pair, ("other", None))
        return
    if old.rest is new.rest:
        return
    effect = walker.engine.relation(old.rest, new.rest)
    if new.rest is pool.false and old.rest is pool.true:
        rule, message = "object.closed", "other properties are no longer allowed"
    elif old.rest is pool.false and new.rest is pool.true:
        rule, message = "object.opened", "other properties are allowed now"
    else:
        how = {Effect.NARROWS: "narrowed", Effect.WIDENS: "widened"}.get(effect, "changed")
        rule, message = f"object.additional_properties_{how}", "the schema of other properties changed"
    hybrid = _edited(walker, pair, old, rest=new.rest)
    walker.note(pair, rule, hybrid, message)


def _pattern_changes(walker: Walker, pair: Pair, old: _Shape, new: _Shape) -> None:
    for text in sorted({*old.patterned, *new.patterned}):
        was, now = old.patterned.get(text), new.patterned.get(text)
        if was is now:
            continue
        patterned = {other: node for other, node in old.patterned.items() if other != text}
        if now is not None:
            patterned[text] = now
        how = "added" if was is None else "removed" if now is None else "changed"
        hybrid = _edited(walker, pair, old, patterned=patterned)
        walker.note(pair, f"object.pattern_property_{how}", hybrid, f"the schema of names like {text!r} was {how}")


def _name_changes(walker: Walker, pair: Pair) -> None:
    if pair.differs("propertyNames"):
        _note_change(walker, pair, "propertyNames", "object.property_names", ("narrowed", "widened"))


def _unevaluated_changes(walker: Walker, pair: Pair) -> None:
    if pair.old.schema.get("unevaluatedProperties") != pair.new.schema.get("unevaluatedProperties"):
        _note_change(
            walker, pair, "unevaluatedProperties", "object.unevaluated_properties", ("changed", "changed")
        )


def _note_change(walker: Walker, pair: Pair, keyword: str, rule: str, directions: tuple[str, str]) -> None:
    hybrid = walker.exchanged(pair, keyword)
    if keyword not in pair.old.schema:
        how = "added"
    elif keyword not in pair.new.schema:
        how = "removed"
    else:
        effect = walker.effect(pair, hybrid)
        how = {Effect.NARROWS: directions[0], Effect.WIDENS: directions[1]}.get(effect, "changed")
    walker.note(pair, f"{rule}_{how}", hybrid, f"{keyword} was {how}")


def _dependency_changes(walker: Walker, pair: Pair) -> None:
    for keyword, rule in (
        ("dependentRequired", "object.dependent_required"),
        ("dependentSchemas", "object.dependent_schemas"),
        ("dependencies", "object.dependent_schemas"),
    ):
        if not pair.differs(keyword):
            continue
        hybrid = walker.exchanged(pair, keyword)
        how = {Effect.NARROWS: "added", Effect.WIDENS: "removed"}.get(walker.effect(pair, hybrid), "changed")
        name = rule
        if how == "changed" or (keyword in pair.old.schema and keyword in pair.new.schema and "schemas" in rule):
            name, how = "object.dependent_schemas", _how_moved(pair, keyword)
        walker.note(pair, f"{name}_{how}", hybrid, f"{keyword} was {how}")


def _how_moved(pair: Pair, keyword: str) -> str:
    before, after = pair.old.schema.get(keyword, {}).keys(), pair.new.schema.get(keyword, {}).keys()
    if before < after:
        return "added"
    return "removed" if after < before else "changed"
