"""What a function gives back, and where its body begins: by a few signs of each family of languages.

A `return` with its value, a body that is one expression (`=> x`), and, where that counts, the last line. Functions
inside of the function are not told apart from it.
"""

import re
from collections.abc import Iterator
from itertools import islice

__all__ = ["body_start", "find_returns", "statement_end"]

_LONGEST = 4000  # bytes of a statement
_LONGEST_HEADER = 2000
_MOST = 300  # values of one function
_RETURN = re.compile(rb"(?<![\w$.@])(?:return|yield|RETURN)\b")
_SIGN = re.compile(rb"[()\[\]{}\n;]")
_HEADER_SIGN = re.compile(rb"[()\[\]{:]|=>?(?!=)")
_GOES_ON = re.compile(rb"\s*(?:\??\.[A-Za-z_]|\|>|&&|\|\||\+\s|->)")
_CLOSES = {"ruby": b"end", "elixir": b"end", "rust": b"}", "scala": b"}", "swift": b"}"}
_BY_LINES = frozenset({"ruby", "lua", "elixir", "shell", "sql"})
_SCRIPTS = frozenset({"javascript", "typescript", "tsx", "jsx", "vue", "svelte"})
_ARROW = _SCRIPTS | {"csharp"}
_EQUALS = frozenset({"kotlin", "scala"})
_NO_VALUE = re.compile(rb"(?:if|for|while|end|else|let|val|var|def|puts|raise|unless|case|match)\b|[})\]]")


def statement_end(plain: bytes, start: int) -> int:
    """Where the statement ends that starts here: at its semicolon, or with its line where no bracket is open."""
    depth, limit = 0, min(len(plain), start + _LONGEST)
    for sign in _SIGN.finditer(plain, start, limit):
        kind = sign.group()
        if kind in b"([{":
            depth += 1
        elif kind in b")]}":
            depth -= 1
            if depth < 0:
                return sign.start()
        elif depth == 0 and (kind == b";" or not _GOES_ON.match(plain, sign.end())):
            return sign.start()
    return limit


def body_start(language: str, plain: bytes) -> int:
    """Where the first statement of a function stands, behind its header; 0 where no header is found."""
    if language in _BY_LINES:
        return _first_ink(plain, plain.find(b"\n") + 1)
    wanted = b":" if language == "python" else b"{"
    place = _header_sign(plain, (wanted, b"=>") if language in _ARROW else (wanted,))
    return _first_ink(plain, place[1]) if place is not None else 0


def find_returns(language: str, plain: bytes) -> Iterator[tuple[int, int]]:
    """The ranges of the values that a function gives back, in the order of position."""
    expression = _expression_body(language, plain)
    if expression is not None:
        yield expression
        return
    for found in islice(_RETURN.finditer(plain), _MOST):
        end = statement_end(plain, found.end())
        if plain[found.end() : end].strip():
            yield found.end(), end
    if language in _CLOSES:
        yield from _last_value(language, plain)


def _expression_body(language: str, plain: bytes) -> tuple[int, int] | None:
    wanted = b"=>" if language in _ARROW else b"=" if language in _EQUALS else None
    if wanted is None:
        return None
    place = _header_sign(plain, (wanted, b"{"))
    if place is None or place[0] != wanted:
        return None
    start = _first_ink(plain, place[1])
    end = len(plain.rstrip(b" \t\r\n;"))
    return None if start >= end or plain[start : start + 1] == b"{" else (start, end)


def _last_value(language: str, plain: bytes) -> Iterator[tuple[int, int]]:
    closes = _CLOSES[language]
    end = plain.rstrip().rfind(closes)
    line = _last_line(plain, body_start(language, plain), end) if end > 0 else None
    if line is None:
        return
    start = _first_ink(plain, line)
    while plain[start : start + 1] == b"." and (above := _last_line(plain, 0, line)) is not None:
        line, start = above, _first_ink(plain, above)  # a chain of calls, line by line
    is_statement = language == "rust" and plain[start:end].rstrip().endswith(b";")
    if not is_statement and not _NO_VALUE.match(plain, start) and not _RETURN.match(plain, start):
        yield start, end


def _last_line(plain: bytes, start: int, end: int) -> int | None:
    """Where the last line of a range begins that is not blank; by hand, because lines may be of any length."""
    ink = start + len(plain[start:end].rstrip())
    return max(start, plain.rfind(b"\n", start, ink) + 1) if ink > start else None


def _header_sign(plain: bytes, wanted: tuple[bytes, ...]) -> tuple[bytes, int] | None:
    """The first of these signs outside of brackets, and where it ends."""
    depth = 0
    for sign in _HEADER_SIGN.finditer(plain, 0, _LONGEST_HEADER):
        kind = sign.group()
        if depth == 0 and kind in wanted:
            return kind, sign.end()
        if kind in (b"(", b"[", b"{"):
            depth += 1
        elif kind in (b")", b"]"):
            depth -= 1
    return None


def _first_ink(plain: bytes, start: int) -> int:
    return start + len(plain[start:]) - len(plain[start:].lstrip())
