"""Parsing: the grammar and the compiled query of a language, and the captures of one file as plain numbers.

The only module that touches tree-sitter. Attribute access on its nodes is what costs time, so each captured node
is asked once for its range, and nothing behind this module sees a node.
"""

import importlib
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

import tree_sitter

from holdfast.search.languages.language import Language

__all__ = ["Captures", "Span", "parse"]

Span = tuple[int, int]

MAX_PIECES = 20_000


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


@cache
def _compiled(language: Language) -> tuple[tree_sitter.Language, tree_sitter.Query]:
    module, _, function = language.grammar.partition(":")
    grammar = tree_sitter.Language(getattr(importlib.import_module(module), function)())
    return grammar, tree_sitter.Query(grammar, language.query)


def parse(language: Language, source: bytes) -> Captures:
    """Parse a file and run the query of its language over it.

    One bracket that is never closed may hide everything behind it from the parser. A file with errors is therefore
    parsed once more in pieces, cut where a definition seems to begin, if that finds more definitions.
    """
    if language.misleading is not None:
        source = language.misleading.sub(lambda found: b" " * len(found[0]), source)
    whole = _parse_piece(language, source, 0)
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
    found = tree_sitter.QueryCursor(query).captures(tree.root_node)
    # The library gathers captures in sets, so their order has to be restored.
    spans = {name: sorted([node.byte_range for node in nodes]) for name, nodes in found.items()}
    kinds = {node.byte_range: node.type for node in found.get("assign.value", ())}
    if offset:
        spans = {name: [(start + offset, end + offset) for start, end in items] for name, items in spans.items()}
        kinds = {(start + offset, end + offset): kind for (start, end), kind in kinds.items()}
    return Captures(spans, kinds)


def _understood(captures: Captures) -> tuple[int, int]:
    """How much a parse made of a file: the definitions it found, then how little of it is broken."""
    definitions = sum(len(spans) for name, spans in captures.spans.items() if name.startswith("def."))
    return definitions, -sum(end - start for start, end in captures.of("error"))
