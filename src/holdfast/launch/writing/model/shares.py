"""How a budget of a run is divided over its sections, which are written at the same time. Pure."""

from collections.abc import Sequence

__all__ = ["shares"]


def shares(budget: int, demands: Sequence[int]) -> list[int]:
    """What each gets of the budget, in proportion to what it could use; together exactly all of it.

    Who gets what is known before the first call, so the same run is written the same way.
    """
    total = sum(demands)
    if total == 0:
        return [0] * len(demands)
    whole = [budget * demand // total for demand in demands]
    rests = [budget * demand % total for demand in demands]
    left = budget - sum(whole)
    first = sorted(range(len(demands)), key=lambda index: (-rests[index], index))[:left]
    return [share + (index in first) for index, share in enumerate(whole)]
