"""Conditions inside of values: `a if c else b` and `c ? a : b` are `a` or `b`, and never `c`."""

import re
from itertools import islice

__all__ = ["without_conditions"]

_INK = re.compile(rb"[^\n]")
_PYTHON = re.compile(rb"(?<=[^\n])\bif\b([^\n:]{1,200}?)\belse\b")
_IN_BRACKETS = re.compile(rb"(?<![\w$.])if\s*(?=\()")
_BEFORE_BRACE = re.compile(rb"(?<![\w.])if\s+(?!let\b)([^\n{]{1,200})\{")
_QUESTION = re.compile(rb"(?<![?\w.])\?(?![?.:>\])])|(?<=\w)\?(?=\s)")
_STARTS = re.compile(rb"[(\[{,;\n]|(?<![=!<>])=(?![=~])>?|&&|\|\|")
_WITH_QUESTION = frozenset(
    {
        "javascript",
        "typescript",
        "tsx",
        "jsx",
        "vue",
        "svelte",
        "java",
        "c",
        "cpp",
        "csharp",
        "php",
        "ruby",
        "swift",
    }
)
_WITH_BRACKETS = frozenset({"kotlin", "scala"})
_WITH_BRACES = frozenset({"rust", "swift", "go"})
_LONGEST = 300
_MOST = 500  # of one function


def without_conditions(language: str, plain: bytes) -> bytes:
    """The masked text with blanks in place of conditions; as long as before."""
    spans: list[tuple[int, int]] = []
    if language == "python":
        spans += [found.span(1) for found in _PYTHON.finditer(plain)]
    if language in _WITH_QUESTION and b"?" in plain:
        spans += [_before(plain, found.start()) for found in islice(_QUESTION.finditer(plain), _MOST)]
    if language in _WITH_BRACKETS:
        spans += [(found.end(), _closing(plain, found.end())) for found in _IN_BRACKETS.finditer(plain)]
    if language in _WITH_BRACES:
        spans += [found.span(1) for found in _BEFORE_BRACE.finditer(plain)]
    if not spans:
        return plain
    copy = bytearray(plain)
    for start, end in spans:
        copy[start:end] = _INK.sub(b" ", plain[start:end])
    return bytes(copy)


def _before(plain: bytes, question: int) -> tuple[int, int]:
    """The condition in front of a question mark: back to what cannot be a part of it, over brackets as wholes."""
    low = max(0, question - _LONGEST)
    depth, position = 0, question
    while position > low:
        sign = plain[position - 1 : position]
        if sign in (b")", b"]"):
            depth += 1
        elif depth and sign in (b"(", b"["):
            depth -= 1
        elif depth == 0 and _STARTS.match(plain, position - 1):
            break
        position -= 1
    found = list(re.finditer(rb"\breturn\b", plain[position:question]))
    return (position + found[-1].end() if found else position), question


def _closing(plain: bytes, start: int) -> int:
    depth = 0
    for position in range(start, min(len(plain), start + _LONGEST)):
        if plain[position] == 40:
            depth += 1
        elif plain[position] == 41:
            depth -= 1
            if depth == 0:
                return position + 1
    return start
