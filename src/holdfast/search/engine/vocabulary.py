"""Every value that a fact has somewhere, and which of them a filter means.

A filter is compared with the vocabulary, not with the chunks: thousands of values instead of a hundred thousand
chunks.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

__all__ = ["Vocabulary"]

_MARKS = ".:>\\/"  # the last sign of what languages write between the parts of a name: a.b, a::b, a->b
_PARTS = re.compile(r"[.:>\\/]")


def _last_name(name: str) -> str:
    last = name.rpartition(".")[2]
    return last if last.isidentifier() else _PARTS.split(last)[-1]


class Vocabulary:
    """Sorted values without duplicates."""

    def __init__(self, values: Iterable[str]) -> None:
        self.values = sorted(set(values))
        self._lowered: str | None = None
        self._starts: list[int] = []
        self._by_last_name: dict[str, list[str]] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def same(self, needle: str) -> list[str]:
        """The value itself."""
        place = bisect_right(self.values, needle) - 1
        return [needle] if place >= 0 and self.values[place] == needle else []

    def containing(self, needle: str) -> list[str]:
        """Values with the needle somewhere in them, whatever the case.

        All values are searched at once, as one text: most of them do not match.
        """
        low = needle.lower()
        text, starts = self._as_text()
        found = []
        place = text.find(low)
        while place >= 0:
            number = bisect_right(starts, place) - 1
            found.append(self.values[number])
            after = starts[number + 1]
            place = text.find(low, after)
        return found

    def named(self, needle: str) -> list[str]:
        """The name itself, or a longer one that ends with it: `run` finds `subprocess.run` and `Shell::run`."""
        if self._by_last_name is None:
            self._by_last_name = {}
            for value in self.values:
                self._by_last_name.setdefault(_last_name(value), []).append(value)
        name = needle.removesuffix("()")
        alike = self._by_last_name.get(_last_name(name), [])
        return [
            value for value in alike if value == name or (value.endswith(name) and value[-len(name) - 1] in _MARKS)
        ]

    def module(self, needle: str) -> list[str]:
        """The module itself, or something below it: `os` finds `os.path`, and never `ossaudiodev`."""
        below = tuple(needle + mark for mark in "./:\\")
        return [value for value in self.values if value == needle or value.startswith(below)]

    def _as_text(self) -> tuple[str, list[int]]:
        if self._lowered is None:
            lowered = [value.lower() for value in self.values]
            self._starts = [0, *accumulate(len(value) + 1 for value in lowered)]
            self._lowered = "\0".join(lowered)  # a character that no needle has
        return self._lowered, self._starts
