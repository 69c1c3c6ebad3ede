"""Numbers: an interval, what they are multiples of, what they are not multiples of, and a few that are left out.

Arithmetic is exact. Emptiness is claimed for real numbers, of which doubles are some.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from holdfast.contract.inclusion.evaluate import multiple
from holdfast.contract.inclusion.nodes import High, Low, MultipleOf, Values
from holdfast.contract.inclusion.solver import EMPTY, Answer, Found, Literal, Solver, Unclear
from holdfast.contract.inclusion.values import Number, plain_number

__all__ = ["decide_number"]

_TRIES = 200


@dataclass
class _Numbers:
    """What a list of literals says about a number."""

    low: tuple[Number, bool] | None = None
    high: tuple[Number, bool] | None = None
    step: Number | None = None
    not_steps: list[Number] = field(default_factory=list)
    excluded: set[Number] = field(default_factory=set)

    def raise_low(self, bound: Number, strict: bool) -> None:
        """Keep the higher lower bound."""
        if self.low is None or (bound, strict) > self.low:
            self.low = (bound, strict)

    def drop_high(self, bound: Number, strict: bool) -> None:
        """Keep the lower upper bound."""
        if self.high is None or (bound, not strict) < (self.high[0], not self.high[1]):
            self.high = (bound, strict)

    def fits(self, number: Number) -> bool:
        """Whether a number is as described."""
        return (
            self._inside(number)
            and number not in self.excluded
            and (self.step is None or multiple(number, self.step))
            and not any(multiple(number, factor) for factor in self.not_steps)
        )

    def _inside(self, number: Number) -> bool:
        above = self.low is None or number > self.low[0] or (number == self.low[0] and not self.low[1])
        below = self.high is None or number < self.high[0] or (number == self.high[0] and not self.high[1])
        return above and below

    def crossed(self) -> bool:
        """Whether the bounds leave no number between them."""
        if self.low is None or self.high is None:
            return False
        return self.low[0] > self.high[0] or (self.low[0] == self.high[0] and (self.low[1] or self.high[1]))


def decide_number(solver: Solver, literals: list[Literal]) -> Answer:
    """Whether a number fits all literals."""
    described = _describe(literals)
    if described.crossed():
        return EMPTY
    if described.step is not None:
        return _on_grid(solver, described, described.step)
    if described.low and described.high and described.low[0] == described.high[0]:
        return _plain(described, [described.low[0]], exhaustive=True)
    return _plain(described, _between(described), exhaustive=False)


def _describe(literals: Iterable[Literal]) -> _Numbers:
    described = _Numbers()
    for node, sign in literals:
        if isinstance(node, Low):
            if sign:
                described.raise_low(node.bound, node.strict)
            else:
                described.drop_high(node.bound, not node.strict)
        elif isinstance(node, High):
            if sign:
                described.drop_high(node.bound, node.strict)
            else:
                described.raise_low(node.bound, not node.strict)
        elif isinstance(node, MultipleOf):
            if sign:
                described.step = node.factor if described.step is None else _lcm(described.step, node.factor)
            else:
                described.not_steps.append(node.factor)
        elif isinstance(node, Values):
            described.excluded |= {key[1] for key in node.keys if key[0] == "number"}
    return described


def _lcm(one: Number, other: Number) -> Number:
    first, second = Fraction(one), Fraction(other)
    return Fraction(lcm(first.numerator, second.numerator), gcd(first.denominator, second.denominator))


def _on_grid(solver: Solver, described: _Numbers, step: Number) -> Answer:
    if any(multiple(step, factor) for factor in described.not_steps):
        return EMPTY
    lowest = _lowest(described, step)
    highest = _highest(described, step)
    if lowest is not None and highest is not None and lowest > highest:
        return EMPTY
    points = _points(lowest, highest)
    solver.spend(1 + len(described.excluded) // 100)
    limit = _TRIES + len(described.excluded)
    finite = lowest is not None and highest is not None and highest - lowest < limit
    tried = (step * index for index, _ in zip(points, range(limit), strict=False))
    return _plain(described, tried, exhaustive=finite)


def _lowest(described: _Numbers, step: Number) -> int | None:
    if described.low is None:
        return None
    bound, strict = described.low
    index = ceil(Fraction(bound) / step)
    return index + 1 if strict and index * step == bound else index


def _highest(described: _Numbers, step: Number) -> int | None:
    if described.high is None:
        return None
    bound, strict = described.high
    index = floor(Fraction(bound) / step)
    return index - 1 if strict and index * step == bound else index


def _points(lowest: int | None, highest: int | None) -> Iterator[int]:
    """Indexes of multiples, beginning with the one nearest to a bound; all of them when there are two bounds."""
    if lowest is not None and highest is not None:
        yield from range(lowest, highest + 1)
    elif lowest is not None:
        yield from iter(range(lowest, lowest + 10 * _TRIES))
    elif highest is not None:
        yield from iter(range(highest, highest - 10 * _TRIES, -1))
    else:
        for distance in range(10 * _TRIES):
            yield distance
            yield -distance - 1


def _between(described: _Numbers) -> Iterator[Number]:
    """Numbers inside an interval: bounds, whole ones beside them, and ever finer fractions."""
    low = described.low[0] if described.low else None
    high = described.high[0] if described.high else None
    if low is None and high is None:
        low, high = 0, 1
    elif low is None:
        assert high is not None
        low = high - 1
    elif high is None:
        high = low + 1
    assert low is not None
    assert high is not None
    yield from (low, high, floor(low) + 1, ceil(high) - 1)
    for pieces in (2, 3, 4, 5, 8, 10, 16, 100, 128, 1000, 1024, 2**20):
        for part in (1, pieces - 1, pieces // 2):
            yield low + Fraction(high - low) * part / pieces
    for index in range(2, _TRIES + 2 * len(described.excluded)):
        yield low + Fraction(high - low) / index
        yield low + index
        yield high - index


def _plain(described: _Numbers, numbers: Iterable[Number], *, exhaustive: bool) -> Answer:
    unsayable = False
    for number in numbers:
        if described.fits(number):
            value = plain_number(number)
            if value is not None:
                return Found(value)
            unsayable = True
    if exhaustive and not unsayable:
        return EMPTY
    return Unclear("no number was found between bounds and multiples")
