"""The links and images of a Markdown text, with the line that each stands on; code and comments are left out.

A link is what it says it is: where it leads is found out by whoever asks.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.launch.factual import prose_lines

__all__ = ["PageLink", "page_links"]

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_TEXT = r"\[((?:[^\[\]]|\[[^\[\]]*\](?:\([^()\s]*\))?)*)\]"
_TARGET = r"\(\s*(?:<([^<>]*)>|(\{\{[<%].*?[%>]\}\}|(?:[^()\s]|\([^()\s]*\))*))(?:\s+[\"'(][^)]*)?\s*\)"
_INLINE = re.compile(r"(!?)" + _TEXT + _TARGET)
_REFERENCE = re.compile(r"(!?)" + _TEXT + r"\[([^\[\]]*)\]")
_DEFINITION = re.compile(r"\s{0,3}\[(?!\^)([^\]]+)\]:\s*<?(\S+?)>?(?:\s|$)")
_AUTOMATIC = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_BARE = re.compile(r"(?<![(<\"'=\]])\bhttps?://[^\s<>\"'`|)\]]+[^\s<>\"'`|)\].,;:!?*_]")
_HTML = re.compile(r"<(a|img)\b[^<>]*?\b(?:href|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


class PageLink(NamedTuple):
    """One link as it is written; `line` counts from 1 within the text."""

    line: int
    text: str
    target: str
    is_image: bool


def page_links(body: str) -> list[PageLink]:
    """Every link, in order of its line. A reference whose definition is missing has the target `[name]`."""
    lines = [(number, _CODE_SPAN.sub(lambda span: "`" * len(span[0]), line)) for number, line in prose_lines(body)]
    known = {_key(found[1]): found[2] for _, line in lines if (found := _DEFINITION.match(line))}
    return [link for number, line in lines if not _DEFINITION.match(line) for link in _links(number, line, known)]


def _links(number: int, line: str, known: dict[str, str]) -> Iterator[PageLink]:
    rest = line
    for pattern in (_INLINE, _REFERENCE):
        for found in pattern.finditer(rest):
            if pattern is _INLINE:
                target = found[3] if found[3] is not None else found[4]
            else:
                name = found[3] or found[2]
                target = known.get(_key(name), f"[{name}]")
            yield PageLink(number, found[2], target, bool(found[1]))
            for inner in _INLINE.finditer(found[2]):
                yield PageLink(number, inner[2], inner[3] if inner[3] is not None else inner[4], bool(inner[1]))
        rest = pattern.sub(" ", rest)
    for found in _HTML.finditer(rest):
        yield PageLink(number, "", found[2] if found[2] is not None else found[3], found[1].lower() == "img")
    for found in _AUTOMATIC.finditer(rest):
        yield PageLink(number, found[1], found[1], is_image=False)
    for found in _BARE.finditer(_HTML.sub(" ", _AUTOMATIC.sub(" ", rest))):
        yield PageLink(number, found[0], found[0], is_image=False)


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()
