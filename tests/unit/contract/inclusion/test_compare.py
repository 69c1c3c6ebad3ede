"""Verdicts on whole schemas: what is equal however it is written, and what is unknown."""

from typing import Any

import pytest
from tests.rows import each_row

from holdfast.contract.inclusion import Effect, Limits, compare_schemas

S = {"type": "string"}
I = {"type": "integer"}  # noqa: E741
TREE = {"type": "object", "properties": {"next": {"$ref": "#"}, "size": I}, "additionalProperties": False}

REWRITTEN: list[tuple[Any, Any]] = [
    ({"$ref": "#/$defs/a", "$defs": {"a": S}}, S),
    ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": S}}, {"properties": {"a": S}}),
    ({"type": ["string"]}, S),
    ({"type": ["null", "string"]}, {"type": ["string", "null"]}),
    ({"const": 1}, {"enum": [1]}),
    ({"const": 1}, {"enum": [1.0]}),
    ({"anyOf": [S, {"type": "null"}]}, {"type": ["string", "null"]}),
    ({"oneOf": [S, {"type": "null"}]}, {"anyOf": [{"type": "null"}, S]}),
    ({"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
     {"type": ["string", "null"], "minLength": 1}),
    ({"allOf": [S, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
    ({"anyOf": [{"anyOf": [S, I]}, {"type": "null"}]}, {"anyOf": [S, {"anyOf": [I, {"type": "null"}]}]}),
    ({"not": {"not": S}}, S),
    ({"not": {"anyOf": [S, I]}}, {"allOf": [{"not": I}, {"not": S}]}),
    ({"if": S, "then": {"minLength": 1}}, {"anyOf": [{"not": S}, {"minLength": 1}]}),
    ({}, True),
    ({"not": {}}, False),
    ({"type": "number", "multipleOf": 1}, I),
    ({"minLength": 0, "required": [], "minItems": 0}, {}),
    ({"additionalProperties": True, "items": True, "uniqueItems": False}, {}),
    ({"type": "string", "pattern": "^(a|b)$"}, {"enum": ["b", "a"]}),
    ({"type": "integer", "minimum": 1, "maximum": 3}, {"enum": [3, 2, 1]}),
    ({"exclusiveMinimum": 0, "type": "integer"}, {"type": "integer", "minimum": 1}),
    ({"dependentRequired": {"a": ["b"]}}, {"dependentSchemas": {"a": {"required": ["b"]}}}),
    ({"prefixItems": [S], "items": False}, {"prefixItems": [S], "maxItems": 1}),
    ({"contains": S, "minContains": 0}, {}),
    (TREE,
     {"$ref": "#/$defs/t", "$defs": {"t": {**TREE, "properties": {"next": {"$ref": "#/$defs/t"}, "size": I}}}}),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True},
     {"exclusiveMinimum": 1}),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}},
     {"dependentRequired": {"a": ["b"]}}),
    ({"$anchor": "x", "$defs": {"b": {"$anchor": "y", **S}}, "items": {"$ref": "#y"}}, {"items": S}),
    ({"$id": "https://e.test/r", "items": {"$ref": "b"}, "$defs": {"b": {"$id": "b", **S}}}, {"items": S}),
    ({"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x", **S}}}, S),
]  # fmt: skip


@each_row(("old", "new"), REWRITTEN)
def test_the_same_set_written_differently_is_equal_and_silent(old: Any, new: Any) -> None:
    verdict = compare_schemas(old, new)

    assert verdict.effect is Effect.EQUAL
    silent = {"ref.moved", "dialect.changed", "annotation.extension_changed"}
    assert {change.rule for change in verdict.changes} <= silent
    assert verdict.witness_lost is verdict.witness_gained is None
    assert verdict.reason_unknown == ""


def test_the_order_of_keys_is_no_change_at_all() -> None:
    old = {"type": "object", "properties": {"a": S, "b": I}, "required": ["a"]}
    new = {"required": ["a"], "properties": {"b": I, "a": S}, "type": "object"}

    assert compare_schemas(old, new).changes == ()


UNKNOWN: list[tuple[Any, Any, str]] = [
    ({"$ref": "https://e.test/a"}, S, "not resolved"),
    ({"type": "string", "pattern": r"(a)\1"}, {"type": "string", "pattern": r"(b)\1"}, "pattern"),
    ({"$schema": "https://e.test/mine"}, {}, "dialect"),
    ({"type": "text"}, S, "not known"),
    ({"minimum": "1"}, {}, "not a number"),
    ({"required": "a"}, {}, "not a list"),
    ({"required": ["a", "a"]}, {}, "not valid"),
    ({"minimum": float("nan")}, {"minimum": float("nan")}, "not a JSON number"),
    ({"const": {1, 2}}, {}, "not JSON"),
    ({1: 2}, {}, "not a string"),
    ([], {}, "neither"),
    ({"$ref": "#"}, {}, "refers to itself"),
    ({"pattern": "["}, {}, "not valid"),
    ({"minimum": 10**500}, {}, "digits"),
]


