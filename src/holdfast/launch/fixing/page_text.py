"""Finding and taking away lines of a page, for the rules that mend it."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from holdfast.launch.claim_marks import without_marks

__all__ = ["is_shell", "line_of", "shown", "without_lines"]

_SHELL = re.compile(r"[\s>*+|:_~#.,;!?-]*|\s*\d+[.)]\s*")


def shown(line: str) -> str:
    """A line as an issue names it."""
    return without_marks(line).strip()


def line_of(lines: list[str], issue: Mapping[str, Any], *, avoiding: Collection[int] = ()) -> int:
    """Where (from 0) the line is that an issue is about: of all that read so, the nearest; -1 where none does.

    `avoiding` are the numbers (from 1) of lines that it cannot be.
    """
    wanted = issue["data"]["line_text"]
    near = issue["location"].get("line", 1) - 1
    places = [place for place, line in enumerate(lines) if shown(line) == wanted and place + 1 not in avoiding]
    return min(places, key=lambda place: (abs(place - near), place), default=-1)


def without_lines(lines: list[str], first: int, stop: int) -> list[str]:
    """The lines without some of them, and without the second of two empty lines that then meet."""
    above, below = lines[:first], lines[stop:]
    if below and not below[0].strip() and (not above or not above[-1].strip()):
        # The last line feed of the file is no empty line.
        below = below[1:] if len(below) > 1 else below
    while len(above) > 1 and below == [""] and not above[-1].strip():
        above = above[:-1]
    return above + below


def is_shell(line: str) -> bool:
    """Whether nothing is left of a line but its bullet, its hashes or its table's bars."""
    return _SHELL.fullmatch(without_marks(line)) is not None
