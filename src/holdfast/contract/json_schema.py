"""JSON Schema 2020-12 from Python types, through pydantic: closed for input, open for output, never a guess.

pydantic is lenient where a contract must not be: it turns Any into "anything", bytes into a string, drops the
members of a union that it cannot express. Each of these is refused here. This module imports pydantic, so
import it where it is used.
"""

import re
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaWarningKind
from pydantic_core import SchemaError, core_schema
from typing_extensions import override

from holdfast.contract.binding import is_finite
from holdfast.present.schema_shape import map_subschemas

__all__ = ["Untypable", "type_adapter", "type_schema"]

_JSON_VALUE = "pydantic.types.JsonValue:"
_DECIMAL = r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$"
_FOREIGN_SYNTAX = re.compile(r"\(\?(?:[a-zA-Z-]+[:)]|P)|\\[AzZ]|\[\[:")
_ENUM_VALUES = (str, int, float, bool, type(None))


class Untypable(Exception):  # noqa: N818 - it says what the type is
    """A type has no exact JSON form; the message says why, `remedy` what to write instead."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def type_adapter(annotation: Any) -> TypeAdapter[Any]:
    """The converter for one type, or `Untypable`."""
    try:
        return TypeAdapter(annotation)
    except PydanticUserError as error:
        if error.code == "typed-dict-version":
            raise Untypable(
                "uses typing.TypedDict, which cannot be read before Python 3.12",
                "import TypedDict from typing_extensions",
            ) from error
        raise _not_json(error) from error
    except (SchemaError, NameError, TypeError) as error:
        raise _not_json(error) from error


def type_schema(adapter: TypeAdapter[Any], *, output: bool) -> dict[str, Any]:
    """The JSON Schema of what the adapter accepts, or of what it gives, or `Untypable`."""
    try:
        return adapter.json_schema(
            mode="serialization" if output else "validation", schema_generator=_ContractSchema
        )
    except (PydanticUserError, PydanticInvalidForJsonSchema, ValueError, TypeError) as error:
        raise _not_json(error) from error


def _not_json(error: Exception) -> Untypable:
    _, of_pattern, parsed = str(error).partition("regex parse error:")
    if of_pattern:
        return Untypable(
            f"has a pattern that cannot be used: {parsed.rpartition('error: ')[2].strip()}",
            r"write it without look-around, back references and \Z, which not every validator has",
        )
    # What pydantic advises after its first sentence is not what a tool's author should do.
    reason = str(error).partition(" Set `")[0].partition("\n")[0].strip() or type(error).__name__
    return Untypable(
        f"has no JSON form: {reason}",
        "use str, int, float, bool, list[...], dict[str, ...], Literal, Enum, a dataclass, a TypedDict or a model",
    )


class _ContractSchema(GenerateJsonSchema):
    """pydantic's generator, without its guesses and without the titles that it makes up."""

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._enum_names: set[str] = set()

    @override
    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        # pydantic titles an enum after the method for enums has run, so it is undone at the end.
        result: dict[str, Any] = map_subschemas(super().generate(schema, mode), self._untitled_enum)
        return result

    def _untitled_enum(self, schema: dict[str, Any]) -> dict[str, Any]:
        made_up = "enum" in schema and schema.get("title") in self._enum_names
        return {key: value for key, value in schema.items() if key != "title"} if made_up else schema

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        if kind == "skipped-choice":
            raise Untypable(f"has a union member with no JSON form: {detail}", "remove that member")
        # Other kinds only say that a default was left out of the schema, which is right.

    @override
    def any_schema(self, schema: core_schema.AnySchema) -> dict[str, Any]:
        raise Untypable(
            "is or contains something untyped: Any, object, or a bare dict, list, tuple or set",
            "name the type, such as dict[str, int]; use pydantic.JsonValue for free-form JSON",
        )

    @override
    def json_or_python_schema(self, schema: core_schema.JsonOrPythonSchema) -> dict[str, Any]:
        if schema.get("ref", "").startswith(_JSON_VALUE):
            return {"description": "Any JSON value."}
        return super().json_or_python_schema(schema)

    @override
    def str_schema(self, schema: core_schema.StringSchema) -> dict[str, Any]:
        pattern: Any = schema.get("pattern", "")
        flags = getattr(pattern, "flags", re.UNICODE) & ~re.UNICODE
        if flags or _FOREIGN_SYNTAX.search(getattr(pattern, "pattern", pattern)):
            raise Untypable(
                "has a pattern that JSON Schema does not read the same way",
                r"write it without flags, (?i), (?P<name>...), \A, \Z and [[:class:]]",
            )
        return super().str_schema(schema)

    @override
    def bytes_schema(self, schema: core_schema.BytesSchema) -> dict[str, Any]:
        raise Untypable("holds bytes, which JSON does not have", "use str, and say how it is encoded")

    @override
    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> dict[str, Any]:
        raise Untypable("is a class, which JSON does not have", "take its name, as a Literal or an Enum")

    @override
    def complex_schema(self, schema: core_schema.ComplexSchema) -> dict[str, Any]:
        raise Untypable("holds a complex number, which JSON does not have", "use two numbers")

    @override
    def generator_schema(self, schema: core_schema.GeneratorSchema) -> dict[str, Any]:
        raise Untypable("is an iterator, not a value", "use list[...]")

    @override
    def decimal_schema(self, schema: core_schema.DecimalSchema) -> dict[str, Any]:
        result = super().decimal_schema(schema)
        for form in result.get("anyOf", [result]):
            if form.get("type") == "string":
                form["pattern"] = _DECIMAL
        return result

    @override
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        result = super().default_schema(schema)
        if not is_finite(result.get("default")):
            result = {key: value for key, value in result.items() if key != "default"}
        return result

    @override
    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        keys = (
            self.resolve_ref_schema(self.generate_inner(schema["keys_schema"])) if "keys_schema" in schema else {}
        )
        words = keys.get("enum", [keys["const"]] if "const" in keys else [])
        if keys and keys.get("type") != "string" and not (words and all(isinstance(word, str) for word in words)):
            raise Untypable("has keys that are not text", "use dict[str, ...]: keys of JSON objects are strings")
        return super().dict_schema(schema)

    @override
    def enum_schema(self, schema: core_schema.EnumSchema) -> dict[str, Any]:
        if not all(isinstance(member.value, _ENUM_VALUES) for member in schema["members"]):
            raise Untypable(
                f"has an enum, {schema['cls'].__name__}, of values that are not plain", "use text values"
            )
        self._enum_names.add(schema["cls"].__name__)
        return super().enum_schema(schema)

    @override
    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        return self._closed(_untitled(super().model_schema(schema), schema["cls"]), schema["cls"])

    @override
    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> dict[str, Any]:
        return self._closed(_untitled(super().dataclass_schema(schema), schema["cls"]), schema["cls"])

    @override
    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> dict[str, Any]:
        cls: type = schema.get("cls") or dict
        return self._closed(_untitled(super().typed_dict_schema(schema), cls), cls)

    @override
    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> dict[str, Any]:
        result = super().tagged_union_schema(schema)
        discriminator = result.pop("discriminator", None)
        if discriminator is None:  # a function picks the member, so members may overlap
            return {"anyOf": result["oneOf"]}
        # The tag must be given even where its field has a default: it is what tells the members apart.
        tag = [discriminator["propertyName"]]
        return {
            "oneOf": [{**member, "required": [*member.get("required", ()), *tag]} for member in result["oneOf"]]
        }

    def _closed(self, json_schema: dict[str, Any], cls: type) -> dict[str, Any]:
        if self.mode == "serialization" or "properties" not in json_schema:
            return json_schema
        if json_schema.get("additionalProperties") is True:
            raise Untypable(
                f"holds {cls.__name__}, which accepts unknown fields",
                f"drop extra='allow' from {cls.__name__}; dict[str, pydantic.JsonValue] can hold free-form fields",
            )
        json_schema.setdefault("additionalProperties", False)
        return json_schema


def _untitled(json_schema: dict[str, Any], cls: type) -> dict[str, Any]:
    """Without the title that pydantic copies from the class; a title that somebody wrote stays."""
    if json_schema.get("title") == cls.__name__:
        del json_schema["title"]
    return json_schema
