"""What cannot be looked at is never part of a proof: each claim here was refuted once by the validator."""

from typing import Any

import jsonschema_rs
import pytest
from tests.unit.contract.inclusion.random_schemas import EXTERNAL, validators

from holdfast.contract.inclusion import Effect, compare_schemas

S: dict[str, Any] = {"type": "string"}
I: dict[str, Any] = {"type": "integer"}  # noqa: E741
LETTERS: dict[str, Any] = {"type": "object", "propertyNames": {"pattern": "^ab"}}


def patterned(*patterns: str, schema: Any) -> dict[str, Any]:
    """An object whose properties are of a schema when their names match."""
    return {"patternProperties": dict.fromkeys(patterns, schema)}


def named_twice(kind: str) -> dict[str, Any]:
    """Two schemas of one name."""
    part = {"$anchor": "x", "type": kind}
    return {"$ref": "#x", "$defs": {"a": part, "b": {**part, "minLength": 0}}}


def anchored(kind: str, reference: str = "$dynamicRef", anchor: str = "$anchor", **beside: Any) -> dict[str, Any]:
    """A reference beside an anchor, below a dynamic anchor of the same name."""
    inner = {"$id": "inner", reference: "#x", "$defs": {"k": {anchor: "x", "type": kind}}}
    properties = {"a": {"$ref": "inner", **beside}}
    return {
        "$id": "https://e.test/r", "$dynamicAnchor": "x", "properties": properties, "$defs": {"inner": inner},
    }  # fmt: skip


def twice(**more: Any) -> dict[str, Any]:
    """Two references in one place, the second of which looks at a property."""
    parts = {"n": {}, "d": {"$anchor": "d", "properties": {"z": {}}}}
    return {"$ref": "#/$defs/n", "$dynamicRef": "#d", "unevaluatedProperties": False, "$defs": parts, **more}


REFUTED: dict[str, tuple[Any, Any, Any]] = {
    "patterns that look ahead": (
        {"type": "object"},
        {"type": "object", "anyOf": [patterned("^(?!x)", schema=S), patterned("^(?!y)", schema=I)]},
        {"a": None},
    ),
    "patterns of word boundaries and classes": (
        {"type": "object"},
        {"type": "object", "anyOf": [patterned(r"\bfoo", schema=S), patterned(r"^\p{L}+$", schema=I)]},
        {"foo": None},
    ),
    "more patterns than are set against each other": (
        LETTERS,
        {**LETTERS, "anyOf": [patterned(*"abcdefg", schema=S), patterned(*"abcdefg", schema=I)]},
        {"ab": None},
    ),
    "a dynamic reference that is a plain one": (anchored("string"), anchored("integer"), {"a": "s"}),
    "an anchor of two schemas": (named_twice("string"), named_twice("integer"), "s"),
    "a plain reference that validators read as a dynamic one": (
        anchored("boolean", "$ref", "$dynamicAnchor"), anchored("boolean", "$ref", "$dynamicAnchor", maximum=1),
        {"a": {"a": 5}},
    ),
    "the second of two references": (twice(), twice(maxProperties=0), {"z": 1}),
    "the second of two references that changed": (
        twice(), twice(**{"$dynamicRef": "#e", "$defs": {"n": {}, "e": {"$anchor": "e", **S}}}), {"z": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUTED)
def test_a_value_that_only_the_old_schema_accepts_is_not_claimed_away(name: str) -> None:
    old, new, value = REFUTED[name]
    by_old, by_new = (jsonschema_rs.validator_for(schema).is_valid(value) for schema in (old, new))

    assert (by_old, by_new) == (True, False)
    assert compare_schemas(old, new).effect not in (Effect.EQUAL, Effect.WIDENS)
    assert compare_schemas(new, old).effect not in (Effect.EQUAL, Effect.NARROWS)


@pytest.mark.parametrize(
    ("word", "world", "more", "value"),
    [
        ("unevaluatedProperties", {"properties": {"z": {}}}, {"maxProperties": 0}, {"z": 1}),
        ("unevaluatedItems", {"prefixItems": [{}]}, {"maxItems": 0}, [1]),
    ],
)
def test_a_reference_that_leads_outside_may_look_at_anything(word: str, world: Any, more: Any, value: Any) -> None:
    old = {"$ref": EXTERNAL, word: False}
    new = {**old, **more}

    assert [validator.is_valid(value) for validator in validators(old, new, world)] == [True, False]
    assert compare_schemas(old, new).effect is Effect.UNKNOWN
    assert compare_schemas(old, {**old, "title": "t"}).effect is Effect.EQUAL


def test_one_dynamic_reference_means_another_schema_for_each_that_leads_to_it() -> None:
    def caller(name: str, kind: str) -> dict[str, Any]:
        return {"$id": name, "$ref": "common", "$defs": {"t": {"$dynamicAnchor": "T", "type": kind}}}

    common = {"$id": "common", "$dynamicRef": "#T", "$defs": {"t": {"$dynamicAnchor": "T"}}}
    both = {
        "$id": "https://e.test/r", "allOf": [{"$ref": "x"}, {"not": {"$ref": "y"}}],
        "$defs": {"x": caller("x", "number"), "y": caller("y", "string"), "c": common},
    }  # fmt: skip

    assert jsonschema_rs.validator_for(both).is_valid(1)
    assert compare_schemas(both, False).effect in (Effect.NARROWS, Effect.UNKNOWN)
    assert compare_schemas(both, {**both, "title": "t"}).effect is Effect.EQUAL


def test_a_doubt_about_one_kind_of_name_does_not_outlive_what_is_certain() -> None:
    old = {"type": "object", "required": ["a"], "properties": {"a": S}}
    new = {**old, "patternProperties": {"^(?!a)": {}}}

    assert compare_schemas(old, new).effect is Effect.EQUAL
    assert compare_schemas(old, {**new, "required": ["a", "b"]}).effect is Effect.NARROWS
