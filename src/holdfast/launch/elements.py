"""Parts of a text between an opening and its closing, found in linear time, also where nothing closes.

An expression such as `<!--.*?-->` reads to the end of the text at each opening without a closing, which takes the
square of its length. Here each closing is found once.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

__all__ = ["elements", "sub_elements"]


def elements(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str, int]]:
    """Each opening with a closing behind it, the text between both, and where the closing ends.

    Groups `name` of both, if any, must be equal. An opening that matches a group `empty` needs no closing.
    """
    closings: dict[str, list[tuple[int, int]]] = {}
    last = 0
    for one in closing.finditer(text):
        closings.setdefault(_name(one), []).append(one.span())
        last = one.end()
    at, last = 0, len(text) if "empty" in opening.groupindex else last
    while found := opening.search(text, at, last):
        at = found.end()
        if found.lastgroup == "empty":
            yield found, "", at
            continue
        spans = closings.get(_name(found), [])
        index = bisect_left(spans, (at, 0))
        if index < len(spans):
            start, end = spans[index]
            yield found, text[at:start], end
            at = end


def sub_elements(
    text: str,
    opening: re.Pattern[str],
    closing: re.Pattern[str],
    replacement: Callable[[re.Match[str], str], str] = lambda _found, _inside: "",
) -> str:
    """The text with each element replaced; without a replacement they are left out."""
    made: list[str] = []
    at = 0
    for found, inside, end in elements(text, opening, closing):
        made += text[at : found.start()], replacement(found, inside)
        at = end
    return "".join(made) + text[at:]


def _name(found: re.Match[str]) -> str:
    return (found["name"] or "").lower() if "name" in found.re.groupindex else ""
