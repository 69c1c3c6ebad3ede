"""The generated regions of a document: lines between two comments that stand outside of code and other comments.

Everything outside of them is the owner's and is kept byte for byte. A comment in a fence, in indented code or in
another comment is something that the owner shows, not a marker. A region whose comments do not pair is treated
as the owner's text and told, never overwritten.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.contract.documents.markdown import Block, Source, read_blocks, read_source

__all__ = [
    "Marker",
    "Piece",
    "begin_marker",
    "end_marker",
    "read_markers",
    "region_faults",
    "region_id",
    "shows_text",
    "split_regions",
]

_MARKER = re.compile(r"\ufeff?<!-- holdfast:(begin|end) ([A-Za-z0-9_.%/-]{1,800}) -->[ \t]*")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
# Elements that hold text and not markup; a comment in any other element is a comment.
_TEXT_ELEMENT = re.compile(r"\s*<(?:pre|script|style|textarea)(?:[\s>]|$)", re.IGNORECASE)
_TEXT_ELEMENT_END = re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document: a region with its id, or the owner's text with none. `line` is its first line."""

    id: str | None
    text: str
    line: int


def region_id(tool: str, section: str) -> str:
    """The id of the region of one section of a tool."""
    quoted = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in _bytes(match.group())), tool[:128])
    return f"{quoted}/{section}"


def _bytes(character: str) -> bytes:
    return character.encode("utf-8", "surrogatepass")


def begin_marker(identity: str) -> str:
    """The line before a region."""
    return f"<!-- holdfast:begin {identity} -->"


def end_marker(identity: str) -> str:
    """The line after a region."""
    return f"<!-- holdfast:end {identity} -->"


@dataclass(frozen=True, slots=True)
class Marker:
    """A line that looks like a marker. `shown_in` is the code or comment around it, which makes it mere text."""

    word: str
    id: str
    line: int
    shown_in: Block | None

    @property
    def place(self) -> str:
        """Where it is shown, in words."""
        if self.shown_in is None:
            return ""
        is_comment = self.shown_in.text.lstrip().startswith("<!--") and self.shown_in.kind == "html"
        return f"in the {'comment' if is_comment else 'code'} that opens on line {self.shown_in.line}"


def read_markers(source: Source, blocks: Sequence[Block]) -> list[Marker]:
    """Every line that looks like a marker, in order."""
    showing = [block for block in blocks if shows_text(block)]
    starts = [block.line for block in showing]
    found = []
    for line, text in enumerate(source.lines, 1):
        match = _MARKER.fullmatch(text) if "<!-- holdfast:" in text else None
        if match is not None:
            nearest = showing[bisect_right(starts, line) - 1] if starts and starts[0] <= line else None
            is_shown = nearest is not None and line <= nearest.end_line and not _is_own_block(nearest, line)
            found.append(Marker(match[1], match[2], line, nearest if is_shown else None))
    return found


def shows_text(block: Block) -> bool:
    """Whether what stands in a block is text, whatever it looks like."""
    is_raw = block.kind == "html" and (
        block.text.lstrip().startswith("<!--") or _TEXT_ELEMENT.match(block.text) is not None
    )
    # A line that begins at the margin is never inside of a list or a quotation.
    return block.depth == 0 and (block.kind == "fence" or is_raw)


def _is_own_block(block: Block, line: int) -> bool:
    """Whether the comment on this line is the block itself."""
    return block.kind == "html" and block.line == line


def split_regions(text: str) -> list[Piece]:
    """A text as regions and owner's text, in order; put together again they are the text."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    pieces: list[Piece] = []
    first = 0
    for begin, end in _pairs(text):
        if begin.line - 1 > first:
            pieces.append(Piece(None, "".join(lines[first : begin.line - 1]), first + 1))
        pieces.append(Piece(begin.id, "".join(lines[begin.line - 1 : end.line]), begin.line))
        first = end.line
    rest = "".join(lines[first:])
    return [*pieces, Piece(None, rest, first + 1)] if rest else pieces


def _pairs(text: str) -> list[tuple[Marker, Marker]]:
    """The markers of the regions that are whole: each begin that is followed by its end."""
    if "<!-- holdfast:" not in text:
        return []
    source = read_source(text)
    real = [marker for marker in read_markers(source, read_blocks(source)) if marker.shown_in is None]
    return [
        (one, other)
        for one, other in pairwise(real)
        if (one.word, other.word) == ("begin", "end") and one.id == other.id
    ]


def region_faults(source: Source, blocks: Sequence[Block]) -> list[tuple[int, str]]:
    """The markers that do not pair, and regions that stand twice, each with its line."""
    markers = read_markers(source, blocks)
    shown = {(marker.word, marker.id): marker for marker in markers if marker.shown_in is not None}
    faults = _swallowed(markers)
    seen: dict[str, int] = {}
    opened: Marker | None = None
    for marker in [one for one in markers if one.shown_in is None]:
        if marker.word == "begin":
            if opened is not None:
                faults.append(_not_ended(opened, shown, "is not ended before another begins"))
            if marker.id in seen:
                message = f"the region {marker.id} stands twice, first on line {seen[marker.id]}"
                faults.append((marker.line, message))
            seen.setdefault(marker.id, marker.line)
            opened = marker
        elif opened is None or opened.id != marker.id:
            begin = shown.get(("begin", marker.id))
            why = f": it begins {begin.place}" if begin is not None else ""
            faults.append((marker.line, f"the region {marker.id} is ended but was not begun{why}"))
        else:
            opened = None
    if opened is not None:
        faults.append(_not_ended(opened, shown, "is never ended"))
    return faults


def _swallowed(markers: Sequence[Marker]) -> list[tuple[int, str]]:
    """Code that is never closed was hardly meant to take in the regions behind it: one fault for each."""
    first: dict[int, Marker] = {}
    for marker in markers:
        if marker.shown_in is not None and _is_open(marker.shown_in):
            first.setdefault(marker.shown_in.line, marker)
    return [(line, f"the region {one.id} stands {one.place} and is never closed") for line, one in first.items()]


def _is_open(block: Block) -> bool:
    is_element = _TEXT_ELEMENT.match(block.text) is not None and block.kind == "html"
    return not block.is_closed or (is_element and _TEXT_ELEMENT_END.search(block.text) is None)


def _not_ended(begin: Marker, shown: dict[tuple[str, str], Marker], words: str) -> tuple[int, str]:
    end = shown.get(("end", begin.id))
    why = f": its end stands {end.place}" if end is not None and end.line > begin.line else ""
    return begin.line, f"the region {begin.id} {words}{why}"
