"""`unevaluatedItems` and `unevaluatedProperties`: what the neighbours of the keyword did not look at.

Which neighbours looked can depend on the value (a branch of `anyOf` that fails looks at nothing), so the keyword
becomes one case for each combination of the conditions; with many conditions that is refused, not guessed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol

from holdfast.contract.inclusion.documents import Document, Place
from holdfast.contract.inclusion.nodes import Has, Node, Pool

__all__ = ["unevaluated_items", "unevaluated_properties"]

_MAX_CONDITIONS = 4
_MAX_PARTS = 64


class _Compiles(Protocol):
    """What is asked of the compiler, which itself asks this module."""

    document: Document
    pool: Pool

    def compile(self, schema: Any, base: str) -> Node: ...
    def child(self, schema: Any, base: str) -> Node: ...
    def properties(self, named: dict[str, Node], patterned: dict[str, Node], rest: Node) -> Node: ...
    def items(self, prefix: list[Node], rest: Node) -> Node: ...
    def places_of(self, schema: dict[str, Any], base: str) -> list[Place | None]: ...
    def opaque(self, reason: str, place: Place) -> Node: ...


@dataclass
class _Seen:
    """What is evaluated when all conditions hold."""

    conditions: tuple[Node, ...]
    names: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    prefix: int = 0
    matching: list[Node] = field(default_factory=list)
    all_properties: bool = False
    all_items: bool = False
    unknown: bool = False
    """Whether a reference leads to where nobody can look."""


def unevaluated_properties(compiler: _Compiles, schema: dict[str, Any], base: str) -> Node:
    """The term of `unevaluatedProperties` in a schema."""
    rest = compiler.child(schema["unevaluatedProperties"], base)

    def case(seen: list[_Seen]) -> Node:
        if any(part.all_properties for part in seen):
            return compiler.pool.true
        names = {name for part in seen for name in part.names}
        patterns = {text for part in seen for text in part.patterns}
        free = compiler.pool.true
        return compiler.properties(dict.fromkeys(names, free), dict.fromkeys(patterns, free), rest)

    seen = _evaluated(compiler, schema, base, "unevaluatedProperties")
    return _by_cases(compiler, seen, case, Place(schema, base))


def unevaluated_items(compiler: _Compiles, schema: dict[str, Any], base: str) -> Node:
    """The term of `unevaluatedItems` in a schema."""
    rest = compiler.child(schema["unevaluatedItems"], base)

    def case(seen: list[_Seen]) -> Node:
        if any(part.all_items for part in seen):
            return compiler.pool.true
        prefix = max((part.prefix for part in seen), default=0)
        matching = [node for part in seen for node in part.matching]
        return compiler.items([compiler.pool.true] * prefix, compiler.pool.disjunction([rest, *matching]))

    seen = _evaluated(compiler, schema, base, "unevaluatedItems")
    return _by_cases(compiler, seen, case, Place(schema, base))


def _by_cases(
    compiler: _Compiles, seen: list[_Seen] | None, case: Callable[[list[_Seen]], Node], place: Place
) -> Node:
    pool = compiler.pool
    conditions = list(dict.fromkeys(node for part in seen or () for node in part.conditions))
    if seen is None or len(conditions) > _MAX_CONDITIONS:
        reason = "an unevaluated keyword depends on too much, or on what a reference hides"
        return compiler.opaque(reason, place)
    cases = []
    for truths in product((True, False), repeat=len(conditions)):
        truth = dict(zip(conditions, truths, strict=True))
        applies = [part for part in seen if all(truth[node] for node in part.conditions)]
        signed = [node if truth[node] else pool.negation(node) for node in conditions]
        cases.append(pool.conjunction([*signed, case(applies)]))
    return pool.disjunction(cases)


def _evaluated(compiler: _Compiles, schema: dict[str, Any], base: str, keyword: str) -> list[_Seen] | None:
    found: list[_Seen] = []
    for part in _walk(compiler, {key: schema[key] for key in schema if key != keyword}, base, ()):
        found.append(part)
        if part.unknown or len(found) > _MAX_PARTS:
            return None
    return found


def _walk(compiler: _Compiles, schema: Any, base: str, given: tuple[Node, ...]) -> Iterator[_Seen]:
    if not isinstance(schema, dict):
        return
    inner = compiler.document.base_of(schema, base)
    yield _own(compiler, schema, inner, given)
    for place in compiler.places_of(schema, base):
        if place is None:
            yield _Seen(given, unknown=True)
        else:
            yield from _walk(compiler, place.schema, place.base, given)
    for part in schema.get("allOf", ()):
        yield from _walk(compiler, part, inner, given)
    for keyword in ("anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield from _walk(compiler, part, inner, (*given, compiler.compile(part, inner)))
    for name, part in schema.get("dependentSchemas", {}).items():
        yield from _walk(compiler, part, inner, (*given, compiler.pool.make(Has, name)))
    yield from _conditional(compiler, schema, inner, given)


def _conditional(
    compiler: _Compiles, schema: dict[str, Any], base: str, given: tuple[Node, ...]
) -> Iterator[_Seen]:
    if "if" not in schema:
        return
    test = compiler.compile(schema["if"], base)
    yield from _walk(compiler, schema["if"], base, (*given, test))
    yield from _walk(compiler, schema.get("then"), base, (*given, test))
    yield from _walk(compiler, schema.get("else"), base, (*given, compiler.pool.negation(test)))


def _own(compiler: _Compiles, schema: dict[str, Any], base: str, given: tuple[Node, ...]) -> _Seen:
    seen = _Seen(tuple(dict.fromkeys(given)))
    seen.names.update(schema.get("properties", ()))
    seen.patterns.update(schema.get("patternProperties", ()))
    listed = schema.get("items")
    seen.prefix = len(listed if isinstance(listed, list) else schema.get("prefixItems", ()))
    seen.all_properties = "additionalProperties" in schema or "unevaluatedProperties" in schema
    rest = "additionalItems" if isinstance(listed, list) else "items"
    seen.all_items = rest in schema or "unevaluatedItems" in schema
    if "contains" in schema and compiler.document.dialect == "2020-12":
        seen.matching.append(compiler.child(schema["contains"], base))
    return seen
