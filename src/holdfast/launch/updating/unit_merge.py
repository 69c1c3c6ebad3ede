"""Three versions of a section, unit by unit: as a run wrote it, as it is now, and as the new version has it.

Of the first only digests are known, and they are enough: a unit that is still as it was written is the run's, any
other is somebody's. Where both have changed the same unit the person's stays, and what it would be is told.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.launch.updating.page_parts import Unit

__all__ = ["Clash", "Piece", "merged_units"]

_SIMILAR = 0.6
_MOST_COMPARED = 40  # units of one hunk that are compared with each other
_LONGEST_COMPARED = 400  # characters of each
_MOST_UNITS = (
    6000  # of two versions of a section that are compared unit by unit; beyond, what differs is one piece
)


class Piece(NamedTuple):
    """A unit of the merged page, and where it stands in the other two: in the page of now, in the new version."""

    unit: Unit
    ours: int | None
    theirs: int | None


class Clash(NamedTuple):
    """Both have changed the same units: the person's text, which stays, and the new one."""

    yours: str
    new: str


class _Hunk(NamedTuple):
    """Written units from `start` up to `stop`, and those (`low` up to `high` of the other side) in their place."""

    start: int
    stop: int
    low: int
    high: int


class _Side(NamedTuple):
    """One of the two that follow what was written: its units, where they begin, and where it differs."""

    units: Sequence[Unit]
    offset: int
    hunks: Sequence[_Hunk]
    kept: Mapping[int, int]  # written unit -> its own

    def between(self, start: int, stop: int, hunks: Sequence[_Hunk]) -> list[int]:
        """Its units in the place of the written ones from `start` to `stop`, where it has changed `hunks`."""
        found: list[int] = []
        place = start
        for hunk in hunks:
            found += [self.kept[number] for number in range(place, hunk.start)]
            found += range(hunk.low, hunk.high)
            place = hunk.stop
        return found + [self.kept[number] for number in range(place, stop)]


class _Cluster(NamedTuple):
    """Written units from `start` up to `stop` that were changed, by one of the two or by both."""

    start: int
    stop: int
    mine: tuple[_Hunk, ...]
    new: tuple[_Hunk, ...]


def merged_units(
    written: Sequence[str], ours: Sequence[Unit], theirs: Sequence[Unit], ours_at: int = 0, theirs_at: int = 0
) -> tuple[list[Piece], list[Clash]]:
    """The merged section, and where the new version could not be followed.

    `ours_at` and `theirs_at` are the numbers of the first unit of each, on its page.
    """
    known = _texts(written, ours, theirs)
    mine, new = _side(written, ours, ours_at, known), _side(written, theirs, theirs_at, known)
    added = {mine.units[number].digest for hunk in mine.hunks for number in range(hunk.low, hunk.high)}
    pieces: list[Piece] = []
    clashes: list[Clash] = []
    place = 0
    for cluster in _clusters(mine, new):
        pieces += _both(mine, new, place, cluster.start)
        place = cluster.stop
        yours = [
            Piece(mine.units[number], mine.offset + number, None)
            for number in mine.between(cluster.start, place, cluster.mine)
        ]
        others = [
            Piece(new.units[number], None, new.offset + number)
            for number in new.between(cluster.start, place, cluster.new)
        ]
        if cluster.mine:
            pieces += yours
            clashes += [Clash(_text(yours), _text(others))] if cluster.new and _differ(yours, others) else []
        # A person may have added already what the new version adds; then it is there once, as the person has it.
        elif not {piece.unit.digest for piece in others} <= added:
            pieces += others
    return pieces + _both(mine, new, place, len(written)), clashes


def _texts(written: Sequence[str], *sides: Sequence[Unit]) -> dict[str, str]:
    """The text of every written unit that one of the two still has."""
    wanted = set(written)
    return {unit.digest: unit.text for units in sides for unit in units if unit.digest in wanted}


