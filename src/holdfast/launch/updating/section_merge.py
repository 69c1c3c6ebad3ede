"""The bodies of three versions of a page: which sections there are, in which order, and what is in each.

Sections are found by their headings, wherever they have moved to, or by what is in them where a heading was
changed. People's order of sections stays; so does a section that people added, changed or deleted.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.launch.updating.page_parts import TOP, Section
from holdfast.launch.updating.unit_merge import Clash, Piece, merged_units

__all__ = ["SectionClash", "merged_sections"]

_ALIKE = 0.5
Written = Sequence[tuple[str, tuple[str, ...]]]


class SectionClash(NamedTuple):
    """Where the new version could not be followed: under which heading, and both texts."""

    section: str
    yours: str
    new: str


class _Trio(NamedTuple):
    """One section in three versions, by number; None where a version does not have it."""

    written: int | None
    ours: int | None
    theirs: int | None


def merged_sections(
    written: Written, ours: Sequence[Section], theirs: Sequence[Section]
) -> tuple[list[Piece], list[SectionClash]]:
    """The units of the merged body in their order, and where people's text stood against the new one."""
    trios = _trios(written, ours, theirs)
    ours_at, theirs_at = _offsets(ours), _offsets(theirs)
    made: dict[_Trio, list[Piece]] = {}
    clashes: list[tuple[int, SectionClash]] = []
    kept_parents = _parents_of_edits(trios, written, ours)
    for trio in trios:
        before = written[trio.written][1] if trio.written is not None else None
        mine = ours[trio.ours] if trio.ours is not None else None
        new = theirs[trio.theirs] if trio.theirs is not None else None
        at = ours_at[trio.ours or 0], theirs_at[trio.theirs or 0]
        if mine is not None and new is not None:
            made[trio], found = merged_units(before or (), mine.units, new.units, *at)
        elif mine is not None:
            made[trio], found = _only_ours(before, mine, at[0], holds_edits=trio.ours in kept_parents)
        elif new is not None:
            made[trio], found = _only_theirs(before, new, at[1])
        else:
            made[trio], found = [], []
        title = (mine or new or ours[0]).title
        place = trio.ours if trio.ours is not None else len(ours)
        clashes += [(place, SectionClash(title, clash.yours, clash.new)) for clash in found]
    clashes.sort(key=lambda one: one[0])
    ordered = _ordered([trio for trio in trios if made[trio] or trio.written == 0])
    return [piece for trio in ordered for piece in made[trio]], [clash for _, clash in clashes]


def _only_ours(
    before: Sequence[str] | None, mine: Section, at: int, *, holds_edits: bool
) -> tuple[list[Piece], list[Clash]]:
    """One that people added, or that the new version does without: then it goes, unless somebody edited it."""
    if before is not None and mine.digests == tuple(before) and not holds_edits:
        return [], []
    pieces = [Piece(unit, at + number, None) for number, unit in enumerate(mine.units)]
    return pieces, [] if before is None else [Clash(_text(mine), "")]


def _only_theirs(before: Sequence[str] | None, new: Section, at: int) -> tuple[list[Piece], list[Clash]]:
    """One that is new, or that people have deleted: then it stays away, and what is new in it is told."""
    if before is None:
        return [Piece(unit, None, at + number) for number, unit in enumerate(new.units)], []
    return [], [Clash("", _text(new))] if new.digests != tuple(before) else []


def _text(section: Section) -> str:
    return "\n".join(unit.text.replace("\r\n", "\n") for unit in section.units)


def _offsets(sections: Sequence[Section]) -> list[int]:
    """The number, on its page, of the first unit of each section."""
    found, place = [], 0
    for section in sections:
        found.append(place)
        place += len(section.units)
    return found


