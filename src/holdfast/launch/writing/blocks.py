"""What a page is made of, and how it is written as Markdown: each line that cites something ends with its mark.

Text in blocks is Markdown already, made safe by `inline`. One sentence is one line, so that a change of one is a
change of one line. Nothing here knows what a page is about.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from holdfast.launch.claim_marks import mark
from holdfast.launch.facts.sentences import leans
from holdfast.launch.writing.inline import cell, holds_shortcode, sentences_of

__all__ = [
    "Block", "Bullets", "Code", "Heading", "Link", "Links", "Paragraph", "Row", "Sentence", "Table", "claims_used",
    "fitted", "headings_of", "markdown", "snippets_used", "tidied", "unrepeated",
]  # fmt: skip

_TICKS = re.compile(r"^[^\S\n]*(`{3,})", re.MULTILINE)
_SHORTCODE = re.compile(r"\{\{([<%])(.*?)([>%])\}\}", re.DOTALL)


class Sentence(NamedTuple):
    """One line of text, and the claims that it rests on."""

    text: str
    claims: tuple[str, ...] = ()


class Heading(NamedTuple):
    """A heading of level 2 or deeper: the title of a page is in its front matter."""

    level: int
    text: str
    claims: tuple[str, ...] = ()


class Paragraph(NamedTuple):
    """Sentences that belong together."""

    sentences: tuple[Sentence, ...]


class Bullets(NamedTuple):
    """A list."""

    items: tuple[Sentence, ...]


class Row(NamedTuple):
    """A row of a table; its mark stands in the last cell."""

    cells: tuple[str, ...]
    claims: tuple[str, ...] = ()


class Table(NamedTuple):
    """A table; a column that is empty in every row is left out."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]


class Code(NamedTuple):
    """A block of code; `snippet_id` says which snippet it is, if it is one."""

    language: str
    text: str
    snippet_id: str = ""


class Link(NamedTuple):
    """A way to another page; `about` says what is there, without stating a fact about the product."""

    title: str
    url: str
    about: str = ""


class Links(NamedTuple):
    """A list of ways on."""

    items: tuple[Link, ...]


Block = Heading | Paragraph | Bullets | Table | Code | Links


def markdown(blocks: Iterable[Block]) -> str:
    """The body of a page; ends with a line break."""
    return "\n\n".join("\n".join(_lines(block)) for block in blocks) + "\n"


def claims_used(blocks: Iterable[Block]) -> list[str]:
    """The claims that the blocks cite, in order, each once."""
    return list(dict.fromkeys(claim for block in blocks for claims in _claims(block) for claim in claims))


def snippets_used(blocks: Iterable[Block]) -> list[str]:
    """The snippets that the blocks show, in order."""
    found = (block.snippet_id for block in blocks if isinstance(block, Code) and block.snippet_id)
    return list(dict.fromkeys(found))


def headings_of(blocks: Iterable[Block], level: int = 2) -> list[str]:
    """The headings of one level, as they are written."""
    return [block.text for block in blocks if isinstance(block, Heading) and block.level == level]


def tidied(blocks: Iterable[Block]) -> list[Block]:
    """Without empty blocks, headings over nothing, and headings that the page has already."""
    kept: list[Block] = []
    seen: set[str] = set()
    for block in blocks:
        if isinstance(block, Heading):
            if not block.text or block.text in seen:
                continue
            seen.add(block.text)
            while kept and isinstance(kept[-1], Heading) and kept[-1].level >= block.level:
                kept.pop()
            kept.append(block)
        elif _size(block):
            kept.append(block)
    while kept and isinstance(kept[-1], Heading):
        kept.pop()
    return kept


