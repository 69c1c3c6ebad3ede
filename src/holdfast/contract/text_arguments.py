"""Arguments that arrive as text: those of a prompt, and the values in the address of a resource.

The function still has typed parameters. What the text means follows from the type: "3" for an `int`, "true" for a
`bool`, one of its words for a `Literal`. Types that no short text can say (lists, models) are refused when the
function is registered.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from holdfast.contract.binding import ArgumentsRejected, violations_of
from holdfast.contract.check import resolve
from holdfast.contract.refusal import refusal
from holdfast.contract.schemas import arguments_type
from holdfast.contract.signature import NO_DEFAULT, Signature

__all__ = ["TextArgument", "TextSide", "text_side"]

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


@dataclass(frozen=True, slots=True)
class TextArgument:
    """One argument: its JSON Schema, its description, and the words that it can be, where there are only a few."""

    name: str
    schema: dict[str, Any]
    description: str = ""
    required: bool = True
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextSide:
    """The arguments of a function, and the way from texts to keyword arguments; raises `ArgumentsRejected`."""

    arguments: tuple[TextArgument, ...]
    bind: Callable[[Mapping[str, str]], dict[str, Any]]


def text_side(offer: str, signature: Signature, described: Mapping[str, str]) -> TextSide:
    """The text arguments that a signature asks for, or a refusal."""
    from pydantic_core import ValidationError

    from holdfast.contract.json_schema import Untypable, type_adapter, type_schema

    try:
        adapter = type_adapter(arguments_type(signature.parameters))
        whole = type_schema(adapter, output=False)
    except Untypable as error:
        raise refusal(offer, f"a parameter {error}", error.remedy) from None
    arguments = tuple(
        TextArgument(
            parameter.name,
            _scalar(offer, parameter.name, _resolved(schema, whole)),
            described.get(parameter.name, schema.get("description", "")),
            parameter.default is NO_DEFAULT,
            tuple(_words(_resolved(schema, whole))),
        )
        for parameter, schema in zip(signature.parameters, whole.get("properties", {}).values(), strict=True)
    )
    known = frozenset(argument.name for argument in arguments)
    validate = adapter.validator.validate_strings

    def bind(given: Mapping[str, str]) -> dict[str, Any]:
        wrong = [_unknown(name) for name in given if name not in known]
        wrong += [_missing(one.name) for one in arguments if one.required and one.name not in given]
        try:
            bound: dict[str, Any] = validate(cast("Any", dict(given)))
        except ValidationError as error:
            further = violations_of(error, dict(given))
            raise ArgumentsRejected([*wrong, *(one for one in further if one["keyword"] != "missing")]) from error
        if wrong:
            raise ArgumentsRejected(wrong)
        return bound

    return TextSide(arguments, bind)


def _unknown(name: str) -> dict[str, Any]:
    return {
        "instancePath": "",
        "schemaPath": "/additionalProperties",
        "keyword": "additionalProperties",
        "params": {"unexpected": [name[:80]]},
        "message": f"{name[:80]!r} is no argument",
    }


def _missing(name: str) -> dict[str, Any]:
    return {
        "instancePath": "",
        "schemaPath": "/required",
        "keyword": "required",
        "params": {"missingProperty": name},
        "message": f"{name!r} is required",
    }


def _resolved(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The schema of one argument, able to stand alone."""
    schema = {key: value for key, value in resolve(schema, whole).items() if key not in {"description", "default"}}
    if "anyOf" in schema:
        schema["anyOf"] = [_resolved(one, whole) for one in schema["anyOf"]]
    return schema


def _scalar(offer: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    for form in schema.get("anyOf", [schema]):
        is_word = "enum" in form or "const" in form
        if not is_word and form.get("type") not in _SCALARS:
            raise refusal(
                offer,
                "is of a type that one text cannot say",
                "use str, int, float, bool, a date, Literal or Enum",
                parameter=name,
            )
    return schema


def _words(schema: dict[str, Any]) -> Iterator[str]:
    """Every word that an argument can be; none where there are more than a list can hold."""
    for form in schema.get("anyOf", [schema]):
        if form.get("type") == "boolean":
            yield from ("true", "false")
        elif "enum" in form or "const" in form:
            yield from (str(word) for word in form.get("enum", [form.get("const")]) if word is not None)
