"""The published schema accepts what a dialect makes of a payload exactly where the payload fits its own schema."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator as Validator

from holdfast.present.dialects import Dialect, published_output_schema, success

KEYS = st.sampled_from(["a", "b", "note", "Status", "okay"])
MAP_KEYS = KEYS | st.sampled_from(["status", "ok", "result"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "long text"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(MAP_KEYS, inner, max_size=3), max_leaves=6
)
LEAF_SCHEMAS = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"type": "null"}, {"enum": [1, "x"]}, {}])
CLOSED = st.sampled_from([{"additionalProperties": False}, {"unevaluatedProperties": False}])


def records(inner: Any) -> Any:
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": sorted(required & properties.keys()),
            **closed,
        },
        st.dictionaries(KEYS, inner, min_size=1, max_size=3),
        st.frozensets(KEYS, max_size=2),
        CLOSED,
    )


MAPS = st.sampled_from(
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
        {"type": "object", "patternProperties": {"a": {"type": "integer"}, "^.*$": {"maximum": 2}}},
        {"type": "object", "propertyNames": {"maxLength": 4}},
        {"type": "object"},
        {"enum": [{"a": 1}, {"status": 1}, 3]},
        {},
    ]
)
SCHEMAS = st.recursive(
    LEAF_SCHEMAS | MAPS,
    lambda inner: (
        records(inner)
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=5,
)


def through_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$ref": "#/$defs/Thing", "$defs": {"Thing": schema, "Other": {"$ref": "#/$defs/Thing"}}}


@settings(max_examples=100)
@given(SCHEMAS, VALUES, st.sampled_from(Dialect), st.booleans())
def test_the_envelope_of_a_payload_is_valid_exactly_where_the_payload_is(
    schema: dict[str, Any], payload: Any, dialect: Dialect, by_reference: bool
) -> None:
    schema = through_definitions(schema) if by_reference else schema
    before = copy.deepcopy(schema)
    published = published_output_schema(dialect, schema)
    assert published["type"] == "object"
    assert schema == before
    fits = Validator(schema).is_valid(payload)
    accepted = Validator(published).is_valid(success(dialect, payload))
    assert accepted if fits else not accepted or _reads_two_ways(schema, dialect, payload)


def _reads_two_ways(schema: dict[str, Any], dialect: Dialect, payload: Any) -> bool:
    """Envelopes are open: one that holds a fitting `result` is also read as the envelope of that result alone."""
    envelope = success(dialect, payload)
    twins = [
        envelope.get("result"),
        {key: value for key, value in envelope.items() if key not in {"status", "ok"}},
    ]
    return "result" in envelope and any(Validator(schema).is_valid(twin) for twin in twins)


@pytest.mark.parametrize("dialect", Dialect)
def test_a_record_keeps_its_words_and_gains_one_key(dialect: Dialect) -> None:
    record = {
        "type": "object",
        "title": "Stock",
        "properties": {"sku": {"type": "string"}},
        "required": ["sku"],
        "additionalProperties": False,
    }
    published = published_output_schema(dialect, record)
    assert published["title"] == "Stock"
    assert "anyOf" not in published
    assert published["properties"]["sku"] == {"type": "string"}
    assert Validator(published).is_valid(success(dialect, {"sku": "A-1"}))
    assert not Validator(published).is_valid(success(dialect, {"sku": "A-1", "more": 1}))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_tree_that_refers_to_its_root_still_means_itself(dialect: Dialect) -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["children"],
        "additionalProperties": False,
    }
    validator = Validator(published_output_schema(dialect, tree))
    assert validator.is_valid(success(dialect, {"children": [{"children": []}]}))
    assert not validator.is_valid(success(dialect, {"children": [{"children": [{}]}]}))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_tree_among_the_definitions_stays_closed_below_the_root(dialect: Dialect) -> None:
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
        "required": ["next"],
        "additionalProperties": False,
    }
    validator = Validator(published_output_schema(dialect, {"$ref": "#/$defs/Node", "$defs": {"Node": node}}))
    assert validator.is_valid(success(dialect, {"next": {"next": None}}))
    assert not validator.is_valid(success(dialect, {"next": {"next": None, "status": "success", "ok": True}}))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_list_of_defined_things_is_wrapped_with_its_definitions_at_the_root(dialect: Dialect) -> None:
    things = {"type": "array", "items": {"$ref": "#/$defs/Thing"}, "$defs": {"Thing": {"type": "integer"}}}
    published = published_output_schema(dialect, things)
    assert published["$defs"] == {"Thing": {"type": "integer"}}
    assert published["properties"]["result"] == {"type": "array", "items": {"$ref": "#/$defs/Thing"}}
    assert Validator(published).is_valid(success(dialect, [1]))
    assert not Validator(published).is_valid(success(dialect, ["x"]))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_record_without_fields_is_one_plain_shape(dialect: Dialect) -> None:
    published = published_output_schema(dialect, {"type": "object", "properties": {}})
    assert "anyOf" not in published
    assert Validator(published).is_valid(success(dialect, {}))


@pytest.mark.parametrize("dialect", Dialect)
def test_a_record_that_takes_any_further_field_may_hold_the_marker_too(dialect: Dialect) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": True,
    }
    validator = Validator(published_output_schema(dialect, schema))
    assert validator.is_valid(success(dialect, {"a": 1, "status": 5, "ok": 5}))
    assert not validator.is_valid(success(dialect, {"status": 5, "ok": 5}))


def test_the_shape_of_a_status_record_is_what_a_reader_expects() -> None:
    assert published_output_schema(
        Dialect.STATUS, {"type": "object", "properties": {"n": {"type": "integer"}}}
    ) == {
        "type": "object",
        "properties": {"status": {"const": "success"}, "n": {"type": "integer"}},
        "required": ["status"],
    }


def test_a_counted_map_behind_a_reference_counts_the_marker_once() -> None:
    counted = {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "minProperties": 1,
        "maxProperties": 2,
    }
    published = Validator(published_output_schema(Dialect.STATUS, through_definitions(counted)))

    assert published.is_valid(success(Dialect.STATUS, {"a": 0}))
    assert published.is_valid(success(Dialect.STATUS, {"a": 0, "b": 1}))
    assert not published.is_valid(success(Dialect.STATUS, {}))
