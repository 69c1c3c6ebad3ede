"""The specification of a server as a document, generated, with the owner's own text kept byte for byte.

Each section of each tool is a region of its own, so that the owner may write below any of them. Regions are
replaced where they stand; those of a tool that is gone are taken out; missing ones are put where they belong.
A file in which it is not certain what is generated and what is the owner's is refused, not guessed at.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.contract.documents.facts import surface_facts
from holdfast.contract.documents.markdown import excess, line_break, read_blocks, read_source
from holdfast.contract.documents.regions import (
    Piece,
    begin_marker,
    end_marker,
    region_faults,
    region_id,
    shows_text,
    split_regions,
)
from holdfast.contract.documents.render import header, section_text, tool_heading
from holdfast.contract.documents.render_offers import offer_sections
from holdfast.contract.documents.sections import SectionKind
from holdfast.errors import UsageError

__all__ = ["DOCUMENT_REGION", "generate_document", "generated_regions", "region_owners"]

DOCUMENT_REGION = "document"


def generate_document(snapshot: Mapping[str, Any], *, existing: str | None = None, name: str = "") -> str:
    """The document of a surface; `existing` is an earlier one, whose text outside of regions is kept.

    Raises UsageError where the regions of `existing` are not certain; `name` is the file that it speaks of.
    """
    regions = generated_regions(snapshot)
    if not existing:
        return "".join(regions.values())
    _refuse_ambiguous(existing, name)
    newline = line_break(existing)
    pieces = _kept(split_regions(existing), regions)
    if _has_own_title(pieces):
        del regions[DOCUMENT_REGION]
    pieces = _with_newlines(_with_missing(pieces, regions), newline)
    text = "".join(
        piece.text if piece.id is None else _replaced(piece.text, regions[piece.id], newline) for piece in pieces
    )
    _refuse_swallowed(text, pieces, existing, name)
    return text


def _refuse_ambiguous(existing: str, name: str) -> None:
    """No text is replaced where it is not certain whose it is."""
    too_large = excess(existing)
    if too_large:
        raise _refusal(name, 1, too_large, "split the file")
    source = read_source(existing)
    faults = region_faults(source, read_blocks(source))
    if faults:
        line, message = min(faults, key=lambda fault: fault[0])
        remedy = "keep one pair of comments around each region, outside of code; nothing was written"
        raise _refusal(name, line, message, remedy)


def _refuse_swallowed(text: str, pieces: Iterable[Piece], existing: str, name: str) -> None:
    """No region is written to where it would be code or part of a comment of the owner."""
    wanted = [piece.id for piece in pieces if piece.id is not None]
    if [piece.id for piece in split_regions(text) if piece.id is not None] == wanted:
        return
    last = next((block for block in reversed(read_blocks(read_source(existing))) if shows_text(block)), None)
    line = last.line if last is not None else 1
    message = f"the code or comment that opens on line {line} and is never closed would take in what follows"
    raise _refusal(name, line, message, "close it; nothing was written")


def _refusal(name: str, line: int, message: str, remedy: str) -> UsageError:
    return UsageError(f"{name or 'the document'}, line {line}: {message}", remedy=remedy)


def generated_regions(snapshot: Mapping[str, Any]) -> dict[str, str]:
    """Every region of the document by its id, in order, its comments included."""
    surface = surface_facts(snapshot)
    regions = {DOCUMENT_REGION: _region(DOCUMENT_REGION, header(surface))}
    for tool in surface.tools:
        for kind in SectionKind:
            identity = region_id(tool.name, kind.value)
            text = section_text(kind, tool, surface)
            if kind is SectionKind.PURPOSE:
                text = f"{tool_heading(tool)}\n\n{text}"
            regions[identity] = _region(identity, text)
    return regions | {identity: _region(identity, text) for identity, text in offer_sections(snapshot)}


def region_owners(snapshot: Mapping[str, Any]) -> dict[str, str]:
    """The name of the tool that each region belongs to."""
    tools = surface_facts(snapshot).tools
    return {region_id(tool.name, kind.value): tool.name for tool in tools for kind in SectionKind}


def _region(identity: str, text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"{begin_marker(identity)}\n\n{plain}\n\n{end_marker(identity)}\n"


def _replaced(old: str, new: str, newline: str) -> str:
    """The new text of a region in the line breaks of the file; a byte order mark before it stays."""
    mark = "\ufeff" if old.startswith("\ufeff") else ""
    return mark + (new if newline == "\n" else new.replace("\n", newline))


def _kept(pieces: list[Piece], regions: Mapping[str, str]) -> list[Piece]:
    """The pieces without regions of tools that are gone, and without second copies of a region."""
    seen: set[str] = set()
    kept = []
    for piece in pieces:
        if piece.id is None or (piece.id in regions and piece.id not in seen):
            kept.append(piece)
            seen |= {piece.id} if piece.id is not None else set()
        elif piece.text.startswith("\ufeff"):
            kept.append(Piece(None, "\ufeff", piece.line))
    return kept


def _has_own_title(pieces: list[Piece]) -> bool:
    """Whether the owner's text has a title, beside which a generated one would be a second."""
    if any(piece.id == DOCUMENT_REGION for piece in pieces):
        return False
    own = "".join(piece.text for piece in pieces if piece.id is None)
    return any(block.kind == "heading" and block.level == 1 for block in read_blocks(read_source(own)))


def _with_missing(pieces: list[Piece], regions: Mapping[str, str]) -> list[Piece]:
    """The pieces with every missing region in its place."""
    places = {piece.id: place for place, piece in enumerate(pieces) if piece.id is not None}
    before: dict[int, list[Piece]] = {}
    following = len(pieces)  # the place of the next tool that is there
    for group in reversed(_by_tool(regions)):
        own = [places[identity] for identity in group if identity in places]
        place = 0 if group == [DOCUMENT_REGION] else max(own) + 1 if own else following
        for identity in reversed(group):
            if identity in places:
                place = places[identity]
            else:
                before.setdefault(place, []).insert(0, Piece(identity, "", 0))
        following = min(own) if own else following
    result: list[Piece] = []
    for place in range(len(pieces) + 1):
        result += before.get(place, [])
        result += pieces[place : place + 1]
    return result


def _by_tool(regions: Iterable[str]) -> list[list[str]]:
    """The ids of the regions, those of one tool together."""
    groups: dict[str, list[str]] = {}
    for identity in regions:
        groups.setdefault(identity.rpartition("/")[0], []).append(identity)
    return list(groups.values())


def _with_newlines(pieces: list[Piece], newline: str) -> list[Piece]:
    """A comment begins on a line of its own: text before it that ends without a newline gets one."""
    result: list[Piece] = []
    for piece in pieces:
        before = result[-1] if result else None
        is_open = before is not None and before.id is None and not before.text.endswith(("\n", "\r", "\ufeff"))
        if piece.id is not None and before is not None and is_open:
            result[-1] = Piece(None, before.text + newline, before.line)
        result.append(piece)
    return result
