"""Arguments and results against their JSON Schemas; every violation is listed, not only the first.

A violation has the five fields that users of Ajv know: `instancePath`, `schemaPath`, `keyword`, `params`,
`message`. Nothing is corrected here; that is declared normalization, which comes later.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

import jsonschema_rs

from holdfast.present.bounds import truncate_chars

__all__ = ["SchemaValidator", "Violation"]

Violation = dict[str, Any]
_Failures = list[jsonschema_rs.ValidationError]  # of one alternative

# A hostile document could break a schema in a million places; nobody reads more than these.
MAX_VIOLATIONS = 64
MAX_ECHO = 500  # characters of what the client sent that are sent back to it
_END = 150  # of them, those at the end of a message: what is wrong is said behind the value
_MAX_CHOICES = 250  # characters of the values of one choice
_SHOWN = 60  # characters of a value that is wrong

_ALTERNATIVES = frozenset({"anyOf", "oneOf"})
_COMPARISONS = {
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
    "minLength": ">=",
    "maxLength": "<=",
    "minItems": ">=",
    "maxItems": "<=",
    "minProperties": ">=",
    "maxProperties": "<=",
}


class SchemaValidator:
    """One compiled schema; `violations` is empty for a document that fits it."""

    __slots__ = ("_compiled",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._compiled = jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=False, offline=True)

    def violations(self, document: Any) -> list[Violation]:
        """Everything that is wrong with the document, in the order of the schema, bounded."""
        if self._compiled.is_valid(document):
            return []
        found: list[Violation] = []
        for error in self._compiled.iter_errors(document):
            found.extend(_described(error))
            if len(found) >= MAX_VIOLATIONS:
                break
        return found[:MAX_VIOLATIONS]


def _described(error: jsonschema_rs.ValidationError) -> list[Violation]:
    keyword = error.kind.name
    place = _pointer(error.instance_path)
    rule = "#" + _pointer(error.schema_path)
    if keyword == "additionalProperties":
        return [
            _violation(place, rule, keyword, {"additionalProperty": name[:MAX_ECHO]}, f"unknown field {name!r}")
            for name in error.kind.as_dict()["unexpected"]
        ]
    if keyword == "not":
        return [_violation(place, rule, keyword, {}, "this field is reserved and must not be set")]
    if keyword in _ALTERNATIVES:
        return [_violation(place, rule, keyword, {}, _reasons(error))]
    return [_violation(place, rule, keyword, _params(keyword, error.kind.as_dict()), _told(error))]


def _told(error: jsonschema_rs.ValidationError) -> str:
    """What is wrong, with the beginning of a long value: it is said behind it, where lines may be cut."""
    message = _with_choices(error)
    if len(message) <= _SHOWN:
        return message
    value = json.dumps(error.instance, ensure_ascii=False, separators=(",", ":"))
    is_long = len(value) > _SHOWN and message.startswith(value)
    return f"{truncate_chars(value, _SHOWN)}{message[len(value) :]}" if is_long else message


def _with_choices(error: jsonschema_rs.ValidationError) -> str:
    """The message; of a choice with all that may be chosen, as far as there is room: the next thing to try."""
    message: str = error.message
    if error.kind.name != "enum" or not message.endswith(" other candidates"):
        return message
    options = [json.dumps(option, ensure_ascii=False) for option in error.kind.as_dict()["options"]]
    lengths = list(accumulate(len(option) + 2 for option in options))
    shown = options[: max(1, bisect_right(lengths, _MAX_CHOICES))]
    left_out = len(options) - len(shown)
    last = f"{left_out} others" if left_out else shown.pop()
    return f"{message.rpartition(' is not one of ')[0]} is not one of {', '.join(shown)} or {last}"


def _reasons(failed: jsonschema_rs.ValidationError) -> str:
    """Why no alternative fits: for one whose type is right, such as that of an optional number, what there is to
    correct; only where all types are wrong, these. What is wrong further inside is told with its place."""
    place = _pointer(failed.instance_path)
    alternatives: list[_Failures] = failed.kind.as_dict()["context"]
    if not all(alternatives):  # of a oneOf: more than one fits
        return failed.message
    typed = [
        errors
        for errors in alternatives
        if all(error.kind.name != "type" or _pointer(error.instance_path) != place for error in errors)
    ]
    told = [
        "; ".join(_reason(error, place) for error in errors) for errors in _meant(typed, place) or alternatives
    ]
    return " or ".join(dict.fromkeys(told)) or failed.message


def _meant(alternatives: list[_Failures], place: str) -> list[_Failures]:
    """Those of several objects whose tag, such as `kind`, is right; where none of them is, what the tags may be.

    A tag is a field that has one of few values in some and is known to the others.
    """
    wrong = [{_pointer(e.instance_path): e for e in errors if _may_be_tag(e, place)} for errors in alternatives]
    if len(alternatives) < 2 or not any(wrong):
        return alternatives
    known = set.intersection(*(set(tags) for tags in wrong if tags))
    meant = [
        errors
        for errors, tags in zip(alternatives, wrong, strict=True)
        if not tags and not any(_is_unknown(tag, errors) for tag in known)
    ]
    if known and all(wrong):
        return [[tags[tag] for tag in sorted(known)] for tags in wrong]
    return meant if known and meant else alternatives


def _may_be_tag(error: jsonschema_rs.ValidationError, place: str) -> bool:
    path = list(error.instance_path)
    in_object = bool(path) and isinstance(path[-1], str) and _pointer(path[:-1]) == place
    return in_object and error.kind.name in {"const", "enum"}


def _is_unknown(tag: str, errors: _Failures) -> bool:
    return any(
        f"{_pointer(error.instance_path)}{_pointer([name])}" == tag
        for error in errors
        if error.kind.name == "additionalProperties"
        for name in error.kind.as_dict()["unexpected"]
    )


def _reason(error: jsonschema_rs.ValidationError, place: str) -> str:
    inner = _pointer(error.instance_path)
    message = _reasons(error) if error.kind.name in _ALTERNATIVES else _told(error)
    return message if inner == place else f"{inner.removeprefix(place)}: {message}"


def _violation(place: str, rule: str, keyword: str, params: dict[str, Any], message: str) -> Violation:
    return {
        "instancePath": place[:MAX_ECHO],
        "schemaPath": rule,
        "keyword": keyword,
        "params": params,
        "message": _bounded(message),
    }


def _bounded(message: str) -> str:
    if len(message) <= MAX_ECHO:
        return message
    return f"{message[: MAX_ECHO - _END - 1]}…{message[-_END:]}"


def _params(keyword: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    if keyword == "required":
        return {"missingProperty": raw["property"]}
    if keyword == "type":
        types = list(raw["types"])
        return {"type": types[0] if len(types) == 1 else types}
    if keyword == "enum":
        return {"allowedValues": list(raw["options"])}
    if keyword in _COMPARISONS:
        return {"comparison": _COMPARISONS[keyword], "limit": raw["limit"]}
    if keyword == "pattern":
        return {"pattern": raw["pattern"]}
    return {}


def _pointer(path: Iterable[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
