"""The two schemas of a tool and their converters, made from its signature.

Input: one closed object, parameters in the order of the signature. Output: whatever the function returns, its
objects left open, so that a later version may add to them; a function that returns None gives an empty object.
"""

import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from holdfast.contract.binding import argument_binder, dump_nothing, is_finite, value_dumper
from holdfast.contract.check import check_defaults, resolve
from holdfast.contract.content_type import content_kinds, dump_content, is_content_type
from holdfast.contract.refusal import refusal
from holdfast.contract.signature import NO_DEFAULT, Parameter, Signature
from holdfast.errors import ContractError
from holdfast.present.content import WithContent
from holdfast.present.projection import Projection
from holdfast.present.projection_schema import compile_projection, without_marks
from holdfast.present.schema_shape import map_subschemas

__all__ = ["InputSide", "OutputSide", "arguments_type", "given_input_side", "input_side", "output_side"]

_SAYS_A_TYPE = frozenset({"type", "$ref", "anyOf", "oneOf", "enum", "const"})


@dataclass(frozen=True, slots=True)
class InputSide:
    """The closed schema of the parameters, and the way from JSON arguments to keyword arguments."""

    schema: dict[str, Any]
    bind: Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class OutputSide:
    """The open schema of what is sent, the way from a returned value to JSON, and what is shown of that.

    No schema, but kinds of `content`: the tool answers with items such as images, which are their own form.
    """

    schema: dict[str, Any] | None
    dump: Callable[[Any], Any]
    projection: Projection | None = None
    content: tuple[str, ...] = ()


def input_side(tool: str, signature: Signature, described: Mapping[str, str]) -> InputSide:
    """The input of a tool; `described` holds the descriptions of its parameters by name."""
    from holdfast.contract.json_schema import Untypable, type_adapter, type_schema

    try:
        adapter = type_adapter(arguments_type(signature.parameters))
        derived = without_marks(type_schema(adapter, output=False))
    except Untypable as error:
        raise _blame(tool, signature.parameters, error) from None
    except ContractError as error:
        raise refusal(tool, error.message, error.remedy) from None
    properties = derived.get("properties", {})
    if len(properties) != len(signature.parameters):
        raise refusal(tool, "has a parameter that is hidden from the schema", "publish it or remove it")
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    for parameter, name in zip(signature.parameters, properties, strict=True):
        properties[name] = _property(properties[name], parameter, described.get(parameter.name, ""))
    schema |= {key: derived[key] for key in ("required", "additionalProperties", "$defs") if key in derived}
    check_defaults(tool, schema)
    return InputSide(schema, argument_binder(adapter))


def given_input_side(tool: str, signature: Signature, schema: Mapping[str, Any]) -> InputSide:
    """The input of a tool whose schema its author wrote; the function takes the arguments whole."""
    if len(signature.parameters) != 1:
        raise refusal(
            tool,
            f"has {len(signature.parameters)} parameters, and a schema of its arguments that it did not make",
            "with input_schema=... the function takes one parameter, all arguments in one mapping",
        )
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        raise refusal(
            tool, "its input_schema is open", 'write {"type": "object", ..., "additionalProperties": False}'
        )
    own = {key: value for key, value in schema.items() if key != "$schema"}
    own.setdefault("properties", {})
    check_defaults(tool, own)
    name = signature.parameters[0].name
    return InputSide(own, lambda arguments: {name: arguments})


def output_side(tool: str, returns: Any, reserved_keys: frozenset[str]) -> OutputSide:
    """The output of a tool; `reserved_keys` are the keys of the answer that no payload may use."""
    if returns is type(None):
        return OutputSide({"type": "object", "properties": {}}, dump_nothing)
    if typing.get_origin(returns) is WithContent:
        returns = typing.get_args(returns)[0]
    if is_content_type(returns):
        return OutputSide(None, dump_content, content=content_kinds(returns))
    from holdfast.contract.json_schema import Untypable, type_adapter, type_schema

    try:
        adapter = type_adapter(returns)
        schema = type_schema(adapter, output=True)
    except Untypable as error:
        raise refusal(tool, f"the return type {error}", error.remedy) from None
    try:
        projection, published = compile_projection(schema)
    except ContractError as error:
        raise refusal(tool, f"the return type: {error.message}", error.remedy) from None
    for root in _branches(published, published):
        _check_reserved(tool, root, reserved_keys)
    dump = value_dumper(
        adapter,
        may_hold_floats=_any_part(schema, lambda part: part.get("type") == "number"),
        may_hold_text=_any_part(schema, lambda part: part.get("type") == "string"),
        may_hold_maps=_any_part(schema, lambda part: part.get("type") == "object" and "properties" not in part),
    )
    return OutputSide(published, dump, projection)


