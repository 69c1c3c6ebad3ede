"""Code spans of Markdown within a line: what stands between two runs of backticks of the same length.

An expression with a back-reference looks for the end of each run anew; here every run is looked at once.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["CodeSpan", "code_spans", "replace_code_spans"]

_RUN = re.compile(r"`+|\n")


class CodeSpan(NamedTuple):
    """A code span with its backticks from `start` to `end`; `code` is what is between them."""

    start: int
    end: int
    code: str


def code_spans(text: str) -> list[CodeSpan]:
    """List the code spans, in order. None goes over the end of a line."""
    runs = [(found.start(), found.end()) for found in _RUN.finditer(text)]
    closing: dict[int, int] = {}  # of each run the next one of its length on the line, by number
    latest: dict[int, int] = {}
    for number, (start, end) in reversed(list(enumerate(runs))):
        if text[start] == "\n":
            latest = {}
            continue
        if end - start in latest:
            closing[number] = latest[end - start]
        latest[end - start] = number
    found, at = [], 0
    while at < len(runs):
        other = closing.get(at)
        if other is not None:
            found.append(CodeSpan(runs[at][0], runs[other][1], text[runs[at][1] : runs[other][0]]))
            at = other
        at += 1
    return found


def replace_code_spans(text: str, replacement: str | Callable[[CodeSpan], str]) -> str:
    """Put something in the place of each code span."""
    pieces, end = [], 0
    for span in code_spans(text):
        pieces += [text[end : span.start], replacement if isinstance(replacement, str) else replacement(span)]
        end = span.end
    return "".join([*pieces, text[end:]])
