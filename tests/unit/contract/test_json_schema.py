"""Types and the schemas that they become, and types that become none."""

import datetime as dt
import decimal
import ipaddress
import pathlib
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, Never, Optional, TypedDict, TypeVar

import jsonschema_rs
import pytest
from annotated_types import Ge, Gt, Len, MultipleOf
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from tests.rows import each_row
from tests.unit.contract.shapes import Colour, Item, Money, Node, Pet, Place, Point, Size, Sku, Titled

from holdfast.contract.json_schema import Untypable, type_adapter, type_schema

MONEY = {
    "type": "object",
    "description": "An amount of money.",
    "properties": {"cents": {"type": "integer"}, "currency": {"type": "string", "default": "EUR"}},
    "required": ["cents"],
    "additionalProperties": False,
}
PLACE = {
    "type": "object",
    "properties": {"shelf": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["shelf"],
    "additionalProperties": False,
}
DECIMAL = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$"

TABLE: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (Sku, {"type": "string"}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a"], {"type": "string", "const": "a"}),
    (Literal["a", 1, None], {"enum": ["a", 1, None]}),  # noqa: PYI061
    (Colour, {"type": "string", "enum": ["red", "blue"], "description": "The colour of a box."}),
    (Size, {"type": "integer", "enum": [1, 2]}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (Point, {
        "type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer", "default": 0}],
        "minItems": 1, "maxItems": 2,
    }),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Mapping[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
    (dict[Literal["a"], int], {
        "type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"const": "a"},
    }),
    (Annotated[int, Ge(1), Field(le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
    (Annotated[float, Gt(0), MultipleOf(0.5)], {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
    (Annotated[list[int], Len(1, 3)], {
        "type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3,
    }),
    (Annotated[str, Field(pattern="^a", description="A word.")], {
        "type": "string", "pattern": "^a", "description": "A word.",
    }),
    (uuid.UUID, {"type": "string", "format": "uuid"}),
    (dt.datetime, {"type": "string", "format": "date-time"}),
    (dt.date, {"type": "string", "format": "date"}),
    (decimal.Decimal, {"anyOf": [{"type": "number"}, {"type": "string", "pattern": DECIMAL}]}),
    (pathlib.Path, {"type": "string", "format": "path"}),
    (ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}),
    (Money, MONEY),
    (Place, PLACE),
    (JsonValue, {"description": "Any JSON value."}),
    (Titled, {
        "type": "object", "title": "A box with a title", "additionalProperties": False,
        "properties": {"colour": {"$ref": "#/$defs/Colour", "default": "red", "title": "Colour of the box"}},
        "$defs": {"Colour": {"type": "string", "enum": ["red", "blue"], "description": "The colour of a box."}},
    }),
]  # fmt: skip


@each_row(("annotation", "schema"), TABLE, ids=lambda value: str(value)[:40])
def test_a_type_becomes_exactly_this_schema(annotation: Any, schema: dict[str, Any]) -> None:
    derived = type_schema(type_adapter(annotation), output=False)
    derived.get("propertyNames", {}).pop("type", None)  # keys are strings anyway; releases of pydantic differ
    assert derived == schema
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **derived})


def test_nested_types_stay_definitions_of_the_schema_itself() -> None:
    schema = type_schema(type_adapter(Item), output=False)
    assert schema["$defs"] == {"Money": MONEY, "Place": PLACE}
    assert schema["properties"]["price"] == {"$ref": "#/$defs/Money"}
    assert schema["properties"]["sku"] == {"type": "string", "minLength": 1, "maxLength": 8}


def test_a_recursive_type_refers_to_itself() -> None:
    schema = type_schema(type_adapter(Node), output=False)
    assert schema["$ref"] == "#/$defs/Node"
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_a_tagged_union_needs_its_tag() -> None:
    validator = jsonschema_rs.validator_for(type_schema(type_adapter(Pet), output=False))
    assert validator.is_valid({"kind": "cat"})
    assert not validator.is_valid({"lives": 3})
    assert not validator.is_valid({"kind": "dog", "lives": 3})


def test_output_is_left_open_and_computed_for_what_is_given() -> None:
    schema = type_schema(type_adapter(Item), output=True)
    assert "additionalProperties" not in schema
    assert all("additionalProperties" not in definition for definition in schema["$defs"].values())
    assert type_schema(type_adapter(decimal.Decimal), output=True) == {"type": "string", "pattern": DECIMAL}


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Holder(BaseModel):
    anything: Any


class Pairs(Enum):
    ONE = (1, 2)


class OldDict(TypedDict):
    a: int


T = TypeVar("T")

REFUSED: list[tuple[Any, str, str]] = [
    (Any, "untyped", "pydantic.JsonValue"),
    (object, "untyped", "pydantic.JsonValue"),
    (dict, "untyped", "dict[str, int]"),
    (list, "untyped", "name the type"),
    (tuple, "untyped", "name the type"),
    (set, "untyped", "name the type"),
    (dict[str, Any], "untyped", "pydantic.JsonValue"),
    (list[Any] | None, "untyped", "pydantic.JsonValue"),
    (Holder, "untyped", "pydantic.JsonValue"),
    (T, "untyped", "name the type"),
    (bytes, "bytes", "str"),
    (list[bytes], "bytes", "str"),
    (bytearray, "no JSON form", "str"),
    (complex, "complex", "two numbers"),
    (Iterable[int], "iterator", "list[...]"),
    (Callable[[], int], "no JSON form", "dataclass"),
    (int | Callable[[], int], "union member with no JSON form", "remove"),
    (type, "no JSON form", "dataclass"),
    (type[int], "is a class", "Literal"),
    (list[type[int]], "is a class", "Literal"),
    (Literal[Colour], "no JSON form", "dataclass"),
    (Never, "no JSON form", "dataclass"),
    (Pairs, "not plain", "text values"),
    (dict[int, str], "keys that are not text", "dict[str, ...]"),
    (dict[int | str, str], "keys that are not text", "dict[str, ...]"),
    (Loose, "accepts unknown fields", "extra='allow'"),
    (Annotated[str, Field(pattern="(?=a)b")], "pattern that cannot be used: look-around", "without look-around"),
    (
        Annotated[str, Field(pattern=r"a\Z")],
        "pattern that cannot be used: unrecognized escape",
        "without look-around",
    ),
    (Annotated[str, Field(pattern="(")], "pattern that cannot be used: unclosed group", "without look-around"),
    (Annotated[str, Field(pattern="(?i)a")], "pattern", "without flags"),
    (Annotated[str, Field(pattern="(?P<a>b)")], "pattern", "without flags"),
    (Annotated[str, Field(pattern="[[:alpha:]]")], "pattern", "without flags"),
    (Annotated[str, Field(pattern=re.compile("a", re.IGNORECASE))], "pattern", "without flags"),
]


@each_row(("annotation", "said", "remedy"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_type_without_an_exact_form_is_refused(annotation: Any, said: str, remedy: str) -> None:
    with pytest.raises(Untypable, match=said) as caught:
        type_schema(type_adapter(annotation), output=False)
    assert remedy in caught.value.remedy


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic reads it from Python 3.12 on")
def test_the_typed_dict_of_older_pythons_is_refused_with_the_one_to_use() -> None:
    with pytest.raises(Untypable) as caught:
        type_adapter(OldDict)
    assert "typing_extensions" in caught.value.remedy
