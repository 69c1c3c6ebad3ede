"""From a file before and after to the patches between them: as small as they can be said, never the file anew.

A change within one section of a page is told by its heading, keys of the front matter by their names, the rest by
lines. Patches come without an id; a bundle numbers them.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.launch.documents import sha256
from holdfast.launch.front_matter import FrontMatterError, split
from holdfast.launch.patching.engine import NO_FILE_HASH
from holdfast.launch.patching.operations import ConflictError, anchor_extent, as_text, patched
from holdfast.launch.patching.page_lines import headings

__all__ = ["changes", "extended"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_LINES = 3000  # of two texts together that are compared line by line; beyond, what differs is one piece
_LONGEST_ANCHOR = 500
_NUMBER = re.compile(r"patch_([0-9]+)")

_Hunk = tuple[int, int, list[str]]
"""Lines from (counted from 0) up to, and what takes their place."""


def changes(path: str, before: bytes | None, after: bytes | None, *, reason: str = "") -> list[dict[str, Any]]:
    """The patches that make `after` of `before`, in order; none where they are equal."""
    about: dict[str, Any] = {"path": path} | ({"reason": reason[:500]} if reason else {})
    if before == after:
        return []
    if after is None:
        return [
            about | {"type": "delete_file", "content_hash": NO_FILE_HASH, "expected_before_hash": _hash(before)}
        ]
    if before is None:
        return [about | {"type": "create_file", "content_hash": sha256(after), "new_content": as_text(after)}]
    made: list[dict[str, Any]] = []
    content = _with_front_matter(about, before, after, made)
    content = _with_hunks(about, content, after, made)
    assert content == after
    return made


def extended(bundle: Mapping[str, Any], patches: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The bundle with more patches at its end, under the next numbers; and these ids."""
    kept = list(bundle["patches"])
    last = max((int(found[1]) for patch in kept if (found := _NUMBER.fullmatch(patch["patch_id"]))), default=0)
    added = [dict(patch) | {"patch_id": f"patch_{last + number:03d}"} for number, patch in enumerate(patches, 1)]
    return {**bundle, "patches": [*kept, *added]}, [patch["patch_id"] for patch in added]


def _with_front_matter(about: dict[str, Any], before: bytes, after: bytes, made: list[dict[str, Any]]) -> bytes:
    """`before` with the keys of the front matter of `after`, if it has any to change."""
    try:
        old, new = split(as_text(before)), split(as_text(after))
    except FrontMatterError:
        return before
    updates = {key: value for key, value in new.data.items() if key not in old.data or old.data[key] != value}
    updates |= {key: None for key in old.data if key not in new.data}
    if old.format != new.format or not updates or None in new.data.values():
        return before
    patch = about | {"type": "update_frontmatter_keys", "frontmatter_updates": updates}
    return _added(patch, before, made) or before


def _with_hunks(about: dict[str, Any], content: bytes, after: bytes, made: list[dict[str, Any]]) -> bytes:
    text = as_text(content)
    lines = _LINE.findall(text)
    starts = headings(text)
    groups: dict[int, list[_Hunk]] = {}
    for hunk in _hunks(lines, _LINE.findall(as_text(after))):
        heading = _heading_of(hunk, starts)
        # One that is in no section is alone; the negative numbers keep it from meeting a heading.
        groups.setdefault(heading or -hunk[0] - 1, []).append(hunk)
    # From the last to the first, so that no line has moved before its turn.
    for place in sorted(groups, key=lambda place: -groups[place][0][0]):
        changed = _by_anchor(about, content, place, groups[place], made) if place > 0 else None
        if changed is None:
            changed = _by_lines(about, content, groups[place], made)
        content = changed
    return content


def _hunks(lines: list[str], wanted: list[str]) -> list[_Hunk]:
    """Where two texts differ, in order."""
    start = 0
    while start < min(len(lines), len(wanted)) and lines[start] == wanted[start]:
        start += 1
    end = 0
    while end < min(len(lines), len(wanted)) - start and lines[-1 - end] == wanted[-1 - end]:
        end += 1
    old, new = lines[start : len(lines) - end], wanted[start : len(wanted) - end]
    if len(old) + len(new) > _MOST_LINES:
        return [(start, start + len(old), new)]
    found = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(start + i, start + j, new[k:m]) for tag, i, j, k, m in found if tag != "equal"]


def _heading_of(hunk: _Hunk, starts: list[int]) -> int:
    """The line (from 1) of the heading whose own text, without the sections below it, holds all of it; or 0."""
    first, stop, _ = hunk
    above = max((start for start in starts if start <= first), default=0)
    below = min((start for start in starts if start > above), default=stop + 1)
    return above if stop < below else 0


def _by_anchor(
    about: dict[str, Any], content: bytes, heading: int, hunks: list[_Hunk], made: list[dict[str, Any]]
) -> bytes | None:
    text = as_text(content)
    lines = _LINE.findall(text)
    anchor = lines[heading - 1].rstrip()
    try:
        first, last = anchor_extent(text, anchor)
    except ConflictError:
        return None
    if first != heading or len(anchor) > _LONGEST_ANCHOR or any(first < start <= last for start in headings(text)):
        return None
    section = lines[first - 1 : last]
    for start, stop, new in reversed(hunks):
        section[start - first + 1 : stop - first + 1] = new
    return _added(
        about | {"type": "update_by_anchor", "anchor": anchor, "new_content": "".join(section)}, content, made
    )


def _by_lines(about: dict[str, Any], content: bytes, hunks: list[_Hunk], made: list[dict[str, Any]]) -> bytes:
    for start, stop, new in reversed(hunks):
        changed = _after_line(about, content, (start, stop, new), made)
        if changed is None:
            place = {"start_line": start + 1, "end_line": stop, "new_content": "".join(new)}
            changed = _added(about | {"type": "update_file_range"} | place, content, made)
        assert changed is not None
        content = changed
    return content


def _after_line(about: dict[str, Any], content: bytes, hunk: _Hunk, made: list[dict[str, Any]]) -> bytes | None:
    """Lines that are only added, told by the line above them, where that can be told from all others."""
    start, stop, new = hunk
    text = as_text(content)
    above = _LINE.findall(text)[start - 1] if start == stop and start else ""
    anchor = above.rstrip()
    if not anchor or not above.endswith("\n") or len(anchor) > _LONGEST_ANCHOR:
        return None
    try:
        is_there = anchor_extent(text, anchor) == (start, start)
    except ConflictError:
        return None
    patch = about | {"type": "update_by_anchor", "anchor": anchor, "new_content": above + "".join(new)}
    return _added(patch, content, made) if is_there else None


def _added(patch: dict[str, Any], before: bytes, made: list[dict[str, Any]]) -> bytes | None:
    """The file after one more patch, which is kept; None, and it is not kept, where it does not fit."""
    try:
        after = patched(patch, before)
    except ConflictError:
        return None
    assert after is not None
    made.append(patch | {"content_hash": sha256(after), "expected_before_hash": sha256(before)})
    return after


def _hash(content: bytes | None) -> str:
    return NO_FILE_HASH if content is None else sha256(content)