def _trios(written: Written, ours: Sequence[Section], theirs: Sequence[Section]) -> list[_Trio]:
    now = [(section.key, section.digests) for section in ours]
    new = [(section.key, section.digests) for section in theirs]
    mine, others = _matched(written, now), _matched(written, new)
    trios = [_Trio(number, mine.get(number), others.get(number)) for number in range(len(written))]
    added = [number for number in range(len(ours)) if number not in mine.values()]
    fresh = {new[number][0]: number for number in range(len(theirs)) if number not in others.values()}
    # One that both have added is the same section where it has the same heading.
    trios += [_Trio(None, number, fresh.pop(now[number][0], None)) for number in added]
    return trios + [_Trio(None, None, number) for number in fresh.values()]


def _matched(written: Written, other: Written) -> dict[int, int]:
    """The sections of another version that are those which were written, by number."""
    found: dict[int, int] = {}
    left = list(range(len(other)))

    def take(number: int, where: int) -> None:
        found[number] = where
        left.remove(where)

    for number, (key, _) in enumerate(written):
        where = next((one for one in left if other[one][0] == key), None)
        if where is not None:
            take(number, where)
    for number, (key, units) in enumerate(written):
        same = [one for one in left if units and other[one][1][:1] == units[:1] and other[one][0] != TOP]
        if number not in found and key != TOP and len(same) == 1:
            take(number, same[0])
    for number, (key, units) in enumerate(written):
        if number in found or key == TOP:
            continue
        alike = [(_likeness(units, other[one][1]), -one) for one in left if other[one][0] != TOP]
        if alike and max(alike)[0] >= _ALIKE:
            take(number, -max(alike)[1])
    return found


def _likeness(units: Sequence[str], others: Sequence[str]) -> float:
    """How much two sections with different headings have in common."""
    mine, new = set(units[1:]), set(others[1:])
    return len(mine & new) / max(len(mine), len(new)) if mine and new else 0.0


def _parents_of_edits(trios: Sequence[_Trio], written: Written, ours: Sequence[Section]) -> set[int | None]:
    """The sections of now that hold, further down, a section which people have added or changed."""
    before: Mapping[int | None, tuple[str, ...]] = {
        trio.ours: written[trio.written][1] for trio in trios if trio.written is not None
    }
    found: set[int | None] = set()
    for number, section in enumerate(ours):
        if before.get(number) == section.digests:
            continue
        level = section.level
        for above in range(number - 1, 0, -1):
            if ours[above].level < level:
                found.add(above)
                level = ours[above].level
    return found


def _ordered(trios: Sequence[_Trio]) -> list[_Trio]:
    """The order of the new version, unless people have made one of their own; what it lacks, where it stood."""
    mine = [trio for trio in trios if trio.ours is not None]
    shared = sorted((trio for trio in mine if trio.written is not None), key=lambda trio: trio.ours or 0)
    is_moved = [trio.written for trio in shared] != sorted(trio.written or 0 for trio in shared)
    if is_moved:
        line, others = sorted(mine, key=lambda trio: trio.ours or 0), [trio for trio in trios if trio.ours is None]
        return _inserted(line, sorted(others, key=_by_theirs), trios, by_theirs=True)
    line = sorted((trio for trio in trios if trio.theirs is not None), key=_by_theirs)
    others = sorted((trio for trio in mine if trio.theirs is None), key=lambda trio: trio.ours or 0)
    return _inserted(line, others, trios, by_theirs=False)


def _by_theirs(trio: _Trio) -> int:
    return trio.theirs or 0


def _inserted(
    line: list[_Trio], others: Sequence[_Trio], trios: Sequence[_Trio], *, by_theirs: bool
) -> list[_Trio]:
    """Each of the others behind the one that it stands behind in its own version."""
    made = list(line)
    for trio in others:
        where = trio.theirs if by_theirs else trio.ours
        before = [
            (place, one)
            for one in trios
            if one in made
            and (place := one.theirs if by_theirs else one.ours) is not None
            and place < (where or 0)
        ]
        at = made.index(max(before, key=lambda pair: pair[0])[1]) + 1 if before else 0
        made.insert(at, trio)
    return made
