"""The schema of an envelope, computed from the schema of the payload inside it.

A payload that is an object is spread into the envelope, beside a marker such as `"status": "success"`; anything
else stands under `result`. So the schema of the payload must learn to live with one more key: a closed object
has to admit it, a map must not apply its value schema to it, a count of properties must count one more. Where
the payload may be either, the envelope is one of two shapes.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.present.schema_shape import map_subschemas, resolve, types_of

__all__ = ["Marker", "envelope_schema"]

Marker = tuple[str, Any]
"""The key that an envelope adds to a payload, and its value."""

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_NAMES_OF_A_PAYLOAD = ("Payload", *(f"Payload{number}" for number in range(2, 100)))


def envelope_schema(payload: Mapping[str, Any], marker: Marker | None) -> dict[str, Any]:
    """The schema of the envelope: root type `object`, definitions at the root, every local reference working."""
    body, definitions = _self_contained(payload)
    types = types_of(body, definitions)
    shapes: list[dict[str, Any]] = []
    if "object" in types:
        shapes.append(_spread(body, definitions, marker))
    if types != {"object"} or (marker and _may_hold(marker[0], body, definitions, frozenset())):
        shapes.append(_wrapped(body, marker, needs_guard=bool(shapes)))
    root = shapes[0] if len(shapes) == 1 else {"type": "object", "anyOf": shapes}
    return {**root, "$defs": definitions} if definitions else root


def _self_contained(payload: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Body and definitions. References to the root are led to a copy of the payload among the definitions."""
    taken = payload.get("$defs", {})
    name = next(name for name in _NAMES_OF_A_PAYLOAD if name not in taken)
    moved = False

    def lead(schema: dict[str, Any]) -> dict[str, Any]:
        nonlocal moved
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#") and not ref.startswith("#/$defs/"):
            moved = True
            return {**schema, "$ref": f"#/$defs/{name}{ref[1:]}"}
        return schema

    whole: dict[str, Any] = map_subschemas(payload, lead)
    definitions = whole.pop("$defs", {})
    if moved:
        definitions = {**definitions, name: whole}
    return whole, definitions


def _spread(body: dict[str, Any], definitions: Mapping[str, Any], marker: Marker | None) -> dict[str, Any]:
    if marker is None:
        return {**body, "type": "object"}
    key, value = marker
    opened = _opened(body, definitions, marker, frozenset())
    properties = {key: {"const": value}, **opened.get("properties", {})}
    properties[key] = {"const": value}
    required = [key, *(name for name in opened.get("required", ()) if name != key)]
    return {**opened, "type": "object", "properties": properties, "required": required}


def _wrapped(body: dict[str, Any], marker: Marker | None, *, needs_guard: bool) -> dict[str, Any]:
    """The payload under `result`; the guard keeps out the payloads that would have been spread."""
    result = body
    if needs_guard:
        # `required` says nothing about values that are not objects, so those pass.
        guard = {"required": [marker[0]]} if marker else {"not": {"type": "object"}}
        result = {"allOf": [body, guard]}
    properties = {"result": result}
    if marker is not None:
        properties = {marker[0]: {"const": marker[1]}, **properties}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _may_hold(key: str, schema: Any, definitions: Mapping[str, Any], seen: frozenset[str]) -> bool:
    """Whether the payload is a map, whose keys are data and may be `key`, rather than a record of named fields."""
    if isinstance(schema, bool):
        return schema
    ref = schema.get("$ref")
    if isinstance(ref, str):
        target = resolve(ref, definitions)
        return target is None or (ref not in seen and _may_hold(key, target, definitions, seen | {ref}))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return any(_may_hold(key, branch, definitions, seen) for branch in schema[keyword])
    if "allOf" in schema:
        return all(_may_hold(key, branch, definitions, seen) for branch in schema["allOf"])
    extra = schema.get("additionalProperties")
    if extra is False:
        return any(re.search(pattern, key) for pattern in schema.get("patternProperties", ()))
    return "properties" not in schema or extra is not None


def _opened(schema: Any, definitions: Mapping[str, Any], marker: Marker, seen: frozenset[str]) -> Any:
    """The schema, judging an object as if the marker were not in it."""
    if not isinstance(schema, Mapping):
        return schema
    opened = dict(schema)
    for keyword in _IN_PLACE_LISTS:
        if keyword in opened:
            opened[keyword] = [_opened(branch, definitions, marker, seen) for branch in opened[keyword]]
    for keyword in _IN_PLACE:
        if keyword in opened:
            opened[keyword] = _opened(opened[keyword], definitions, marker, seen)
    if "dependentSchemas" in opened:
        opened["dependentSchemas"] = {
            name: _opened(branch, definitions, marker, seen) for name, branch in opened["dependentSchemas"].items()
        }
    ref = opened.get("$ref")
    if isinstance(ref, str) and ref not in seen:
        target = resolve(ref, definitions)
        inlined = _opened(target, definitions, marker, seen | {ref})
        if inlined != target:
            # Last, because it is opened already: a second time would count the marker twice.
            del opened["$ref"]
            opened["allOf"] = [inlined, *opened.get("allOf", ())]
    _admit(opened, marker)
    only = opened.get("allOf", ())
    return only[0] if set(opened) == {"allOf"} and len(only) == 1 else opened


def _admit(schema: dict[str, Any], marker: Marker) -> None:
    """Change, in place, the keywords of one schema that would notice the marker."""
    key, value = marker
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        schema["properties"] = {**schema.get("properties", {}), key: True}
    if "propertyNames" in schema:
        schema["propertyNames"] = {"anyOf": [{"const": key}, schema["propertyNames"]]}
    if "patternProperties" in schema:
        schema["patternProperties"] = {
            _sparing(pattern, key): member for pattern, member in schema["patternProperties"].items()
        }
    for keyword in ("minProperties", "maxProperties"):
        if keyword in schema:
            schema[keyword] += 1
    if "const" in schema:
        schema["const"] = _marked(schema["const"], key, value)
    if "enum" in schema:
        schema["enum"] = [_marked(member, key, value) for member in schema["enum"]]


def _sparing(pattern: str, key: str) -> str:
    """The pattern, matching what it matches except `key`."""
    if not re.search(pattern, key):
        return pattern
    return rf"^(?!{key}$)[\s\S]*(?:{pattern})"


def _marked(literal: Any, key: str, value: Any) -> Any:
    return {key: value, **literal} if isinstance(literal, dict) else literal
