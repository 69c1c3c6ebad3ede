"""Markdown, with the dialects that READMEs and Sphinx use, read into blocks.

Tables, HTML, images, badges and lists of links are left out: they are no sentences.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from holdfast.launch.facts.blocks import Block
from holdfast.launch.facts.roles import role_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["markdown_blocks"]

_DEEPEST = 6  # of notes in notes
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
_DIRECTIVE = re.compile(r"\{([\w-]+)\}\s*(.*)")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "code-cell", "doctest", "testcode", "ipython"})
_NOTES = frozenset({"note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "admonition"})
_OPTION = re.compile(r"\s*:[\w-]+:.*")
_ROLE = re.compile(r"\{([\w:-]+)\}$")
_ALERT = re.compile(r"^\[!\w+\]\s*")
_FOOTNOTE = re.compile(r"\[\^[\w-]+\]")
_LEAD_END = re.compile(r"^\s*(?::|-|–|—)\s*")


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text."""
    front = _FRONT_MATTER.match(text)
    if front:  # replaced by empty lines, so that all others keep their numbers
        text = "\n" * front[0].count("\n") + text[front.end() :]
    return list(_blocks(text, 0, 0))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")


def _blocks(text: str, offset: int, depth: int) -> Iterator[Block]:
    tokens = _parser().parse(text)
    lists = 0
    table = False
    first_in_item = False
    for index, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists -= 1
        elif token.type in ("table_open", "table_close"):
            table = token.type == "table_open"
        elif token.type == "list_item_open":
            first_in_item = True
        elif token.type in ("fence", "code_block"):
            yield from _code(token, offset, depth)
        elif token.type == "inline" and not table:
            before = tokens[index - 1]
            kind = (
                "heading" if before.type == "heading_open" else "item" if first_in_item and lists else "paragraph"
            )
            level = int(before.tag[1:]) if kind == "heading" else lists
            first_in_item = first_in_item and kind == "heading"
            yield from _prose(token, kind, level, offset)


def _prose(token: "Token", kind: str, level: int, offset: int) -> Iterator[Block]:
    children = token.children or []
    if kind != "heading" and _is_only_links(children):
        return
    text = _ALERT.sub("", _rendered(children)).strip(" ")
    if not text.strip() or text.lstrip().startswith(":::"):
        return
    first, end = token.map or [0, 1]
    lead = _lead(children) if kind == "item" else ""
    yield Block(kind, text, first + 1 + offset, max(end, first + 1) + offset, level, lead=lead)


def _code(token: "Token", offset: int, depth: int) -> Iterator[Block]:
    first = token.map[0] if token.map else 0
    fenced = token.type == "fence"
    start = first + 1 + offset + fenced
    info = token.info.strip() if fenced else ""
    directive = _DIRECTIVE.match(info)
    if directive is None:
        language = re.split(r"[\s,{]", info, maxsplit=1)[0].lower()
        yield from _code_block(token.content, start, language)
    elif directive[1] in _CODE_DIRECTIVES:
        yield from _code_block(*_without_options(token.content, start), directive[2].strip().lower())
    elif directive[1] in _NOTES and depth < _DEEPEST:
        content, start = _without_options(token.content, start)
        yield from _blocks(content, start - 1, depth + 1)


def _code_block(content: str, start: int, language: str) -> Iterator[Block]:
    code = content.rstrip("\n")
    if code.strip():
        yield Block("code", code, start, start + code.count("\n"), language=language)


def _without_options(content: str, start: int) -> tuple[str, int]:
    lines = content.split("\n")
    while lines and (_OPTION.fullmatch(lines[0]) or (not lines[0].strip() and len(lines) > 1)):
        lines.pop(0)
        start += 1
    return "\n".join(lines), start


def _rendered(children: "Sequence[Token]") -> str:
    pieces: list[str] = []
    for child in _without_pointers(children):
        if child.type == "text":
            pieces.append(_FOOTNOTE.sub("", child.content))
        elif child.type == "code_inline":
            role = _ROLE.search(pieces[-1]) if pieces else None
            if role:
                pieces[-1] = pieces[-1][: role.start()]
            pieces.append(role_text(role[1], child.content) if role else f"`{child.content}`")
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
    return "".join(pieces)


def _without_pointers(children: "Sequence[Token]") -> "Iterator[Token]":
    """Without links that stand alone in brackets: `([more](guide.md))` points to a page and says nothing."""
    left = list(children)
    at = 0
    while at < len(left):
        end = _pointer_end(left, at)
        if end > at:
            yield left[at].copy(content=left[at].content[:-1].rstrip(" "))
            left[end] = left[end].copy(content=left[end].content[1:])
            at = end
        else:
            yield left[at]
            at += 1


def _pointer_end(children: "Sequence[Token]", at: int) -> int:
    """The text behind a link in brackets whose opening bracket ends the text at `at`; `at` where there is none."""
    opens = children[at].type == "text" and children[at].content.endswith("(")
    if not opens or at + 1 == len(children) or children[at + 1].type != "link_open":
        return at
    end = next((index for index in range(at, len(children)) if children[index].type == "link_close"), at) + 1
    is_closed = end < len(children) and children[end].type == "text" and children[end].content.startswith(")")
    return end if is_closed else at


def _is_only_links(children: "Sequence[Token]") -> bool:
    """Whether nothing but links, images and punctuation is there: badges, tables of contents, navigation."""
    inside, outside, linked = 0, "", False
    for child in children:
        if child.type == "link_open":
            inside, linked = inside + 1, True
        elif child.type == "link_close":
            inside -= 1
        elif not inside and child.type in ("text", "code_inline"):
            outside += child.content
    return linked and not any(map(str.isalnum, outside))


def _lead(children: "Sequence[Token]") -> str:
    """The bold words that a list item begins with, where they are a name for what follows."""
    kinds = [child.type for child in children]
    opening = next((i for i, child in enumerate(children) if child.type != "text" or child.content.strip()), 0)
    if not kinds or kinds[opening] != "strong_open" or "strong_close" not in kinds:
        return ""
    closing = kinds.index("strong_close")
    lead = " ".join(_rendered(children[opening:closing]).split())
    rest = _rendered(children[closing:])
    return lead.rstrip(":").strip() if lead.endswith((":", ".")) or _LEAD_END.match(rest) else ""
