"""JSON as people write it into documents: comments and trailing commas are read and counted.

Everything else that is not JSON is refused with its position. Never raises, whatever the text.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_DEPTH", "JsonText", "depth_within", "read_json"]

MAX_DEPTH = 100
MAX_LENGTH = 1_000_000
# A string that its line does not end takes the rest of the line.
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*|/\*')
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|,(?=\s*[}\]])')


@dataclass(frozen=True, slots=True)
class JsonText:
    """What a piece of text is as JSON. `error` is empty when there is a value; lines and columns count from 1."""

    value: Any = None
    error: str = ""
    line: int = 1
    column: int = 1
    comments: tuple[str, ...] = ()
    trailing_commas: int = 0
    repeated_keys: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is JSON without anything that JSON does not have."""
        return not self.error and not self.comments and not self.trailing_commas


class _NotFiniteError(ValueError):
    pass


def read_json(text: str) -> JsonText:
    """Read `text` as JSON, with comments and trailing commas forgiven and counted."""
    if len(text) > MAX_LENGTH:
        return JsonText(error=f"longer than {MAX_LENGTH} characters")
    plain = _load(text)
    if not plain.error:
        return plain
    bare, comments = _without_comments(text)
    bare, commas = _without_trailing_commas(bare)
    if not comments and not commas:
        return plain
    forgiving = _load(bare)
    return JsonText(
        forgiving.value,
        forgiving.error,
        forgiving.line,
        forgiving.column,
        comments,
        commas,
        forgiving.repeated_keys,
    )


def depth_within(value: Any, limit: int) -> bool:
    """Whether a JSON value is nested at most `limit` deep; does not recurse itself."""
    layer = [value]
    for _ in range(limit + 1):
        layer = [
            item
            for member in layer
            if isinstance(member, (dict, list))
            for item in (member.values() if isinstance(member, dict) else member)
        ]
        if not layer:
            return True
    return False


def _load(text: str) -> JsonText:
    repeated: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(members)
        if len(mapping) != len(members):
            counted = Counter(key for key, _ in members)
            repeated.extend(sorted(key for key, count in counted.items() if count > 1))
        return mapping

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        return JsonText(error=error.msg, line=error.lineno, column=error.colno)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        return JsonText(error=reason)
    if not depth_within(value, MAX_DEPTH):
        return JsonText(error=f"nested deeper than {MAX_DEPTH}")
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return JsonText(error="holds half a surrogate pair, which cannot be sent")
    return JsonText(value, repeated_keys=tuple(repeated))


def _refuse(word: str) -> Any:
    raise _NotFiniteError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFiniteError(f"{text[:20]} is too large a number")
    return number


def _without_comments(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with every comment blanked, so that positions stay, and the comments."""
    pieces: list[str] = []
    comments: list[str] = []
    place = 0
    while match := _STRING_OR_COMMENT.search(text, place):
        start, end = match.span()
        piece = match.group()
        if piece == "/*":
            close = text.find("*/", end)
            if close < 0:
                break
            end = close + 2
            piece = text[start:end]
        pieces.append(text[place:start])
        if piece.startswith('"'):
            pieces.append(piece)
        else:
            comments.append(piece.removesuffix("*/").lstrip("/*").strip())
            pieces.append("".join("\n" if character == "\n" else " " for character in piece))
        place = end
    pieces.append(text[place:])
    return "".join(pieces), tuple(comments)


def _without_trailing_commas(text: str) -> tuple[str, int]:
    count = 0

    def blank(match: re.Match[str]) -> str:
        nonlocal count
        if match.group() != ",":
            return match.group()
        count += 1
        return " "

    return _STRING_OR_COMMA.sub(blank, text), count
