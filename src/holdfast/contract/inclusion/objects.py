"""Objects: which properties must, may and must not be there, of what, and how many.

What must occur (a missing name, a value outside its schema, a name outside `propertyNames`) is a demand; every
named property and every class of names that nobody mentions is tried for it. Names that match the same patterns
form one class. If each way fails for a proven reason, there is no such object.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, TypeAlias

from holdfast.contract.inclusion.counts import Counted
from holdfast.contract.inclusion.evaluate import holds, matches
from holdfast.contract.inclusion.nodes import (
    AtLeast,
    AtMost,
    Has,
    Names,
    Node,
    Pattern,
    Props,
    Required,
    Values,
)
from holdfast.contract.inclusion.solver import EMPTY, Answer, Empty, Found, Literal, Solver, Unclear
from holdfast.contract.inclusion.values import TOO_LARGE, Key, is_handy, key_of

__all__ = ["decide_object"]

_MAX_BUILT = 300
_MAX_PATTERNS = 5

Slot: TypeAlias = tuple[str, Any]
"""A property: ("name", its name) or ("class", (the patterns that its name matches, a number))."""

_PLEASANT = ("extra", "other", "x")


@dataclass
class _Objects(Counted):
    """What a list of literals says about an object."""

    required: set[str] = field(default_factory=set)
    forbidden: set[str] = field(default_factory=set)
    missing: list[Required] = field(default_factory=list)
    props: list[Props] = field(default_factory=list)
    not_props: list[Props] = field(default_factory=list)
    names: list[Node] = field(default_factory=list)
    not_names: list[Node] = field(default_factory=list)
    excluded: set[Key] = field(default_factory=set)


def decide_object(solver: Solver, literals: list[Literal]) -> Answer:
    """Whether an object fits all literals."""
    described = _describe(literals)
    if described.most is not None and max(described.least, len(described.required)) > described.most:
        return EMPTY
    if described.required & described.forbidden:
        return EMPTY
    if described.most == 0 and not (described.not_props or described.not_names):
        return EMPTY if key_of({}) in described.excluded else Found({})
    return _Search(solver, described).run()


def _describe(literals: list[Literal]) -> _Objects:
    described = _Objects()
    for node, sign in literals:
        if isinstance(node, (AtLeast, AtMost)):
            described.bound(node, sign)
        elif isinstance(node, Required):
            if sign:
                described.required |= node.names
            else:
                described.missing.append(node)
        elif isinstance(node, Has):
            (described.required if sign else described.forbidden).add(node.name)
        elif isinstance(node, Props):
            (described.props if sign else described.not_props).append(node)
        elif isinstance(node, Names):
            (described.names if sign else described.not_names).append(node.name)
        elif isinstance(node, Values):
            described.excluded |= node.keys
    return described


@dataclass(frozen=True)
class _State:
    """A partial object: the properties that are there for a reason, what they must be, and which must be absent.

    `outside` holds, for properties that nobody mentions, the terms that their names must not be of.
    """

    present: dict[Slot, frozenset[Literal]]
    absent: frozenset[str]
    outside: dict[Slot, tuple[Node, ...]] = field(default_factory=dict)


class _Search:
    """Places all demands, adds what is required, and fills up to the least number of properties."""

    def __init__(self, solver: Solver, described: _Objects) -> None:
        self._solver = solver
        self._described = described
        self._doubt = ""
        every = (*described.props, *described.not_props)
        self._patterns = sorted({text for props in every for text, _ in props.patterned})
        self._mentioned = sorted(
            {name for props in every for name, _ in props.named}
            | described.required
            | described.forbidden
            | {name for node in described.missing for name in node.names}
        )
        solver.spend(1 + len(self._mentioned) // 20)
        self._classes: list[frozenset[str]] | None = None
        self._class_doubt = ""

    def run(self) -> Answer:
        """An object, or a proof that there is none."""
        start = _State({}, frozenset(self._described.forbidden))
        demands: list[Any] = [*self._described.missing, *self._described.not_props, *self._described.not_names]
        if self._is_contradictory() or self._is_hopeless(demands, start):
            return EMPTY
        for value in self._place(demands, 0, start):
            if not is_handy(value):
                return Unclear(TOO_LARGE)
            if key_of(value) not in self._described.excluded:
                return Found(value)
            self._doubt = "only objects that are left out were found"
        return Unclear(self._doubt) if self._doubt else EMPTY

    def _is_contradictory(self) -> bool:
        """Whether a required property has schemas that leave it no value."""
        if len(self._described.props) < 2:
            return False  # one schema alone is looked at when the object is built
        wanted = (self._wanted(("name", name)) for name in sorted(self._described.required))
        return any(isinstance(self._solver.solve(literals), Empty) for literals in wanted)

    def _is_hopeless(self, demands: list[Any], start: _State) -> bool:
        """Whether one of several demands cannot be met even alone: then no combination needs to be tried."""
        if len(demands) < 2:
            return False
        before = self._doubt
        for demand in demands:
            self._doubt = ""
            if next(self._followers(demand, start), None) is None and not self._doubt:
                return True
            before = before or self._doubt
        self._doubt = before
        return False

    def _place(self, demands: list[Any], number: int, state: _State) -> Iterator[dict[str, Any]]:
        self._solver.spend()
        if number == len(demands):
            value = self._finish(state)
            if value is not None:
                yield value
            return
        for follower in self._followers(demands[number], state):
            yield from self._place(demands, number + 1, follower)

    def _followers(self, demand: Any, state: _State) -> Iterator[_State]:
        """The ways to meet one demand."""
        if isinstance(demand, Required):
            return self._without(demand, state)
        return self._violating(demand, state) if isinstance(demand, Props) else self._misnamed(demand, state)

    def _without(self, demand: Required, state: _State) -> Iterator[_State]:
        for name in sorted(demand.names - self._described.required):
            if ("name", name) not in state.present:
                yield _State(state.present, state.absent | {name}, state.outside)

    def _violating(self, demand: Props, state: _State) -> Iterator[_State]:
        for name in self._mentioned:
            if name not in state.absent:
                for node in self._schemas(demand, name, sure=False):
                    yield from self._with(("name", name), (node, False), state)
        for slot in self._unmentioned(state):
            for node in self._class_schemas(demand, slot[1][0]):
                yield from self._with(slot, (node, False), state)

    def _misnamed(self, demand: Node, state: _State) -> Iterator[_State]:
        for name in self._mentioned:
            if name not in state.absent and holds(self._solver.pool, demand, name) is not True:
                yield from self._with(("name", name), None, state)
        for slot in self._unmentioned(state):
            outside = (*state.outside.get(slot, ()), demand)
            answer = self._name_of(slot[1][0], outside, ())
            if isinstance(answer, Unclear):
                self._doubt = answer.reason
            if isinstance(answer, Found):
                for follower in self._with(slot, None, state):
                    yield _State(follower.present, follower.absent, {**state.outside, slot: outside})

    def _with(self, slot: Slot, literal: Literal | None, state: _State) -> Iterator[_State]:
        """The state in which a property is there and also fits a literal, unless that is impossible."""
        wanted = self._wanted(slot)
        if literal is not None and (
            (literal[0], not literal[1]) in wanted or literal == (self._solver.pool.true, False)
        ):
            return  # what did not change is refuted by looking, which is most of a large object
        joined = state.present.get(slot, frozenset()) | ({literal} if literal else set())
        if not self._allowed(slot):
            return
        answer = self._solver.solve(wanted | joined)
        if isinstance(answer, Unclear):
            self._doubt = answer.reason
        if isinstance(answer, Found):
            yield _State({**state.present, slot: joined}, state.absent, state.outside)

    def _allowed(self, slot: Slot) -> bool:
        """Whether a name may be used at all."""
        if slot[0] == "name":
            return all(holds(self._solver.pool, node, slot[1]) is not False for node in self._described.names)
        return True

    def _wanted(self, slot: Slot) -> frozenset[Literal]:
        literals: set[Literal] = set()
        for props in self._described.props:
            if slot[0] == "name":
                nodes = self._schemas(props, slot[1], sure=True)
            else:
                nodes = self._class_schemas(props, slot[1][0])
            literals |= {(node, True) for node in nodes}
        return frozenset(literals)

    def _schemas(self, props: Props, name: str, *, sure: bool) -> Iterator[Node]:
        """The schemas that surely apply to a named property, or else all that may.

        A pattern that is not understood may apply or not; so may then the schema of all others.
        """
        applied = False
        if name in props.by_name:
            applied = True
            yield props.by_name[name]
        for text, node in props.patterned:
            found = matches(text, name)
            applied = applied or found is True or (sure and found is None)
            if found is True or (not sure and found is None):
                yield node
        if not applied:
            yield props.rest

    def _class_schemas(self, props: Props, patterns: frozenset[str]) -> Iterator[Node]:
        own = [node for text, node in props.patterned if text in patterns]
        yield from own or [props.rest]

    def _unmentioned(self, state: _State) -> Iterator[Slot]:
        """Properties that nobody mentions: those already there, and a new one of each class."""
        there = [slot for slot in state.present if slot[0] == "class"]
        yield from there
        for patterns in self._name_classes():
            yield ("class", (patterns, len(there)))

    def _name_classes(self) -> list[frozenset[str]]:
        if self._classes is None:
            self._classes = [found for found in self._possible_classes() if self._is_inhabited(found)]
        # The classes are remembered, so what was left out of them is a doubt of everybody who asks for them.
        self._doubt = self._class_doubt or self._doubt
        return self._classes

    def _possible_classes(self) -> list[frozenset[str]]:
        if len(self._patterns) > _MAX_PATTERNS:
            self._class_doubt = f"more than {_MAX_PATTERNS} patterns of names meet"
            return [frozenset(), *(frozenset({text}) for text in self._patterns)]
        sizes = range(len(self._patterns) + 1)
        subsets = chain.from_iterable(combinations(self._patterns, size) for size in sizes)
        return [frozenset(subset) for subset in subsets]

    def _is_inhabited(self, patterns: frozenset[str]) -> bool:
        answer = self._name_of(patterns, (), ())
        if isinstance(answer, Unclear):
            self._class_doubt = answer.reason
        return isinstance(answer, Found)

    def _name_of(self, patterns: frozenset[str], outside: tuple[Node, ...], used: tuple[str, ...]) -> Answer:
        pool = self._solver.pool
        literals: list[Literal] = [(pool.make(Pattern, text), text in patterns) for text in self._patterns]
        literals += [(node, False) for node in outside]
        literals += [(node, True) for node in self._described.names]
        if self._mentioned or used:
            literals.append((pool.values([*self._mentioned, *used]), False))
        for name in _PLEASANT:
            if all(holds(pool, node, name) is sign for node, sign in literals):
                return Found(name)
        return self._solver.solve([(pool.kinds(["string"]), True), *literals])

    def _finish(self, state: _State) -> dict[str, Any] | None:
        slots = dict(state.present)
        for name in sorted(self._described.required):
            if name in state.absent:
                return None
            slots.setdefault(("name", name), frozenset())
        if self._described.most is not None and len(slots) > self._described.most:
            return None
        slots = self._filled(slots, state)
        if len(slots) < self._described.least:
            return None
        return self._build(slots, state)

    def _filled(self, slots: dict[Slot, frozenset[Literal]], state: _State) -> dict[Slot, frozenset[Literal]]:
        """With optional properties, until there are as many as must be."""
        if self._described.least > _MAX_BUILT:
            self._doubt = f"only objects of more than {_MAX_BUILT} properties are left"
        candidates = chain(
            (("name", name) for name in self._mentioned if name not in state.absent), self._fresh(len(slots))
        )
        for slot in candidates:
            if len(slots) >= min(self._described.least, _MAX_BUILT):
                break
            self._solver.spend()
            if slot not in slots and self._allowed(slot) and self._is_possible(slot):
                slots[slot] = frozenset()
        return slots

    def _fresh(self, start: int) -> Iterator[Slot]:
        for number in range(_MAX_BUILT):
            for patterns in self._name_classes():
                yield ("class", (patterns, start + number + 1))

    def _is_possible(self, slot: Slot) -> bool:
        answer = self._solver.solve(self._wanted(slot))
        if isinstance(answer, Unclear):
            self._doubt = answer.reason
        return isinstance(answer, Found)

    def _build(self, slots: dict[Slot, frozenset[Literal]], state: _State) -> dict[str, Any] | None:
        value: dict[str, Any] = {}
        for slot, literals in slots.items():
            name = self._slot_name(slot, state.outside.get(slot, ()), value)
            if name is None:
                return None
            answer = self._solver.solve(self._wanted(slot) | literals)
            if isinstance(answer, Unclear):
                self._doubt = answer.reason
            if not isinstance(answer, Found) or not self._allowed(slot):
                return None
            value[name] = answer.value
        return value

    def _slot_name(self, slot: Slot, outside: tuple[Node, ...], used: dict[str, Any]) -> str | None:
        if slot[0] == "name":
            return str(slot[1])
        answer = self._name_of(slot[1][0], outside, tuple(used))
        if isinstance(answer, Found):
            return str(answer.value)
        self._doubt = answer.reason if isinstance(answer, Unclear) else "no other name is left"
        return None
