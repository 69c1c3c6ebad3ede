"""Schemas as terms of a small logic: kinds, atoms of one kind each, and `and`, `or`, `not`, `exactly one`.

Each keyword of JSON Schema says something about values of one kind and nothing about others; so does an atom.
Terms are interned: the same meaning, written the same way, is the same object, also across the old and the new
schema. What did not change is therefore recognized by identity, and most of a comparison costs nothing.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

from holdfast.contract.inclusion.values import KINDS, Key, Number, key_of

__all__ = [
    "And",
    "AtLeast",
    "AtMost",
    "Atom",
    "Contains",
    "ContainsAtMost",
    "Format",
    "Has",
    "High",
    "Items",
    "Kinds",
    "Low",
    "MultipleOf",
    "Names",
    "Node",
    "Not",
    "One",
    "Opaque",
    "Or",
    "Pattern",
    "Pool",
    "Props",
    "Ref",
    "Required",
    "Unique",
    "Values",
]


@dataclass(frozen=True, eq=False)
class Node:
    """A term; compared by identity, made only by a Pool, which numbers them so that their order never varies."""

    def __hash__(self) -> int:
        return cast("int", self.__dict__["serial"])


@dataclass(frozen=True, eq=False)
class And(Node):
    """All parts hold; with no parts, everything is accepted."""

    parts: frozenset[Node]


@dataclass(frozen=True, eq=False)
class Or(Node):
    """Some part holds; with no parts, nothing is accepted."""

    parts: frozenset[Node]


@dataclass(frozen=True, eq=False)
class Not(Node):
    """The part does not hold."""

    part: Node


@dataclass(frozen=True, eq=False)
class One(Node):
    """Exactly one part holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Ref(Node):
    """A recursive schema, by name; `Pool.bodies` holds what it stands for."""

    name: Hashable


@dataclass(frozen=True, eq=False)
class Kinds(Node):
    """The value is of one of these kinds."""

    kinds: frozenset[str]


@dataclass(frozen=True, eq=False)
class Values(Node):
    """The value is one of these; `Pool.originals` holds the values of the keys."""

    keys: frozenset[Key]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds that occur among the values."""
        return frozenset(key[0] for key in self.keys)


@dataclass(frozen=True, eq=False)
class Opaque(Node):
    """Something that this engine does not understand; it only knows that the same text means the same."""

    text: str


@dataclass(frozen=True, eq=False)
class Atom(Node):
    """A statement on values of one kind. Of a value of another kind it is `elsewhere`."""

    kind: ClassVar[str] = ""
    elsewhere: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Low(Atom):
    """A number is at least, or above, a bound."""

    kind = "number"
    bound: Number
    strict: bool


@dataclass(frozen=True, eq=False)
class High(Atom):
    """A number is at most, or below, a bound."""

    kind = "number"
    bound: Number
    strict: bool


@dataclass(frozen=True, eq=False)
class MultipleOf(Atom):
    """A number is a whole multiple of another."""

    kind = "number"
    factor: Number


@dataclass(frozen=True, eq=False)
class AtLeast(Atom):
    """A string, array or object has at least so many characters, items or properties."""

    of: str
    count: int

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind whose length is bounded."""
        return self.of


@dataclass(frozen=True, eq=False)
class AtMost(Atom):
    """A string, array or object has at most so many characters, items or properties."""

    of: str
    count: int

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind whose length is bounded."""
        return self.of


@dataclass(frozen=True, eq=False)
class Pattern(Atom):
    """A string matches a regular expression somewhere."""

    kind = "string"
    text: str


@dataclass(frozen=True, eq=False)
class Format(Atom):
    """A string has a named format; only where formats are asserted."""

    kind = "string"
    name: str


@dataclass(frozen=True, eq=False)
class Items(Atom):
    """The first items are of these schemas, one each, and all others of `rest`."""

    kind = "array"
    prefix: tuple[Node, ...]
    rest: Node

    def at(self, index: int) -> Node:
        """The schema of the item at an index."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, eq=False)
class Unique(Atom):
    """No two items are equal."""

    kind = "array"


@dataclass(frozen=True, eq=False)
class Contains(Atom):
    """At least so many items are of a schema."""

    kind = "array"
    item: Node
    count: int


@dataclass(frozen=True, eq=False)
class ContainsAtMost(Atom):
    """At most so many items are of a schema."""

    kind = "array"
    item: Node
    count: int


@dataclass(frozen=True, eq=False)
class Required(Atom):
    """An object has all these properties."""

    kind = "object"
    names: frozenset[str]