@pytest.mark.parametrize(("old", "new", "words"), UNKNOWN)
def test_what_cannot_be_decided_is_unknown_says_why_and_names_a_change(old: Any, new: Any, words: str) -> None:
    verdict = compare_schemas(old, new)

    assert verdict.effect is Effect.UNKNOWN
    assert words in verdict.reason_unknown
    assert any(change.effect is Effect.UNKNOWN for change in verdict.changes)


@pytest.mark.parametrize("address", ["https://e.test/a", "#/$defs/none"])
def test_an_unresolved_reference_is_equal_only_in_a_document_of_the_same_content(address: str) -> None:
    old = {"items": {"$ref": address}}

    assert compare_schemas(old, {**old, "title": "t"}).effect is Effect.EQUAL
    assert compare_schemas(old, {**old, "minItems": 1}).effect is Effect.UNKNOWN


def test_two_changes_in_opposite_directions_are_incomparable_and_each_has_its_own_witness() -> None:
    old = {"type": "object", "properties": {"a": S, "b": I}}
    new = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}, "b": {"type": "number"}}}
    verdict = compare_schemas(old, new)

    assert verdict.effect is Effect.INCOMPARABLE
    shown = {change.path: change.witness.accepted_by for change in verdict.changes if change.witness}
    assert shown == {"/a": "old", "/b": "new"}


def test_the_witness_of_a_change_shows_that_change_alone() -> None:
    old = {"type": "object", "properties": {"a": {"maximum": 9}, "b": S, "c": S}, "additionalProperties": False}
    new = {"type": "object", "properties": {"a": {"maximum": 7}, "c": {**S, "maxLength": 1}}}
    witnesses = {change.path: change.witness for change in compare_schemas(old, {**old, **new}).changes}

    assert {path: witness.value for path, witness in witnesses.items() if witness} == {
        "/a": {"a": 9},
        "/b": {"b": ""},
        "/c": {"c": "aa"},
    }


