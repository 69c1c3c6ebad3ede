"""The generated regions of a document: lines between two comments, found without reading any Markdown.

Everything outside of them is the owner's and is kept byte for byte. A region whose comments do not pair is
treated as the owner's text and told, never overwritten.
"""

import re
from dataclasses import dataclass

from holdfast.contract.documents.markdown import Source

__all__ = ["Piece", "begin_marker", "end_marker", "region_faults", "region_id", "split_regions"]

_MARKER = re.compile(r"\ufeff?<!-- holdfast:(begin|end) ([A-Za-z0-9_.%/-]{1,800}) -->[ \t]*")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


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


def split_regions(text: str) -> list[Piece]:
    """A text as regions and owner's text, in order; put together again they are the text."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    pieces: list[Piece] = []
    place = first = 0
    while place < len(lines):
        end = _region_end(lines, place)
        if end is None:
            place += 1
            continue
        if place > first:
            pieces.append(Piece(None, "".join(lines[first:place]), first + 1))
        marker = _marker(lines[place])
        pieces.append(Piece(marker[2] if marker else "", "".join(lines[place : end + 1]), place + 1))
        place = first = end + 1
    if first < len(lines) and "".join(lines[first:]):
        pieces.append(Piece(None, "".join(lines[first:]), first + 1))
    return pieces


def _marker(line: str) -> re.Match[str] | None:
    return _MARKER.fullmatch(line.rstrip("\r\n")) if "<!-- holdfast:" in line else None


def _region_end(lines: list[str], start: int) -> int | None:
    """The line that ends the region which begins at `start`, where one does and it is whole."""
    opening = _marker(lines[start])
    if opening is None or opening[1] != "begin":
        return None
    for place in range(start + 1, len(lines)):
        closing = _marker(lines[place])
        if closing is not None:
            return place if closing[1] == "end" and closing[2] == opening[2] else None
    return None


def region_faults(source: Source) -> list[tuple[int, str]]:
    """The comments that do not pair, and regions that stand twice, each with its line."""
    faults: list[tuple[int, str]] = []
    seen: set[str] = set()
    opened: tuple[str, int] | None = None
    for line, text in enumerate(source.lines, 1):
        marker = _marker(text)
        if marker is None:
            continue
        word, identity = marker[1], marker[2]
        if word == "begin":
            if opened is not None:
                faults.append((opened[1], f"the region {opened[0]} is not ended before another begins"))
            if identity in seen:
                faults.append((line, f"the region {identity} stands twice"))
            seen.add(identity)
            opened = (identity, line)
        elif opened is None or opened[0] != identity:
            faults.append((line, f"the region {identity} is ended but was not begun"))
        else:
            opened = None
    if opened is not None:
        faults.append((opened[1], f"the region {opened[0]} is never ended"))
    return faults