@dataclass(frozen=True, eq=False)
class Has(Atom):
    """The value is an object and has this property."""

    kind = "object"
    elsewhere = False
    name: str


@dataclass(frozen=True, eq=False)
class Props(Atom):
    """The values of an object are of the schemas of their names and patterns, or else of `rest`."""

    kind = "object"
    named: tuple[tuple[str, Node], ...]
    patterned: tuple[tuple[str, Node], ...]
    rest: Node

    @cached_property
    def by_name(self) -> dict[str, Node]:
        """The schemas of the named properties."""
        return dict(self.named)


@dataclass(frozen=True, eq=False)
class Names(Atom):
    """The names of all properties are of a schema."""

    kind = "object"
    name: Node


N = TypeVar("N", bound=Node)


class Pool:
    """Makes the terms of one comparison, each only once, with the simplifications that need no thought."""

    def __init__(self) -> None:
        self._made: dict[tuple[Hashable, ...], Node] = {}
        self.originals: dict[Key, Any] = {}
        self.bodies: dict[Hashable, Node] = {}
        self.true = self.make(And, frozenset())
        self.false = self.make(Or, frozenset())

    def make(self, cls: type[N], *fields: Hashable) -> N:
        """The one term of this class with these fields."""
        key = (cls, *fields)
        node = self._made.get(key)
        if node is None:
            node = self._made[key] = cls(*fields)
            node.__dict__["serial"] = len(self._made)
        return cast("N", node)

    def nodes(self) -> Iterable[Node]:
        """Every term that was made."""
        return self._made.values()

    def kinds(self, kinds: Iterable[str]) -> Node:
        """Values of these kinds."""
        chosen = frozenset(kinds)
        if not chosen:
            return self.false
        return self.true if len(chosen) == len(KINDS) else self.make(Kinds, chosen)

    def values(self, values: Iterable[Any]) -> Node:
        """One of these values."""
        keys = []
        for value in values:
            key = key_of(value)
            self.originals.setdefault(key, value)
            keys.append(key)
        return self._of_keys(frozenset(keys))

    def _of_keys(self, keys: frozenset[Key]) -> Node:
        return self.make(Values, keys) if keys else self.false

    def negation(self, part: Node) -> Node:
        """What `part` does not accept."""
        if isinstance(part, Not):
            return part.part
        if part is self.true or part is self.false:
            return self.false if part is self.true else self.true
        if isinstance(part, Kinds):
            return self.kinds(set(KINDS) - part.kinds)
        return self.make(Not, part)

    def conjunction(self, parts: Iterable[Node]) -> Node:
        """What all parts accept."""
        said = [part for part in parts if part is not self.true]
        if len(said) == 1:
            return said[0]
        flat = self._flat(And, said)
        kinds = [part.kinds for part in flat if isinstance(part, Kinds)]
        keys = [part.keys for part in flat if isinstance(part, Values)]
        flat = {part for part in flat if not isinstance(part, (Kinds, Values))}
        if kinds:
            flat.add(self.kinds(frozenset.intersection(*kinds)))
        if keys:
            flat.add(self._of_keys(frozenset.intersection(*keys)))
        flat.discard(self.true)
        if self.false in flat or any(isinstance(part, Not) and part.part in flat for part in flat):
            return self.false
        return next(iter(flat)) if len(flat) == 1 else self.make(And, frozenset(flat))

    def disjunction(self, parts: Iterable[Node]) -> Node:
        """What some part accepts."""
        flat = self._flat(Or, parts)
        kinds = [part.kinds for part in flat if isinstance(part, Kinds)]
        keys = [part.keys for part in flat if isinstance(part, Values)]
        flat = {part for part in flat if not isinstance(part, (Kinds, Values))}
        if kinds:
            flat.add(self.kinds(frozenset.union(*kinds)))
        if keys:
            flat.add(self._of_keys(frozenset.union(*keys)))
        flat.discard(self.false)
        if self.true in flat or any(isinstance(part, Not) and part.part in flat for part in flat):
            return self.true
        return next(iter(flat)) if len(flat) == 1 else self.make(Or, frozenset(flat))

    def exactly_one(self, parts: Iterable[Node]) -> Node:
        """What exactly one part accepts."""
        real = sorted((part for part in parts if part is not self.false), key=hash)
        if len(real) < 2:
            return self.conjunction(real) if real else self.false
        return self.make(One, tuple(real))

    def _flat(self, cls: type[And] | type[Or], parts: Iterable[Node]) -> set[Node]:
        flat: set[Node] = set()
        for part in parts:
            if isinstance(part, cls):
                flat |= part.parts
            else:
                flat.add(part)
        return flat
