"""A page that is on the site, and its new version: everything that people did to it stays, all else is made new.

    written   what the last run wrote, as the record of the site has it: digests
    ours      the page as it is now
    theirs    the page as this run would write it

A merge of its own result changes nothing.
"""

from typing import Any, NamedTuple

from holdfast.launch.front_matter import split
from holdfast.launch.updating.front_merge import DATES, merged_front
from holdfast.launch.updating.page_parts import Parts, Unit, parts_of
from holdfast.launch.updating.record import PageRecord
from holdfast.launch.updating.section_merge import merged_sections
from holdfast.launch.updating.unit_merge import Piece

__all__ = ["Kept", "Merged", "is_untouched", "merged_page"]

_TOGETHER = ("item", "row")  # what stands below its like without a blank line


class Kept(NamedTuple):
    """Text of a person that the new version would have changed. `kind` is `front_matter` or `text`."""

    kind: str
    where: str  # the key, or the heading of the section; "" above the first heading
    yours: str
    new: str


class Merged(NamedTuple):
    """The merged page, and what of the new version is not in it."""

    text: str
    kept: list[Kept]


def merged_page(written: PageRecord, ours: str, theirs: str) -> Merged:
    """The page with all of people's edits and all of the new version that does not touch them.

    FrontMatterError where the front matter of the page cannot be read: then nothing can be merged.
    """
    now, new = parts_of(ours), parts_of(theirs)
    if not _is_news(written, new):
        return Merged(ours, [])
    values: dict[str, Any] = split(theirs).data
    head, keys = merged_front(written.front_matter, now, new, values)
    pieces, sections = merged_sections(written.sections, now.sections, new.sections)
    kept = [Kept("front_matter", clash.key, clash.yours, clash.new) for clash in keys if clash.key not in DATES]
    kept += [Kept("text", clash.section, clash.yours, clash.new) for clash in sections]
    return Merged(head + _body(pieces, now, new), kept)


def is_untouched(written: PageRecord, ours: str) -> bool:
    """Whether nobody has changed the page since it was written."""
    return PageRecord.of(parts_of(ours)) == written


def _is_news(written: PageRecord, new: Parts) -> bool:
    """Whether the new version says anything that the last one did not, other than the day."""
    record = PageRecord.of(new)
    fixed = [
        {key: value for key, value in one.front_matter.items() if key not in DATES} for one in (record, written)
    ]
    return record.sections != written.sections or fixed[0] != fixed[1]


def _body(pieces: list[Piece], now: Parts, new: Parts) -> str:
    ours = [unit for section in now.sections for unit in section.units]
    theirs = [unit for section in new.sections for unit in section.units]
    newline = now.newline
    made: list[str] = []
    for number, piece in enumerate(pieces):
        before = pieces[number - 1] if number else None
        gap = _gap(before, piece, ours, theirs, newline)
        made += [gap, _as_lines(piece, newline)]
    tail = now.tail
    if made and pieces[-1].ours is not None and pieces[-1].unit.end == "":
        made[-1] = made[-1].removesuffix(newline)  # the last line had no end, and is still the last
    return "".join(made) + tail


def _as_lines(piece: Piece, newline: str) -> str:
    """A person's lines as they are; those of the run end as those of the page do."""
    unit = piece.unit
    if piece.ours is not None:
        return unit.text + (unit.end or newline)
    return unit.text.replace("\r\n", "\n").replace("\n", newline) + newline


def _gap(before: Piece | None, piece: Piece, ours: list[Unit], theirs: list[Unit], newline: str) -> str:
    """The blank lines above a unit: as they are where its neighbour is the same, else as Markdown needs them."""
    own = piece.unit.gap if piece.ours is not None else _blank(piece.unit.gap, newline)
    if before is None:
        return own
    if piece.ours is not None and before.ours == piece.ours - 1:
        return own
    if piece.theirs is not None and before.theirs is not None and before.theirs == piece.theirs - 1:
        return _blank(theirs[piece.theirs].gap, newline)
    kinds = (before.unit.kind, piece.unit.kind)
    if kinds[0] == kinds[1] and kinds[0] in _TOGETHER:
        above = _above(piece, ours, theirs)
        return own if above is not None and above.kind == kinds[1] else ""
    is_one_source = (before.ours is None) == (piece.ours is None)
    if kinds[0] == kinds[1] == "text" and is_one_source:
        return own
    return own or newline


def _above(piece: Piece, ours: list[Unit], theirs: list[Unit]) -> Unit | None:
    """The unit above this one in the version that it comes from."""
    units, place = (ours, piece.ours) if piece.ours is not None else (theirs, piece.theirs)
    return units[place - 1] if place else None


def _blank(gap: str, newline: str) -> str:
    return newline * gap.count("\n")
