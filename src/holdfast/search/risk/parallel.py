"""Names that are assigned at once: of `a, b = x, y`, a is x and b is y, and neither is both.

Only where nothing else can be meant: as many values as names, and none of the names among the values, since
`a, b = b, a` would otherwise depend on which comes first. In all other cases each name has the whole value.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.search.model import Write

__all__ = ["Assigned", "assigned"]

_SIGN = re.compile(rb"[,(\[{)\]}]")
_BEFORE = 400  # bytes before a value in which its names stand
# `a, b = pair x, y` is one call in these languages: there a value with a space in it is not taken apart.
_CALLS_WITHOUT_BRACKETS = frozenset({"ruby"})
_TUPLES_IN_BRACES = frozenset({"elixir"})  # elsewhere what stands in braces has names, and no order

Span = tuple[int, int]


class Assigned(NamedTuple):
    """One name and its value, which may be a part of the `whole` that several names are assigned at once."""

    target: str
    value: Span
    whole: Span


def assigned(language: str, writes: Iterable[Write], start: int, text: bytes, plain: bytes) -> Iterator[Assigned]:
    """What each name is assigned in a text that begins at `start`; `plain` is its masked form."""
    groups: dict[int, list[Assigned]] = {}
    for write in writes:
        whole = (write.start - start, write.end - start)
        if 0 <= whole[0] <= whole[1] <= len(text):
            groups.setdefault(whole[0], []).append(Assigned(write.target, whole, whole))
    for group in groups.values():
        yield from _apart(language, group, text, plain)


def _apart(language: str, group: list[Assigned], text: bytes, plain: bytes) -> list[Assigned]:
    """The same names, each with its own value; as they were where it is not sure which is whose."""
    names = list(dict.fromkeys(one.target for one in group))
    if len(names) == 1:
        return group
    whole = max(one.whole for one in group)
    if plain[whole[0] : whole[0] + 1] == b"{" and language not in _TUPLES_IN_BRACES:
        return group
    values = _items(plain, *whole)
    if len(values) != len(names) or any(_named(name).search(plain, *whole) for name in names):
        return group
    if language in _CALLS_WITHOUT_BRACKETS and any(b" " in text[slice(*value)].strip() for value in values):
        return group
    places = {name: _last_place(name, plain, whole[0]) for name in names}
    in_order = sorted(names, key=places.__getitem__)
    return [Assigned(name, value, whole) for name, value in zip(in_order, values, strict=True)]


def _items(plain: bytes, start: int, end: int) -> list[Span]:
    """The ranges of the items of a list, whether it stands in brackets or not."""
    opened: list[int] = []
    commas: dict[int, list[int]] = {}  # by how deep they are
    around = 0
    for sign in _SIGN.finditer(plain, start, end):
        if sign[0] == b",":
            commas.setdefault(len(opened), []).append(sign.start())
        elif sign[0] in b"([{":
            opened.append(sign.start())
        elif opened and (opened.pop(), sign.end()) == (start, end):
            around = 1
    ends = [*commas.get(around, ()), end - around]
    return list(zip([start + around, *(place + 1 for place in ends[:-1])], ends, strict=True))


def _named(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w$@.])" + re.escape(name.encode()) + rb"(?![\w$])")


def _last_place(name: str, plain: bytes, end: int) -> int:
    """Where a name stands last before its value; 0 where it is not as it is written."""
    return max((found.start() for found in _named(name).finditer(plain, max(0, end - _BEFORE), end)), default=0)
