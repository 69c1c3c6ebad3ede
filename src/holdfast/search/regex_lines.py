"""How far one match of a regular expression can reach: a character, a line, or any part of the text.

Where it is no further than a line, lines may be looked at apart. The answer errs to one side: what is not
understood may reach anywhere.
"""

import re
from enum import Enum
from typing import Any

from holdfast.search.regex import Tree, parsed

__all__ = ["Reach", "reach_of"]

# Classes that only RE2 knows and that hold no end of a line: of letters, marks, numbers and so on, and of POSIX.
_HARMLESS = re.compile(r"\\p(?:[LMNPSZ]|\{[LMNPSZ][a-z]?\})|\[:(?!space|cntrl)\w+:\]")
_OWN = re.compile(r"\\[pP]|\[:")
_EVERYTHING = re.compile(r"\(\?[a-zA-Z]*s")  # the dot is any character from here on
_CATEGORIES = frozenset({"CATEGORY_DIGIT", "CATEGORY_WORD", "CATEGORY_NOT_SPACE"})
_NEWLINE = ord("\n")


class Reach(Enum):
    """Within what every match stays."""

    CHARACTER = "character"
    LINE = "line"
    TEXT = "text"


def reach_of(pattern: str, flags: str = "") -> Reach:
    """How far a match can reach; the pattern must be one that `regex.compiled` accepts."""
    tree = parsed(pattern, flags)
    if tree.getwidth()[1] <= 1:
        return Reach.CHARACTER
    if _OWN.search(_HARMLESS.sub("", pattern)):
        return Reach.TEXT
    dot = "s" in flags or _EVERYTHING.search(pattern) is not None
    return Reach.TEXT if _takes_newline(tree, dot=dot) else Reach.LINE


def _takes_newline(tree: Tree, *, dot: bool) -> bool:
    return any(_node(str(operator), value, dot=dot) for operator, value in tree)


def _node(operator: str, value: Any, *, dot: bool) -> bool:
    match operator:
        case "LITERAL":
            return bool(value == _NEWLINE)
        case "NOT_LITERAL":
            return bool(value != _NEWLINE)
        case "ANY":
            return dot
        case "IN":
            return _class(value)
        case "SUBPATTERN":
            return _takes_newline(value[3], dot=dot)
        case "BRANCH":
            return any(_takes_newline(alternative, dot=dot) for alternative in value[1])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _takes_newline(value[2], dot=dot)
        case "AT":
            return False
        case _:
            return True


def _class(items: list[tuple[Any, Any]]) -> bool:
    """Whether a class holds the end of a line; of a negated one only what it plainly leaves out is believed."""
    is_negated = str(items[0][0]) == "NEGATE"
    held = any(_member(str(operator), value, plainly=is_negated) for operator, value in items)
    return not held if is_negated else held


def _member(operator: str, value: Any, *, plainly: bool) -> bool:
    match operator:
        case "LITERAL":
            return bool(value == _NEWLINE)
        case "RANGE":
            return bool(value[0] <= _NEWLINE <= value[1])
        case "CATEGORY":
            return str(value) == "CATEGORY_SPACE" or (not plainly and str(value) not in _CATEGORIES)
        case "NEGATE":
            return False
        case _:
            return not plainly
