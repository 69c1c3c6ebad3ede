"""The code between definitions: imports and statements at the top level, as chunks of the kind `module`.

Together with the definitions they cover every line of a file that is not blank. What is only a bracket or a remark
behind a definition is glued to that definition instead of becoming a chunk that says nothing.
"""

import re

from holdfast.search.extract.grammar import Span, blanked
from holdfast.search.extract.page import Page
from holdfast.search.extract.scopes import Scope
from holdfast.search.languages.rules.language import Language

__all__ = ["WINDOW_LINES", "find_gaps"]

WINDOW_LINES = 120

_WORD = re.compile(r"\w+")
_CLOSING = re.compile(rb"[)\]}](?:[\s)\]};,]*[)\]};,])?")


def find_gaps(page: Page, definitions: list[Scope], covered: list[Span], language: Language) -> list[Scope]:
    """Scopes for the code around the outermost definitions; `covered` are comments that are chunks already."""
    without = blanked(page.source, covered)
    outermost = [scope for scope in definitions if scope.parent is None]
    gaps: list[Scope] = []
    position, before = 0, None
    for scope in [*outermost, None]:
        end = scope.start if scope else len(page.source)
        if before is not None:
            position = _take_the_rest_of_the_line(page, before, end)
        gap = _stripped(without, (position, end))
        if gap[0] < gap[1]:
            gaps += _gap(page, gap, (before, scope), language)
        if scope:
            position, before = scope.end, scope
    return gaps


def _take_the_rest_of_the_line(page: Page, before: Scope, limit: int) -> int:
    stop = min(page.line_end(before.end), limit)
    if page.source[before.end : stop].strip():
        before.end = before.end + len(page.source[before.end : stop].rstrip())
    return stop


def _gap(page: Page, span: Span, neighbours: tuple[Scope | None, Scope | None], language: Language) -> list[Scope]:
    start, end = span
    before, behind = neighbours
    closing = _CLOSING.match(page.plain, start, end)
    if before is not None and closing:
        before.end, start = closing.end(), _stripped(page.source, (closing.end(), end))[0]
    words = _WORD.findall(page.plain[start:end].decode("utf-8", "replace"))
    plain = page.plain[start:end].rstrip()
    if behind is not None and plain[-1:] in (b"(", b"{", b"[") and language.keywords.issuperset(words):
        behind.start = start
        return []
    if start >= end:
        return []
    return [Scope("module", at, to, at, to, at) for at, to in _windows(page, start, end)]


def _windows(page: Page, start: int, end: int) -> list[Span]:
    """Pieces of at most so many lines, cut at a blank line where the last third of a window has one."""
    windows: list[Span] = []
    while page.line(end - 1) - page.line(start) >= WINDOW_LINES:
        cut = start
        for _ in range(WINDOW_LINES):
            cut = page.line_end(cut) + 1
        third = start + (cut - start) * 2 // 3
        blank = max(page.source.rfind(b"\n\n", third, cut), page.source.rfind(b"\n\r\n", third, cut))
        cut = blank + 1 if blank > start else cut
        windows.append(_stripped(page.source, (start, cut)))
        start = _stripped(page.source, (cut, end))[0]
    windows.append((start, end))
    return windows


def _stripped(source: bytes, span: Span) -> Span:
    text = source[span[0] : span[1]]
    start = span[0] + len(text) - len(text.lstrip())
    return start, max(start, span[0] + len(text.rstrip()))