def arguments_type(parameters: tuple[Parameter, ...]) -> Any:
    """The parameters as one type: a mapping by name, in which those with a default may be missing."""
    from typing_extensions import TypedDict

    fields = {
        parameter.name: annotation if _is_required(parameter) else NotRequired[annotation]
        for parameter in parameters
        for annotation in [_annotation(parameter)]
    }
    return TypedDict("Arguments", fields)  # type: ignore[operator]


def _annotation(parameter: Parameter) -> Any:
    """The type of a parameter, with what `x: int = Field(10, ge=1)` says about it.

    Two defaults are given by pydantic, and not by Python itself: one that a call could change, so that each call
    gets a copy and the schema stays true; and one whose type names another default, which would win.
    """
    default = parameter.default
    if _is_field(default):
        return Annotated[parameter.annotation, default]
    if default is not NO_DEFAULT and (_is_changeable(default) or _has_default(parameter.annotation)):
        from pydantic import Field

        return Annotated[parameter.annotation, Field(default=default)]
    return parameter.annotation


def _is_changeable(default: Any) -> bool:
    try:
        hash(default)
    except TypeError:
        return True
    return False


def _has_default(annotation: Any) -> bool:
    return any(_is_field(item) and not item.is_required() for item in getattr(annotation, "__metadata__", ()))


def _is_field(default: Any) -> bool:
    from pydantic.fields import FieldInfo

    return isinstance(default, FieldInfo)


def _is_required(parameter: Parameter) -> bool:
    if _is_field(parameter.default):
        return bool(parameter.default.is_required())
    return parameter.default is NO_DEFAULT


def _property(derived: dict[str, Any], parameter: Parameter, described: str) -> dict[str, Any]:
    schema = dict(derived)
    if described and not _says_itself(parameter):
        schema["description"] = described
    if parameter.default is not NO_DEFAULT and not _is_field(parameter.default):
        # The default is what Python itself will use; the schema only tells of it, where JSON can.
        known, value = _plain(parameter.default)
        schema.pop("default", None)
        if known:
            schema["default"] = value
    return schema


def _says_itself(parameter: Parameter) -> bool:
    """Whether the annotation carries a description of its own, which then wins over the docstring."""
    metadata = getattr(_annotation(parameter), "__metadata__", ())
    return any(getattr(item, "description", None) for item in metadata)


def _plain(default: Any) -> tuple[bool, Any]:
    """Whether a default has a JSON form, and that form."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(default, (set, frozenset)):
        default = sorted(default, key=repr)  # the order of a set is not the same in every process
    try:
        value = to_jsonable_python(default, by_alias=True)
    except PydanticSerializationError:
        return False, None
    return is_finite(value), value


def _blame(tool: str, parameters: tuple[Parameter, ...], error: Any) -> Exception:
    """The refusal that names the parameter whose type failed: each is tried alone."""
    from holdfast.contract.json_schema import Untypable, type_adapter, type_schema

    for parameter in parameters:
        try:
            type_schema(type_adapter(_annotation(parameter)), output=False)
        except Untypable as reason:
            return refusal(tool, str(reason), reason.remedy, parameter=parameter.name)
    return refusal(tool, f"its parameters together: {error}", error.remedy)


def _branches(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The alternatives that a schema consists of, references followed."""
    resolved = resolve(schema, root)
    alternatives = resolved.get("anyOf") or resolved.get("oneOf")
    if not alternatives:
        yield resolved
        return
    for alternative in alternatives:
        yield from _branches(alternative, root)


def _check_reserved(tool: str, schema: dict[str, Any], reserved_keys: frozenset[str]) -> None:
    taken = sorted(reserved_keys.intersection(schema.get("properties", {})))
    if taken:
        raise refusal(
            tool,
            f"the return type has a field {taken[0]!r}, which the answer of this server's dialect uses itself",
            f"rename the field, such as to {tool.rpartition('.')[2]}_{taken[0]}, or choose another dialect",
        )


def _any_part(schema: dict[str, Any], is_such: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether some part of the schema, or the whole, is what `is_such` looks for or allows anything."""
    found: list[bool] = []

    def look(part: dict[str, Any]) -> dict[str, Any]:
        free = _SAYS_A_TYPE.isdisjoint(part) or part.get("additionalProperties") is True
        found.append(free or is_such(part))
        return part

    map_subschemas(schema, look)
    return any(found)