def unrepeated(blocks: Iterable[Block], title: str, *, by_claim: bool = False) -> list[Block]:
    """Without sentences that the page has already, or that only repeat the title or the heading above them.

    `by_claim`: the same words about something else may stay, as `Returns x` does for two functions.
    """
    made: list[Block] = []
    page = _Page({_words(title)}, by_claim)
    for block in blocks:
        if isinstance(block, Heading):
            if _words(block.text) != _words(title):
                made.append(block)
            page.seen.add(_words(block.text))
        elif isinstance(block, Paragraph):
            made.append(Paragraph(tuple(page.fresh(block.sentences))))
            continue
        elif isinstance(block, Bullets):
            made.append(Bullets(tuple(page.fresh(block.items))))
        else:
            made.append(block)
        page.last = ""
    return made


@dataclass(slots=True)
class _Page:
    """What a page has told so far, and the sentence that it told last, if nothing else stands behind that."""

    seen: set[str]
    by_claim: bool
    last: str = ""

    def fresh(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The lines of which at least one sentence is new; what leans on one told elsewhere goes with it."""
        before = self.last
        for sentence in sentences:
            told = [_words(one) for one in sentences_of(sentence.text)]
            kept = {f"{one} {sentence.claims}" if self.by_claim else one for one in told}
            is_lost = before != self.last and leans(sentence.text)
            before = told[-1] if told else before
            if kept <= self.seen or set(told) <= self.seen or is_lost:
                continue
            self.seen |= kept
            self.last = before
            yield sentence


def _words(text: str) -> str:
    return text.strip().rstrip(".:").casefold()


def fitted(blocks: Sequence[Block], most_lines: int) -> list[Block]:
    """The blocks, less whole parts from the end until they fit; a list of ways on at the end stays."""
    starts = [index for index, block in enumerate(blocks) if isinstance(block, Heading)]
    bounds = [0, *(start for start in starts if start), len(blocks)]
    parts = [list(blocks[begin:end]) for begin, end in pairwise(bounds)]
    last = parts.pop() if parts and parts[-1] and isinstance(parts[-1][-1], Links) else []
    room = most_lines - _length(last)
    kept: list[Block] = []
    for part in parts:
        room -= _length(part)
        if room < 0:
            break
        kept += part
    return tidied([*kept, *last])


def _length(blocks: Iterable[Block]) -> int:
    return sum(_size(block) + 1 for block in blocks)


def _size(block: Block) -> int:
    match block:
        case Code(_, text):
            return text.count("\n") + 3
        case Table(_, rows):
            return len(rows) + 2 if rows else 0
        case Heading():
            return 1
        case Paragraph(found) | Bullets(found) | Links(found):
            return len(found)


def _claims(block: Block) -> Iterator[tuple[str, ...]]:
    match block:
        case Heading(claims=claims):
            yield claims
        case Paragraph(found) | Bullets(found):
            yield from (sentence.claims for sentence in found)
        case Table(_, rows):
            yield from (row.claims for row in rows)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text, claims):
            yield f"{'#' * level} {text}{mark(claims)}"
        case Paragraph(sentences):
            yield from (f"{sentence.text}{mark(sentence.claims)}" for sentence in sentences)
        case Bullets(items):
            yield from (f"- {item.text}{mark(item.claims)}" for item in items)
        case Links(items):
            yield from (f"- [{link.title}]({link.url}){': ' + link.about if link.about else ''}" for link in items)
        case Table():
            yield from _table(block)
        case Code(language, text):
            yield from _fence(language, text)


def _table(table: Table) -> Iterator[str]:
    columns = [index for index in range(len(table.header)) if any(row.cells[index] for row in table.rows)]
    yield _row([table.header[index] for index in columns])
    yield _row(["---"] * len(columns))
    for row in table.rows:
        cells = [cell(row.cells[index]) for index in columns]
        yield _row([*cells[:-1], f"{cells[-1]}{mark(row.claims)}".strip()])


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {text} " if text else " " for text in cells) + "|"


def _fence(language: str, text: str) -> Iterator[str]:
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    if holds_shortcode(text):
        text = _SHORTCODE.sub(r"{{\1/*\2*/\3}}", text)  # printed by Hugo without the signs, and not run
    yield f"{ticks}{language or 'text'}"
    yield from text.strip("\n").split("\n")
    yield ticks
