"""The types that tables of parameters name, as JSON Schemas, and the other way round.

A table says less than a schema: it names the type of the top level, the type of items, and short enumerations.
"""

import json
import re
from typing import Any

from holdfast.contract.documents.inline import without_marks
from holdfast.present.schema_shape import types_of

__all__ = ["schema_of_type", "type_names", "type_words"]

_SYNONYMS = {
    "string": "string|str|text|char|path|filepath",
    "integer": "integer|int|long",
    "number": "number|float|double|decimal|numeric",
    "boolean": "boolean|bool",
    "object": "object|dict|map|mapping|dictionary|json|record",
    "array": "array|list|sequence|tuple|set",
    "null": "null|none|nil|void",
}
_FORMATS = {"date-time": "date-time|datetime|timestamp", "uri": "uri|url"} | {
    word: word for word in ("date", "time", "uuid", "email")
}
_WORDS: dict[str, dict[str, Any]] = {
    **{word: {"type": name} for name, words in _SYNONYMS.items() for word in words.split("|")},
    **{word: {"type": "string", "format": name} for name, words in _FORMATS.items() for word in words.split("|")},
    **{word: {} for word in ("any", "unknown", "mixed", "json value")},
}
_LIST = re.compile(r"(?:array|list|sequence|set|tuple)\s*(?:of\s+|[\[<(]\s*)(.*?)s?\s*[\])>]?", re.IGNORECASE)
_MAP = re.compile(r"(?:object|dict|map|mapping|record)\s*[\[<(].*", re.IGNORECASE)
_ENUM = re.compile(r"(?:enum|literal|one of)\s*[:\[(]?\s*(.*?)\s*[\])]?", re.IGNORECASE)
_OPTIONAL = re.compile(r"optional\s*[\[<](.*)[\]>]", re.IGNORECASE)
_NOTE = re.compile(r"\s*[(,;:].*")
_MAX_ENUM = 8
_MAX_TYPE_TEXT = 300
_ORDER = ("object", "array", "string", "integer", "number", "boolean", "null")


def schema_of_type(text: str) -> dict[str, Any] | None:
    """The schema that the words of a type mean, or None where they mean nothing known."""
    words = without_marks(text[: _MAX_TYPE_TEXT * 4]).strip()
    return _schema(words, 4) if len(words) <= _MAX_TYPE_TEXT * 2 else None


def _schema(words: str, depth: int) -> dict[str, Any] | None:
    known = _WORDS.get(words.lower().rstrip("?"))
    if known is not None or depth == 0:
        return None if known is None else dict(known)
    for read in (_enumeration, _union, _collection):
        found = read(words, depth)
        if found is not None:
            return found
    short = _NOTE.sub("", words, count=1)
    return _schema(short, depth - 1) if short and short != words else None


def _enumeration(words: str, _depth: int) -> dict[str, Any] | None:
    match = _ENUM.fullmatch(words)
    if match is None or not match[1]:
        return None
    try:
        values = json.loads(f"[{match[1]}]")
    except (ValueError, RecursionError):
        values = [value.strip().strip("\"'`") for value in re.split(r"[,|/]", match[1]) if value.strip()]
    return {"enum": values} if values else None


def _union(words: str, depth: int) -> dict[str, Any] | None:
    optional = _OPTIONAL.fullmatch(words)
    pieces = [optional[1], "null"] if optional else re.split(r"\s*(?:\||/|\bor\b)\s*", words)
    if len(pieces) < 2 or (optional is None and _nested(words)):
        return None
    branches = [_schema(piece, depth - 1) for piece in pieces[:16]]
    known = [branch for branch in branches if branch is not None]
    if len(known) != len(branches):
        return None
    types = [branch["type"] for branch in known if set(branch) == {"type"} and isinstance(branch["type"], str)]
    return {"type": list(dict.fromkeys(types))} if len(types) == len(known) else {"anyOf": known}


def _nested(words: str) -> bool:
    """Whether every separator stands inside brackets, as in `array[string | null]`."""
    opening = re.search(r"[\[<(]", words)
    return opening is not None and not re.search(r"[|/]|\bor\b", words[: opening.start()] + words[_close(words) :])


def _close(words: str) -> int:
    return max(words.rfind(bracket) for bracket in "]>)") + 1


def _collection(words: str, depth: int) -> dict[str, Any] | None:
    if words.endswith("[]"):
        items = _schema(words[:-2], depth - 1)
        return {"type": "array"} if items is None else {"type": "array", "items": items}
    match = _LIST.fullmatch(words)
    if match is not None:
        inner = match[1].strip()
        items = _schema(inner, depth - 1) or _schema(inner + "s", depth - 1)
        return {"type": "array", "items": items} if items else {"type": "array"}
    return {"type": "object"} if _MAP.fullmatch(words) else None


def type_names(schema: Any, definitions: dict[str, Any]) -> frozenset[str]:
    """The types that a valid value may have; a whole number is a number too, so it is not told apart from one."""
    try:
        names = types_of(schema, definitions)
    except (AttributeError, TypeError, RecursionError):  # not a schema that can be read
        names = frozenset(_ORDER)
    known = names & frozenset(_ORDER)
    return known - {"integer"} if "number" in known else known


def type_words(schema: Any, definitions: dict[str, Any]) -> str:
    """The words for a schema in a table; `schema_of_type` of them has the same types."""
    names = type_names(schema, definitions)
    if names >= frozenset(_ORDER) - {"integer"}:
        return "any"
    values = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(values, list) and 0 < len(values) <= _MAX_ENUM and type_names({"enum": values}, {}) == names:
        text = f"enum[{', '.join(json.dumps(value) for value in values)}]"
        if len(text) <= _MAX_TYPE_TEXT // 3 and not re.search(r"[`|\\]", text):
            return text
    words = [_word(name, schema, definitions) for name in _ORDER if name in names]
    return " | ".join(words) or "none"


def _word(name: str, schema: Any, definitions: dict[str, Any]) -> str:
    items = schema.get("items") if isinstance(schema, dict) and name == "array" else None
    if not isinstance(items, dict):
        return name
    inner = sorted(type_names(items, definitions))
    return f"array[{inner[0]}]" if len(inner) == 1 else name
