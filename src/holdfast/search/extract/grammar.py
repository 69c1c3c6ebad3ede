"""Parsing: the grammar and the compiled query of a language, and the captures of one file as plain numbers.

The only module that touches tree-sitter. Attribute access on its nodes is what costs time, so each captured node
is asked once for its range, and nothing behind this module sees a node.
"""

import importlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import tree_sitter

from holdfast.search.languages.rules.language import Language

__all__ = ["Captures", "Span", "blanked", "parse"]

Span = tuple[int, int]

MAX_PIECES = 20_000

# The parser stumbles at what misled it, or at the first word behind that.
NEAR = 80

# What is no more than guessed to mislead the parser is left out this close to an error, comments between included.
AROUND = 500
MAX_GUESSES = 3

# Captures come in the order of the file at the price of a queue that grows with every pattern still open, which is
# quadratic in long files. Matches need no queue, but an object for each: short files are better off without.
LONG_FILE = 150_000

# A file in which nearly everything is a sign is no source code, and grammars may take minutes to recover from it.
NOISE_FROM = 200
_NO_SIGNS = bytes(code for code in range(256) if code > 127 or chr(code).isalnum() or chr(code) in "_ \t\r\n")
_AS_TEXT = bytes(code if code < 128 else ord("?") for code in range(256))
_SAME_AGAIN = re.compile(rb"(.)\1+", re.DOTALL)


@dataclass(slots=True)
class Captures:
    """The ranges of everything captured, by the name of the capture and in order of their position."""

    spans: dict[str, list[Span]]
    value_kinds: dict[Span, str]  # of each `assign.value`, the kind of its node

    def of(self, name: str) -> list[Span]:
        """The ranges captured by this name."""
        return self.spans.get(name, [])

    def pairs(self, first: str, second: str) -> list[tuple[Span, Span]]:
        """For each `second` the nearest `first` that ends before it: what stands left and right of a sign."""
        by_end = sorted((span[1], span) for span in self.of(first))
        ends = [end for end, _ in by_end]
        found = ((bisect_right(ends, span[0]) - 1, span) for span in self.of(second))
        return [(by_end[index][1], span) for index, span in found if index >= 0]


def blanked(source: bytes, spans: list[Span], filler: bytes = b" ") -> bytes:
    """A copy of the source with these ranges overwritten by blanks, or by another sign."""
    if not spans:
        return source
    copy = bytearray(source)
    for start, end in spans:
        copy[start:end] = filler * (end - start)
    return bytes(copy)


@cache
def _compiled(language: Language) -> tuple[tree_sitter.Language, tree_sitter.Query]:
    module, _, function = language.grammar.partition(":")
    grammar = tree_sitter.Language(getattr(importlib.import_module(module), function)())
    return grammar, tree_sitter.Query(grammar, language.query)


def parse(language: Language, source: bytes) -> Captures:
    """Parse a file and run the query of its language over it.

    One bracket that is never closed may hide everything behind it from the parser. A file with errors is therefore
    parsed once more in pieces, cut where a definition seems to begin, if that finds more definitions. Before that,
    what the language calls `hidden` is left out, and near errors what it calls `guessed`, if less is broken then.
    """
    if _is_noise(source):
        return Captures({"error": [(0, len(source))]}, {})
    if language.scan is not None:
        scanned = language.scan(source)
        return Captures(scanned, dict.fromkeys(scanned.get("assign.value", ()), ""))
    if language.misleading is not None:
        source = language.misleading.sub(lambda found: b" " * len(found[0]), source)
    try:
        return _parse_best(language, source)
    except UnicodeDecodeError:  # a condition of the query was shown bytes that are no text
        return _parse_best(language, source.translate(_AS_TEXT))


_Attempt = tuple[Captures, bytes, list[Span]]  # what is found, in which text, and what was left out of it


def _parse_best(language: Language, source: bytes) -> Captures:
    best, left_out = _parse_piece(language, source, 0), list[Span]()
    if not best.of("error"):
        return best
    hidden = language.hidden(source) if language.hidden is not None else []
    if _near(best.of("error"), hidden):  # all of them: they belong together
        shown = blanked(source, hidden)
        best, source, left_out = _better(language, (best, source, left_out), shown, hidden)
    if language.guessed is not None:
        guesses = set(language.guessed(source))
        for _ in range(MAX_GUESSES):  # behind what is mended, the parser stumbles at the next one
            near = _near(best.of("error"), sorted(guesses), AROUND)
            shown, before = blanked(source, near, language.filler), source
            best, source, left_out = _better(language, (best, source, left_out), shown, near)
            if source is before:
                break
            guesses.difference_update(near)
    best = _parse_pieces(language, source, best)
    if left_out:
        best.spans["opaque"] = sorted([*best.of("opaque"), *left_out])
    return best


