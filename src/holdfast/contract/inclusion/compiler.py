"""From a JSON Schema to a term: one part per keyword, so that one keyword can be exchanged and its effect proven.

Annotations are left out, older words become what they are called today, references are followed inside a document.
What is not understood becomes an opaque part: equal to itself, and otherwise unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.contract.inclusion.documents import Document, Place
from holdfast.contract.inclusion.keywords import REFERENCES
from holdfast.contract.inclusion.model import Limits, Undecided
from holdfast.contract.inclusion.nodes import (
    AtLeast,
    AtMost,
    Contains,
    ContainsAtMost,
    Format,
    Has,
    High,
    Items,
    Low,
    MultipleOf,
    Names,
    Node,
    Opaque,
    Pattern,
    Pool,
    Props,
    Ref,
    Required,
    Unique,
)
from holdfast.contract.inclusion.unevaluated import unevaluated_items, unevaluated_properties
from holdfast.contract.inclusion.values import KINDS, Number, exact, plain_number

__all__ = ["Compiler", "bounds_of"]

_LENGTHS = {
    "minLength": (AtLeast, "string"),
    "maxLength": (AtMost, "string"),
    "minItems": (AtLeast, "array"),
    "maxItems": (AtMost, "array"),
    "minProperties": (AtLeast, "object"),
    "maxProperties": (AtMost, "object"),
}
_UNBOUNDED = 10**9
_MAX_DYNAMIC = 200
_PROPERTIES = frozenset({"properties", "patternProperties", "additionalProperties"})


def bounds_of(schema: dict[str, Any]) -> dict[str, tuple[Number, bool]]:
    """The bounds of numbers as keyword -> (bound, strict); draft 4 said strictness with a flag beside it."""
    bounds: dict[str, tuple[Number, bool]] = {}
    for keyword, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        flag = schema.get(exclusive)
        if keyword in schema:
            bounds[keyword] = (_number(schema[keyword], keyword), flag is True)
        if exclusive in schema and not isinstance(flag, bool):
            bounds[exclusive] = (_number(flag, exclusive), True)
    return bounds


@dataclass
class Compiler:
    """Compiles the schemas of one document into terms of a pool that the other document shares."""

    document: Document
    pool: Pool
    limits: Limits
    assert_formats: bool = False

    def __post_init__(self) -> None:
        self._done: dict[tuple[int, str], Node] = {}
        self._keep: list[Any] = []  # schemas stay alive as long as their ids are keys
        self._open: dict[tuple[int, str], int] = {}
        self._descents = 0
        self._depth = 0
        self._names: dict[tuple[int, str], str] = {}
        self._recursive: set[tuple[int, str]] = set()
        self._sizes: dict[tuple[int, str], int] = {}
        self._counting = [0]
        self._dynamic = 0  # how many terms so far mean something else wherever they are met

    def compile_start(self) -> Node:
        """The term of the whole document."""
        return self.compile(self.document.start.schema, self.document.start.base)

    def compile(self, schema: Any, base: str) -> Node:
        """The term of a schema that stands at a place with this base."""
        if isinstance(schema, bool):
            return self.pool.true if schema else self.pool.false
        if not isinstance(schema, dict):
            raise Undecided(f"a schema is neither an object nor a boolean: {str(schema)[:60]}")
        key = (id(schema), base)
        if key in self._done:
            self._counting[-1] += self._sizes[key]
            return self._done[key]
        if key in self._open:
            return self._again(key, schema, base)
        return self._fresh(key, schema, base)

    def _fresh(self, key: tuple[int, str], schema: dict[str, Any], base: str) -> Node:
        if self._depth >= self.limits.depth * 2:
            raise Undecided(f"schemas refer to each other more than {self.limits.depth * 2} levels deep")
        self._open[key] = self._descents
        self._depth += 1
        self._counting.append(1)
        dynamic = self._dynamic
        try:
            node = self.pool.conjunction(self.parts(schema, base).values())
        finally:
            del self._open[key]
            self._depth -= 1
            self._sizes[key] = self._counting.pop()
            self._counting[-1] += self._sizes[key]
        if self._dynamic > dynamic:  # met elsewhere, the same schema may mean something else
            if key in self._recursive:
                raise Undecided("a recursive schema depends on what leads to it")
            return node
        if key in self._recursive:
            self.pool.bodies.setdefault(self._name(schema, base), node)
        self._keep.append(schema)
        self._done[key] = node
        return node

    def _again(self, key: tuple[int, str], schema: dict[str, Any], base: str) -> Node:
        if self._open[key] == self._descents:
            raise Undecided("a schema refers to itself without going deeper into the value")
        self._recursive.add(key)
        self._counting[-1] += _UNBOUNDED
        return self.pool.make(Ref, self._name(schema, base))

    def _name(self, schema: dict[str, Any], base: str) -> str:
        key = (id(schema), base)
        if key not in self._names:
            self._names[key] = self.document.closure(Place(schema, base))
        return self._names[key]

    @property
    def written_out(self) -> int:
        """How many schemas there are when every reference is replaced by what it leads to; huge for recursion."""
        return self._counting[0]

    def child(self, schema: Any, base: str) -> Node:
        """The term of a schema for a part of the value: an item, a property, a name."""
        self._descents += 1
        try:
            return self.compile(schema, base)
        finally:
            self._descents -= 1

    def parts(self, schema: dict[str, Any], base: str) -> dict[str, Node]:
        """The term of each keyword, those that only mean something together under one of their names."""
        base = self.document.base_of(schema, base)
        if self.document.ref_hides_siblings and "$ref" in schema:
            return {"$ref": self._reference(schema, base, "$ref")}
        found: dict[str, Node] = {}
        for keyword, value in schema.items():
            if keyword in _PLAIN:
                found[keyword] = _PLAIN[keyword](self, value, keyword)
            elif keyword in _NESTED:
                found[keyword] = _NESTED[keyword](self, schema, base, keyword)
        if not _PROPERTIES.isdisjoint(schema):
            found["properties"] = self._properties(schema, base)
        if "prefixItems" in schema or "items" in schema:
            found["items"] = self._items(schema, base)
        found.update(
            (keyword, self.pool.make(High if "ax" in keyword else Low, *bound))
            for keyword, bound in bounds_of(schema).items()
        )
        if "if" in schema and ("then" in schema or "else" in schema):
            found["if"] = self._condition(schema, base)
        # Last, because these look into their neighbours, which are known to be well-formed only now.
        if "unevaluatedItems" in schema:
            found["unevaluatedItems"] = unevaluated_items(self, schema, base)
        if "unevaluatedProperties" in schema:
            found["unevaluatedProperties"] = unevaluated_properties(self, schema, base)
        return found

    def places_of(self, schema: dict[str, Any], base: str) -> list[Place | None]:
        """Where the references of a schema lead, None for each that cannot be resolved."""
        base = self.document.base_of(schema, base)
        return [
            self.document.follow(keyword, schema[keyword], base) for keyword in REFERENCES if keyword in schema
        ]

    def _reference(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        place = self.document.follow(keyword, schema[keyword], base)
        if place is None:
            return self.opaque(f"{keyword} {schema[keyword]!r} is not resolved", Place(schema, base))
        return self.compile(place.schema, place.base)

    def opaque(self, reason: str, place: Place) -> Node:
        """The term of a place whose meaning is not known.

        It equals the same place in a document of the same content and no other term. Beside dynamic anchors a
        place can mean something else each time that a reference leads to it, so each time is a term of its own.
        """
        if self.document.has_dynamic_anchors:
            self._dynamic += 1
            if self._dynamic > _MAX_DYNAMIC:
                raise Undecided("too many references depend on what leads to them")
        return self.pool.make(Opaque, f"{reason}\n{self._dynamic} {self.document.text_of(place)}")

    def _type(self, value: Any, keyword: str) -> Node:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(name in (*KINDS, "integer") for name in names):
            raise Undecided(f"the {keyword} {value!r} is not known")
        kinds = {"number" if name == "integer" else name for name in names}
        node = self.pool.kinds(kinds)
        if "integer" in names and "number" not in names:
            node = self.pool.conjunction([node, self.pool.make(MultipleOf, 1)])
            if self.document.dialect == "draft-04":  # there, 1.0 is no integer
                text = "an integer in draft 4 depends on how a number is written"
                node = self.pool.conjunction([node, self.pool.make(Opaque, f"{text}\n{sorted(names)}")])
        return node

    def _values(self, value: Any, keyword: str) -> Node:
        values = [value] if keyword == "const" else value
        if not isinstance(values, list):
            raise Undecided("an enum is not a list")
        return self.pool.values(values)

    def _multiple(self, value: Any, keyword: str) -> Node:
        factor = _number(value, keyword)
        if factor <= 0:
            raise Undecided(f"{keyword} is not positive")
        return self.pool.make(MultipleOf, factor)

    def _length(self, value: Any, keyword: str) -> Node:
        cls, kind = _LENGTHS[keyword]
        count = _count(value, keyword)
        if cls is AtLeast and count == 0:
            return self.pool.true
        return self.pool.make(cls, kind, count)

    def _pattern(self, value: Any, keyword: str) -> Node:
        return self.pool.make(Pattern, _text(value, keyword))

    def _format(self, value: Any, keyword: str) -> Node:
        name = _text(value, keyword)
        return self.pool.make(Format, name) if self.assert_formats else self.pool.true

    def _properties(self, schema: dict[str, Any], base: str) -> Node:
        named = _mapping(schema.get("properties", {}), "properties")
        patterned = _mapping(schema.get("patternProperties", {}), "patternProperties")
        return self.properties(
            {name: self.child(part, base) for name, part in named.items()},
            {text: self.child(part, base) for text, part in patterned.items()},
            self.child(schema.get("additionalProperties", True), base),
        )

    def properties(self, named: dict[str, Node], patterned: dict[str, Node], rest: Node) -> Node:
        """The term of an object whose properties have these schemas."""
        if all(node is rest for node in (*named.values(), *patterned.values())):
            named, patterned = {}, {}
        if rest is self.pool.true:  # then it makes no difference to be an exception from the rest
            named = {name: node for name, node in named.items() if node is not rest}
            patterned = {text: node for text, node in patterned.items() if node is not rest}
        if rest is self.pool.true and not named and not patterned:
            return self.pool.true
        return self.pool.make(Props, tuple(sorted(named.items())), tuple(sorted(patterned.items())), rest)

    def _items(self, schema: dict[str, Any], base: str) -> Node:
        prefix = schema.get("prefixItems", [])
        rest = schema.get("items", True)
        if isinstance(rest, list):  # before 2020-12 a list of items was what prefixItems is now
            prefix, rest = rest, schema.get("additionalItems", True)
        if not isinstance(prefix, list):
            raise Undecided("prefixItems is not a list")
        return self.items([self.child(part, base) for part in prefix], self.child(rest, base))

    def items(self, prefix: list[Node], rest: Node) -> Node:
        """The term of an array whose first items have these schemas and whose others have another."""
        while prefix and prefix[-1] is rest:
            prefix = prefix[:-1]
        if not prefix and rest is self.pool.true:
            return self.pool.true
        return self.pool.make(Items, tuple(prefix), rest)

    def _unique(self, value: Any, keyword: str) -> Node:
        if not isinstance(value, bool):
            raise Undecided(f"{keyword} is neither true nor false")
        return self.pool.make(Unique) if value else self.pool.true

    def _contains(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        item = self.child(schema[keyword], base)
        least = _count(schema.get("minContains", 1), "minContains")
        parts: list[Node] = [self.pool.make(Contains, item, least)] if least else []
        if "maxContains" in schema:
            parts.append(self.pool.make(ContainsAtMost, item, _count(schema["maxContains"], "maxContains")))
        return self.pool.conjunction(parts)

    def _required(self, value: Any, keyword: str) -> Node:
        if isinstance(value, bool):  # draft 3 and hand-written schemas; no dialect we read gives it meaning
            raise Undecided("required is not a list")
        return self.required(_texts(value, keyword))

    def required(self, names: list[str]) -> Node:
        """The term of an object that has all these properties."""
        return self.pool.make(Required, frozenset(names)) if names else self.pool.true

    def _property_names(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        node = self.child(schema[keyword], base)
        return self.pool.true if node is self.pool.true else self.pool.make(Names, node)

    def _dependent(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        parts = []
        for name, then in _mapping(schema[keyword], keyword).items():
            node = self.required(_texts(then, keyword)) if isinstance(then, list) else self.compile(then, base)
            parts.append(self.pool.disjunction([self.pool.negation(self.pool.make(Has, name)), node]))
        return self.pool.conjunction(parts)

    def _combined(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        if not isinstance(schema[keyword], list) or not schema[keyword]:
            raise Undecided(f"{keyword} is not a list of schemas")
        nodes = [self.compile(part, base) for part in schema[keyword]]
        combine: Callable[[list[Node]], Node] = {
            "allOf": self.pool.conjunction,
            "anyOf": self.pool.disjunction,
            "oneOf": self.pool.exactly_one,
        }[keyword]
        return combine(nodes)

    def _not(self, schema: dict[str, Any], base: str, keyword: str) -> Node:
        return self.pool.negation(self.compile(schema[keyword], base))

    def _condition(self, schema: dict[str, Any], base: str) -> Node:
        test = self.compile(schema["if"], base)
        then = self.compile(schema.get("then", True), base)
        otherwise = self.compile(schema.get("else", True), base)
        pool = self.pool
        return pool.conjunction([
            pool.disjunction([pool.negation(test), then]),
            pool.disjunction([test, otherwise]),
        ])  # fmt: skip


def _number(value: Any, keyword: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecided(f"{keyword} is not a number")
    number = exact(value)
    if isinstance(number, Fraction) and plain_number(number) is None:
        raise Undecided(f"{keyword} is out of range")
    return number


def _count(value: Any, keyword: str) -> int:
    number = _number(value, keyword)
    if not isinstance(number, int) or number < 0:
        raise Undecided(f"{keyword} is not a count")
    return number


def _text(value: Any, keyword: str) -> str:
    if not isinstance(value, str):
        raise Undecided(f"{keyword} is not text")
    return value


def _texts(value: Any, keyword: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Undecided(f"{keyword} is not a list of names")
    return value


def _mapping(value: Any, keyword: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Undecided(f"{keyword} is not an object")
    return value


_PLAIN: dict[str, Callable[[Compiler, Any, str], Node]] = {
    **dict.fromkeys(("enum", "const"), Compiler._values),
    **dict.fromkeys(_LENGTHS, Compiler._length),
    "type": Compiler._type,
    "multipleOf": Compiler._multiple,
    "pattern": Compiler._pattern,
    "format": Compiler._format,
    "uniqueItems": Compiler._unique,
    "required": Compiler._required,
}
_NESTED: dict[str, Callable[[Compiler, dict[str, Any], str, str], Node]] = {
    **dict.fromkeys(REFERENCES, Compiler._reference),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), Compiler._combined),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), Compiler._dependent),
    "contains": Compiler._contains,
    "propertyNames": Compiler._property_names,
    "not": Compiler._not,
}
