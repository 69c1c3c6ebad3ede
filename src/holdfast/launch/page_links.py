"""The links and images of a Markdown text, with the line that each stands on; code and comments are left out.

A link is what it says it is: where it leads is found out by whoever asks.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from holdfast.launch.code_spans import replace_code_spans
from holdfast.launch.factual import prose_lines

__all__ = ["PageLink", "page_links"]

_TEXT = r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
_TARGET = r"\(\s*(?:<([^<>]*)>|(\{\{[<%][^{}]*[%>]\}\}|(?:[^()\s]|\([^()\s]*\))*))(?:\s+[\"'(][^)]*)?\s*\)"
_NAME = r"\[([^\[\]]*)\]"
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
    lines = [(number, _without_code(line)) for number, line in prose_lines(body)]
    known = {_key(found[1]): found[2] for _, line in lines if (found := _DEFINITION.match(line))}
    return [link for number, line in lines if not _DEFINITION.match(line) for link in _links(number, line, known)]


def _links(number: int, line: str, known: dict[str, str]) -> Iterator[PageLink]:
    rest = line
    inline = _linear(_TEXT + _TARGET)
    for pattern in (inline, _linear(_TEXT + _NAME)) if "[" in line else ():
        for found in pattern.finditer(rest):
            if pattern is inline:
                target = found[3] if found[3] is not None else found[4]
            else:
                name = found[3] or found[2]
                target = known.get(_key(name), f"[{name}]")
            yield PageLink(number, found[2], target, bool(found[1]))
            for nested in inline.finditer(found[2]):
                yield PageLink(
                    number, nested[2], nested[3] if nested[3] is not None else nested[4], bool(nested[1])
                )
        rest = pattern.sub(" ", rest)
    for found in _HTML.finditer(rest):
        yield PageLink(number, "", found[2] if found[2] is not None else found[3], found[1].lower() == "img")
    for found in _AUTOMATIC.finditer(rest):
        yield PageLink(number, found[1], found[1], is_image=False)
    for found in _BARE.finditer(_HTML.sub(" ", _AUTOMATIC.sub(" ", rest))):
        yield PageLink(number, found[0], found[0], is_image=False)


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _without_code(line: str) -> str:
    return replace_code_spans(line, lambda span: "`" * (span.end - span.start))


@cache
def _linear(pattern: str) -> Any:
    """An expression whose time grows with the text only: lines of people's pages are as long as they like."""
    import re2

    return re2.compile(pattern)
