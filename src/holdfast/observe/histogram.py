"""A histogram of times with fixed buckets: cheap to add to, and good enough to tell how long most calls take.

It keeps counts and no times, so its size never changes; a percentile read from it is an estimate, right to within
the bucket that it falls into.
"""

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["BOUNDS", "Histogram"]

# Seconds. From what costs nothing to what an agent is left waiting for; one more bucket holds all that is longer.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)


class Histogram:
    """How often a time fell between two bounds, and the sum of all times."""

    __slots__ = ("bounds", "counts", "longest", "total")

    def __init__(self, bounds: Sequence[float] = BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        self.longest = 0.0

    def add(self, seconds: float) -> None:
        """Count one time."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds
        if seconds > self.longest:
            self.longest = seconds

    @property
    def count(self) -> int:
        """How many times were counted."""
        return sum(self.counts)

    def quantile(self, share: float) -> float | None:
        """The time that this share of all calls did not exceed, about; None when there was none."""
        rank = share * self.count
        below = 0
        for place, count in enumerate(self.counts):
            if count and below + count >= rank:
                low = self.bounds[place - 1] if place else 0.0
                high = self.bounds[place] if place < len(self.bounds) else self.longest
                estimate = low + (high - low) * max(0.0, rank - below) / count
                return min(estimate, self.longest)
            below += count
        return None
