"""Widen the schema of one field, so that it accepts exactly the further spellings that normalization accepts.

Each function takes the field's schema and gives back one that is valid for a value if, and only if, the
normalized value is valid for the original. Where a schema has no such wider form, or where a spelling could
mean two things, the declaration is refused: a contract that cannot be published exactly is none.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.errors import ContractError
from holdfast.present.integer_text import MAX_TEXT, Range, integer_pattern
from holdfast.present.paths import FILE_SCHEME_PATTERN, FILE_URI_PATTERN, NOT_A_PATH_PATTERN
from holdfast.present.schema_shape import resolve, types_of

__all__ = ["LOCAL_PATH", "LOCAL_PATH_NAME", "widen_integer", "widen_path", "widen_tokens"]

_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
_STRUCTURE = frozenset({"type", "$ref", "anyOf"})
_LIMITS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_LITERALS = frozenset({"const", "enum"})
_EVERY_INTEGER: Range = (None, None)

LOCAL_PATH_NAME = "LocalPath"
# A definition, because it is long and a tool may have several paths. Values that are not text pass.
LOCAL_PATH: dict[str, Any] = {
    "description": "A local path, or the file:// URI of one.",
    "if": {"type": "string"},
    "then": {
        "minLength": 1,
        "not": {"pattern": NOT_A_PATH_PATTERN},
        "anyOf": [{"not": {"pattern": FILE_SCHEME_PATTERN}}, {"pattern": FILE_URI_PATTERN}],
    },
}


def widen_integer(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Also accept the text of every integer that the schema accepts."""
    types = types_of(schema, definitions)
    if "string" in types:
        raise ContractError(
            "a field that accepts text cannot also read text as a number",
            remedy="drop the integer declaration or the text",
        )
    ranges = _integer_ranges(schema, definitions) if "integer" in types else []
    if not ranges:
        raise ContractError("the field accepts no integer", remedy="declare integers for integer fields only")
    text = {"type": "string", "maxLength": MAX_TEXT, "pattern": integer_pattern(ranges)}
    return _with_alternative(schema, text)


def widen_tokens(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], canonical: Iterable[str], pattern: str, words: str
) -> dict[str, Any]:
    """Also accept the texts that `pattern` matches; the schema must list exactly the canonical words."""
    listed = _texts(schema, definitions)
    if listed is None or listed != frozenset(canonical):
        raise ContractError(
            "the canonical words are not the texts that the field accepts",
            remedy="give the members of the field's enumeration, all of them",
        )
    text = {"type": "string", "pattern": pattern, "description": words}
    return _with_alternative(schema, text)


def widen_path(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Accept, of all texts, paths and `file://` URIs of local paths, as the definition `LOCAL_PATH` says."""
    if "string" not in types_of(schema, definitions):
        raise ContractError("the field accepts no text", remedy="declare paths for text fields only")
    _require_free_text(schema, definitions)
    return {**schema, "allOf": [{"$ref": f"#/$defs/{LOCAL_PATH_NAME}"}]}


def _with_alternative(schema: Mapping[str, Any], alternative: dict[str, Any]) -> dict[str, Any]:
    """`schema` or `alternative`, with the annotations of `schema` left where a reader looks for them."""
    annotations = {key: value for key, value in schema.items() if key in _ANNOTATIONS}
    core = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
    branches = core["anyOf"] if set(core) == {"anyOf"} else [core]
    return {**annotations, "anyOf": [*branches, alternative]}


def _understood(schema: Mapping[str, Any], keywords: frozenset[str]) -> None:
    strange = schema.keys() - keywords - _ANNOTATIONS
    if strange:
        raise ContractError(
            f"normalization of a field with {min(strange)!r} in its schema cannot be published exactly",
            remedy="drop the keyword or the normalization of the field",
        )


def _integer_ranges(schema: Any, definitions: Mapping[str, Any]) -> list[Range]:
    """The integers that the schema accepts, as ranges."""
    if isinstance(schema, bool):
        return [_EVERY_INTEGER] if schema else []
    if "integer" not in types_of(schema, definitions):
        return []
    _understood(schema, _STRUCTURE | _LIMITS | _LITERALS | {"format"})
    ranges = [_limits(schema)]
    literals = _literals(schema)
    if literals is not None:
        numbers = [int(value) for value in literals if _is_integer(value)]
        ranges = _both(ranges, [(number, number) for number in numbers])
    if "$ref" in schema:
        ranges = _both(ranges, _integer_ranges(_target(schema, definitions), definitions))
    if "anyOf" in schema:
        either = [one for branch in schema["anyOf"] for one in _integer_ranges(branch, definitions)]
        ranges = _both(ranges, either)
    return ranges


def _target(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    target = resolve(schema["$ref"], definitions)
    if target is None:
        raise ContractError(f"{schema['$ref']!r} names no definition", remedy="refer to #/$defs/NAME")
    return target


def _literals(schema: Mapping[str, Any]) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and value == math.floor(value)


def _limits(schema: Mapping[str, Any]) -> Range:
    lows = [math.ceil(schema[key]) for key in ("minimum",) if key in schema]
    lows += [math.floor(schema[key]) + 1 for key in ("exclusiveMinimum",) if key in schema]
    highs = [math.floor(schema[key]) for key in ("maximum",) if key in schema]
    highs += [math.ceil(schema[key]) - 1 for key in ("exclusiveMaximum",) if key in schema]
    return max(lows, default=None), min(highs, default=None)


def _both(left: list[Range], right: list[Range]) -> list[Range]:
    """The numbers that lie in a range on the left and in one on the right."""
    found: list[Range] = []
    for low_a, high_a in left:
        for low_b, high_b in right:
            low = max((bound for bound in (low_a, low_b) if bound is not None), default=None)
            high = min((bound for bound in (high_a, high_b) if bound is not None), default=None)
            if low is None or high is None or low <= high:
                found.append((low, high))
    return found


def _texts(schema: Any, definitions: Mapping[str, Any]) -> frozenset[str] | None:
    """The texts that the schema accepts, or None where they are not listed."""
    if isinstance(schema, bool):
        return None if schema else frozenset()
    if "string" not in types_of(schema, definitions):
        return frozenset()
    _understood(schema, _STRUCTURE | _LITERALS)
    found: frozenset[str] | None = None
    literals = _literals(schema)
    if literals is not None:
        found = frozenset(value for value in literals if isinstance(value, str))
    if "$ref" in schema:
        found = _common(found, _texts(_target(schema, definitions), definitions))
    if "anyOf" in schema:
        branches = [_texts(branch, definitions) for branch in schema["anyOf"]]
        listed = [branch for branch in branches if branch is not None]
        found = _common(found, frozenset().union(*listed) if len(listed) == len(branches) else None)
    return found


def _common(left: frozenset[str] | None, right: frozenset[str] | None) -> frozenset[str] | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _require_free_text(schema: Any, definitions: Mapping[str, Any]) -> None:
    """Refuse a field that is choosy about its text: it would judge the URI, and not the path that it means."""
    if isinstance(schema, bool) or "string" not in types_of(schema, definitions):
        return
    if schema.get("minLength", 0) > 1:
        raise ContractError("a path field cannot have a minLength", remedy="check the path in the tool")
    _understood(schema, _STRUCTURE | {"format", "minLength"})
    if "$ref" in schema:
        _require_free_text(_target(schema, definitions), definitions)
    for branch in schema.get("anyOf", ()):
        _require_free_text(branch, definitions)
