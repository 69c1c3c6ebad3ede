"""Values near a schema: inside it, at its bounds, just outside, and now and then of another kind altogether.

The last resort for a witness when no proof shows the way, and the attacker of proofs in tests. Values come from a
seeded generator: the same schemas give the same values.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from holdfast.contract.inclusion.documents import Document, Place
from holdfast.contract.inclusion.evaluate import compiled_pattern
from holdfast.contract.inclusion.keywords import REFERENCES
from holdfast.contract.inclusion.language import Question, find_text
from holdfast.contract.inclusion.model import Undecided

__all__ = ["Sampler", "samples"]

_WORDS = ("", "a", "b", "ab", "abc", "foo", "x-1", "0", "A", "aaaaaaaa", "é", "\n")
_NUMBERS = (0, 1, -1, 2, 3, 5, 6, 10, 0.5, 1.5, -2.5, 1.0, 100, 1e300, 2**53 + 1)
_DEEPEST = 6
_WORK = 400
_PARTS = 400


def samples(documents: list[Document], count: int, seed: int = 0) -> Iterator[Any]:
    """So many values near the schemas, taken in turn; the same ones whichever schema comes first."""
    samplers = [Sampler(document, seed + _seed_of(document)) for document in documents]
    for number in range(count):
        sampler = samplers[number % len(samplers)]
        yield sampler.value()


def _seed_of(document: Document) -> int:
    text = json.dumps(document.start.schema, sort_keys=True, default=str)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


class Sampler:
    """Draws values near the schemas of one document."""

    def __init__(self, document: Document, seed: int) -> None:
        self.document = document
        self._texts: dict[tuple[str, int], str | None] = {}
        self._parts = _PARTS
        self._random = Random(seed)  # noqa: S311  # repeatable values are wanted, not secrets

    def value(self) -> Any:
        """A value near the whole schema, of a bounded number of parts."""
        self._parts = _PARTS
        return self.draw(self.document.start)

    def draw(self, place: Place, depth: int = 0) -> Any:
        """A value near the schema at a place."""
        self._parts -= 1
        schema = place.schema
        if not isinstance(schema, dict) or depth > _DEEPEST or self._random.random() < 0.06:
            return self._anything(depth)
        base = self.document.base_of(schema, place.base)
        merged = self._flattened(schema, base, 0)
        listed = [merged["const"]] if "const" in merged else merged.get("enum")
        if isinstance(listed, list) and listed and self._random.random() < 0.85:
            return self._random.choice(listed)
        makers: dict[str, Callable[[], Any]] = {
            "null": lambda: None,
            "boolean": lambda: self._random.random() < 0.5,
            "number": lambda: self._number(merged),
            "integer": lambda: self._number(merged),
            "string": lambda: self._string(merged),
            "array": lambda: self._array(merged, base, depth),
            "object": lambda: self._object(merged, base, depth),
        }
        kinds = self._kinds(merged)
        return makers[self._random.choice(kinds)]()

    def _flattened(self, schema: dict[str, Any], base: str, level: int) -> dict[str, Any]:
        """The schema with one branch of each combination mixed in; wrong now and then, which is welcome."""
        merged = dict(schema)
        if level > 4:
            return merged
        extra = list(schema.get("allOf", ()))
        extra += [self._random.choice(schema[word]) for word in ("anyOf", "oneOf") if schema.get(word)]
        extra += [schema[word] for word in ("if", "then", "else", "not") if word in schema and self._coin()]
        if "dependentSchemas" in schema:
            extra += [part for part in schema["dependentSchemas"].values() if self._coin()]
        targets = [self.document.resolve(schema[word], base) for word in REFERENCES if word in schema]
        extra += [target.schema for target in targets if target is not None]
        for part in extra:
            if isinstance(part, dict):
                self._mix(merged, self._flattened(part, base, level + 1))
        return merged

    def _mix(self, merged: dict[str, Any], part: dict[str, Any]) -> None:
        for word, value in part.items():
            if word == "properties" and isinstance(merged.get(word), dict):
                merged[word] = {**merged[word], **value}
            elif word == "required" and isinstance(merged.get(word), list):
                merged[word] = [*merged[word], *value]
            elif word not in merged or self._coin():
                merged[word] = value

    def _coin(self) -> bool:
        return self._random.random() < 0.5

    def _kinds(self, schema: dict[str, Any]) -> list[str]:
        declared = schema.get("type")
        if isinstance(declared, str):
            return [declared]
        if isinstance(declared, list) and declared:
            return declared
        hints = {
            "object": {"properties", "required", "patternProperties", "additionalProperties", "minProperties",
                       "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas",
                       "unevaluatedProperties"},
            "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains",
                      "unevaluatedItems"},
            "string": {"minLength", "maxLength", "pattern", "format"},
            "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
        }  # fmt: skip
        likely = [kind for kind, words in hints.items() if not words.isdisjoint(schema)]
        return likely * 2 + ["null", "boolean", "number", "string", "array", "object"]

    def _anything(self, depth: int) -> Any:
        draw = self._random.random()
        if draw < 0.15:
            return None
        if draw < 0.3:
            return self._coin()
        if draw < 0.5:
            return self._random.choice(_NUMBERS)
        if draw < 0.75 or depth > _DEEPEST:
            return self._random.choice(_WORDS)
        if draw < 0.87:
            return [self._anything(depth + 2) for _ in range(self._random.randrange(4))]
        return {self._random.choice(_WORDS): self._anything(depth + 2) for _ in range(self._random.randrange(4))}

    def _number(self, schema: dict[str, Any]) -> int | float:
        near = [
            schema[word]
            for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
            if isinstance(schema.get(word), (int, float)) and not isinstance(schema[word], bool)
        ]
        if not near or self._random.random() < 0.2:
            return self._random.choice(_NUMBERS)
        number: int | float = self._random.choice(near)
        if abs(number) > 1e15:
            return number
        number += self._random.choice((0, 0, 1, -1, 0.5, -0.5, 2, 10))
        step = schema.get("multipleOf")
        if isinstance(step, int) and step > 0 and self._random.random() < 0.6:
            return number // step * step
        return number

    def _string(self, schema: dict[str, Any]) -> str:
        if isinstance(schema.get("pattern"), str) and self._random.random() < 0.7:
            text = self._matching(schema)
            if text is not None:
                return text
        lengths = [schema[word] for word in ("minLength", "maxLength") if isinstance(schema.get(word), int)]
        if lengths and self._random.random() < 0.8:
            length = max(0, min(self._random.choice(lengths) + self._random.choice((-1, 0, 0, 1)), 200))
            return "".join(self._random.choice("ab0é") for _ in range(length))
        return self._random.choice(_WORDS)

    def _matching(self, schema: dict[str, Any]) -> str | None:
        key = (schema["pattern"], self._random.randrange(6))
        if key not in self._texts:
            self._texts[key] = _matching_text(*key)
        return self._texts[key]

    def _array(self, schema: dict[str, Any], base: str, depth: int) -> list[Any]:
        words = ("minItems", "maxItems", "minContains")
        bounds = [schema[word] for word in words if isinstance(schema.get(word), int)]
        length = self._random.choice([*bounds, 0, 1, 2, 3]) + self._random.choice((0, 0, 0, 1, -1))
        prefix = schema.get("prefixItems", [])
        items = []
        for index in range(max(0, min(length, 12))):
            part = prefix[index] if index < len(prefix) else schema.get("items", True)
            if "contains" in schema and self._random.random() < 0.4:
                part = schema["contains"]
            items.append(self.draw(Place(part, base), depth + 1))
        if len(items) > 1 and self._random.random() < 0.2:
            items[-1] = items[0]
        return items

    def _object(self, schema: dict[str, Any], base: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = [name for name in schema.get("required", ()) if self._random.random() < 0.93]
        names = [*required, *(name for name in properties if self._random.random() < 0.6)]
        if self._random.random() < 0.3:
            names.append(self._random.choice([*_WORDS, "z"]))
        patterned = schema.get("patternProperties", {})
        names += [name for text in patterned for name in [self._matching({"pattern": text})] if name is not None]
        value = {}
        for name in names:
            if self._parts < 0:
                break
            part = properties.get(name, schema.get("additionalProperties", True))
            if name not in properties and patterned and self._coin():
                part = self._random.choice(list(patterned.values()))
            value[name] = self.draw(Place(part, base), depth + 1)
        return value


def _matching_text(expression: str, length: int) -> str | None:
    """A text of at least some length that matches, if one is found with little work."""
    left = [_WORK]

    def spend(steps: int) -> None:
        left[0] -= steps
        if left[0] < 0:
            raise Undecided("too much work for one sample")

    try:
        return find_text(Question((compiled_pattern(expression),), (), length), _WORK, spend)
    except Undecided:
        return None