def test_a_change_below_a_recursive_part_is_told_once() -> None:
    def schema(**more: Any) -> dict[str, Any]:
        node: dict[str, Any] = {
            "type": "object",
            "properties": {"up": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
        }
        node["properties"] |= more
        return {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}

    (change,) = compare_schemas(schema(), schema(size=I)).changes
    assert (change.rule, change.path) == ("object.optional_property_added_typed", "/a/size")


def test_a_path_leads_into_the_value_through_items_references_and_strange_names() -> None:
    def schema(most: int) -> dict[str, Any]:
        leaf = {"type": "object", "properties": {"a/b~c": {"type": "string", "maxLength": most}}}
        return {"properties": {"rows": {"items": {"$ref": "#/$defs/r"}}}, "$defs": {"r": leaf}}

    (change,) = compare_schemas(schema(5), schema(4)).changes

    assert (change.rule, change.path) == ("string.max_length_tightened", "/rows/*/a~1b~0c")
    assert change.witness is not None
    assert len(change.witness.value["rows"][0]["a/b~c"]) == 5


def test_a_change_that_cannot_be_reached_is_not_reported() -> None:
    old = {"type": "string", "properties": {"a": S}}
    new = {"type": "string", "properties": {"a": I}}

    assert compare_schemas(old, new).effect is Effect.EQUAL
    assert compare_schemas(old, new).changes == ()


def test_a_proof_without_a_witness_says_what_is_missing() -> None:
    verdict = compare_schemas({"minLength": 10**9}, {"minLength": 10**9 + 1})

    assert verdict.effect is Effect.NARROWS
    assert verdict.witness_lost is None
    assert "longer than" in verdict.reason_unknown


def test_a_format_counts_as_a_demand_only_when_asked() -> None:
    old, new = S, {"type": "string", "format": "email"}

    assert compare_schemas(old, new).effect is Effect.EQUAL
    asserted = compare_schemas(old, new, assert_formats=True)
    assert asserted.effect is Effect.NARROWS
    assert asserted.witness_lost is not None


def test_a_renamed_property_comes_with_the_hint_to_keep_an_alias() -> None:
    old = {"type": "object", "properties": {"max_results": I}, "additionalProperties": False}
    new = {"type": "object", "properties": {"maxResults": I}, "additionalProperties": False}
    (change,) = compare_schemas(old, new).changes

    assert change.rule == "object.property_renamed"
    assert "'max_results' as an alias" in change.message


def test_two_properties_that_only_share_a_type_are_not_taken_for_a_rename() -> None:
    old = {"type": "object", "properties": {"city": S}}
    new = {"type": "object", "properties": {"zip": S}}

    rules = {change.rule for change in compare_schemas(old, new).changes}
    assert rules == {"object.property_removed_from_open", "object.optional_property_added_typed"}


def test_a_recursive_part_that_may_now_be_null_is_a_wider_type() -> None:
    def schema(part: Any) -> dict[str, Any]:
        return {"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"next": part}}}}

    here = {"$ref": "#/$defs/t"}
    verdict = compare_schemas(schema(here), schema({"anyOf": [here, {"type": "null"}]}))

    assert [(change.rule, change.path) for change in verdict.changes] == [("type.widened", "/next")]
    assert verdict.effect is Effect.WIDENS


def test_a_schema_that_became_one_of_several_gained_alternatives() -> None:
    thing = {"type": "object", "properties": {"a": S}, "required": ["a"]}

    (change,) = compare_schemas(thing, {"anyOf": [thing, {"type": "string", "minLength": 1}]}).changes
    assert (change.rule, change.effect) == ("any_of.branch_added", Effect.WIDENS)
    (change,) = compare_schemas(S, {"anyOf": [S, I]}).changes
    assert (change.rule, change.message) == ("type.widened", "type was string, is ['string', 'integer']")


LARGE: list[tuple[Any, Any, Effect]] = [
    ({"contains": S, "minContains": 50}, {"contains": S, "minContains": 51}, Effect.NARROWS),
    ({"contains": S, "maxContains": 50}, {"contains": S, "maxContains": 49}, Effect.NARROWS),
    ({"minItems": 40, "uniqueItems": True}, {"minItems": 40}, Effect.WIDENS),
    ({"type": "array", "minItems": 2, "items": {"enum": [1]}, "uniqueItems": True}, False, Effect.EQUAL),
    ({"minProperties": 40}, {"minProperties": 41}, Effect.NARROWS),
    ({"minLength": 5_000}, {"minLength": 5_001}, Effect.NARROWS),
    ({"type": "string", "maxLength": 0}, {"const": ""}, Effect.EQUAL),
    ({"type": "object", "maxProperties": 0}, {"const": {}}, Effect.EQUAL),
    ({"type": "array", "maxItems": 0}, {"const": []}, Effect.EQUAL),
    ({"type": "boolean"}, {"enum": [True, False]}, Effect.EQUAL),
    ({"multipleOf": 0.1}, {"multipleOf": 0.2}, Effect.NARROWS),
    ({"enum": [0.1]}, {"const": 0.1, "multipleOf": 0.1}, Effect.EQUAL),
]


@pytest.mark.parametrize(("old", "new", "effect"), LARGE)
def test_counts_and_finite_sets_are_exact(old: Any, new: Any, effect: Effect) -> None:
    assert compare_schemas(old, new).effect is effect


@pytest.mark.parametrize("beside", [{}, {"type": "object"}])
def test_a_hundred_alternatives_that_a_property_tells_apart_are_decided(beside: Any) -> None:
    def schema(count: int) -> dict[str, Any]:
        return {"oneOf": [{"properties": {"k": {"const": n}}, "required": ["k"], **beside} for n in range(count)]}

    (change,) = compare_schemas(schema(100), schema(101)).changes
    assert (change.rule, change.effect) == ("one_of.branch_added_disjoint", Effect.WIDENS)
    assert change.witness is not None
    assert change.witness.value == {"k": 100}


def test_tags_that_two_alternatives_share_do_not_tell_them_apart() -> None:
    def schema(*tags: list[int]) -> dict[str, Any]:
        parts = [{"type": "object", "properties": {"k": {"enum": tag}}, "required": ["k"]} for tag in tags]
        return {"oneOf": parts}

    assert compare_schemas(schema([1, 2], [3]), schema([1, 2], [2, 3])).effect is Effect.NARROWS
    assert compare_schemas(schema([1], [2]), schema([1], [2], [2])).effect is Effect.NARROWS


def test_small_limits_give_unknown_with_the_bound_that_was_hit() -> None:
    old = {"anyOf": [{"required": [f"a{n}"]} for n in range(30)]}
    new = {"anyOf": [{"required": [f"b{n}"]} for n in range(30)]}

    assert "steps" in compare_schemas(old, new, limits=Limits(steps=40)).reason_unknown
    assert "parts" in compare_schemas(old, new, limits=Limits(nodes=40)).reason_unknown
    assert "deeper" in compare_schemas(old, new, limits=Limits(depth=0)).reason_unknown
