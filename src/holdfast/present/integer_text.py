"""Whole numbers written as text: which texts mean one, and the pattern of those whose number lies in a range.

`7`, ` 7 ` and `7.000` mean 7. `7.5`, `1e3`, `+7` and the empty text mean nothing here: a value is taken over
exactly or not at all. No float is involved, so 9007199254740993 stays what it is.
"""

import re
from collections.abc import Iterable
from itertools import takewhile

__all__ = ["MAX_TEXT", "Range", "integer_pattern", "parse_integer"]

Range = tuple[int | None, int | None]
"""The lowest and the highest number, both included; None is no bound."""

# Longer texts are refused: no number of interest has 400 digits, and a converter's time must have a bound.
MAX_TEXT = 400
_BLANKS = "[ \\t\\r\\n]*"
_ANY_INTEGER = "-?[0-9]+"
_INTEGER = re.compile(rf"{_BLANKS}({_ANY_INTEGER})(?:\.0+)?{_BLANKS}")


def parse_integer(text: str) -> int:
    """The number that the text means; ValueError says why it means none."""
    match = _INTEGER.fullmatch(text) if len(text) <= MAX_TEXT else None
    if match is None:
        raise ValueError("is not the text of a whole number")
    return int(match[1])


def integer_pattern(ranges: Iterable[Range]) -> str:
    """A regular expression for the texts that `parse_integer` reads as a number within one of the ranges.

    It uses nothing but classes, groups and counts, which every dialect of regular expressions has.
    """
    alternatives = [alternative for low, high in ranges for alternative in _alternatives(low, high)]
    return f"^{_BLANKS}(?:{'|'.join(alternatives)})(?:\\.0+)?{_BLANKS}$"


def _alternatives(low: int | None, high: int | None) -> list[str]:
    if low is None and high is None:
        return [_ANY_INTEGER]
    found: list[str] = []
    if low is None or low < 0:
        nearest = -high if high is not None and high < 0 else 1
        found += _prefixed("-0*", _magnitudes(nearest, None if low is None else -low))
    if (low is None or low <= 0) and (high is None or high >= 0):
        found.append("-?0+")
    if high is None or high > 0:
        found += _prefixed("0*", _magnitudes(max(low or 1, 1), high))
    return found


def _prefixed(prefix: str, alternatives: list[str]) -> list[str]:
    if len(alternatives) > 1:
        alternatives = [f"(?:{'|'.join(alternatives)})"]
    return [prefix + alternative for alternative in alternatives]


def _digits(fewest: int, most: int | None) -> str:
    """A pattern of so many digits; no more of it than is needed, because models and people read it."""
    if most == 0:
        return ""
    if most is None:
        return "[0-9]" + {0: "*", 1: "+"}.get(fewest, f"{{{fewest},}}")
    if fewest == most:
        return "[0-9]" if most == 1 else f"[0-9]{{{most}}}"
    return f"[0-9]{{{fewest},{most}}}"


def _magnitudes(low: int, high: int | None) -> list[str]:
    """Patterns of the numbers from `low` (at least 1) to `high`, written without leading zeros."""
    first = str(low)
    if high is None:
        if first.strip("0") == "1":
            return ["[1-9]" + _digits(len(first) - 1, None)]
        return [*_same_length(first, "9" * len(first)), "[1-9]" + _digits(len(first), None)]
    last = str(high)
    if low > high:
        return []
    if len(first) == len(last):
        return _same_length(first, last)
    found = _same_length(first, "9" * len(first))
    if len(last) - len(first) > 1:
        found.append("[1-9]" + _digits(len(first), len(last) - 2))
    return found + _same_length("1" + "0" * (len(last) - 1), last)


def _same_length(low: str, high: str) -> list[str]:
    """Patterns of the digit strings from `low` to `high`, which are equally long."""
    prefix = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=True)))
    low, high = low[len(prefix) :], high[len(prefix) :]
    if not low:
        return [prefix]
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    found: list[str] = []
    if low[1:].strip("0"):
        found += [f"{prefix}{first}{more}" for more in _same_length(low[1:], "9" * rest)]
        first += 1
    above: list[str] = []
    if high[1:].strip("9"):
        above = [f"{prefix}{last}{more}" for more in _same_length("0" * rest, high[1:])]
        last -= 1
    if first <= last:
        found.append(prefix + (str(first) if first == last else f"[{first}-{last}]") + _digits(rest, rest))
    return found + above
