"""The blocks of a function, by indentation or braces: which assignment replaces another, what is repeated."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Block", "find_blocks"]

_BY_INDENT = frozenset({"python", "ruby", "lua", "elixir", "shell", "sql"})
_LOOP_LINE = re.compile(rb"(?:async\s+)?(?:for|while|until|loop)\b|[^\n]*\.each\w*\b", re.IGNORECASE)
_LOOP_WORD = re.compile(rb"(?<![\w.$])(?:for|foreach|while|do|loop)\b")
_BRACE = re.compile(rb"[{}]")
_HEADER_SIGN = re.compile(rb"[(){}]")
_LONGEST_HEADER = 400


@dataclass(frozen=True, slots=True)
class Block:
    """A range of the text; `loop` when it may run more than once."""

    start: int
    end: int
    loop: bool


def find_blocks(language: str, text: bytes) -> list[Block]:
    """The blocks of a masked text, outer before inner."""
    found = _indented(text) if language in _BY_INDENT else _braced(text)
    return sorted(found, key=lambda block: (block.start, -block.end))


def _indented(text: bytes) -> Iterator[Block]:
    """Deeper lines belong to the line above them. A continued line seems to be a block too, which does no harm."""
    open_blocks: list[tuple[int, int, bool]] = []  # indent of the line above, start, loop
    position, above, line_above = 0, 0, b""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare:
            indent = len(line) - len(line.lstrip())
            while open_blocks and indent <= open_blocks[-1][0]:
                _, start, loop = open_blocks.pop()
                yield Block(start, position, loop)
            if line_above and indent > above:
                open_blocks.append((above, position, bool(_LOOP_LINE.match(line_above))))
            above, line_above = indent, bare
        position += len(line)
    for _, start, loop in open_blocks:
        yield Block(start, len(text), loop)


def _braced(text: bytes) -> Iterator[Block]:
    loops = {_brace_behind(text, word.end()) for word in _LOOP_WORD.finditer(text)}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace.group() == b"{":
            opened.append(brace.start())
        elif opened:
            start = opened.pop()
            yield Block(start, brace.end(), start in loops)
    for start in opened:
        yield Block(start, len(text), start in loops)


def _brace_behind(text: bytes, position: int) -> int:
    """Where the body of the loop starts whose header is here; -1 when it has no braces."""
    depth = 0
    for sign in _HEADER_SIGN.finditer(text, position, position + _LONGEST_HEADER):
        if sign.group() == b"(":
            depth += 1
        elif sign.group() == b")":
            depth -= 1
        elif depth == 0:
            return sign.start() if sign.group() == b"{" else -1
    return -1
