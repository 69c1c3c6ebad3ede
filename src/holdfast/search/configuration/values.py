"""Whether the value of a key is one that it may have, and what it then is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from holdfast.search.configuration.keys import TOOLS, Key
from holdfast.search.configuration.refusals import guess, pointer, printable
from holdfast.search.request_schema import Violation, violation

__all__ = ["Place", "check_value", "type_violation", "unknown_keys"]

MAX_PATTERNS = 256
MAX_PATTERN = 1024  # characters
MAX_SOURCES = 64
MAX_SOURCE = 2048  # characters

# One name, or an owner and a name, as models are called; it also names a file.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_WHEEL = re.compile(r"pypi:[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*(?:#.+)?")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_ENTRIES = ("source", "sha256")
_JSON_TYPES = ((bool, "true or false"), (int, "an integer"), (float, "a number"), (str, "a string"),
               (list, "a list"), (dict, "an object"))  # fmt: skip
_ARTICLES = {"integer": "an integer", "string": "a string", "array": "a list", "object": "an object"}


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a file, by the names that lead to it, and the rule that it has to keep."""

    file: str
    names: tuple[str | int, ...] = ()
    rule: str = ""

    def inner(self, name: str | int, rule: str) -> "Place":
        """A value inside of this one."""
        return Place(self.file, (*self.names, name), self.rule + rule)

    def violation(self, keyword: str, message: str, **params: Any) -> Violation:
        """That the rule is broken here."""
        return violation(pointer(self.names), self.rule, keyword, {"file": self.file, **params}, message)


def check_value(key: Key, value: Any, place: Place) -> tuple[Any, list[Violation]]:
    """The final form of a value, as JSON or TOML give it, and what is wrong with it."""
    check, final = _KINDS[key.kind]
    found = list(check(key, value, place))
    return (None if found else final(value)), found


def unknown_keys(
    table: Mapping[str, Any], known: Sequence[str], place: Place, **params: Any
) -> Iterator[Violation]:
    """The keys of a table that mean nothing there."""
    for count, name in enumerate(name for name in table if name not in known):
        message = f"unknown key {printable(name)!r}{guess(name, known, count)}"
        shown = {"additionalProperty": printable(name)}
        yield place.violation("additionalProperties", message, **shown, **params)


def type_violation(wanted: str, value: Any, place: Place) -> Violation:
    """A value of another type than the rule has."""
    given = next((words for kind, words in _JSON_TYPES if isinstance(value, kind)), "null")
    given = "a date or time" if given == "null" and value is not None else given
    return place.violation("type", f"must be {_ARTICLES[wanted]}, not {given}", type=wanted)


def _integer(key: Key, value: Any, place: Place) -> Iterator[Violation]:
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        yield type_violation("integer", value, place)
    elif value < key.minimum:
        yield place.violation("minimum", f"must be {key.minimum} or more", comparison=">=", limit=key.minimum)
    elif value > key.maximum:
        yield place.violation("maximum", f"must be {key.maximum} or less", comparison="<=", limit=key.maximum)


def _choice(key: Key, value: Any, place: Place) -> Iterator[Violation]:
    if not isinstance(value, str):
        yield type_violation("string", value, place)
    elif value not in key.choices:
        message = f"must be one of {', '.join(key.choices)}"
        yield place.violation("enum", message, allowedValues=list(key.choices))


def _patterns(_key: Key, value: Any, place: Place) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield type_violation("array", value, place)
        return
    if len(value) > MAX_PATTERNS:
        message = f"must have at most {MAX_PATTERNS} entries"
        yield place.violation("maxItems", message, comparison="<=", limit=MAX_PATTERNS)
    for index, pattern in enumerate(value[:MAX_PATTERNS]):
        inner = place.inner(index, "/items")
        if not isinstance(pattern, str):
            yield type_violation("string", pattern, inner)
        elif fault := _pattern_fault(pattern):
            yield inner.violation("pattern", fault)


def _pattern_fault(pattern: str) -> str:
    """Why a pattern would match nothing, or not what it seems to."""
    if not pattern.strip("!/ "):
        return "must not be blank"
    if len(pattern) > MAX_PATTERN:
        return f"must have at most {MAX_PATTERN} characters"
    if any(character in pattern for character in "\n\r\0"):
        return "must be one line"
    return "is a comment in an ignore file; write \\# for a name that begins with #" if pattern[0] == "#" else ""


