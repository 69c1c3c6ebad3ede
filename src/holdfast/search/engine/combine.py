"""Sets of chunks, with scores or without, and what AND and OR make of them.

A filter gives a plain set: it decides, and adds nothing. Words give scores; where several conditions match the
same chunk, their scores are added up. Everything is a set of its own kind, as it is in the default backend: beside
other conditions of an AND it says nothing, and in an OR it adds 1 to every chunk, once.
"""

from collections.abc import Sequence
from enum import Enum

__all__ = ["EVERYTHING", "Everything", "Matched", "added", "all_of", "any_of", "within"]


class Everything(Enum):
    """The set of all chunks."""

    CHUNKS = "chunks"


EVERYTHING = Everything.CHUNKS
Some = dict[int, float] | frozenset[int]
Matched = Some | Everything


def within(matched: Matched, every: frozenset[int]) -> Some:
    """The same with the set of all chunks said in full."""
    return dict.fromkeys(every, 1.0) if isinstance(matched, Everything) else matched


def all_of(matched: Sequence[Matched]) -> Matched:
    """Chunks that are in all of them; no condition at all is met by every chunk."""
    telling = [one for one in matched if not isinstance(one, Everything)]
    if not telling:
        return EVERYTHING
    if len(telling) == 1:
        return telling[0]
    first, *others = sorted(telling, key=len)
    numbers = list(first)
    for other in others:
        numbers = [number for number in numbers if number in other]
    scored = [one for one in telling if isinstance(one, dict)]
    if not scored:
        return frozenset(numbers)
    return {number: sum([scores[number] for scores in scored]) for number in numbers}


def any_of(matched: Sequence[Matched], every: frozenset[int] = frozenset()) -> Matched:
    """Chunks that are in at least one of them; `every` is needed where one of them may be everything."""
    telling = [one for one in matched if not isinstance(one, Everything) and one]
    has_everything = any(isinstance(one, Everything) for one in matched)
    if has_everything:
        return added([*telling, within(EVERYTHING, every)]) if telling else EVERYTHING
    if len(telling) == 1:
        return telling[0]
    if not any(isinstance(one, dict) for one in telling):
        return frozenset[int]().union(*telling)
    return added(telling)


def added(matched: Sequence[Some]) -> dict[int, float]:
    """The scores of chunks that are in at least one of them."""
    total: dict[int, float] = {}
    for one in matched:
        scores = one if isinstance(one, dict) else dict.fromkeys(one, 0.0)
        for number, score in scores.items():
            total[number] = total.get(number, 0.0) + score
    return total
