"""Comments and docstrings: the prose of a source file, as chunks and as the documentation of definitions.

Adjacent lines of comment are one block. Blocks without at least two words, and those that only give orders to a
tool (`noqa`), are not worth a chunk; they stay in the text of the code around them.
"""

import inspect
import re
from dataclasses import dataclass

from holdfast.search.extract.grammar import Captures, Span
from holdfast.search.extract.page import Page
from holdfast.search.extract.scopes import Owners, Scope
from holdfast.search.languages.rules.language import Language
from holdfast.search.model import Chunk

__all__ = ["Block", "attach", "find_blocks"]

MAX_DOC = 2_000

_WORD = re.compile(r"[^\W\d_]+")
_ORDER = re.compile(
    r"\s*(?:noqa|type:|pragma\b|pylint:|fmt:|ruff:|isort:|mypy:|pyright:|flake8:|yapf:|nosec|eslint|prettier-|"
    r"@ts-|istanbul|c8 |jshint|tslint|nolint|go:|[+]build|NOLINT|clang-format|shellcheck|-\*-|!/)"
)
_OF_A_FILE = re.compile(
    r"^[^\S\n]*[@\\](?:file|license|module|package|preserve|copyright|mainpage|page|defgroup|addtogroup|name)|"
    r"\bcopyright\b|\bSPDX-|^[^\S\n]*@[{}]",
    re.MULTILINE | re.IGNORECASE,
)
_SIGN = re.compile(rb"\S")
_QUOTES = re.compile(r"^~?[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")


@dataclass(slots=True)
class Block:
    """Adjacent comments, or a docstring: where it stands and what it says, without its signs."""

    start: int
    end: int
    text: str
    is_docstring: bool
    worth: bool  # of being a chunk


def find_blocks(captures: Captures, page: Page, language: Language) -> list[Block]:
    """All blocks of prose in order of their position."""
    blocks = [_comment(page, span, language) for span in _joined(captures.of("comment"), page)]
    blocks += [_docstring(page, span) for span in captures.of("docstring")]
    blocks.sort(key=lambda block: block.start)
    return blocks


def attach(
    blocks: list[Block], owners: Owners, definitions: list[Scope], page: Page, language: Language
) -> list[Chunk]:
    """Give definitions their documentation, and make the chunks of the prose."""
    above = _by_line_below(blocks, definitions, page, language) if language.doc_comments else {}
    chunks: list[Chunk] = []
    for block in blocks:
        documented = above.get(block.start)
        scope = documented or owners.at(block.start)
        is_doc = block.is_docstring or documented is not None
        if is_doc and not scope.doc and (scope.kind != "module" or block.is_docstring):
            scope.doc = block.text[:MAX_DOC]
        if block.worth:
            kind = "docstring" if is_doc else "comment"
            lines = page.line(block.start), page.line(max(block.start, block.end - 1))
            chunks.append(
                Chunk("extracted-prose", kind, scope.name, block.start, block.end, *lines, text=block.text)
            )
    return chunks


def _by_line_below(
    blocks: list[Block], definitions: list[Scope], page: Page, language: Language
) -> dict[int, Scope]:
    """The definition below a block, by the start of the block: right below it, or behind blank lines too where the
    language has comments that are made to document what comes next."""
    starts: dict[int, Scope] = {}
    for scope in definitions:
        starts.setdefault(page.line(scope.start), scope)
        starts.setdefault(page.line(scope.head), scope)
    found: dict[int, Scope] = {}
    for block in blocks:
        below = page.line(block.end - 1) + 1
        documented = starts.get(below)
        if documented is None and _reaches_down(block, page, language):
            documented = starts.get(page.line(_next_sign(page, block.end)))
        if documented is not None and not block.is_docstring and not _trails(page, block.start):
            found[block.start] = documented
    return found


def _reaches_down(block: Block, page: Page, language: Language) -> bool:
    """Whether blank lines do not part a comment from what it documents; those about a whole file document none."""
    signs = language.doc_signs
    return (
        signs is not None
        and signs.match(page.source, block.start) is not None
        and not _OF_A_FILE.search(block.text)
    )


def _next_sign(page: Page, after: int) -> int:
    sign = _SIGN.search(page.source, after)
    return sign.start() if sign else len(page.source) - 1


def _trails(page: Page, start: int) -> bool:
    return bool(page.source[page.line_start(start) : start].strip())


def _joined(spans: list[Span], page: Page) -> list[Span]:
    joined: list[Span] = []
    trailing = False
    for start, end in spans:
        if joined and not trailing:
            between = page.source[joined[-1][1] : start]
            newlines_inside = page.source[joined[-1][1] - 1 : joined[-1][1]] == b"\n"
            if not between.strip() and between.count(b"\n") + newlines_inside <= 1:
                joined[-1] = (joined[-1][0], end)
                continue
        trailing = _trails(page, start)
        joined.append((start, end))
    return joined


def _comment(page: Page, span: Span, language: Language) -> Block:
    start, end = span[0], span[0] + len(page.source[span[0] : span[1]].rstrip())
    text = language.comment_signs.sub("", page.text(start, end)).strip()
    return Block(start, end, text, False, _is_prose(text))  # noqa: FBT003 (a plain record)


def _docstring(page: Page, span: Span) -> Block:
    raw = page.text(*span)
    opening = _QUOTES.match(raw)
    inside = raw[opening.end() :].removesuffix(opening[1]) if opening else raw
    text = inspect.cleandoc(inside.replace("\r\n", "\n"))
    return Block(*span, text, True, _is_prose(text))  # noqa: FBT003 (a plain record)


def _is_prose(text: str) -> bool:
    if _ORDER.match(text) and "\n" not in text:
        return False
    words = _WORD.finditer(text)
    return next(words, None) is not None and next(words, None) is not None
