"""Arrays: how many items, what each place allows, what must occur somewhere, what may occur only so often.

Something that must occur is a demand; it is met by an item at one of the first places or by one of those after
them, which are all alike. Every way to meet all demands is tried: if each fails for a proven reason, there is no
such array.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.contract.inclusion.counts import Counted
from holdfast.contract.inclusion.evaluate import holds
from holdfast.contract.inclusion.nodes import (
    AtLeast,
    AtMost,
    Contains,
    ContainsAtMost,
    Items,
    Node,
    Unique,
    Values,
)
from holdfast.contract.inclusion.solver import EMPTY, Answer, Empty, Found, Literal, Solver, Unclear
from holdfast.contract.inclusion.values import TOO_LARGE, Key, is_handy, key_of

__all__ = ["decide_array"]

_MAX_BUILT = 300
_MAX_DEMANDS = 8


@dataclass
class _Arrays(Counted):
    """What a list of literals says about an array."""

    items: list[Items] = field(default_factory=list)
    everywhere: list[Literal] = field(default_factory=list)
    not_items: list[Items] = field(default_factory=list)
    needs: list[tuple[Node, int]] = field(default_factory=list)
    caps: list[tuple[Node, int]] = field(default_factory=list)
    unique: bool = False
    repeated: bool = False
    excluded: set[Key] = field(default_factory=set)
    width: int = 0

    def at(self, index: int) -> frozenset[Literal]:
        """What an item at an index must be."""
        return frozenset([*((items.at(index), True) for items in self.items), *self.everywhere])

    def has_room(self, length: int) -> bool:
        """Whether an array may be so long."""
        return self.most is None or length <= self.most


@dataclass(frozen=True)
class _Demand:
    """Somewhere an item fits: `places` holds the literals per index below the width, and for all others last."""

    places: tuple[frozenset[Literal], ...]
    group: int


def decide_array(solver: Solver, literals: list[Literal]) -> Answer:
    """Whether an array fits all literals."""
    described = _describe(literals)
    if described is None or not described.has_room(described.least):
        return EMPTY
    described.width = max((len(items.prefix) for items in (*described.items, *described.not_items)), default=0)
    if described.most == 0 and not (described.not_items or described.needs or described.repeated):
        return EMPTY if key_of([]) in described.excluded else Found([])
    if _is_overfull(described) or _forced_too_often(solver, described):
        return EMPTY
    if described.repeated:
        return _with_repetition(solver, described)
    return _Search(solver, described).run()


def _describe(literals: list[Literal]) -> _Arrays | None:
    described = _Arrays()
    for node, sign in literals:
        if isinstance(node, (AtLeast, AtMost)):
            described.bound(node, sign)
        elif isinstance(node, Items):
            (described.items if sign else described.not_items).append(node)
        elif isinstance(node, Unique):
            described.unique = described.unique or sign
            described.repeated = described.repeated or not sign
        elif isinstance(node, Values):
            described.excluded |= node.keys
        elif isinstance(node, (Contains, ContainsAtMost)) and not _count(described, node, sign):
            return None
    return None if described.unique and described.repeated else described


def _count(described: _Arrays, node: Contains | ContainsAtMost, sign: bool) -> bool:
    if isinstance(node, Contains) is sign:
        needed = node.count if sign else node.count + 1
        described.needs.append((node.item, needed))
        described.least = max(described.least, needed)
        return True
    allowed = node.count if sign else node.count - 1
    if allowed == 0:
        described.everywhere.append((node.item, False))
    elif allowed > 0:
        described.caps.append((node.item, allowed))
    return allowed >= 0


def _is_overfull(described: _Arrays) -> bool:
    """Whether more of something is needed than is allowed."""
    return any(
        node is other and count > allowed for node, count in described.needs for other, allowed in described.caps
    )


def _forced_too_often(solver: Solver, described: _Arrays) -> bool:
    """Whether the places that an array must have already hold more of something than it may contain."""
    for node, allowed in described.caps:
        forced = 0
        for index in range(min(described.least, described.width + allowed + 2, _MAX_BUILT)):
            forced += isinstance(solver.solve(described.at(index) | {(node, False)}), Empty)
        if forced > allowed:
            return True
    return False


def _with_repetition(solver: Solver, described: _Arrays) -> Answer:
    """Two items must be equal: every pair of places is tried for a value that fits both."""
    doubt = ""
    places = [*range(described.width), described.width, described.width + 1]
    for number, first in enumerate(places):
        for second in places[number + 1 :]:
            if not described.has_room(second + 1):
                continue
            answer = solver.solve(described.at(first) | described.at(second))
            if isinstance(answer, Found):
                built = _Search(solver, described, {first: answer.value, second: answer.value}).run()
                if isinstance(built, Found):
                    return built
                doubt = "two equal items do not go together with the rest"
            elif isinstance(answer, Unclear):
                doubt = answer.reason
    return Unclear(doubt) if doubt else EMPTY


class _Search:
    """Places all demands, then fills the rest of the array."""

    def __init__(self, solver: Solver, described: _Arrays, fixed: dict[int, Any] | None = None) -> None:
        self._solver = solver
        self._described = described
        self._fixed = fixed or {}
        self._doubt = ""

    def run(self) -> Answer:
        """An array, or a proof that there is none."""
        demands = list(self._demands())
        for value in self._place(demands, 0, self._preset(), frozenset()):
            if not is_handy(value):
                return Unclear(TOO_LARGE)
            if key_of(value) not in self._described.excluded:
                return Found(value)
            self._doubt = "only arrays that are left out were found"
        return Unclear(self._doubt) if self._doubt else EMPTY

    def _demands(self) -> Iterator[_Demand]:
        width = self._described.width
        for group, items in enumerate(self._described.not_items):
            yield _Demand(tuple(frozenset({(items.at(index), False)}) for index in range(width + 1)), group)
        group = len(self._described.not_items)
        for node, count in self._described.needs:
            group += 1
            if count <= _MAX_DEMANDS:
                yield from [_Demand((frozenset({(node, True)}),) * (width + 1), group)] * count

    def _preset(self) -> dict[int, frozenset[Literal]]:
        """Items that are needed in large numbers, simply put first; if that fails, nothing is proven."""
        placed: dict[int, frozenset[Literal]] = {}
        for node, count in self._described.needs:
            if count > _MAX_DEMANDS:
                self._doubt = "many items of one kind are needed"
                for index in range(min(count, _MAX_BUILT)):
                    placed[index] = placed.get(index, frozenset()) | {(node, True)}
        return placed

    def _place(
        self,
        demands: list[_Demand],
        number: int,
        placed: dict[int, frozenset[Literal]],
        taken: frozenset[tuple[int, int]],
    ) -> Iterator[list[Any]]:
        self._solver.spend()
        if number == len(demands):
            value = self._fill(placed)
            if value is not None:
                yield value
            return
        demand = demands[number]
        width = self._described.width
        tail = [index for index in placed if index >= width]
        fresh = max([width - 1, *tail]) + 1
        for index in (*range(width), *tail, fresh):
            literals = demand.places[min(index, width)]
            if (demand.group, index) in taken or not self._described.has_room(index + 1):
                continue
            joined = placed.get(index, frozenset()) | literals
            if self._possible(index, joined):
                yield from self._place(
                    demands, number + 1, {**placed, index: joined}, taken | {(demand.group, index)}
                )

    def _possible(self, index: int, literals: frozenset[Literal]) -> bool:
        if index in self._fixed:
            value = self._fixed[index]
            return all(holds(self._solver.pool, node, value) is sign for node, sign in literals)
        answer = self._solver.solve(self._described.at(index) | literals)
        if isinstance(answer, Unclear):
            self._doubt = answer.reason
            return False
        return isinstance(answer, Found)

    def _fill(self, placed: dict[int, frozenset[Literal]]) -> list[Any] | None:
        length = max([self._described.least, *(index + 1 for index in (*placed, *self._fixed))])
        if not self._described.has_room(length):
            return None
        value: list[Any] = []
        for index in range(min(length, _MAX_BUILT)):
            item = self._item(index, placed.get(index, frozenset()), value)
            if not isinstance(item, Found):
                # A place that must be filled and cannot be is a proof only if no earlier choice had a part in it;
                # where all places are alike, different values have simply run out.
                plain = self._solver.solve(self._described.at(index) | placed.get(index, frozenset()))
                alike = self._described.width == 0 and not placed and not self._fixed
                if not isinstance(plain, Empty) and not (alike and isinstance(item, Empty)):
                    self._doubt = self._doubt or "the items do not go together"
                return None
            value.append(item.value)
        if length > _MAX_BUILT:
            self._doubt = f"only arrays of more than {_MAX_BUILT} items are left"
            return None
        return value

    def _item(self, index: int, literals: frozenset[Literal], before: list[Any]) -> Answer:
        if index in self._fixed:
            return Found(self._fixed[index])
        wanted = self._described.at(index) | literals
        if self._described.unique and before:
            wanted |= {(self._solver.pool.values(before), False)}
        sparing = wanted | {(node, False) for node, _ in self._described.caps}
        answer = self._solver.solve(sparing)
        return answer if isinstance(answer, Found) else self._solver.solve(wanted)
