"""Changes of combinations: alternatives, conjunctions, negations, conditions and references."""

from functools import partial
from typing import Any

from holdfast.contract.inclusion.changes import Walker
from holdfast.contract.inclusion.model import Effect
from holdfast.contract.inclusion.nodes import Node, Opaque
from holdfast.contract.inclusion.values import KINDS
from holdfast.contract.inclusion.views import Pair, Side

__all__ = ["combined_changes", "reference_changes"]

_LISTS = {"anyOf": "any_of", "oneOf": "one_of", "allOf": "all_of"}


def combined_changes(walker: Walker, pair: Pair) -> None:
    """`allOf`, `anyOf`, `oneOf`, `not`, and `if` with its consequences."""
    for keyword in _LISTS:
        if keyword in pair.old.schema or keyword in pair.new.schema:
            _list_changes(walker, pair, keyword)
    if pair.differs("not"):
        _not_changes(walker, pair)
    if pair.differs("if"):
        hybrid = walker.exchanged(pair, "if")
        how = {Effect.NARROWS: "narrowed", Effect.WIDENS: "widened"}.get(walker.effect(pair, hybrid), "changed")
        walker.note(pair, f"condition.{how}", hybrid, f"if, then or else was {how}")


def _not_changes(walker: Walker, pair: Pair) -> None:
    hybrid = walker.exchanged(pair, "not")
    before, after = pair.old.schema, pair.new.schema
    if after.get("not") == {} and "not" not in before and not before:
        rule, message = "boolean_schema.became_false", "nothing is accepted any more"
    elif before.get("not") == {} and "not" not in after and not after:
        rule, message = "boolean_schema.became_true", "everything is accepted now"
    elif "not" not in before or "not" not in after:
        how = "added" if "not" not in before else "removed"
        rule, message = f"not.{how}", f"a schema that must not hold was {how}"
    else:
        effect = walker.effect(pair, hybrid)
        how = {Effect.NARROWS: "inner_grown", Effect.WIDENS: "inner_shrunk"}.get(effect, "changed")
        rule, message = f"not.{how}", "the schema that must not hold changed"
    walker.note(pair, rule, hybrid, message)


def _branches(side: Side, keyword: str) -> list[tuple[Any, Node]]:
    return [(part, side.compiler.compile(part, side.inner_base)) for part in side.schema.get(keyword, ())]


def _list_changes(walker: Walker, pair: Pair, keyword: str) -> None:
    old, new = _branches(pair.old, keyword), _branches(pair.new, keyword)
    if (not old or not new) and keyword != "allOf":
        how = "added" if not old else "removed"
        message = f"{keyword} was {how}"
        walker.note(pair, f"{_LISTS[keyword]}.{how}", walker.exchanged(pair, keyword), message)
        return
    pairs, gone, come = _matched(walker, old, new)
    if keyword == "allOf" and len(gone) == len(come) == 1:
        pairs.append((gone.pop()[0], come.pop()[0]))
    for before, after in pairs:
        walker.visit_branch((before, pair.old.inner_base), (after, pair.new.inner_base), pair)
    for schema, node in gone:
        if _note_branch(walker, pair, keyword, [part for _, part in old if part is not node], "removed"):
            walker.settle(schema, None)
    for schema, node in come:
        if _note_branch(walker, pair, keyword, [*(part for _, part in old), node], "added"):
            walker.settle(None, schema)


def _matched(
    walker: Walker, old: list[tuple[Any, Node]], new: list[tuple[Any, Node]]
) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Node]], list[tuple[Any, Node]]]:
    """Branches that belong together: the same ones first, then those that look most alike."""
    pairs: list[tuple[Any, Any]] = []
    gone, come = list(old), list(new)
    for alike in (_is_same, _has_same_tag, partial(_has_same_kinds, walker)):
        for before in list(gone):
            after = next((found for found in come if alike(before, found)), None)
            if after is not None:
                pairs.append((before[0], after[0]))
                gone.remove(before)
                come.remove(after)
    return pairs, gone, come


def _is_same(before: tuple[Any, Node], after: tuple[Any, Node]) -> bool:
    return before[1] is after[1]


def _has_same_tag(before: tuple[Any, Node], after: tuple[Any, Node]) -> bool:
    names = [
        part.get("$ref", part.get("title")) if isinstance(part, dict) else None for part in (before[0], after[0])
    ]
    return names[0] is not None and names[0] == names[1]


def _has_same_kinds(walker: Walker, before: tuple[Any, Node], after: tuple[Any, Node]) -> bool:
    """Whether two branches accept the same kinds, and share a property when they are of objects."""
    kinds = [[walker.engine.solver.truth(part[1], kind) is False for kind in KINDS] for part in (before, after)]
    if kinds[0] != kinds[1]:
        return False
    names = [
        part[0].get("properties", {}).keys() if isinstance(part[0], dict) else set() for part in (before, after)
    ]
    return bool(names[0] & names[1]) or not (names[0] or names[1])


def _note_branch(walker: Walker, pair: Pair, keyword: str, nodes: list[Node], how: str) -> bool:
    """Tell of a branch that came or went; whether there was anything to tell."""
    pool = walker.engine.pool
    if keyword == "allOf":
        part, rule = pool.conjunction(nodes), f"all_of.conjunct_{how}"
        return walker.note(pair, rule, walker.hybrid(pair, {keyword: part}), f"a schema of allOf was {how}")
    part = pool.disjunction(nodes) if keyword == "anyOf" else pool.exactly_one(nodes)
    hybrid = walker.hybrid(pair, {keyword: part})
    rule = f"{_LISTS[keyword]}.branch_{how}"
    if keyword == "oneOf":
        effect = walker.effect(pair, hybrid)
        expected = Effect.WIDENS if how == "added" else Effect.NARROWS
        overlaps = effect not in (expected, Effect.EQUAL)
        rule += "_overlapping" if overlaps else "_disjoint" if how == "added" else ""
    return walker.note(pair, rule, hybrid, f"an alternative of {keyword} was {how}")


def reference_changes(walker: Walker, pair: Pair) -> None:
    """References that stand beside other keywords, and those that lead nowhere."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if not pair.differs(keyword):
            continue
        hybrid = walker.exchanged(pair, keyword)
        parts = [side.parts.get(keyword) for side in (pair.old, pair.new)]
        if any(isinstance(part, Opaque) for part in parts):
            walker.note(pair, "ref.unresolved", hybrid, f"{keyword} leads outside the document or cannot be fixed")
        else:
            how = {Effect.NARROWS: "added", Effect.WIDENS: "removed"}.get(walker.effect(pair, hybrid), "")
            rule = f"all_of.conjunct_{how}" if how else "schema.replaced"
            walker.note(pair, rule, hybrid, f"{keyword} leads to another schema")
