"""Arguments made from a schema: right where they are made, and refused nowhere by an independent validator."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.probe.arguments import compiled, example_arguments, is_valid, wrongly_typed

LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"type": "string", "minLength": 9},
        {"type": "integer", "minimum": 7},
        {"type": "number", "exclusiveMinimum": 2},
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"const": None},
        {"default": [1]},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
        {"$ref": "#/$defs/word"},
    ]
)
PARTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item, "minItems": 2}, inner),
        st.builds(lambda part: {"type": "object", "properties": {"x": part}, "required": ["x"]}, inner),
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from("abcd"), PARTS))
def test_arguments_of_usual_schemas_are_made_and_valid(parts: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "$defs": {"word": {"type": "string"}},
    }
    made = example_arguments(schema)
    assert made is not None
    assert set(made) == set(parts)
    assert is_valid(schema, made)


KEYS = st.sampled_from(["type", "properties", "required", "enum", "items", "$ref", "anyOf", "minLength"])
NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(KEYS, x)
)


@given(NONSENSE)
def test_a_schema_that_is_nonsense_makes_nothing_and_raises_nothing(schema: Any) -> None:
    made = example_arguments(schema) if isinstance(schema, dict) else None
    assert made is None or is_valid(schema, made)


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/schema", "file:///etc/passwd", "#/nowhere"])
def test_nothing_is_fetched_for_a_schema(reference: str) -> None:
    complaint, validator = compiled({"type": "object", "properties": {"a": {"$ref": reference}}})
    assert complaint
    assert validator is None


def test_one_argument_is_made_wrong_where_the_type_matters() -> None:
    schema = {"type": "object", "properties": {"free": {}, "count": {"type": "integer"}}}
    assert wrongly_typed(schema, {"free": 1}) == {"free": 1, "count": "not a number"}
    assert wrongly_typed({"type": "object", "properties": {"free": {}}}, {}) is None


def test_a_schema_that_refers_to_itself_a_thousand_times_is_soon_given_up() -> None:
    names = [f"p{number}" for number in range(64)]
    schema = {"type": "object", "properties": {name: {"$ref": "#"} for name in names}, "required": names}
    assert example_arguments(schema) is None
    heavy = {"type": "array", "minItems": 10**9, "items": {"$ref": "#/properties/a"}}
    assert example_arguments({"type": "object", "properties": {"a": heavy}, "required": ["a"]}) is None
