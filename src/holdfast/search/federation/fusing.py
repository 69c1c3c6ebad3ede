"""One order for the hits of several repositories: reciprocal rank fusion of what two voters say.

The first voter is the repository of a hit: its place in the order there. The second compares hits of different
repositories by their words: its place among all of them, where no repository puts more than COMPARED before it. So
every repository is heard, and one in which nothing fits well does not push aside what fits better elsewhere.

    score = 1 / (RRF_K + place at home) + 1 / (RRF_K + place among all)

The hits of one repository keep their order. Whatever is compared is looked at to the same depth however many hits
are shown, so that a longer list begins with the shorter one.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

__all__ = ["COMPARED", "RRF_K", "Placed", "fused"]

RRF_K = 60  # the usual constant: the larger it is, the less the first places count
COMPARED = 10  # hits of each repository that others are compared with


class Placed(NamedTuple):
    """A hit in the common order: which list, its place there from 0, its score, and what the voters said."""

    member: int
    position: int
    score: float
    at_home: int
    among_all: int


def fused(scores: Sequence[Sequence[float]], priorities: Sequence[int], top: int) -> list[Placed]:
    """The first `top` of all lists; each is given by the scores of its hits, in its own order.

    What is equal is settled by priority, by the score, and by the order in which the lists are given.
    """
    # A list is never put into another order: where its scores rise, the lower one counts.
    falling = [list(accumulate(one, min)) for one in scores]
    compared = [[-score for score in one[:COMPARED]] for one in falling]
    every = sorted(score for one in compared for score in one)
    keyed = []
    for member, listed in enumerate(falling):
        for position, own in enumerate(listed[:top]):
            better = bisect_left(every, -own) - bisect_left(compared[member], -own)
            at_home, among_all = position + 1, position + 1 + better
            score = 1 / (RRF_K + at_home) + 1 / (RRF_K + among_all)
            key = (-score, -priorities[member], -own, member, position)
            keyed.append((key, Placed(member, position, score, at_home, among_all)))
    return [placed for _, placed in sorted(keyed)[:top]]
