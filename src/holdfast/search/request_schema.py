"""The input schema of a search, and the same rules checked by hand.

A command that must answer in a moment cannot load and compile a schema validator for one flat object; a test
holds the two to each other. What no schema can say (dates, regular expressions) is checked in `request`.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.search.request_fields import BLANK, FIELD_OF, FIELDS, MAX_ENTRIES, MAX_TEXT, Field

__all__ = ["MAX_VIOLATIONS", "Violation", "input_schema", "schema_violations", "violation"]

Violation = dict[str, Any]

MAX_VIOLATIONS = 64
MAX_ECHO = 100  # characters of what was sent that are sent back

_NOT_BLANK = "[^ \\t\\r\\n]"
_ENTRY = "[^ \\t\\r\\n,]"  # of a text that is a list: one that is more than commas
_TYPES: dict[str, tuple[str, ...]] = {
    "text": ("string",),
    "choice": ("string",),
    "texts": ("string", "array"),
    "integer": ("integer",),
    "number": ("number",),
    "flag": ("boolean", "null"),
    "conditions": ("object", "array", "string"),
    "json": ("object", "array", "string"),
    "places": ("string", "array"),
}
_LISTS = ("texts", "places")  # lists of texts
_COMPARISONS = {"minimum": ">=", "maximum": "<=", "maxLength": "<=", "minItems": ">=", "maxItems": "<=",
                "minProperties": ">=", "maxProperties": "<="}  # fmt: skip


def input_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the arguments of a search."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {field.name: _property(field) for field in FIELDS},
        "required": ["query"],
        "additionalProperties": False,
    }


def _property(field: Field) -> dict[str, Any]:
    types = _TYPES[field.kind]
    schema: dict[str, Any] = {"description": field.help, "type": types[0] if len(types) == 1 else list(types)}
    if field.choices:
        schema["enum"] = list(field.choices)
    elif "string" in types:
        schema |= {"maxLength": MAX_TEXT, "pattern": _pattern(field)}
    if "array" in types:
        schema |= {"minItems": 1, "maxItems": MAX_ENTRIES}
    if field.kind in _LISTS:
        schema["items"] = {"type": "string", "maxLength": MAX_TEXT, "pattern": _NOT_BLANK}
    if "object" in types:
        schema |= {"minProperties": 1, "maxProperties": MAX_ENTRIES}
    if field.minimum is not None:
        schema["minimum"] = field.minimum
    if field.maximum is not None:
        schema["maximum"] = field.maximum
    if field.default is not None:
        schema["default"] = field.default
    return {**schema, "examples": [field.example]}


def _pattern(field: Field) -> str:
    return _ENTRY if field.kind == "texts" else _NOT_BLANK


def violation(
    place: str, rule: str, keyword: str, params: Mapping[str, Any], message: str, *, in_schema: bool = True
) -> Violation:
    """One thing that is wrong; `place` and `rule` are JSON Pointers into the arguments and the schema.

    Not `in_schema`: the published schema has no such keyword, so the path leads to the schema that lacks it.
    """
    return {
        "instancePath": place,
        "schemaPath": f"#{rule}/{keyword}" if in_schema else f"#{rule}",
        "keyword": keyword,
        "params": dict(params),
        "message": message,
    }


def schema_violations(arguments: Any) -> list[Violation]:
    """Everything in which the arguments do not fit the schema, in the order they were given, bounded."""
    if not isinstance(arguments, Mapping):
        return [violation("", "", "type", {"type": "object"}, "must be an object")]
    found: list[Violation] = []
    if "query" not in arguments:
        found.append(
            violation("", "", "required", {"missingProperty": "query"}, "the argument 'query' is missing")
        )
    for name, value in arguments.items():
        field = FIELD_OF.get(name)
        found.extend([_unknown(str(name))] if field is None else _check(field, value))
        if len(found) >= MAX_VIOLATIONS:
            break
    return found[:MAX_VIOLATIONS]


def _unknown(name: str) -> Violation:
    import difflib

    shown = name[:MAX_ECHO].encode("utf-8", "backslashreplace").decode()
    close = difflib.get_close_matches(shown, FIELD_OF, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    message = f"there is no argument {shown!r}{meant}"
    return violation("", "", "additionalProperties", {"additionalProperty": shown}, message)


def _check(field: Field, value: Any) -> Iterator[Violation]:
    place, rule, types = f"/{field.name}", f"/properties/{field.name}", _TYPES[field.kind]
    given = _type_of(value)
    if given not in types and not (given == "integer" and "number" in types):
        wanted = " or ".join(_ARTICLES[name] for name in types)
        params = {"type": types[0] if len(types) == 1 else list(types)}
        yield violation(place, rule, "type", params, f"must be {wanted}, not {_ARTICLES[given]}")
    elif field.choices:
        if value not in field.choices:
            message = f"must be one of {', '.join(field.choices)}"
            yield violation(place, rule, "enum", {"allowedValues": list(field.choices)}, message)
    elif given == "string":
        yield from _check_text(place, rule, value, _pattern(field))
    elif given == "array":
        yield from _check_length(place, rule, len(value), "Items")
        for index, entry in enumerate(value if field.kind in _LISTS else ()):
            yield from _check_entry(f"{place}/{index}", f"{rule}/items", entry)
    elif given == "object":
        yield from _check_length(place, rule, len(value), "Properties")
    elif given in {"integer", "number"}:
        yield from _check_range(place, rule, value, field)


def _check_entry(place: str, rule: str, entry: Any) -> Iterator[Violation]:
    if isinstance(entry, str):
        yield from _check_text(place, rule, entry, _NOT_BLANK)
    else:
        message = f"must be a string, not {_ARTICLES[_type_of(entry)]}"
        yield violation(place, rule, "type", {"type": "string"}, message)


def _check_text(place: str, rule: str, text: str, pattern: str) -> Iterator[Violation]:
    if len(text) > MAX_TEXT:
        yield _out_of_bounds(place, rule, "maxLength", MAX_TEXT, f"must have at most {MAX_TEXT} characters")
    if not text.strip(BLANK + "," if pattern == _ENTRY else BLANK):
        yield violation(place, rule, "pattern", {"pattern": pattern}, "must not be blank")


def _check_length(place: str, rule: str, length: int, what: str) -> Iterator[Violation]:
    if length < 1:
        yield _out_of_bounds(place, rule, f"min{what}", 1, "must not be empty")
    if length > MAX_ENTRIES:
        yield _out_of_bounds(place, rule, f"max{what}", MAX_ENTRIES, f"must have at most {MAX_ENTRIES} entries")


def _check_range(place: str, rule: str, number: float, field: Field) -> Iterator[Violation]:
    if field.minimum is not None and not number >= field.minimum:  # NaN is neither more nor less
        yield _out_of_bounds(place, rule, "minimum", field.minimum, f"must be {field.minimum} or more")
    elif field.maximum is not None and not number <= field.maximum:
        yield _out_of_bounds(place, rule, "maximum", field.maximum, f"must be {field.maximum} or less")


def _out_of_bounds(place: str, rule: str, keyword: str, limit: int, message: str) -> Violation:
    return violation(place, rule, keyword, {"comparison": _COMPARISONS[keyword], "limit": limit}, message)


_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
    "other": "a value that JSON does not have",
}


def _type_of(value: Any) -> str:
    """The type as JSON Schema sees it: 3.0 is an integer, true is not 1."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if math.isfinite(value) and value == math.floor(value) else "number"
    for kind, name in ((str, "string"), (list | tuple, "array"), (Mapping, "object")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "other"
