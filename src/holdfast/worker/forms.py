"""Forms that a person is asked to fill in: from a model or a schema to fields that every client can show.

A form is flat. Its fields are texts, numbers, switches and choices, because that is all that clients promise to
show. What a model says beyond that is refused when the form is made, not left out; what only the model can check,
such as a pattern, is checked when the answer comes.
"""

import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from holdfast.contract.binding import json_reader
from holdfast.errors import ContractError, IncapableError
from holdfast.worker.validate import SchemaValidator

__all__ = ["Form", "Titles", "UnreadableError", "form_of"]

ONLY_FIELD = "value"  # of a form that asks for one thing that is no object

_FORMATS = frozenset({"date", "date-time", "email", "uri"})
_ALWAYS = ("type", "title", "description", "default")
_OF_TYPE = {
    "string": ("minLength", "maxLength", "enum", "enumNames", "oneOf"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("minItems", "maxItems", "items"),
}
_KINDS = "texts, numbers, switches, one choice of several texts, or several of them"


class UnreadableError(ValueError):
    """An answer that does not fit what was asked; the message says why."""


class Titles:
    """Gives the choices of a field titles for people: `Annotated[Literal["r", "g"], question.titles(r="Red")]`."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = dict(titles)

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        """The schema of the field with a title for each choice."""
        schema: dict[str, Any] = handler.resolve_ref_schema(handler(core_schema))
        if schema.get("type") == "array":
            items = handler.resolve_ref_schema(schema.get("items", {}))
            return {**schema, "items": {"anyOf": self._choices(items)}}
        kept = {key: value for key, value in schema.items() if key not in {"enum", "const"}}
        return {**kept, "type": "string", "oneOf": self._choices(schema)}

    def _choices(self, schema: Mapping[str, Any]) -> list[dict[str, str]]:
        values = schema.get("enum") or ([schema["const"]] if "const" in schema else list(self._titles))
        return [{"const": value, "title": self._titles.get(value, str(value))} for value in values]


class Form:
    """The fields that are asked for, and how their answers are read."""

    __slots__ = ("_is_wrapped", "_read", "_validator", "schema")

    def __init__(self, schema: dict[str, Any], adapter: Any = None, *, is_wrapped: bool = False) -> None:
        self.schema = schema
        self._validator = SchemaValidator(schema)
        self._read = None if adapter is None else json_reader(adapter)
        self._is_wrapped = is_wrapped

    def requested(self, *, has_choices: bool) -> dict[str, Any]:
        """The schema on the wire: where a revision knows no titled choices and no defaults, without them."""
        if has_choices:
            return self.schema
        fields = {name: _older(name, field) for name, field in self.schema["properties"].items()}
        return {**self.schema, "properties": fields}

    def read(self, content: Any) -> Any:
        """The value that an accepted form stands for; UnreadableError where it does not fit."""
        if not isinstance(content, dict):
            raise UnreadableError("the form was accepted without its fields")
        fields = self.schema["properties"]
        given = {name: value for name, value in content.items() if name in fields}
        if violations := self._validator.violations(given):
            first = violations[0]
            raise UnreadableError(f"{first['instancePath'] or 'the form'}: {first['message']}")
        defaults = {name: field["default"] for name, field in fields.items() if "default" in field}
        if self._read is None:
            return {**defaults, **given}
        try:
            return self._read({**defaults, **given}[ONLY_FIELD] if self._is_wrapped else given)
        except ValueError as error:  # which pydantic's own error is
            raise UnreadableError(_first_line(error)) from error


def form_of(wanted: Any) -> Form:
    """The form that asks for this: a pydantic model, a dataclass, a single type, or a JSON Schema."""
    if isinstance(wanted, Mapping):
        return Form(_checked_schema(wanted))
    if inspect.isroutine(wanted):
        raise ContractError(f"a form cannot be made of the function {wanted!r}", remedy="give it a model")
    try:
        return _form_of_type(wanted)
    except TypeError:  # not hashable, such as an Annotated with a list in it
        return _form_of_type.__wrapped__(wanted)


@lru_cache(maxsize=256)
def _form_of_type(wanted: Any) -> Form:
    from pydantic import PydanticUserError, TypeAdapter

    try:
        adapter: Any = TypeAdapter(wanted)
        schema = adapter.json_schema()
    except PydanticUserError as error:
        text = f"a form cannot be made of {wanted!r}: {_first_line(error)}"
        raise ContractError(text, remedy=f"fields of a form are {_KINDS}") from error
    inner = _resolved(schema, schema.get("$defs", {}))
    if inner.get("type") == "object":
        return Form(_checked_schema({**inner, "$defs": schema.get("$defs", {})}), adapter)
    required = [] if "default" in inner else [ONLY_FIELD]
    whole = {"properties": {ONLY_FIELD: inner}, "required": required, "$defs": schema.get("$defs", {})}
    return Form(_checked_schema(whole), adapter, is_wrapped=True)


def _checked_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        raise ContractError("a form has no fields", remedy='give it "properties", or a model that has fields')
    definitions = schema.get("$defs", {})
    fields = {str(name): _field(str(name), given, definitions) for name, given in properties.items()}
    required = [name for name in schema.get("required", ()) if name in fields]
    told: dict[str, Any] = {"type": "object", "properties": fields}
    return {**told, "required": required} if required else told


def _field(name: str, given: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    schema = _resolved(given, definitions) if isinstance(given, Mapping) else {}
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
    kind = schema.get("type") or ("string" if {"enum", "oneOf"} & set(schema) else None)
    if kind not in _OF_TYPE:
        raise _refused(name, f"is {kind or 'of no simple type'}")
    field: dict[str, Any] = {"type": kind}
    for key in (*_ALWAYS, *_OF_TYPE[kind]):
        if key in schema and not (key == "default" and schema[key] is None):
            field[key] = schema[key]
    if schema.get("format") in _FORMATS:
        field["format"] = schema["format"]
    if kind == "array":
        field["items"] = _choices_of(name, _resolved(schema.get("items") or {}, definitions))
    elif any(not isinstance(value, str) for value in field.get("enum", ())):
        raise _refused(name, "has choices that are no texts")
    return field


def _choices_of(name: str, items: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(items.get("anyOf"), list):
        return {"anyOf": items["anyOf"]}
    values = items.get("enum") or ([items["const"]] if "const" in items else None)
    if not values or any(not isinstance(value, str) for value in values):
        raise _refused(name, "is a list of something else than given choices")
    return {"type": "string", "enum": values}


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with its reference followed, and without the null of an optional field."""
    told = dict(schema)
    for _ in range(8):  # a reference to a reference; pydantic makes no circles of simple types
        if isinstance(reference := told.pop("$ref", None), str):
            told = {**definitions.get(reference.rpartition("/")[2], {}), **told}
        elif isinstance(parts := told.get("allOf"), list) and len(parts) == 1:
            told = {**parts[0], **{key: value for key, value in told.items() if key != "allOf"}}
        elif len(others := list(_other_than_null(told.get("anyOf")))) == 1:
            told = {**others[0], **{key: value for key, value in told.items() if key != "anyOf"}}
        else:
            break
    return told


def _other_than_null(alternatives: Any) -> Iterator[Mapping[str, Any]]:
    for one in alternatives if isinstance(alternatives, list) else ():
        if isinstance(one, Mapping) and one.get("type") != "null":
            yield one


def _older(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    if field["type"] == "array":
        text = (
            f"the form field {name!r} has several choices, which the protocol revision of this session cannot show"
        )
        raise IncapableError(text, {"elicitation": {}})
    told = dict(field)
    if field["type"] != "boolean":
        told.pop("default", None)
    if "oneOf" in told:
        choices = told.pop("oneOf")
        told["enum"] = [choice["const"] for choice in choices]
        told["enumNames"] = [choice.get("title", choice["const"]) for choice in choices]
    return told


def _refused(name: str, why: str) -> ContractError:
    return ContractError(f"the form field {name!r} {why}", remedy=f"fields of a form are {_KINDS}")


def _first_line(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/" + "/".join(map(str, first["loc"])) if first["loc"] else "the form"
        return f"{place}: {first['msg']}"
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
