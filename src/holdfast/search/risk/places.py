"""Names and places in the text of a chunk: what stands in front of a bracket, and which ranges are its own."""

import re

from holdfast.search.model import Chunk

__all__ = ["called_on", "chain_before", "is_letter", "name_start", "own_ranges", "plain_name"]

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
_LONGEST_CHAIN = 400


_JOINTS = re.compile(r"[?!]?(?:\.|->|::)[*]?|(?<=\w):(?=\w)")


def plain_name(callee: str) -> str:
    """The name with dots, whatever the language writes between its parts: `a.b` of `a?.b`, `a->b` and `a::b`."""
    return callee if callee.isidentifier() else _JOINTS.sub(".", callee)


def own_ranges(chunk: Chunk) -> list[tuple[int, int]]:
    """The ranges of the file that belong to the chunk itself.

    The range of a class or module holds other chunks; its own calls and assignments are what it says itself.
    """
    if chunk.text is None:
        return [(chunk.start, chunk.end)]
    return [(site.start, site.end) for site in chunk.call_sites] + [(w.start, w.end) for w in chunk.written]


def called_on(plain: bytes, start: int, callee: str) -> bool:
    """Whether the callee whose bracket is here is a method of something: a dot stands before it."""
    before = plain[max(0, start - _LONGEST_CHAIN) : start].rstrip()
    if not before.endswith(callee.encode()):
        return False
    return before[: -len(callee.encode())].rstrip().endswith((b".", b"->", b"::"))


def chain_before(plain: bytes, end: int) -> str:
    """The name in front of this place, with `()` for every call in it: Runtime.getRuntime().exec."""
    kept, depth = [], 0
    for sign in plain[name_start(plain, end) : end].decode("utf-8", "replace"):
        if sign in ")]":
            depth -= 1
        if depth == 0 and not sign.isspace() and sign not in "[]":
            kept.append(sign)
        if sign in "([":
            depth += 1
    name = plain_name("".join(kept))
    return name if name and not name.startswith(".") else f"?{name}"


def name_start(plain: bytes, end: int) -> int:
    """Where the name begins that ends here: over dots, names, and brackets as wholes."""
    low = max(0, end - _LONGEST_CHAIN)
    position = len(plain[low:end].rstrip()) + low
    expects_name = True
    while position > low:
        sign = plain[position - 1 : position]
        if sign in b")]":
            opened = _opening(plain, position, low)
            if opened is None:
                break
            position, expects_name = opened, True
        elif expects_name and is_letter(plain, position - 1):
            while position > low and is_letter(plain, position - 1):
                position -= 1
            expects_name = False
        elif sign in b".?!":
            position, expects_name = len(plain[low : position - 1].rstrip()) + low, True
        elif plain[position - 2 : position] in (b"->", b"::"):
            position, expects_name = len(plain[low : position - 2].rstrip()) + low, True
        elif sign.isspace() and plain[low:position].rstrip()[-1:] == b".":
            position = len(plain[low:position].rstrip()) + low
        else:
            break
    return position


def is_letter(plain: bytes, position: int) -> bool:
    """Whether a name could go on here."""
    return position >= 0 and (plain[position] in _LETTERS or plain[position] >= 128)


def _opening(plain: bytes, end: int, low: int) -> int | None:
    depth = 0
    for position in range(end - 1, low - 1, -1):
        sign = plain[position]
        if sign in b")]":
            depth += 1
        elif sign in b"([":
            depth -= 1
            if depth == 0:
                return position
    return None