def _better(language: Language, so_far: _Attempt, shown: bytes, left_out: list[Span]) -> _Attempt:
    """What is found if the grammar is shown this instead, if less is broken then."""
    best, source, before = so_far
    if shown == source:
        return so_far
    found = _parse_piece(language, shown, 0)
    return (found, shown, before + left_out) if _broken(found) < _broken(best) else so_far


def _parse_pieces(language: Language, source: bytes, whole: Captures) -> Captures:
    """What pieces of the file give, if that is better than what the whole gave."""
    if not whole.of("error") or language.restart is None:
        return whole
    cuts = [0, *(found.start() for found in language.restart.finditer(source) if found.start())]
    if not 1 < len(cuts) <= MAX_PIECES:
        return whole
    spans: dict[str, list[Span]] = {}
    kinds: dict[Span, str] = {}
    for start, end in zip(cuts, [*cuts[1:], len(source)], strict=True):
        piece = _parse_piece(language, source[start:end], start)
        kinds.update(piece.value_kinds)
        for name, found in piece.spans.items():
            spans.setdefault(name, []).extend(found)
    return max(whole, Captures(spans, kinds), key=_understood)


def _parse_piece(language: Language, source: bytes, offset: int) -> Captures:
    grammar, query = _compiled(language)
    tree = tree_sitter.Parser(grammar).parse(source)
    cursor = tree_sitter.QueryCursor(query)
    if len(source) > LONG_FILE:
        spans, kinds = _matched(cursor, tree.root_node)
    else:
        found = cursor.captures(tree.root_node)
        # The library gathers captures in sets, so their order has to be restored.
        spans = {name: sorted([node.byte_range for node in nodes]) for name, nodes in found.items()}
        kinds = {node.byte_range: node.type for node in found.get("assign.value", ())}
    if offset:
        spans = {name: [(start + offset, end + offset) for start, end in items] for name, items in spans.items()}
        kinds = {(start + offset, end + offset): kind for (start, end), kind in kinds.items()}
    return Captures(spans, kinds)


def _matched(
    cursor: tree_sitter.QueryCursor, root: tree_sitter.Node
) -> tuple[dict[str, list[Span]], dict[Span, str]]:
    """The same captures, gathered match by match."""
    spans: dict[str, set[Span]] = {}
    kinds: dict[Span, str] = {}
    for _, captured in cursor.matches(root):
        for name, nodes in captured.items():
            spans.setdefault(name, set()).update([node.byte_range for node in nodes])
        for node in captured.get("assign.value", ()):
            kinds[node.byte_range] = node.type
    return {name: sorted(found) for name, found in spans.items()}, kinds


def _is_noise(source: bytes) -> bool:
    if not _is_mostly_signs(source):
        return False
    # Thousands of brackets in a row are deep nesting, and grammars can do that.
    return _is_mostly_signs(_SAME_AGAIN.sub(rb"\1", source))


def _is_mostly_signs(source: bytes) -> bool:
    return len(source) >= NOISE_FROM and len(source.translate(None, _NO_SIGNS)) > 0.7 * len(source)


def _understood(captures: Captures) -> tuple[int, int]:
    """How much a parse made of a file: the definitions it found, then how little of it is broken."""
    definitions = sum(len(spans) for name, spans in captures.spans.items() if name.startswith("def."))
    return definitions, -_broken(captures)[0]


def _near(errors: list[Span], spans: list[Span], around: int = 0) -> list[Span]:
    """Those of the ranges that an error meets or comes right behind, or is `around`; all in their order."""
    ends = list(accumulate((end for _, end in errors), max))
    starts = [start for start, _ in errors]
    near = []
    for start, end in spans:
        before = bisect_right(starts, end + max(around, NEAR)) - 1
        if before >= 0 and ends[before] + around >= start:
            near.append((start, end))
    return near


def _broken(captures: Captures) -> tuple[int, int]:
    """How much of a file is broken: bytes, and places."""
    errors = captures.of("error")
    return sum(end - start for start, end in errors), len(errors)
