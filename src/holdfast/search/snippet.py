"""The few lines of a chunk that show why it was found, with the words of the query marked in them.

The window is where most different words stand; the line that names the chunk stays in sight. Whatever a source
file contains, the lines are safe to print: control characters and terminal escapes are written out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.present.bounds import ELLIPSIS, clean_line
from holdfast.search.stems import stem

__all__ = ["Snippet", "snippet"]

_LINE_WIDTH = 200
_BEFORE_MATCH = 60  # characters of a cut line that are kept in front of its first match
_MAX_FOUND = 40  # places of one term that are looked at; in a chunk with more, any window will do
_SIGNATURE_REACH = 12  # lines from the top among which the signature is looked for
_BEFORE_SIGNATURE = ("@", "#[", "//", "/*", "*", "--", '"""')  # decorators and comments stand above it
_SUB_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Numbered lines, and for each of them the stretches of its text to highlight, which do not overlap.

    Where a number is not the one after the number before it, lines are left out between the two.
    """

    lines: list[tuple[int, str]]
    highlights: list[list[tuple[int, int]]]
    truncated: bool  # whether anything of the chunk is not shown


def snippet(
    text: str, start_line: int, terms: Sequence[str], *, context: int = 0, width_lines: int = 8
) -> Snippet:
    """The best window of at most `width_lines` lines, and so many lines of context above and below it.

    `terms` are lower-case words and parts of identifiers; they are marked where they stand as such, in any case
    and with any ending of the same stem: `retry` in `retryBudget`, `enforced` in `enforce`.
    """
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    found = _by_line(_found(text, terms), lines)
    shown = _shown_lines(lines, found, max(width_lines, 1), max(context, 0))
    numbered: list[tuple[int, str]] = []
    highlights: list[list[tuple[int, int]]] = []
    cut = len(shown) < len(lines)
    for line in shown:
        raw = lines[line].rstrip("\r")
        printable, ranges = _printable(raw, _apart(found.get(line, [])))
        cut = cut or len(raw) > _LINE_WIDTH
        numbered.append((start_line + line, printable))
        highlights.append(ranges)
    return Snippet(numbered, highlights, cut)


# Where the terms stand


_Place = tuple[int, int, int]  # start, end, and the number of the term


def _found(text: str, terms: Sequence[str]) -> list[_Place]:
    """Every place where a term stands; a term is found as a word, as a part of one, or by its stem."""
    lowered = _lowered(text)
    places: list[_Place] = []
    for number, term in enumerate(dict.fromkeys(term.lower() for term in terms if term.strip())):
        for needle in _needles(term):
            places.extend((start, end, number) for start, end in _places(text, lowered, term, needle))
    return places


def _lowered(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # A few letters become two when lowered, which would shift everything behind them.
    return "".join([low if len(low := letter.lower()) == 1 else letter for letter in text])


@lru_cache(maxsize=1024)
def _needles(term: str) -> tuple[str, ...]:
    """What to look for: a beginning that all words of the stem share, and the term where that is irregular."""
    root = stem(term)
    shared = root[:-1] if len(root) > 2 else root  # retry, retries; parse, parsing
    return (shared,) if term.startswith(shared) else (shared, term)


def _places(text: str, lowered: str, term: str, needle: str) -> Iterator[tuple[int, int]]:
    at = lowered.find(needle)
    for _ in range(_MAX_FOUND):
        if at < 0:
            return
        step = 1
        if at == 0 or _parts(text, at):
            end = _end_of(text, lowered, term, at)
            if end:
                yield at, end
                step = end - at
        at = lowered.find(needle, at + step)


def _end_of(text: str, lowered: str, term: str, start: int) -> int:
    """Where the term ends that begins here as itself or as another form of its word; 0 where it does not."""
    end = start + len(term)
    if lowered.startswith(term, start) and (end >= len(text) or _parts(text, end)):
        return end
    word = _SUB_WORD.match(text, start, start + 64)
    return word.end() if word and _stem(word[0].lower()) == _stem(term) else 0


_stem = lru_cache(maxsize=4096)(stem)


def _parts(text: str, at: int) -> bool:
    """Whether a new word or a new part of an identifier begins between two characters."""
    before, here = text[at - 1], text[at]
    if before.islower():
        return not here.islower()
    if not before.isalpha() or not here.isalpha():
        return not (before.isdigit() and here.isdigit())
    # In HTTPSession the last capital belongs to the word behind it.
    return before.isupper() and here.isupper() and text[at + 1 : at + 2].islower()


# Which lines are shown


def _by_line(found: list[_Place], lines: list[str]) -> dict[int, list[_Place]]:
    """The places of each line that has any, from top to bottom, counted from the beginning of their line."""
    placed: dict[int, list[_Place]] = {}
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    number = 0
    for start, end, term in sorted(found):
        if start >= starts[number + 1]:
            number = bisect_right(starts, start) - 1
        begin = starts[number]
        placed.setdefault(number, []).append((start - begin, end - begin, term))
    return placed


def _shown_lines(lines: list[str], found: dict[int, list[_Place]], width: int, context: int) -> list[int]:
    if len(lines) <= width:
        return list(range(len(lines)))
    matched = {line: {term for _, _, term in places} for line, places in found.items()}
    first, last = _best_window(matched, width)
    if last < width:
        start, stop, head = 0, width, []
    else:
        # The signature takes one of the lines; the rest is laid around the matches.
        if width > 1 and last - first > width - 2:
            first, last = _best_window(matched, width - 1)
        head = [_signature_line(lines)] if width > 1 else []
        room = width - len(head)
        start = max(first - max(room - (last - first + 1), 0) // 2, 0)
        start = min(start, len(lines) - room)
        stop = start + room
    start, stop = max(start - context, 0), min(stop + context, len(lines))
    window = range(start, stop)
    return [*(line for line in head if line not in window), *window]


def _best_window(matched: dict[int, set[int]], width: int) -> tuple[int, int]:
    """The first and last matched line of the first window with the most different terms."""
    numbers = list(matched)
    best = (0, 0)
    most = 0
    for index, first in enumerate(numbers):
        terms: set[int] = set()
        last = first
        for line in numbers[index : index + width]:
            if line >= first + width:
                break
            terms |= matched[line]
            last = line
        if len(terms) > most:
            most, best = len(terms), (first, last)
    return best


def _signature_line(lines: list[str]) -> int:
    for number, line in enumerate(lines[:_SIGNATURE_REACH]):
        text = line.strip()
        if text and not text.startswith(_BEFORE_SIGNATURE):
            return number
    return 0


# How they are shown


def _apart(places: list[_Place]) -> list[tuple[int, int]]:
    """The stretches to highlight in a line; where two overlap they become one."""
    ranges: list[tuple[int, int]] = []
    for start, end, _ in places:
        if ranges and start < ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges


def _printable(line: str, ranges: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The line as it may be printed, at most so wide, and where its highlights are then."""
    low, high = 0, len(line)
    if high > _LINE_WIDTH:
        low = max(ranges[0][0] - _BEFORE_MATCH, 0) if ranges and ranges[0][1] > _LINE_WIDTH else 0
        low = min(low, len(line) - _LINE_WIDTH)
        high = low + _LINE_WIDTH
    out = ELLIPSIS if low else ""
    at = low
    placed: list[tuple[int, int]] = []
    for start, end in ranges:
        if start < low or start >= high:
            continue
        out += _safe(line[at:start])
        begin = len(out)
        at = min(end, high)
        out += _safe(line[start:at])
        placed.append((begin, len(out)))
    out += _safe(line[at:high])
    return (out + ELLIPSIS if high < len(line) else out), placed


def _safe(text: str) -> str:
    if text.isprintable():
        return text
    return "\t".join([clean_line(part) for part in text.split("\t")])  # a tab does no harm
