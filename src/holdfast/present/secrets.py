"""Arguments that are secret: where a schema says so, what a call gives there, and text without it.

A place is secret when its schema says `writeOnly: true` and `format: password`, which is what `marks.secret()`
writes. Whoever is about to write something down asks here first; what a tool does with the value is its own
affair.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import WireError
from holdfast.wire.codec import RELAY_DEPTH, decode, encode

__all__ = ["MOST_VISITS", "NO_SECRETS", "REDACTED", "Place", "Secrets", "is_secret", "secret_places"]

REDACTED = "[redacted]"
EACH = "*"  # in a place: every element of an array, every member of an open object
SHORTEST = 3  # characters; less than that stands in every text, and tells nobody anything
LONG = 24  # characters of a value that others cut when they quote it, such as pydantic and reprlib
PIECE = 8  # characters of its beginning or its end that are told nowhere either

Place = tuple[str, ...]

MOST_VISITS = 2_000
_DEEPEST = 12
_STRIDE = 64
_BRANCHES = ("anyOf", "oneOf", "allOf")
_HERE = ("then", "else")  # a schema of the same value
_INSIDE = ("items", "additionalProperties", "contains", "unevaluatedItems", "unevaluatedProperties")
_FIXED = frozenset({"type", "resultType", "mimeType"})  # what stands there is a word of the protocol


def is_secret(schema: Any) -> bool:
    """Whether a schema calls its value a secret."""
    return isinstance(schema, Mapping) and schema.get("writeOnly") is True and schema.get("format") == "password"


def secret_places(schema: Any) -> tuple[Place, ...]:
    """The places of an input schema whose values are secrets.

    Nearly all schemas have no secret, which one pass over the document shows. In the others each part is visited
    once per place; where that takes more than MOST_VISITS, the places that are left are treated as secrets.
    """
    if not _mentions_secret(schema):
        return ()
    found: dict[Place, None] = {}
    seen: set[tuple[int, Place]] = set()
    waiting: deque[tuple[Any, Place, int]] = deque([(schema, (), 0)])
    while waiting:
        part, place, depth = waiting.popleft()
        if not isinstance(part, Mapping) or depth > _DEEPEST or (id(part), place) in seen:
            continue
        if len(seen) >= MOST_VISITS:
            found[place or (EACH,)] = None
            continue
        seen.add((id(part), place))
        if is_secret(part) and place:
            found[place] = None
        else:
            waiting.extend((inner, inner_place, depth + 1) for inner, inner_place in _inner(part, schema, place))
    return tuple(found)


def _mentions_secret(schema: Any) -> bool:
    """Whether any part of the document, referred to or not, is the schema of a secret."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if is_secret(part):
            return True
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return False


def _inner(schema: Mapping[str, Any], root: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    """The schemas inside of a schema, each with the place of the values that it is about."""
    yield _target(schema.get("$ref"), root), place
    for one in _same_value(schema):
        yield one, place
    for name, inner in _members(schema, "properties"):
        yield inner, (*place, name)
    for name in ("prefixItems", "items"):  # a list of `items` is how earlier dialects say `prefixItems`
        for number, inner in enumerate(_elements(schema, name)):
            yield inner, (*place, str(number))
    for name in _INSIDE:
        yield schema.get(name), (*place, EACH)
    for _, inner in _members(schema, "patternProperties"):
        yield inner, (*place, EACH)


def _same_value(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas inside of a schema that speak of the same value."""
    for branch in _BRANCHES:
        yield from _elements(schema, branch)
    yield from (schema.get(name) for name in _HERE)
    yield from (one for _, one in _members(schema, "dependentSchemas"))


def _elements(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _members(schema: Mapping[str, Any], keyword: str) -> Iterable[tuple[str, Any]]:
    found = schema.get(keyword)
    return found.items() if isinstance(found, Mapping) else ()


def _target(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found = root
    for part in reference[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


class Secrets:
    """The secret values of one call, and what is told in their place."""

    __slots__ = ("_exact", "_forms", "_long", "_places")

    def __init__(self, places: Iterable[Place], arguments: Any) -> None:
        self._places = tuple(places)
        words = {word for place in self._places for word in _words(_values(arguments, place))}
        self._exact = frozenset(words)
        forms = {form for word in words if len(word) >= SHORTEST for form in _forms(word)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))  # one may be a part of another
        self._long = tuple(form for form in self._forms if len(form) >= LONG)

    def __bool__(self) -> bool:
        return bool(self._exact)

    def text(self, text: str) -> str:
        """A text without them."""
        if text in self._exact:
            return REDACTED
        for form in self._forms:
            text = text.replace(form, REDACTED)
        for form in self._long:
            text = _without_pieces(text, form)
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

    def result(self, document: bytes) -> bytes | None:
        """The JSON document of a result without them, and still one; None where it cannot be read."""
        try:
            found = decode(document, max_depth=RELAY_DEPTH)
        except WireError:
            return None
        clean = self._of_result(found, is_own=False)
        return document if clean == found else encode(clean)

    def _of_result(self, value: Any, *, is_own: bool) -> Any:
        """A part of a result; `is_own` is what the tool itself made of it, down to the names in it."""
        if isinstance(value, list):
            return [self._of_result(inner, is_own=is_own) for inner in value]
        if not isinstance(value, Mapping):
            return self.value(value)
        return {
            self._name(key) if is_own else key: inner
            if key in _FIXED and not is_own
            else self._of_result(inner, is_own=is_own or key == "structuredContent")
            for key, inner in value.items()
        }

    def _name(self, name: str) -> str:
        """The name of a field without them; one as short as a field's name may be no more than just that."""
        for form in self._forms:
            name = name.replace(form, REDACTED) if len(form) >= PIECE else name
        return name

    def violations(self, violations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What is wrong with arguments, without what stands in the secret ones."""
        told = []
        for one in violations:
            clean = dict(self.value(one))
            if self.covers(str(one.get("instancePath", ""))):
                clean["message"] = (
                    f"the value does not fit ({one.get('keyword')}); it is not shown, since it is a secret"
                )
            told.append(clean)
        return told

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
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            yield from _values(value[int(name)], rest)
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


def _without_pieces(text: str, form: str) -> str:
    """A text without the beginning and the end of a long value, however much of it was quoted."""
    text = _without_beginnings(text, form, REDACTED)
    return _without_beginnings(text[::-1], form[::-1], REDACTED[::-1])[::-1]


def _without_beginnings(text: str, form: str, instead: str) -> str:
    kept, done = [], 0
    for start, end in _beginnings(text, form):
        kept += [text[done:start], instead]
        done = end
    return "".join([*kept, text[done:]]) if kept else text


def _beginnings(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Where a text begins to quote a value, and where it ends to; a text of any length is gone through once."""
    at = 0
    while (at := text.find(form[:PIECE], at)) >= 0:
        length = PIECE
        while length < len(form) and text.startswith(form[length : length + _STRIDE], at + length):
            length += _STRIDE
        length = min(length, len(form))
        while length < len(form) and text.startswith(form[length], at + length):
            length += 1
        yield at, at + length
        at += length


NO_SECRETS = Secrets((), None)
