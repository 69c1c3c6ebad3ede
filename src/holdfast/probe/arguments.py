"""Arguments for a tool that nobody gave any for: the smallest that its input schema accepts, and wrong ones.

Made from the schema alone. What cannot be made so that an independent validator accepts it is not made at all.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["compiled", "example_arguments", "is_valid", "wrongly_typed"]

MAX_DEPTH = 8
MAX_VALUES = 1000
_WRONG: dict[str, Any] = {
    "string": {"not": "a string"},
    "integer": "not a number",
    "number": "not a number",
    "boolean": "not a truth value",
    "array": "not an array",
    "object": "not an object",
}


def example_arguments(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments that the schema accepts, with no more than it requires; None where that cannot be done."""
    made = _Maker(schema).value(schema, 0)
    return made if isinstance(made, dict) and is_valid(schema, made) else None


def wrongly_typed(schema: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any] | None:
    """The right arguments with one of them of a wrong type; None where every type is right."""
    for name, part in _properties(schema).items():
        kind = _resolved(part, schema).get("type") if isinstance(part, Mapping) else None
        if isinstance(kind, str) and kind in _WRONG:
            wrong = {**right, name: _WRONG[kind]}
            if not is_valid(schema, wrong):
                return wrong
    return None


def is_valid(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether the schema accepts the value; a schema that is none accepts nothing."""
    complaint, validator = compiled(schema)
    return not complaint and bool(validator.is_valid(value))


def compiled(schema: Mapping[str, Any]) -> tuple[str, Any]:
    """What is wrong with a schema, or nothing and its validator; nothing is fetched for it."""
    import jsonschema_rs

    try:
        return "", jsonschema_rs.validator_for(dict(schema), retriever=_refuse)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return (str(error).splitlines() or ["it is no schema"])[0][:200], None


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} is elsewhere, and schemas are not fetched")


class _Maker:
    """Makes values for the parts of one schema. A schema may refer to itself, so their number is bounded."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_VALUES

    def value(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or self._left < 0:
            return None
        schema = _resolved(schema, self._root)
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            found = schema.get(key)
            if isinstance(found, list) and found:
                return found[0]
        for key in ("anyOf", "oneOf", "allOf"):
            choices = schema.get(key)
            if isinstance(choices, list) and choices and "type" not in schema:
                return self.value(choices[0], depth + 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[0] if kind else None
        match kind:
            case "string":
                return "probe".ljust(_number(schema, "minLength", 0), "x")
            case "integer" | "number":
                return max(_number(schema, "minimum", 1), _number(schema, "exclusiveMinimum", 0) + 1)
            case "boolean":
                return False
            case "array":
                count = min(_number(schema, "minItems", 0), MAX_VALUES)
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
            case "null":
                return None
        return self._object(schema, depth)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        names = schema.get("required")
        wanted = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        made: dict[str, Any] = {}
        for name in wanted:
            if self._left < 0:
                break
            made[name] = self.value(_properties(schema).get(name, {}), depth + 1)
        return made


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a local reference leads to."""
    for _ in range(MAX_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: Any = root
        for step in reference[2:].split("/"):
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            break
        schema = found
    return schema


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _number(schema: Mapping[str, Any], key: str, default: int) -> int:
    found = schema.get(key)
    return int(found) if isinstance(found, int | float) and abs(found) < 10_000 else default
