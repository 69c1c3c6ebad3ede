"""Where things stand in a JSON text: comments blanked out, and the members of one object with their places.

The text has been checked before it is scanned, so nothing here is about mistakes; nothing here changes a text.
"""

import json
import re
from dataclasses import dataclass

__all__ = ["Member", "ObjectSpan", "blank_comments", "blank_trailing_commas", "scan_object"]

_STRING = r'"(?:[^"\\\n]++|\\.)*+"'
_STRING_OR_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*")
_STRING_OR_COMMA = re.compile(_STRING + r"|,(?=\s*+[}\]])")
_STRING_OR_BRACKET = re.compile(_STRING + r"|[{}\[\]]")
_PLAIN = re.compile(r"[^\s,}\]]+")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: where its key starts, its value starts and ends, and the comma behind it."""

    key: str
    start: int
    value: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class ObjectSpan:
    """One object: the places of its braces, and its members."""

    start: int
    end: int
    members: tuple[Member, ...]

    def find(self, key: str) -> Member | None:
        """The member of this name."""
        return next((member for member in self.members if member.key == key), None)


def blank_comments(text: str) -> str:
    """The text with spaces in place of comments, so that every place in it stays the same."""
    pieces: list[str] = []
    place = 0
    while match := _STRING_OR_COMMENT.search(text, place):
        start, end = match.span()
        if match[0].startswith('"'):
            pieces.append(text[place:end])
        else:
            if match[0] == "/*":
                close = text.find("*/", end)
                if close < 0:
                    break  # what is left is no JSON, and is told as such
                end = close + 2
            pieces += (text[place:start], re.sub(r"[^\n]", " ", text[start:end]))
        place = end
    return "".join((*pieces, text[place:]))


def blank_trailing_commas(text: str) -> str:
    """The text with spaces in place of commas that a value stands before, and nothing behind."""

    def blank(match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        at = match.start() - 1
        while at > 0 and text[at].isspace():
            at -= 1
        return "," if text[at] in "{[," else " "

    return _STRING_OR_COMMA.sub(blank, text)


def scan_object(clean: str, start: int) -> ObjectSpan:
    """The object whose brace is at `start` of a text without comments."""
    members: list[Member] = []
    at = _after_space(clean, start + 1)
    while clean[at] != "}":
        key_end = _after_value(clean, at)
        value = _after_space(clean, _after_space(clean, key_end) + 1)  # behind the colon
        end = _after_value(clean, value)
        follows = _after_space(clean, end)
        comma = follows if clean[follows] == "," else None
        members.append(Member(json.loads(clean[at:key_end]), at, value, end, comma))
        at = follows if comma is None else _after_space(clean, follows + 1)
    return ObjectSpan(start, at, tuple(members))


def _after_space(clean: str, at: int) -> int:
    match = _SPACE.match(clean, at)
    assert match is not None
    return match.end()


def _after_value(clean: str, at: int) -> int:
    """Where the value that starts here ends; however deep it is, nothing here recurses."""
    if clean[at] not in '{["':
        match = _PLAIN.match(clean, at)
        assert match is not None
        return match.end()
    depth = 0
    while True:
        match = _STRING_OR_BRACKET.search(clean, at)
        assert match is not None
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        at = match.end()
        if depth == 0:
            return at
