"""Questions about JSON Schemas that dialects and normalization ask: which types can a value have, where is a ref.

Not a validator and not complete: it reads the keywords that decide a type, and where it cannot tell it answers
"any type", the safe answer for its callers.
"""

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["ALL_TYPES", "map_subschemas", "resolve", "types_of"]

ALL_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"const", "enum", "default", "examples"})


def resolve(ref: str, definitions: Mapping[str, Any]) -> Any:
    """The definition that `#/$defs/NAME` names, or None for any other reference."""
    name = ref.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
    return definitions.get(name) if ref.startswith("#/$defs/") else None


def types_of(schema: Any, definitions: Mapping[str, Any], seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """The JSON types that a valid value may have; `integer` comes with `number` and stands for whole numbers."""
    if isinstance(schema, bool):
        return ALL_TYPES if schema else frozenset()
    types = _own_types(schema)
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref not in seen:
        target = resolve(ref, definitions)
        if target is not None:
            types &= types_of(target, definitions, seen | {ref})
    for branch in schema.get("allOf", ()):
        types &= types_of(branch, definitions, seen)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            branches = [types_of(branch, definitions, seen) for branch in schema[keyword]]
            types &= frozenset().union(*branches)
    return types


def _own_types(schema: Mapping[str, Any]) -> frozenset[str]:
    types = ALL_TYPES
    declared = schema.get("type")
    if declared is not None:
        types = frozenset([declared] if isinstance(declared, str) else declared)
        if "number" in types:
            types |= {"integer"}
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is not None:
        types &= frozenset(_type_of(value) for value in values)
    return types


def _type_of(value: Any) -> str:
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    for kind, name in (
        (bool, "boolean"),
        (str, "string"),
        (int, "integer"),
        (dict, "object"),
        (list, "array"),
    ):
        if isinstance(value, kind):
            return name
    return "null"


def map_subschemas(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A copy of the schema in which `change` was applied to every object schema in it, the innermost first."""
    if not isinstance(schema, Mapping):
        return schema
    copy: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _DATA:
            copy[keyword] = value
        elif keyword in _SCHEMA_MAPS and isinstance(value, Mapping):
            copy[keyword] = {name: map_subschemas(member, change) for name, member in value.items()}
        elif isinstance(value, list):
            copy[keyword] = [map_subschemas(member, change) for member in value]
        else:
            copy[keyword] = map_subschemas(value, change)
    return change(copy)
