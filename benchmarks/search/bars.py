"""Figures and the bars that they have to clear, as one table."""

import operator

__all__ = ["Bars", "missed", "percentile", "show_bars", "verdict"]

Bars = dict[str, tuple[float, str]]
WAYS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


def missed(bars: Bars) -> list[str]:
    """The bars that were not cleared; a figure that is no number clears none."""
    found = []
    for what, (figure, bar) in bars.items():
        way, limit = bar.split()
        if not WAYS[way](figure, float(limit)):
            found.append(what)
    return found


def show_bars(bars: Bars) -> None:
    """Print every figure beside its bar."""
    below = missed(bars)
    print()
    for what, (figure, bar) in bars.items():
        print(f"{what:66} {figure:9.3f}   bar {bar}{'   MISSED' if what in below else ''}")


def verdict(bars: Bars, *, no_bars: bool) -> int:
    """The exit code: 1 when a bar was missed, unless nobody asked."""
    return 1 if missed(bars) and not no_bars else 0


def percentile(values: list[float], part: float) -> float:
    """The value that `part` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
