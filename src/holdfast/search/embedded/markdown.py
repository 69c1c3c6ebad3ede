"""Fenced code in Markdown: between lines of backticks or tildes, also inside of lists and quotations.

Lines are looked at one by one, as the format does for fences. Code that is indented without a fence has no
language, and is left to the prose that it stands in.
"""

import re

from holdfast.search.discover.kinds import language_id
from holdfast.search.embedded.segments import Segment, is_code

__all__ = ["fenced_code", "language_of_fence"]

# What may stand before a fence: the marks of quotations and of lists.
_OPENING = re.compile(
    rb"(?m)^([ \t>]{0,80}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}){0,3})(`{3,}|~{3,})([^\r\n]{0,1000})\r?$"
)
_QUOTED = re.compile(rb"[ \t]*(?:>[ \t]?)+")
_WORD = re.compile(r"\{?[.=]?([\w+#.-]+)\}?")
_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "sourcecode"})  # of a fence that is a directive
_DEEP = 4  # columns from which on a fence can only stand in a list; whatever is indented less than
_SHALLOW = 2  # so many is not in that list any more


def fenced_code(source: bytes) -> list[Segment]:
    """The fenced blocks of a known language, in order of their position."""
    if b"```" not in source and b"~~~" not in source:
        return []
    segments: list[Segment] = []
    at = 0
    while opening := _OPENING.search(source, at):
        start = min(opening.end() + 1, len(source))
        info = opening[3].decode("utf-8", "replace")
        if opening[2].startswith(b"`") and "`" in info:
            at = start  # code within a line
            continue
        end, at = _block_end(source, start, opening[1], opening[2])
        language = language_of_fence(info)
        if language and end > start:
            segments.append(Segment(language, start, _without_quotation(source[start:end], opening[1])))
    return segments


def language_of_fence(info: str) -> str:
    """The id of the language that the words behind a fence name; "" where they name none with code.

    `py`, `ts title=a.ts`, `rust,ignore`, `{python}`, `{.python .numbered}`, `{code-block} python`.
    """
    words = [word[1] for word in _WORD.finditer(info[:200])]
    if words and info.lstrip().startswith("{") and words[0] in _DIRECTIVES:
        words.pop(0)
    language = language_id(words[0]) if words else ""
    return language if is_code(language) else ""


def _block_end(source: bytes, start: int, lead: bytes, fence: bytes) -> tuple[int, int]:
    """Where the code of a fence ends, and where to look for the next one."""
    quoted = b">" in lead
    indent = len(lead.expandtabs(4))
    mark, least = fence[:1], len(fence)
    at = start
    while at < len(source):
        newline = source.find(b"\n", at)
        end = len(source) if newline < 0 else newline + 1
        line = source[at:end]
        bare = line.strip(b" \t\r\n>" if quoted else b" \t\r\n")
        if len(bare) >= least and not bare.strip(mark):
            return at, end
        if quoted and not line.lstrip().startswith(b">"):
            return at, at  # a quotation ends with its marks
        if indent >= _DEEP and not quoted and bare and _indent(line) < _SHALLOW:
            return at, at
        at = end
    return at, at


def _indent(line: bytes) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(b" "))


def _without_quotation(code: bytes, lead: bytes) -> bytes:
    """The code with blanks instead of the marks of a quotation, as long as before."""
    if b">" not in lead:
        return code
    lines = code.splitlines(keepends=True)
    marks = [_QUOTED.match(line) for line in lines]
    return b"".join(
        b" " * mark.end() + line[mark.end() :] if mark else line for mark, line in zip(marks, lines, strict=True)
    )
