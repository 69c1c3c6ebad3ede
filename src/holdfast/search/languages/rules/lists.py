"""Splitting a written list at its commas: parameters, imports, targets of an assignment.

Brackets inside are respected. What stands in strings must be blanked out by the caller in the second text.
"""

import re

__all__ = ["find_outside", "split_list", "split_typed"]

_SIGNS = re.compile(r"[,(\[{)\]}]")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_ARROW = re.compile("[-=]>")
_ANGLES = str.maketrans("<>", "()")
_QUOTED = re.compile(r"\"[^\"]*\"?|'[^']*'?|`[^`]*`?")


def split_list(text: str, blanked: str | None = None) -> list[str]:
    """The items of `a, b(c, d), e`, stripped, without empty ones; commas are looked for in `blanked`."""
    # Where a broken character makes the two differ in length, the text itself is as good as it gets.
    where = text if blanked is None or len(blanked) != len(text) else blanked
    if "," not in where:
        pieces = [text]
    elif "(" not in where and "[" not in where and "{" not in where and where.count(",") == text.count(","):
        pieces = text.split(",")
    else:
        pieces = _pieces(text, where)
    return [stripped for piece in pieces if (stripped := piece.strip())]


def split_typed(text: str, blanked: str | None = None) -> list[str]:
    """The same where angle brackets are brackets too: `a: Map<K, V>, b: F`."""
    where = text if blanked is None or len(blanked) != len(text) else blanked
    return (
        split_list(text, _ARROW.sub("  ", where).translate(_ANGLES)) if "<" in where else split_list(text, where)
    )


def find_outside(text: str, sign: str) -> int:
    """Where `sign`, one character, stands outside of any brackets and strings; -1 if nowhere."""
    position = text.find(sign)
    if position < 0 or not any(letter in text[:position] for letter in "([{'\"`"):
        return position
    hidden = _QUOTED.sub(lambda found: " " * len(found[0]), text)
    depth = 0
    for index, letter in enumerate(hidden):
        depth += _DEPTH.get(letter, 0)
        if letter == sign and depth == 0:
            return index
    return -1


def _pieces(text: str, where: str) -> list[str]:
    pieces, start, depth = [], 0, 0
    for found in _SIGNS.finditer(where):
        sign = found[0]
        if sign != ",":
            depth += _DEPTH[sign]
        elif depth <= 0:
            pieces.append(text[start : found.start()])
            start = found.end()
    return [*pieces, text[start:]]
