"""Two schemas side by side, as a reader sees them: references followed, nullable forms written one way.

A view changes how a schema is written and never what it means, so that changes are named after what a person did.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from holdfast.contract.inclusion.compiler import Compiler
from holdfast.contract.inclusion.documents import Place
from holdfast.contract.inclusion.keywords import KEYWORDS, OLDER_KEYWORDS, REFERENCES, Treatment
from holdfast.contract.inclusion.nodes import Node

__all__ = ["Pair", "Side", "balanced", "says_nothing", "side_of"]

_SILENT = (Treatment.ANNOTATION, Treatment.STRUCTURE)
# With one of these beside it, null cannot simply be added to the list of types.
_SPEAKS_OF_ANY_KIND = frozenset({*REFERENCES, "not", "allOf", "anyOf", "oneOf", "if"})
_MAX_STEPS = 32
_STRUCTURE = frozenset(
    word
    for word in (*KEYWORDS, *OLDER_KEYWORDS)
    if KEYWORDS[OLDER_KEYWORDS.get(word, word)] is Treatment.STRUCTURE
)
# What the two booleans mean. One object each, because schemas are told apart by their identity.
_ANYTHING: dict[str, Any] = {}
_NOTHING: dict[str, Any] = {"not": {}}


def says_nothing(keyword: str) -> bool:
    """Whether a keyword says nothing about which values are accepted."""
    return KEYWORDS.get(OLDER_KEYWORDS.get(keyword, keyword), Treatment.ANNOTATION) in _SILENT


@dataclass(frozen=True)
class Side:
    """A schema of one of the two documents. `identity` shows recursion: the object that references lead to.

    `layers` are the schemas as written that this view was put together from; the words of an earlier one hide
    those of a later one.
    """

    compiler: Compiler
    schema: dict[str, Any]
    base: str
    identity: int
    layers: tuple[dict[str, Any], ...]
    references: tuple[str, ...] = ()
    nullable: bool = False

    @cached_property
    def parts(self) -> dict[str, Node]:
        """The term of each keyword."""
        return self.compiler.parts(self.schema, self.base)

    @cached_property
    def node(self) -> Node:
        """The term of the whole schema."""
        return self.compiler.pool.conjunction(self.parts.values())

    @cached_property
    def inner_base(self) -> str:
        """The base for references inside the schema."""
        return self.compiler.document.base_of(self.schema, self.base)


def side_of(compiler: Compiler, schema: Any, base: str) -> Side:
    """The view of a schema; a boolean becomes the object that means the same."""
    references: list[str] = []
    if isinstance(schema, bool):
        schema = _ANYTHING if schema else _NOTHING
    identity = id(schema)
    layers = [schema]
    for _ in range(_MAX_STEPS):
        followed = _followed(compiler, schema, base)
        if followed is None:
            break
        references.append(str(schema.get("$ref", "")))
        identity = id(followed[0].schema)
        layers.append(followed[0].schema)
        schema, base = followed[1], followed[0].base
    nullable = _nullable(compiler, schema, base)
    if nullable is not None:
        merged, inner = nullable
        return replace(
            inner,
            schema=merged,
            layers=(*layers, *inner.layers),
            references=(*references, *inner.references),
            nullable=True,
        )
    return Side(compiler, schema, base, identity, tuple(layers), tuple(references))


def balanced(old: Side, new: Side) -> tuple[Side, Side]:
    """The two sides, a single schema opposite to a list of alternatives as a list of one."""
    if "anyOf" in new.schema and not _is_union(old.schema):
        new = replace(new, schema=_union_of_types(new.schema))
    if "anyOf" in old.schema and not _is_union(new.schema):
        old = replace(old, schema=_union_of_types(old.schema))
    for keyword in ("anyOf", "oneOf"):
        if _is_only(old.schema, keyword) and not _is_union(new.schema):
            return old, _as_branch(new, keyword)
        if _is_only(new.schema, keyword) and not _is_union(old.schema):
            return _as_branch(old, keyword), new
    return old, new


def _is_only(schema: dict[str, Any], keyword: str) -> bool:
    return keyword in schema and all(key == keyword or says_nothing(key) for key in schema)


def _is_union(schema: dict[str, Any]) -> bool:
    return "anyOf" in schema or "oneOf" in schema or all(says_nothing(key) for key in schema)


def _as_branch(side: Side, keyword: str) -> Side:
    beside = {key: value for key, value in side.schema.items() if says_nothing(key)}
    branch = {key: value for key, value in side.schema.items() if key not in beside}
    return replace(side, schema={**beside, keyword: [branch]})


def _union_of_types(schema: dict[str, Any]) -> dict[str, Any]:
    """`anyOf` of nothing but types as a list of types."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or not _is_only(schema, "anyOf"):
        return schema
    if not all(isinstance(part, dict) and part.keys() == {"type"} for part in branches):
        return schema
    names: list[Any] = []
    for part in branches:
        names.extend(part["type"] if isinstance(part["type"], list) else [part["type"]])
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, "type": names}


def _followed(compiler: Compiler, schema: dict[str, Any], base: str) -> tuple[Place, dict[str, Any]] | None:
    """What a reference leads to, with the annotations that stand beside it; None when more than those do."""
    references = [key for key in REFERENCES if key in schema]
    if len(references) != 1:
        return None
    others = [key for key in schema if key not in references]
    # Where a reference hides what stands beside it, people still read the words there.
    silent = [key for key in others if says_nothing(key)]
    if len(silent) < len(others) and not compiler.document.ref_hides_siblings:
        return None
    (place,) = compiler.places_of(schema, base)
    if place is None or not isinstance(place.schema, (dict, bool)):
        return None
    target = place.schema
    if isinstance(target, bool):
        target = _ANYTHING if target else _NOTHING
    beside = {key: schema[key] for key in silent if key not in _STRUCTURE}
    return Place(target, place.base), {**target, **beside}


def _nullable(compiler: Compiler, schema: dict[str, Any], base: str) -> tuple[dict[str, Any], Side] | None:
    """`anyOf: [X, null]` as X with null in its list of types, where that means the same."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or len(branches) != 2:
        return None
    if not all(key == "anyOf" or says_nothing(key) for key in schema):
        return None
    nulls = [part for part in branches if isinstance(part, dict) and part.get("type") == "null" and len(part) == 1]
    others = [part for part in branches if part not in nulls]
    if len(nulls) != 1 or len(others) != 1 or not isinstance(others[0], dict):
        return None
    side = side_of(compiler, others[0], compiler.document.base_of(schema, base))
    declared = side.schema.get("type")
    if not isinstance(declared, str) or not _SPEAKS_OF_ANY_KIND.isdisjoint(side.schema):
        return None
    merged = {**side.schema, "type": [declared, "null"]}
    if "const" in merged or "enum" in merged:
        listed = [merged.pop("const")] if "const" in merged else merged["enum"]
        merged["enum"] = [*listed, None]
    beside = {key: value for key, value in schema.items() if key != "anyOf" and key not in _STRUCTURE}
    return {**merged, **beside}, side


@dataclass(frozen=True)
class Pair:
    """The two sides of one place in a value. `at` leads there: names, indexes, None for any item or other key."""

    old: Side
    new: Side
    path: str
    at: tuple[tuple[str, Any], ...] = ()
    branch: bool = False
    """Whether this is an alternative of several, or a property of one."""
    required: bool = False
    """Whether this is a property that the new schema demands."""

    def differs(self, *groups: str) -> bool:
        """Whether one of these parts is not the same on both sides."""
        return any(self.old.parts.get(group) is not self.new.parts.get(group) for group in groups)
