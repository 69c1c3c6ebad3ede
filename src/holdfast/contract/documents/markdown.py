"""Markdown as a flat list of blocks with source lines: headings, paragraphs, list items, fences, tables, HTML.

The block structure comes from CommonMark tokens; inline text stays as it was written. Tables are read from
paragraphs, because their token rule fills rows up to the width of the head, which hostile text can abuse.
Line breaks may be of any kind; lines count from 1 as an editor counts them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = [
    "MAX_CHARACTERS",
    "MAX_LINES",
    "Block",
    "Row",
    "Source",
    "excess",
    "line_break",
    "read_blocks",
    "read_source",
]

MAX_CHARACTERS = 3_000_000
MAX_LINES = 100_000
_MAX_NESTING = 16
_MAX_COLUMNS = 64
_MAX_TABLE_ROWS = 5_000

# "deep" stands where lists and quotes are nested deeper than is read; what follows may be missing.
BlockKind = Literal["heading", "paragraph", "item", "fence", "table", "html", "rule", "deep"]
_DELIMITER = re.compile(r":?-+:?")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FRONT_MATTER_KEY = re.compile(r"[A-Za-z_][\w -]*:(?:\s|$)|#|\s*$|[ \t-]")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its cells as written, and its line."""

    cells: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """One block. `level` is that of a heading; `depth` counts the lists and quotes around the block."""

    kind: BlockKind
    text: str
    line: int
    end_line: int
    level: int = 0
    depth: int = 0
    info: str = ""
    rows: tuple[Row, ...] = ()
    is_closed: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A text made ready for reading: plain line breaks, no byte order mark, the front matter counted apart."""

    lines: tuple[str, ...]
    front_matter_lines: int
    has_mark: bool
    newline: str


def line_break(text: str) -> str:
    """The line break of most lines of a text: what is written into it gets the same."""
    pairs = text.count("\r\n")
    return "\r\n" if pairs > text.count("\n") - pairs else "\n"


def excess(text: str) -> str:
    """Which limit a text exceeds, in words, or no text where it exceeds none."""
    lines = text.count("\n") + text.count("\r") - text.count("\r\n") + (not text.endswith(("\n", "\r")))
    sizes = ((len(text), MAX_CHARACTERS, "characters"), (lines, MAX_LINES, "lines"))
    return ", ".join(f"{size} {unit}; at most {most} are read" for size, most, unit in sizes if size > most)


def read_source(text: str) -> Source:
    """`text` with its line breaks told apart from its lines."""
    newline = line_break(text)
    has_mark = text.startswith("\ufeff")
    body = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return Source(tuple(body.split("\n")), _front_matter_lines(body), has_mark, newline)


def _front_matter_lines(body: str) -> int:
    if not body.startswith("---"):
        return 0
    match = _FRONT_MATTER.match(body[:50_000])
    if match is None:
        return 0
    inside = match.group().split("\n")[1:-2]
    # A rule, some prose and another rule are no front matter.
    is_data = bool(inside) and all(_FRONT_MATTER_KEY.match(line) for line in inside)
    return match.group().count("\n") if is_data else 0


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.disable(["reference"])  # a definition of a link is text that the author wrote
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def read_blocks(source: Source) -> list[Block]:
    """The blocks of a text in the order of its lines."""
    skipped = source.front_matter_lines
    text = "\n" * skipped + "\n".join(source.lines[skipped:])
    blocks: list[Block] = []
    depth = 0
    is_item_start = False
    tokens = _parser().parse(text)
    for number, token in enumerate(tokens):
        if token.type in {"list_item_open", "blockquote_open"}:
            depth += 1
            is_item_start = token.type == "list_item_open"
            if token.level >= _MAX_NESTING - 1:
                first = _lines(token)[0]
                blocks.append(Block("deep", "", first, first, depth=depth))
        elif token.type in {"list_item_close", "blockquote_close"}:
            depth -= 1
        elif token.type == "inline":
            blocks += _text_blocks(tokens[number - 1], token, depth, is_item=is_item_start)
            is_item_start = False
        elif token.type in {"fence", "code_block", "html_block", "hr"}:
            blocks.append(_leaf(token, depth, source))
            is_item_start = False
    return blocks


def _lines(token: "Token") -> tuple[int, int]:
    first, end = token.map or (0, 1)
    return first + 1, max(end, first + 1)


def _text_blocks(opening: "Token", inline: "Token", depth: int, *, is_item: bool) -> list[Block]:
    first, last = _lines(inline)
    if opening.type == "heading_open" and depth == 0:
        return [Block("heading", inline.content, first, _lines(opening)[1], level=int(opening.tag[1:]))]
    if not is_item and "|" in inline.content:
        return _with_tables(inline.content, first, depth)
    return [Block("item" if is_item else "paragraph", inline.content, first, last, depth=depth)]


def _leaf(token: "Token", depth: int, source: Source) -> Block:
    first, last = _lines(token)
    if token.type == "html_block":
        is_open = token.content.lstrip().startswith("<!--") and "-->" not in token.content
        return Block("html", token.content, first, last, depth=depth, is_closed=not is_open)
    if token.type == "hr":
        return Block("rule", "", first, last, depth=depth)
    closing = source.lines[last - 1].strip(" \t>") if last <= len(source.lines) else ""
    is_closed = token.type == "code_block" or (last > first and closing.startswith(token.markup))
    return Block(
        "fence", token.content, first, last, depth=depth, info=token.info.strip().lower(), is_closed=is_closed
    )


def _with_tables(content: str, first: int, depth: int) -> list[Block]:
    """A paragraph that may hold a table: the text before it, the table, which takes the rest."""
    lines = content.split("\n")
    for number in range(len(lines) - 1):
        if "|" in lines[number] and "-" in lines[number + 1] and _is_delimiter(lines[number], lines[number + 1]):
            rows = [
                Row(_cells(line), first + number + offset)
                for offset, line in enumerate(lines[number : number + _MAX_TABLE_ROWS])
                if offset != 1
            ]
            last = first + len(lines) - 1
            table = Block("table", "\n".join(lines[number:]), first + number, last, depth=depth, rows=tuple(rows))
            if number == 0:
                return [table]
            before = "\n".join(lines[:number])
            return [Block("paragraph", before, first, first + number - 1, depth=depth), table]
    return [Block("paragraph", content, first, first + len(lines) - 1, depth=depth)]


def _is_delimiter(head: str, line: str) -> bool:
    if len(line) > 10_000 or set(line) - set("|:- \t"):
        return False
    cells = _cells(line)
    return len(cells) == len(_cells(head)) and all(_DELIMITER.fullmatch(cell) for cell in cells)


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a row; a pipe after a backslash belongs to its cell."""
    trimmed = line.strip().removeprefix("|")
    if trimmed.endswith("|") and not trimmed.endswith("\\|"):
        trimmed = trimmed[:-1]
    pieces = re.split(r"(?<!\\)\|", trimmed, maxsplit=_MAX_COLUMNS)
    return tuple(piece.replace("\\|", "|").strip() for piece in pieces)
