"""The words of types in tables, both ways."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.contract.documents.types import schema_of_type, type_names, type_words


@each_row(
    ("words", "schema"),
    [
        ("string", {"type": "string"}),
        ("`integer`", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("**bool**", {"type": "boolean"}),
        ("array[string]", {"type": "array", "items": {"type": "string"}}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("List[dict]", {"type": "array", "items": {"type": "object"}}),
        ("array of integers", {"type": "array", "items": {"type": "integer"}}),
        ("dict[str, Any]", {"type": "object"}),
        ("string | null", {"type": ["string", "null"]}),
        ("str or None", {"type": ["string", "null"]}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ('enum["a", 1]', {"enum": ["a", 1]}),
        ("enum: a, b", {"enum": ["a", "b"]}),
        ("string (path)", {"type": "string"}),
        ("date-time", {"type": "string", "format": "date-time"}),
        ("any", {}),
        ("wobble", None),
        ("", None),
        ("[" * 500, None),
    ],
)
def test_the_words_of_a_type_mean_a_schema(words: str, schema: dict[str, Any] | None) -> None:
    assert schema_of_type(words) == schema


SCHEMAS = st.one_of(
    st.sampled_from([{}, True, {"type": "string"}, {"type": ["integer", "null"]}, {"const": "x"}]),
    st.lists(
        st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"]), unique=True
    ).map(lambda names: {"type": names}),
    st.lists(st.text(max_size=5) | st.integers() | st.none(), min_size=1, max_size=4, unique=True).map(
        lambda values: {"enum": values}
    ),
    st.sampled_from(["string", "integer", "object"]).map(lambda name: {"type": "array", "items": {"type": name}}),
)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS)
def test_the_words_for_a_schema_mean_its_types_again(schema: Any) -> None:
    names = type_names(schema, {})
    again = schema_of_type(type_words(schema, {}))

    assert not names or (again is not None and type_names(again, {}) == names)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_no_words_break_the_reader_of_types(words: str) -> None:
    schema_of_type(words)


@pytest.mark.parametrize("schema", [None, 5, "x", [], {"type": 5}, {"enum": 7}, {"anyOf": 3}, {"type": [["a"]]}])
def test_what_is_no_schema_has_any_type(schema: Any) -> None:
    assert isinstance(type_words(schema, {}), str)
