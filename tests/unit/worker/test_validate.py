"""What a caller is told of arguments that do not fit."""

from typing import Any

import pytest

from holdfast.worker.validate import SchemaValidator

OPTIONAL = {"properties": {"line": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "0 is less than the minimum of 1"),
        ("x", '"x" is not of type "integer" or "x" is not of type "null"'),
    ],
)
def test_a_wrong_value_of_an_optional_argument_is_told_with_its_limit(value: Any, message: str) -> None:
    (violation,) = SchemaValidator(OPTIONAL).violations({"line": value})
    assert (violation["instancePath"], violation["keyword"], violation["message"]) == ("/line", "anyOf", message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"state": "NOPE"}, '/state: "NOPE" is not one of "DONE" or "FAILED"'),
        (["a"], '/0: "a" is not of type "integer"'),
        ({"state": "NOPE", "x": 1}, '/state: "NOPE" is not one of "DONE" or "FAILED"; Additional properties'),
        (True, 'true is not of type "object" or true is not of type "array" or true is not of type "null"'),
    ],
)
def test_what_is_wrong_inside_an_optional_argument_is_told_with_its_place(value: Any, message: str) -> None:
    state = {"anyOf": [{"type": "string", "enum": ["DONE", "FAILED"]}, {"type": "null"}]}
    chosen = {"type": "object", "properties": {"state": state}, "additionalProperties": False}
    numbers = {"type": "array", "items": {"type": "integer"}}
    schema = {"properties": {"filter": {"anyOf": [chosen, numbers, {"type": "null"}]}}}
    [violation] = SchemaValidator(schema).violations({"filter": value})
    assert violation["instancePath"] == "/filter"
    assert violation["message"].startswith(message)


CAT = {
    "type": "object",
    "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
    "required": ["kind", "lives"],
    "additionalProperties": False,
}
DOG = {
    "type": "object",
    "properties": {"kind": {"enum": ["dog", "hound"]}, "bark": {"type": "string"}},
    "required": ["kind", "bark"],
    "additionalProperties": False,
}
BOX = {"type": "object", "properties": {"colour": {"enum": ["red"]}}, "additionalProperties": False}


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize(
    ("members", "value", "message"),
    [
        ([CAT, DOG], {"kind": "cat"}, '"lives" is a required property'),
        ([CAT, DOG], {"kind": "cow"}, '/kind: "cat" was expected or /kind: "cow" is not one of "dog" or "hound"'),
        ([CAT, DOG], {"kind": "dog", "bark": 1}, '/bark: 1 is not of type "string"'),
        ([CAT, {"type": "null"}], {"kind": "x"}, '"lives" is a required property; /kind: "cat" was expected'),
        ([CAT, DOG], 3, '3 is not of type "object"'),
    ],
    ids=["known tag", "unknown tag", "inside", "optional", "type"],
)
def test_of_several_objects_the_one_that_the_tag_names_is_told(
    keyword: str, members: list[Any], value: Any, message: str
) -> None:
    [violation] = SchemaValidator({"properties": {"pet": {keyword: members}}}).violations({"pet": value})
    assert (violation["keyword"], violation["message"]) == (keyword, message)


def test_a_field_that_one_object_alone_knows_is_no_tag() -> None:
    [violation] = SchemaValidator({"oneOf": [CAT, BOX]}).violations({"colour": "blue"})
    assert '/colour: "blue" is not one of "red"' in violation["message"]
    assert '"lives" is a required property' in violation["message"]


def test_a_value_that_fits_more_than_one_of_one_is_told_so() -> None:
    [violation] = SchemaValidator({"oneOf": [{"type": "integer"}, {"minimum": 2}]}).violations(3)
    assert "more than one" in violation["message"]


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"type": "string", "maxLength": 8}, "x" * 10_000, "is longer than 8 characters"),
        ({"type": "string", "pattern": "^a$"}, "x" * 10_000, 'does not match "^a$"'),
        ({"type": "array", "maxItems": 2}, ["x" * 100] * 1_000, "has more than 2 items"),
        ({"anyOf": [{"type": "string", "maxLength": 8}, {"type": "null"}]}, "x" * 10_000, "than 8 characters"),
    ],
    ids=["length", "pattern", "items", "optional"],
)
def test_of_a_value_that_is_too_long_to_be_told_back_the_reason_is_told(
    schema: dict[str, Any], value: Any, reason: str
) -> None:
    [violation] = SchemaValidator({"properties": {"top": schema}}).violations({"top": value})
    assert violation["message"].endswith(reason)
    assert "…" in violation["message"]
    assert len(violation["message"]) < 100  # what a line of text shows


def test_a_wrong_choice_is_told_with_all_that_may_be_chosen() -> None:
    [violation] = SchemaValidator({"enum": ["exit", "raise", "print", "kill", 5, None]}).violations("nope")
    assert violation["message"] == '"nope" is not one of "exit", "raise", "print", "kill", 5 or null'


def test_of_very_many_choices_those_are_told_that_fit() -> None:
    [violation] = SchemaValidator({"enum": [f"choice {n}" for n in range(1_000)]}).violations("nope")
    assert violation["message"].startswith('"nope" is not one of "choice 0", "choice 1", "choice 2", ')
    assert violation["message"].endswith(', "choice 19" or 980 others')
    [violation] = SchemaValidator({"enum": ["x" * 900, "y", "z", "w"]}).violations("nope")
    assert violation["message"].endswith('" or 3 others')
