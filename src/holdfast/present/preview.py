"""One JSON value on one short line: as much of it as fits, and a count of what does not.

Text is quoted and escaped as in JSON, so a value can neither break the line nor pass for something else. A
container shows its first members, each with a fair share of the room, then `+N more`; deep down it is only
`[…]` or `{…}`. Never raises, whatever the value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from holdfast.present.bounds import ELLIPSIS, clean_line, truncate_chars
from holdfast.present.compact import json_ready
from holdfast.present.graphemes import boundary_before

__all__ = ["Shown", "key_text", "preview", "show"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_./-]+")
_COLLAPSE_DEPTH = 4
_LEAST_LIMIT = 3  # the width of `[…]`
# A member below this width says nothing; wide lines show more members than the first three or four.
_USEFUL_WIDTH = 24
_FIRST_ITEMS = 3
_FIRST_FIELDS = 4
_JSON_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Shown(NamedTuple):
    """A value on one line, and whether all of it is there."""

    text: str
    complete: bool


def preview(value: Any, limit: int) -> str:
    """The value in at most `limit` characters (at least 3)."""
    return show(value, limit).text


def show(value: Any, limit: int, depth: int = 0) -> Shown:
    """Like `preview`, and says whether anything was left out; `depth` counts the containers around the value."""
    if limit < _LEAST_LIMIT:
        raise ValueError(f"a preview needs at least {_LEAST_LIMIT} characters")
    if isinstance(value, str):
        return _quoted(value, limit)
    if isinstance(value, Mapping):
        count = max(_FIRST_FIELDS, limit // _USEFUL_WIDTH)
        return _container("{}", list(islice(value.items(), count)), len(value), _field, limit, depth)
    if isinstance(value, list | tuple):
        count = max(_FIRST_ITEMS, limit // _USEFUL_WIDTH)
        return _container("[]", value[:count], len(value), show, limit, depth)
    text = _scalar(value)
    return Shown(truncate_chars(text, limit), len(text) <= limit)


def key_text(key: Any, limit: int) -> str:
    """A key, bare where it is one plain word, else quoted; at most `limit` characters."""
    return _shown_key(key, limit).text


def _shown_key(key: Any, limit: int) -> Shown:
    text = key if isinstance(key, str) else str(json_ready(key))
    if len(text) <= limit and _BARE_KEY.fullmatch(text):
        return Shown(text, complete=True)
    return _quoted(text, limit)


def _quoted(text: str, limit: int) -> Shown:
    """The text as a JSON string; where it was cut, `…` stands inside the quotes, and no escape is halved.

    Nor is what a reader sees as one character.
    """
    pieces = [_JSON_ESCAPES.get(character) or clean_line(character) for character in text[:limit]]
    if len(text) <= limit and sum(map(len, pieces)) + 2 <= limit:
        return Shown(f'"{"".join(pieces)}"', complete=True)
    room = limit - 2 - len(ELLIPSIS)
    kept = 0
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept += 1
    return Shown(f'"{"".join(pieces[: boundary_before(text, kept)])}{ELLIPSIS}"', complete=False)


def _scalar(value: Any) -> str:
    ready = json_ready(value)
    if ready is None:
        return "null"
    if isinstance(ready, bool):
        return "true" if ready else "false"
    return clean_line(ready) if isinstance(ready, str) else repr(ready)


def _field(field: tuple[Any, Any], limit: int, depth: int) -> Shown:
    key, value = field
    name, whole_name = _shown_key(key, max(limit // 2, _LEAST_LIMIT))
    room = limit - len(name) - 1
    if room < _LEAST_LIMIT:
        return Shown(truncate_chars(name, limit), complete=False)
    text, complete = show(value, room, depth)
    return Shown(f"{name}={text}", complete and whole_name)


def _container(
    brackets: str,
    members: Sequence[Any],
    total: int,
    show_member: Callable[[Any, int, int], Shown],
    limit: int,
    depth: int,
) -> Shown:
    """`[a, b, +N more]`: each member may take what is left, divided by the members still to come.

    What short members did not need is then given to those that were cut, first come first served.
    """
    if not total:
        return Shown(brackets, complete=True)
    room = limit - 2 - (len(f"+{total} more") if total > 1 else -len(", "))
    shown: list[Shown] = []
    for position, member in enumerate(members if depth < _COLLAPSE_DEPTH else ()):
        share = room // (len(members) - position) - len(", ")
        if share < _LEAST_LIMIT:
            break
        shown.append(show_member(member, share, depth + 1))
        room -= len(shown[-1].text) + len(", ")
    spare = room if len(shown) < total else room + len(f"+{total} more") if total > 1 else 0
    for position, part in enumerate(shown):
        if not part.complete and spare > 0:
            shown[position] = show_member(members[position], len(part.text) + spare, depth + 1)
            spare -= len(shown[position].text) - len(part.text)
    if not shown:
        return Shown(f"{brackets[0]}{ELLIPSIS}{brackets[1]}", complete=False)
    parts = [part.text for part in shown]
    if len(parts) < total:
        parts.append(f"+{total - len(parts)} more")
    complete = len(shown) == total and all(part.complete for part in shown)
    return Shown(f"{brackets[0]}{', '.join(parts)}{brackets[1]}", complete)
