"""JSON with comments and trailing commas, as people write it by hand; every mistake is told with line and column.

Strict in all the rest: a key that stands twice, a number that cannot be kept, half of a character and nesting
without an end are mistakes. The exchange of messages has a reader of its own, which is about speed.
"""

import json
import math
import re
from typing import Any, Never

from holdfast.errors import HoldfastError

__all__ = ["MAX_DEPTH", "JsoncError", "parse_jsonc"]

MAX_DEPTH = 64
_LONGEST_NUMBER = 100  # characters; no setting needs more
_LONGEST_SHOWN = 60  # characters of a key in a message

_BETWEEN = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[\s\S]*?\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD = re.compile(r"[A-Za-z0-9_$]++")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORDS = {"true": True, "false": False, "null": None}


class JsoncError(HoldfastError):
    """A text that is no JSONC; `line` and `column` count from 1, in characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


def parse_jsonc(text: str) -> Any:
    """The value of a text; JsoncError says where it goes wrong."""
    return _Parser(text.removeprefix("\ufeff")).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Any:
        self._skip()
        value = self._value(1)
        self._skip()
        if self._at < len(self._text):
            self._fail("something stands behind the end of the value")
        return value

    def _value(self, depth: int) -> Any:
        character = self._next()
        if character in ("{", "["):
            if depth > MAX_DEPTH:
                self._fail(f"it is nested deeper than {MAX_DEPTH} levels")
            return self._object(depth) if character == "{" else self._array(depth)
        if character == '"':
            return self._string()
        if character == "-" or character.isdecimal():
            return self._number()
        word = _WORD.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            self._fail("a value is expected here" if character else "the text ends too early")
        self._at = word.end()
        return _WORDS[word[0]]

    def _object(self, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        self._open()
        while self._next() != "}":
            start = self._at
            if self._next() != '"':
                self._fail("a key in double quotes, or }, is expected here")
            key = self._string()
            if key in entries:
                self._fail(f"the key {key[:_LONGEST_SHOWN]!r} stands twice", start)
            self._skip()
            if self._next() != ":":
                self._fail("a : is expected here")
            self._at += 1
            self._skip()
            entries[key] = self._value(depth + 1)
            self._separate("}")
        self._at += 1
        return entries

    def _array(self, depth: int) -> list[Any]:
        entries: list[Any] = []
        self._open()
        while self._next() != "]":
            entries.append(self._value(depth + 1))
            self._separate("]")
        self._at += 1
        return entries

    def _open(self) -> None:
        self._at += 1
        self._skip()

    def _separate(self, closing: str) -> None:
        """What stands behind an entry: a comma, which may be the last, or the end."""
        self._skip()
        if self._next() == ",":
            self._at += 1
            self._skip()
        elif self._next() != closing:
            self._fail(f"a comma or {closing} is expected here" if self._next() else "the text ends too early")

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            self._fail("this text in quotes does not end, or holds what must be escaped")
        text: str = json.loads(found[0])
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            self._fail("this text holds half of a character")
        self._at = found.end()
        return text

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._at)
        if found is None or _WORD.match(self._text, found.end()):
            self._fail("this is not a number as JSON writes it")
        if len(found[0]) > _LONGEST_NUMBER:
            self._fail("this number is too long")
        is_whole = found[0].lstrip("-").isdecimal()
        number = int(found[0]) if is_whole else float(found[0])
        if not is_whole and not math.isfinite(number):
            self._fail("this number is too large")
        self._at = found.end()
        return number

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        """Go on behind white space and comments."""
        found = _BETWEEN.match(self._text, self._at)
        self._at = found.end() if found else self._at
        if self._text.startswith("/*", self._at):
            self._fail("this comment does not end")

    def _fail(self, message: str, at: int | None = None) -> Never:
        position = self._at if at is None else at
        ends = [end.end() for end in _LINE_END.finditer(self._text, 0, position)]
        raise JsoncError(message, len(ends) + 1, position - (ends[-1] if ends else 0) + 1)