def _side(written: Sequence[str], units: Sequence[Unit], offset: int, known: Mapping[str, str]) -> _Side:
    digests = [unit.digest for unit in units]
    kept: dict[int, int] = {}
    hunks: list[_Hunk] = []
    for tag, i, j, k, m in _opcodes(written, digests):
        if tag == "equal":
            kept |= zip(range(i, j), range(k, m), strict=True)
        else:
            hunks += _finer(_Hunk(i, j, k, m), [known.get(one, "") for one in written[i:j]], units)
    return _Side(units, offset, hunks, kept)


def _opcodes(written: Sequence[str], digests: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if len(written) + len(digests) > _MOST_UNITS:
        return [("equal" if list(written) == list(digests) else "replace", 0, len(written), 0, len(digests))]
    return difflib.SequenceMatcher(None, written, digests, autojunk=False).get_opcodes()


def _finer(hunk: _Hunk, before: Sequence[str], units: Sequence[Unit]) -> list[_Hunk]:
    """A change of several units as changes of single ones: each in its place, or the most similar ones."""
    olds, news = hunk.stop - hunk.start, hunk.high - hunk.low
    if min(olds, news) == 0 or (olds == 1 and news == 1):
        return [hunk]
    if olds == news:
        return [_Hunk(hunk.start + n, hunk.start + n + 1, hunk.low + n, hunk.low + n + 1) for n in range(olds)]
    if max(olds, news) > _MOST_COMPARED:
        return [hunk]
    made: list[_Hunk] = []
    old, new = hunk.start, hunk.low
    for number, text in enumerate(before, hunk.start):
        alike = _most_similar(text, units, new, hunk.high)
        if alike is not None:
            made += [_Hunk(old, number, new, alike)] if (number, alike) != (old, new) else []
            made.append(_Hunk(number, number + 1, alike, alike + 1))
            old, new = number + 1, alike + 1
    return [*made, *([_Hunk(old, hunk.stop, new, hunk.high)] if (old, new) != (hunk.stop, hunk.high) else [])]


def _most_similar(text: str, units: Sequence[Unit], low: int, high: int) -> int | None:
    best, found = _SIMILAR, None
    for number in range(low, high) if text else ():
        other = units[number].text[:_LONGEST_COMPARED]
        ratio = difflib.SequenceMatcher(None, text[:_LONGEST_COMPARED], other, autojunk=False).ratio()
        if ratio > best:
            best, found = ratio, number
    return found


def _clusters(mine: _Side, new: _Side) -> list[_Cluster]:
    """The changes of both sides in order; those that meet are one."""
    every = [(hunk, True) for hunk in mine.hunks] + [(hunk, False) for hunk in new.hunks]

    def order(one: tuple[_Hunk, bool]) -> tuple[int, int, bool, bool]:
        hunk, is_mine = one
        units = (mine if is_mine else new).units[hunk.low : hunk.high]
        # Of two that add at the same place, first the one that goes on with what stands there.
        return hunk.start, hunk.stop, bool(units and units[0].gap), is_mine

    found: list[_Cluster] = []
    for hunk, is_mine in sorted(every, key=order):
        sides = ((hunk,), ()) if is_mine else ((), (hunk,))
        if found and _meet(found[-1], hunk):
            last = found[-1]
            found[-1] = _Cluster(last.start, max(last.stop, hunk.stop), last.mine + sides[0], last.new + sides[1])
        else:
            found.append(_Cluster(hunk.start, hunk.stop, *sides))
    return found


def _meet(cluster: _Cluster, hunk: _Hunk) -> bool:
    """Whether they have a written unit in common, or one adds in the midst of the other."""
    return hunk.start < cluster.stop and (hunk.stop > hunk.start or hunk.start > cluster.start)


def _both(mine: _Side, new: _Side, start: int, stop: int) -> list[Piece]:
    """What both have left as it was written, and it is there on both sides."""
    return [
        Piece(mine.units[mine.kept[place]], mine.offset + mine.kept[place], new.offset + new.kept[place])
        for place in range(start, stop)
    ]


def _differ(yours: Sequence[Piece], others: Sequence[Piece]) -> bool:
    return [piece.unit.digest for piece in yours] != [piece.unit.digest for piece in others]


def _text(pieces: Sequence[Piece]) -> str:
    return "\n".join(piece.unit.text.replace("\r\n", "\n") for piece in pieces)