def _timeouts(key: Key, value: Any, place: Place) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield type_violation("object", value, place)
        return
    for count, (tool, milliseconds) in enumerate(value.items()):
        if tool in TOOLS:
            yield from _integer(key, milliseconds, place.inner(tool, "/additionalProperties"))
        else:
            message = f"there is no tool {printable(tool)!r}{guess(tool, TOOLS, count)}"
            yield place.violation("propertyNames", message, propertyName=printable(tool))


def _sources(_key: Key, value: Any, place: Place) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield type_violation("object", value, place)
        return
    if len(value) > MAX_SOURCES:
        message = f"must have at most {MAX_SOURCES} entries"
        yield place.violation("maxProperties", message, comparison="<=", limit=MAX_SOURCES)
    for name, entry in list(value.items())[:MAX_SOURCES]:
        inner = place.inner(name, "/additionalProperties")
        if not _NAME.fullmatch(name):
            message = (
                f"the name {printable(name)!r} must be letters, digits, '.', '_' and '-', with one '/' at most"
            )
            yield place.violation("propertyNames", message, propertyName=printable(name))
        if not isinstance(entry, dict):
            yield type_violation("object", entry, inner)
            continue
        yield from _source(entry, inner)


def _source(entry: dict[str, Any], place: Place) -> Iterator[Violation]:
    yield from unknown_keys(entry, _ENTRIES, place)
    for name in _ENTRIES:
        if name not in entry:
            message = f"the key {name!r} is missing: what a project names is only believed with its digest"
            yield place.violation("required", message, missingProperty=name)
        elif not isinstance(entry[name], str):
            yield type_violation("string", entry[name], place.inner(name, f"/properties/{name}"))
    source, digest = entry.get("source"), entry.get("sha256")
    if isinstance(source, str) and (fault := _source_fault(source)):
        yield place.inner("source", "/properties/source").violation("format", fault, format="source")
    if isinstance(digest, str) and not _SHA256.fullmatch(digest):
        message = "must be the 64 hexadecimal digits of a SHA-256"
        yield place.inner("sha256", "/properties/sha256").violation("pattern", message)


def _source_fault(source: str) -> str:
    """Why a project may not name this as a source."""
    if not source.strip() or len(source) > MAX_SOURCE or not source.isprintable():
        return f"must be one line of 1 to {MAX_SOURCE} characters"
    if source.startswith("pypi:"):
        return "" if _WHEEL.fullmatch(source) else "must be pypi:NAME==VERSION, and #FILE for one file of it"
    if not _SCHEME.match(source):
        path = PurePosixPath(source)
        is_outside = path.is_absolute() or ".." in path.parts or source.startswith("~") or "\\" in source
        return "must not lead out of the repository" if is_outside else ""
    try:
        url = urlsplit(source)
        host, _ = url.hostname, url.port
    except ValueError:
        return "is not a valid URL"
    if url.scheme not in {"https", "http"} or not host:
        return "must be an https or http URL, pypi:NAME==VERSION, or a path inside of the repository"
    return "must not hold a user or a password" if "@" in url.netloc else ""


def _final_timeouts(value: dict[str, Any]) -> Mapping[str, int]:
    return MappingProxyType({tool: int(milliseconds) for tool, milliseconds in value.items()})


def _final_sources(value: dict[str, Any]) -> Mapping[str, Mapping[str, str]]:
    return MappingProxyType(
        {
            name: MappingProxyType({"source": one["source"], "sha256": one["sha256"].lower()})
            for name, one in value.items()
        }
    )


# How values of a kind are checked, and what makes their final form of those that are right.
_KINDS: dict[str, tuple[Callable[[Key, Any, Place], Iterator[Violation]], Callable[[Any], Any]]] = {
    "integer": (_integer, int),
    "choice": (_choice, str),
    "patterns": (_patterns, tuple),
    "timeouts": (_timeouts, _final_timeouts),
    "sources": (_sources, _final_sources),
}
