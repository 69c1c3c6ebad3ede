"""How much work a validator would have with a value: it remembers nothing, so shared schemas can multiply.

A schema of a hundred lines can make a validator visit it a billion times. Before a value is handed to one, the
visits are counted here, each schema and value only once.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.inclusion.documents import Document, Place
from holdfast.contract.inclusion.keywords import REFERENCES

__all__ = ["visits"]

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_PER_PROPERTY = ("additionalProperties", "unevaluatedProperties")
_PER_ITEM = ("contains", "unevaluatedItems", "additionalItems")


def visits(document: Document, value: Any) -> int:
    """At most how often a validator applies a schema to a part of the value."""
    return _Counter(document).count(document.start, value)


class _Counter:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, str, int], int] = {}

    def count(self, place: Place, value: Any) -> int:
        """The visits for one schema and one value."""
        if not isinstance(place.schema, dict):
            return 1
        key = (id(place.schema), place.base, id(value))
        if key not in self._known:
            self._known[key] = 1  # for a schema that comes back to itself
            self._known[key] = 1 + sum(self.count(part, item) for part, item in self._applied(place, value))
        return self._known[key]

    def _applied(self, place: Place, value: Any) -> Iterator[tuple[Place, Any]]:
        schema = place.schema
        base = self._document.base_of(schema, place.base)
        for keyword in REFERENCES:
            target = self._document.resolve(schema[keyword], base) if keyword in schema else None
            if target is not None:
                yield target, value
        for part in self._in_place(schema):
            yield Place(part, base), value
        if isinstance(value, dict):
            for part, item in self._of_object(schema, value):
                yield Place(part, base), item
        elif isinstance(value, list):
            for part, item in self._of_array(schema, value):
                yield Place(part, base), item

    def _in_place(self, schema: dict[str, Any]) -> Iterator[Any]:
        for keyword in _IN_PLACE_LISTS:
            yield from schema.get(keyword, ())
        yield from (schema[keyword] for keyword in _IN_PLACE if keyword in schema)
        yield from schema.get("dependentSchemas", {}).values()
        yield from schema.get("dependencies", {}).values()

    def _of_object(self, schema: dict[str, Any], value: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        properties = schema.get("properties", {})
        for name, item in value.items():
            if name in properties:
                yield properties[name], item
            for part in schema.get("patternProperties", {}).values():
                yield part, item
            yield from ((schema[keyword], item) for keyword in _PER_PROPERTY if keyword in schema)
            if "propertyNames" in schema:
                yield schema["propertyNames"], name

    def _of_array(self, schema: dict[str, Any], value: list[Any]) -> Iterator[tuple[Any, Any]]:
        items = schema.get("items", True)
        prefix = items if isinstance(items, list) else schema.get("prefixItems", [])
        for index, item in enumerate(value):
            if index < len(prefix):
                yield prefix[index], item
            elif not isinstance(items, list):
                yield items, item
            yield from ((schema[keyword], item) for keyword in _PER_ITEM if keyword in schema)
