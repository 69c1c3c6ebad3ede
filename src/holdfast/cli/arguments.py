"""From the words behind a tool's name to the arguments of its call.

    '{"sku": "A-1"}'   a JSON object        -        a JSON object from stdin
    @file.json         one from a file      key=value, key:=JSON

The type of `key=value` comes from the tool's input schema. A text that is no number is passed on as it is: the
server then lists everything that is wrong at once, in its own words. What was clearly meant otherwise, such as a
list without its brackets, is answered here with how to write it.
"""

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.cli.argument_list import follow
from holdfast.errors import UsageError, WireError
from holdfast.wire.codec import decode

__all__ = ["read_arguments"]

_FORMS = "write key=value, key:=JSON, one '{...}', @file or - for stdin"
_INTEGER = re.compile(r"-?[0-9]{1,4000}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False}


def read_arguments(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the words stand for; UsageError where they stand for nothing."""
    if len(words) == 1 and (words[0] == "-" or words[0][:1] in {"{", "@"}):
        return _document(words[0])
    if any(word == "-" or word[:1] in {"{", "@"} for word in words):
        raise UsageError(
            "an object cannot be combined with key=value", remedy="put everything into the object, or nothing"
        )
    arguments: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        forced = key.endswith(":")
        key = key.removesuffix(":")
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise UsageError(f"the argument {key[:40]!r} is not UTF-8", remedy="JSON holds nothing else")
        if not equals or not key:
            raise UsageError(f"the argument {word!r} is not understood", remedy=_FORMS)
        if key in arguments:
            raise UsageError(f"the argument {key!r} is given twice", remedy=f"give a list as {key}:='[...]'")
        arguments[key] = _forced(text, key) if forced else _typed(text, key, schema)
    return arguments


def _document(word: str) -> dict[str, Any]:
    if word == "-":
        place, raw = "stdin", sys.stdin.buffer.read()
        if not raw.strip():
            raise UsageError("stdin was empty", remedy="write one JSON object to it")
    elif word.startswith("@"):
        place = word[1:]
        try:
            raw = Path(place).read_bytes()
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the arguments cannot be read from {place!r}: {error}", remedy="check the path"
            ) from error
    else:
        place, raw = "the arguments", word.encode(errors="surrogateescape")
    try:
        value = decode(raw.strip())
    except WireError as error:
        raise UsageError(f"{place}: {error.message}", remedy="quote the JSON for the shell: '{...}'") from error
    if not isinstance(value, dict):
        raise UsageError(f"{place} must be a JSON object, not {_name(value)}", remedy=_FORMS)
    return value


def _typed(text: str, key: str, schema: Mapping[str, Any]) -> Any:
    rule = _property(schema, key)
    kinds = _kinds(rule, schema)
    if not kinds or "string" in kinds:
        return text
    if text == "null" and "null" in kinds:
        return None
    if "boolean" in kinds and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if kinds & {"integer", "number"} and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in kinds and _NUMBER.fullmatch(text):
        return float(text)
    if kinds & {"array", "object"}:
        return _structure(text, key, kinds, rule, schema)
    if kinds <= {"boolean", "null"}:
        raise UsageError(f"{key} takes true or false, not {text!r}", remedy=f"{key}=true")
    return text


def _forced(text: str, key: str) -> Any:
    try:
        return decode(text.encode(errors="surrogateescape"))
    except WireError as error:
        if text[:1] in {"{", "[", '"'}:  # meant to be JSON; the place of the mistake helps
            raise _broken_json(key, text, error) from error
        raise UsageError(
            f"{key}:= takes JSON, and {text!r} is none", remedy=shlex.quote(f"{key}={text}")
        ) from error


def _structure(text: str, key: str, kinds: set[str], rule: Any, root: Mapping[str, Any]) -> Any:
    """A list or an object, which can only be written as JSON."""
    try:
        value = decode(text.encode(errors="surrogateescape"))
    except WireError as error:
        if text[:1] in {"{", "["}:
            raise _broken_json(key, text, error) from error
    else:
        if _name(value) in kinds:
            return value
    if "array" not in kinds:
        raise UsageError(f"{key} takes an object", remedy=f"""{key}='{{"name": "value"}}'""")
    items = _kinds(_listed_items(rule, root), root)
    parts = [_item(part.strip(), items) for part in text.split(",")]
    raise UsageError(f"{key} takes a list", remedy=f"{key}={shlex.quote(json.dumps(parts, ensure_ascii=False))}")


def _broken_json(key: str, text: str, error: WireError) -> UsageError:
    example = "{...}" if text.startswith("{") else "[...]"
    return UsageError(f"{key} takes JSON: {error.message}", remedy=f"quote it for the shell: {key}='{example}'")


def _item(text: str, kinds: set[str]) -> Any:
    """One item of a list that was written without its brackets, for the example of how to write it."""
    is_number = kinds & {"integer", "number"} and _INTEGER.fullmatch(text)
    return int(text) if is_number else text


def _listed_items(rule: Any, root: Mapping[str, Any]) -> Any:
    part = follow(rule.get("$ref"), root) or rule
    branches = [part, *_list(part.get("anyOf"))] if isinstance(part, dict) else []
    return next((branch["items"] for branch in branches if isinstance(branch, dict) and "items" in branch), None)


def _property(schema: Mapping[str, Any], key: str) -> Any:
    properties = schema.get("properties")
    return properties.get(key) if isinstance(properties, dict) else None


def _kinds(schema: Any, root: Mapping[str, Any]) -> set[str]:
    """The JSON types that a value may have; empty when the schema does not say."""
    kinds: set[str] = set()
    seen: set[int] = set()  # a schema may refer to itself
    pending = [schema]
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        declared = part.get("type")
        kinds.update(word for word in (declared, *_list(declared)) if isinstance(word, str))
        kinds.update(
            _name(value) for value in (*_list(part.get("enum")), *([part["const"]] if "const" in part else ()))
        )
        for keyword in ("anyOf", "oneOf", "allOf"):
            pending += _list(part.get(keyword))
        pending.append(follow(part.get("$ref"), root))
    return kinds


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)
