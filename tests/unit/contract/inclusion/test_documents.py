"""References inside one document: pointers, anchors, ids, and what leads outside."""

from typing import Any

import pytest

from holdfast.contract.inclusion import Effect, compare_schemas
from holdfast.contract.inclusion.documents import Document, Place
from holdfast.contract.inclusion.model import Undecided

ROOT: dict[str, Any] = {
    "$id": "https://e.test/root",
    "$defs": {
        "a/b": {"type": "string"},
        "c~d": {"$anchor": "here", "type": "integer"},
        "list": {"anyOf": [{"type": "null"}]},
        "inner": {"$id": "inner", "$defs": {"x": {"type": "boolean"}}, "items": {"$ref": "#/$defs/x"}},
        "data": {"const": {"$id": "https://e.test/fake", "$anchor": "fake"}},
    },
}


def base_inside(document: Document, place: Place) -> str:
    """The URI that references inside a schema are relative to."""
    return document.base_of(place.schema, place.base)


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("#/$defs/a~1b", "string"),
        ("#/%24defs/a~1b", "string"),
        ("#here", "integer"),
        ("#/$defs/c~0d", "integer"),
        ("#/$defs/list/anyOf/0", "null"),
        ("inner#/$defs/x", "boolean"),
        ("https://e.test/inner#/$defs/x", "boolean"),
    ],
)
def test_a_reference_inside_the_document_is_found(reference: str, kind: str) -> None:
    document = Document(ROOT)
    place = document.resolve(reference, base_inside(document, document.start))

    assert place is not None
    assert place.schema["type"] == kind


@pytest.mark.parametrize(
    "reference",
    ["https://e.test/other", "#nowhere", "#/$defs/none", "#/$defs/list/anyOf/7", "#fake", "http://[bad"],
)
def test_a_reference_that_leads_nowhere_is_not_followed(reference: str) -> None:
    document = Document(ROOT)

    assert document.resolve(reference, base_inside(document, document.start)) is None
    assert document.resolve("https://e.test/fake", base_inside(document, document.start)) is None


def test_references_below_an_id_are_relative_to_it() -> None:
    document = Document(ROOT)
    place = document.resolve("inner", base_inside(document, document.start))

    assert place is not None
    target = document.resolve("#/$defs/x", base_inside(document, place))
    assert target is not None
    assert target.schema == {"type": "boolean"}


def test_a_relative_id_below_a_relative_id_is_joined_once() -> None:
    def nested(kind: str) -> dict[str, Any]:
        parts = {"f": {"$id": "n/foo", "$ref": "./bar"}, "p": {"$id": "n/bar", "type": kind}}
        return {"$id": "https://e.test/b", "$ref": "n/foo", "$defs": parts}

    assert compare_schemas(nested("number"), nested("string")).effect is Effect.INCOMPARABLE
    assert compare_schemas(nested("number"), nested("integer")).effect is Effect.NARROWS
    assert compare_schemas(nested("number"), {"type": "number"}).effect is Effect.EQUAL


def test_one_address_for_two_schemas_is_not_followed() -> None:
    parts = {"a": {"$id": "x", "type": "string"}, "b": {"$id": "x", "type": "integer"}}

    assert Document({"$defs": parts}).resolve("x", "") is None


def test_a_dynamic_reference_is_followed_only_when_one_anchor_can_be_meant() -> None:
    single = Document({"$defs": {"a": {"$dynamicAnchor": "x"}}})
    twice = Document({"$defs": {"a": {"$dynamicAnchor": "x"}, "b": {"$dynamicAnchor": "x"}}})

    assert single.follow("$dynamicRef", "#x", "") is not None
    assert twice.follow("$dynamicRef", "#x", "") is None
    assert single.follow("$dynamicRef", "https://e.test/#x", "") is None


@pytest.mark.parametrize(
    ("reference", "kind"), [("#x", "integer"), ("#/$defs/k", "integer"), ("inner#x", "integer"), ("root#x", None)]
)
def test_a_dynamic_reference_that_leads_to_no_dynamic_anchor_is_a_plain_one(reference: str, kind: Any) -> None:
    inner = {"$id": "inner", "$defs": {"k": {"$anchor": "x", "type": "integer"}}}
    document = Document({"$id": "https://e.test/root", "$dynamicAnchor": "x", "$defs": {"inner": inner}})
    place = document.follow("$dynamicRef", reference, "https://e.test/inner")

    assert place is not None
    assert place.schema.get("type") == kind


def test_a_name_that_two_schemas_have_is_not_followed() -> None:
    document = Document({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x", "minimum": 1}}})

    assert document.resolve("#x", "") is None


def test_an_unknown_dialect_is_not_guessed() -> None:
    with pytest.raises(Undecided):
        Document({"$schema": "https://e.test/dialect"})
    assert Document({"$schema": "https://json-schema.org/draft/2019-09/schema"}).dialect == "2019-09"


def test_a_reference_that_is_not_text_is_refused() -> None:
    with pytest.raises(Undecided):
        Document({}).resolve(5, "")


SEVEN = "http://json-schema.org/draft-07/schema#"
NINETEEN = "https://json-schema.org/draft/2019-09/schema"


@pytest.mark.parametrize(
    ("dialect", "schema", "meaning"),
    [
        (SEVEN, {"dependentRequired": {"a": ["b"]}}, {}),
        (SEVEN, {"prefixItems": [False], "unevaluatedItems": False}, {}),
        (SEVEN, {"if": True, "then": {"minimum": 1}}, {"minimum": 1}),
        ("http://json-schema.org/draft-06/schema#", {"if": True, "then": {"minimum": 1}}, {}),
        ("http://json-schema.org/draft-04/schema#", {"const": 1, "contains": False}, {}),
        (NINETEEN, {"items": [{"minimum": 1}], "additionalItems": False, "prefixItems": [False]},
         {"prefixItems": [{"minimum": 1}], "items": False}),
        (NINETEEN, {"minItems": 1, "items": {"$recursiveRef": "#"}}, {"minItems": 1, "items": {"$ref": "#"}}),
        (SEVEN, {"$ref": "#/definitions/a", "minimum": 5, "definitions": {"a": {"$id": "#a", "maximum": 1}}},
         {"maximum": 1}),
        (SEVEN, {"items": {"$ref": "#a"}, "definitions": {"a": {"$id": "#a", "maximum": 1}}},
         {"items": {"maximum": 1}}),
    ],
)  # fmt: skip
def test_an_older_dialect_means_what_it_meant(
    dialect: str, schema: dict[str, Any], meaning: dict[str, Any]
) -> None:
    verdict = compare_schemas({"$schema": dialect, **schema}, meaning)

    assert verdict.effect is Effect.EQUAL
    assert "dialect.changed" in {change.rule for change in verdict.changes}


def test_an_integer_of_draft_four_is_not_taken_for_one_of_today() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}

    assert compare_schemas(old, {"type": "integer"}).effect is not Effect.EQUAL
    assert compare_schemas(old, {**old, "minimum": 1}).effect is Effect.NARROWS


def test_a_document_in_two_dialects_is_not_guessed() -> None:
    with pytest.raises(Undecided):
        Document({"items": {"$schema": SEVEN, "$ref": "#"}})
