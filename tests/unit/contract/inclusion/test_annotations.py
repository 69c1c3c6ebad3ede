"""No word that people or models read changes unseen, wherever in a schema it stands."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.rows import each_row

from holdfast.contract.inclusion import Bump, bumps_of, compare_schemas

S: dict[str, Any] = {"type": "string"}
SEVEN = "http://json-schema.org/draft-07/schema#"
SHARED = {"X": {"type": "string", "enum": ["a", "b"], "description": "Shared."}}


def told(old: Any, new: Any) -> list[tuple[str, str]]:
    """The rules and paths of all changes."""
    return [(change.rule.partition(".")[2], change.path) for change in compare_schemas(old, new).changes]


def pair_of(first: Any, second: Any, **beside: Any) -> dict[str, Any]:
    """Two properties that refer to one schema, each with words of its own."""
    properties = {"a": {"$ref": "#/$defs/X", **first}, "b": {"$ref": "#/$defs/X", **second}}
    return {"type": "object", "properties": properties, "$defs": SHARED, **beside}


def test_the_words_beside_a_second_reference_to_one_schema_are_compared_too() -> None:
    old = pair_of({"description": "one"}, {"default": "a", "description": "b"})
    new = pair_of({"description": "two"}, {"default": "b", "description": "B"})

    assert told(old, new) == [
        ("description_changed", "/a"), ("default_changed", "/b"), ("description_clarified", "/b"),
    ]  # fmt: skip


def test_the_words_beside_a_second_nullable_reference_are_compared_too() -> None:
    def schema(first: str, second: str) -> dict[str, Any]:
        part = {"anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}]}
        properties = {"a": {**part, "description": first}, "b": {**part, "default": second}}
        return {"type": "object", "properties": properties, "$defs": SHARED}

    assert told(schema("one", "a"), schema("two", "b")) == [
        ("description_changed", "/a"), ("default_changed", "/b"),
    ]  # fmt: skip


def test_the_words_of_a_schema_that_many_refer_to_are_told_once() -> None:
    old = pair_of({}, {})
    new = {**old, "$defs": {"X": {**SHARED["X"], "description": "Other."}}}

    assert told(old, new) == [("description_changed", "/a")]


def test_the_words_that_those_beside_a_reference_hide_are_compared_in_their_own_place() -> None:
    old = pair_of({"description": "one"}, {"description": "b"})
    new = {**old, "$defs": {"X": {**SHARED["X"], "description": "Other."}}}

    assert told(old, new) == [("description_changed", "#/$defs/X")]


def test_the_words_beside_a_reference_of_an_older_dialect_are_compared() -> None:
    def schema(text: str) -> dict[str, Any]:
        part = {"$ref": "#/definitions/X", "description": text, "default": text}
        return {"$schema": SEVEN, "properties": {"a": part}, "definitions": SHARED}

    assert told(schema("one"), schema("two")) == [("default_changed", "/a"), ("description_changed", "/a")]


def test_words_that_moved_with_their_reference_did_not_change() -> None:
    inline = {"type": "object", "properties": {"a": {**S, "description": "d", "title": "t"}}}
    moved = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "title": "t"}}}
    moved["$defs"] = {"A": {**S, "description": "d"}}

    assert told(inline, moved) == [("moved", "/a")]
    assert told(moved, inline) == [("moved", "/a")]


def test_alternatives_in_another_order_keep_their_words() -> None:
    first = {"type": "object", "properties": {"a": {**S, "description": "one"}}, "required": ["a"]}
    second = {"type": "array", "items": {**S, "description": "two"}, "description": "three"}

    assert told({"oneOf": [first, second]}, {"oneOf": [second, first]}) == []


WRAPPED: dict[str, Callable[[Any], Any]] = {
    "#/patternProperties/^a": lambda part: {"patternProperties": {"^a": part}},
    "#/then/properties/a": lambda part: {"if": {"required": ["q"]}, "then": {"properties": {"a": part}}},
    "#/else": lambda part: {"if": {"required": ["q"]}, "else": part},
    "#/if": lambda part: {"if": part, "then": {"minProperties": 1}},
    "#/items/contains": lambda part: {"items": {"contains": part}},
    "#/dependentSchemas/a~1b/properties/b": lambda part: {
        "dependentSchemas": {"a/b": {"properties": {"b": part}}}
    },
    "#/propertyNames": lambda part: {"propertyNames": part},
    "#/not": lambda part: {"not": part},
    "#/$defs/u": lambda part: {"$defs": {"u": part}},
    "#/unevaluatedProperties": lambda part: {"unevaluatedProperties": part},
    "#/unevaluatedItems": lambda part: {"unevaluatedItems": part},
    "#/allOf/1/not": lambda part: {"allOf": [{}, {"not": part}]},
}


@pytest.mark.parametrize("path", WRAPPED)
def test_a_word_where_no_value_leads_is_compared_by_its_place_in_the_schema(path: str) -> None:
    old, new = (WRAPPED[path]({**S, "description": text, "default": text}) for text in ("one", "two"))

    assert told(old, new) == [("default_changed", path), ("description_changed", path)]
    assert told(old, {**new, "title": "t"}) == [
        ("title_changed", ""), ("default_changed", path), ("description_changed", path),
    ]  # fmt: skip


def test_a_word_in_a_part_that_says_nothing_else_is_seen_when_it_comes() -> None:
    assert told({"allOf": [S]}, {"allOf": [S, {"description": "evil"}]}) == [
        ("description_clarified", "#/allOf/1"),
    ]  # fmt: skip


def test_what_comes_with_a_part_that_was_added_is_not_told_a_second_time() -> None:
    old = {"type": "object", "properties": {"a": S}}
    new = {"type": "object", "properties": {"a": S, "b": {**S, "description": "d"}}}

    assert told(old, new) == [("optional_property_added_typed", "/b")]


def test_a_property_that_must_be_given_and_was_only_read_breaks_callers_behind_any_reference() -> None:
    def schema(**flag: Any) -> dict[str, Any]:
        parts = {"a": {"$ref": "#/$defs/X"}, "b": {"$ref": "#/$defs/X"}}
        return {"type": "object", "properties": parts, "required": ["b"], "$defs": {"X": {**S, **flag}}}

    changes = compare_schemas(schema(readOnly=True), schema()).changes
    assert [(change.path, bumps_of(change)[0]) for change in changes] == [("/a", Bump.MINOR), ("/b", Bump.MAJOR)]


EVERYTHING: dict[str, Any] = {
    "type": "object",
    "title": "t",
    "properties": {
        "a": {"$ref": "#/$defs/X", "description": "d"},
        "b": {"anyOf": [{"$ref": "#/$defs/X", "title": "t"}, {"type": "null", "description": "none"}]},
        "c": {"type": "array", "items": {**S, "description": "d", "examples": ["e"]}, "contains": {"const": "x"}},
        "d": {"oneOf": [{"const": "one", "title": "One"}, {"const": "two", "title": "Two"}]},
        "e": {"allOf": [{"$ref": "#/$defs/X"}, {"description": "beside", "x-unit": "m"}]},
        "f": {**S, "contentSchema": {"title": "inner"}, "pattern": "^a", "format": "date"},
    },
    "patternProperties": {"^x": {"description": "d", "not": {"const": "n", "$comment": "c"}}},
    "if": {"properties": {"a": {"const": "a", "description": "d"}}},
    "then": {"required": ["b"], "description": "d"},
    "dependentSchemas": {"c": {"properties": {"d": {"default": "d"}}}},
    "propertyNames": {"title": "names"},
    "additionalProperties": {"description": "others"},
    "$defs": {**SHARED, "unused": {"description": "d"}},
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all texts in a value."""
    if isinstance(value, str):
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from leaves(part, (*path, key))


@each_row("path", list(leaves(EVERYTHING)), ids=lambda path: "/".join(map(str, path)))
def test_no_text_in_a_schema_changes_unseen(path: tuple[Any, ...]) -> None:
    changed = copy.deepcopy(EVERYTHING)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] += "z"

    worst = [max(bumps_of(change)) for change in compare_schemas(EVERYTHING, changed).changes]
    assert worst
    assert max(worst) >= Bump.PATCH
