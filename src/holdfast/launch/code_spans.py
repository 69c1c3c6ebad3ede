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
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        if text[start] == "\n":
            latest = {}
            continue
        if end - start in latest:
            closing[number] = latest[end - start]
        latest[end - start] = number
    found, number = [], 0
    while number < len(runs):
        other = closing.get(number)
        if other is not None:
            begin, end = runs[number], runs[other]
            found.append(CodeSpan(begin[0], end[1], text[begin[1] : end[0]]))
            number = other
        number += 1
    return found


def replace_code_spans(text: str, replacement: str | Callable[[CodeSpan], str]) -> str:
    """Put something in the place of each code span."""
    pieces, end = [], 0
    for span in code_spans(text):
        pieces += [text[end : span.start], replacement if isinstance(replacement, str) else replacement(span)]
        end = span.end
    return "".join([*pieces, text[end:]])
