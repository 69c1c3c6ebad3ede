"""Arguments that are secret: where a schema says so, what a call gives there, and text without it.

A place is secret when its schema says `writeOnly: true` and `format: password`, which is what `marks.secret()`
writes. Whoever is about to write something down asks here first; what a tool does with the value is its own
affair.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["NO_SECRETS", "REDACTED", "Place", "Secrets", "is_secret", "secret_places"]

REDACTED = "[redacted]"
EACH = "*"  # in a place: every element of an array, every member of an open object
SHORTEST = 3  # characters; less than that stands in every text, and tells nobody anything

Place = tuple[str, ...]

_DEEPEST = 12
_BRANCHES = ("anyOf", "oneOf", "allOf")


def is_secret(schema: Any) -> bool:
    """Whether a schema calls its value a secret."""
    return isinstance(schema, Mapping) and schema.get("writeOnly") is True and schema.get("format") == "password"


def secret_places(schema: Any) -> tuple[Place, ...]:
    """The places of an input schema whose values are secrets."""
    return tuple(dict.fromkeys(_places(schema, schema, (), 0)))


def _places(schema: Any, root: Any, place: Place, depth: int) -> Iterator[Place]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    if is_secret(schema) and place:
        yield place
        return
    target = _target(schema.get("$ref"), root)
    if target is not None:
        yield from _places(target, root, place, depth + 1)
    for branch in _BRANCHES:
        for one in schema.get(branch) or () if isinstance(schema.get(branch), list) else ():
            yield from _places(one, root, place, depth + 1)
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield from _places(inner, root, (*place, name), depth + 1)
    for keyword in ("items", "additionalProperties"):
        yield from _places(schema.get(keyword), root, (*place, EACH), depth + 1)


def _target(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found = root
    for part in reference[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


class Secrets:
    """The secret values of one call, and what is told in their place."""

    __slots__ = ("_exact", "_forms", "_places")

    def __init__(self, places: Iterable[Place], arguments: Any) -> None:
        self._places = tuple(places)
        words = {word for place in self._places for word in _words(_values(arguments, place))}
        self._exact = frozenset(words)
        forms = {form for word in words if len(word) >= SHORTEST for form in _forms(word)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))  # one may be a part of another

    def __bool__(self) -> bool:
        return bool(self._exact)

    def text(self, text: str) -> str:
        """A text without them."""
        if text in self._exact:
            return REDACTED
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value without them, in keys and texts alike."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return REDACTED if is_number and str(value) in self._exact else value

    def encoded(self, document: bytes) -> bytes:
        """A JSON document without them, byte for byte the same elsewhere."""
        for form in self._forms:
            for spelled in (form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]):
                document = document.replace(spelled.encode(errors="replace"), REDACTED.encode())
        return document

    def covers(self, pointer: str) -> bool:
        """Whether a JSON Pointer leads to a secret place, or into one."""
        parts = tuple(pointer.split("/")[1:])
        return any(_leads_to(parts, place) for place in self._places)


def _leads_to(parts: tuple[str, ...], place: Place) -> bool:
    return len(parts) >= len(place) and all(want in (EACH, part) for part, want in zip(parts, place, strict=False))


def _values(value: Any, place: Place) -> Iterator[Any]:
    if not place:
        yield value
        return
    name, rest = place[0], place[1:]
    if name != EACH:
        if isinstance(value, Mapping) and name in value:
            yield from _values(value[name], rest)
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _values(inner, rest)


def _words(values: Iterable[Any]) -> Iterator[str]:
    """The texts and numbers in secret values, whatever was sent there."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)
        elif isinstance(value, Mapping):
            yield from _words([*value.keys(), *value.values()])
        elif isinstance(value, list):
            yield from _words(value)


def _forms(word: str) -> Iterator[str]:
    """How a value may stand in a text: as it is, as JSON writes it, as Python prints it."""
    yield word
    yield json.dumps(word)[1:-1]
    yield json.dumps(word, ensure_ascii=False)[1:-1]
    yield repr(word)[1:-1]


NO_SECRETS = Secrets((), None)
