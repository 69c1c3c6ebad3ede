"""On which line of a piece of JSON each of its members stands, by JSON Pointer.

Reads tokens only, comments included, so that it also works on JSON that is not quite JSON; never raises.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["key_lines"]

# A string that its line does not end takes the rest of the line.
_TOKEN = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[{}\[\],:]|[^\s{}\[\],:"/]++|/'
)
_OPENING: dict[str, str | int] = {"{": "", "[": 0}
_AFTER_A_VALUE = frozenset("}],:")
_MAX_MEMBERS = 50_000
_MAX_DEPTH = 100


@lru_cache(maxsize=16)
def key_lines(text: str) -> dict[str, int]:
    """The line, counted from 0, of each member and each item; the outermost value has the pointer of no text."""
    lines = {"": 0}
    path: list[str | int] = []
    waiting: str | None = None  # a string that becomes a key when a colon follows
    for piece, line in _tokens(text):
        if len(lines) > _MAX_MEMBERS or len(path) > _MAX_DEPTH:
            break
        if path and isinstance(path[-1], int) and piece not in _AFTER_A_VALUE:
            lines.setdefault(_pointer(path), line)
        if piece in _OPENING:
            path.append(_OPENING[piece])
        elif piece in "}]":
            del path[-1:]
        elif piece == ":" and waiting is not None and path and isinstance(path[-1], str):
            path[-1] = _key(waiting)
            lines[_pointer(path)] = line
        elif piece == "," and path and isinstance(path[-1], int):
            path[-1] += 1
        waiting = piece if piece.startswith('"') else None
    return lines


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = place = 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        if not match.group().startswith(("//", "/*")):
            yield match.group(), line


def _pointer(path: list[str | int]) -> str:
    return "".join(f"/{part}" for part in path)


def _key(piece: str) -> str:
    bare = piece[1:-1]
    if "\\" in bare:
        bare = re.sub(r'\\(["\\/])', r"\1", bare)
    return bare.replace("~", "~0").replace("/", "~1")
