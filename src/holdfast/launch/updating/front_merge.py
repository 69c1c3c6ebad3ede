"""Three versions of a front matter, key by key. What people have changed in any way, be it a comment, stays."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.launch.front_matter import FrontMatterError, split
from holdfast.launch.updating.page_parts import Entry, Parts, digest

__all__ = ["DATES", "KeyClash", "merged_front"]

DATES = frozenset({"date", "lastmod", "publishDate"})
"""Keys that change with every version, and that alone are no reason to change a page."""


class KeyClash(NamedTuple):
    """A key that people and the new version have changed: the person's lines, which stay, and the new value."""

    key: str
    yours: str
    new: str


def merged_front(
    written: Mapping[str, str], ours: Parts, theirs: Parts, new_values: Mapping[str, Any]
) -> tuple[str, list[KeyClash]]:
    """The merged front matter, with its fences; and the keys at which the new version could not be followed.

    `written` are digests of the lines of each key; `new_values` what the new version says.
    """
    mine = {entry.key: entry for entry in ours.entries if entry.key}
    new = {entry.key: entry.text for entry in theirs.entries if entry.key}
    changed = {key for key in {*written, *new} if written.get(key) != (digest(new[key]) if key in new else None)}
    ordered = [*(key for key in new if key in changed), *sorted(changed - set(new))]
    kept = "".join((ours.opening, *(entry.text for entry in ours.entries), ours.closing))
    told = [KeyClash(key, mine[key].text if key in mine else "", new.get(key, "")) for key in ordered]
    if ours.format != theirs.format:
        is_untouched = {entry.key: digest(entry.text) for entry in ours.entries} == dict(written)
        return (_whole(theirs, ours.newline), []) if is_untouched else (kept, told)
    replaced: dict[str, str | None] = {}
    clashes: list[KeyClash] = []
    for clash in told:
        key = clash.key
        is_untouched = _is(mine.get(key), written[key]) if key in written else key not in mine
        if is_untouched:
            replaced[key] = new.get(key)
        elif _differs(mine.get(key), new.get(key)):
            clashes.append(clash)
    merged = _written(ours, mine, replaced)
    if ours.format in ("yaml", "toml") and not _says(merged, kept, replaced, new_values):
        return kept, told  # what people made of it is not written key by key
    return merged, clashes


def _whole(page: Parts, newline: str) -> str:
    return _ended("".join((page.opening, *(entry.text for entry in page.entries), page.closing)), newline)


def _is(entry: Entry | None, written: str) -> bool:
    return entry is not None and digest(entry.text) == written


def _differs(entry: Entry | None, new: str | None) -> bool:
    """Whether the person's key is something else than the new one; where one has none, both must have none."""
    if entry is None or new is None:
        return entry is not None or new is not None
    return digest(entry.text) != digest(new)


def _written(ours: Parts, mine: Mapping[str, Entry], replaced: Mapping[str, str | None]) -> str:
    newline = ours.newline
    lines = []
    for entry in ours.entries:
        if entry.key in replaced:
            lines.append(_ended(replaced[entry.key] or "", newline))
        else:
            lines.append(entry.text)
    fresh = "".join(_ended(text, newline) for key, text in replaced.items() if key not in mine and text)
    place = len(lines)
    if ours.format == "toml":  # what follows the first table belongs to that table
        place = next((at for at, line in enumerate(lines) if line.startswith("[")), place)
    return "".join((ours.opening, *lines[:place], fresh, *lines[place:], ours.closing))


def _ended(text: str, newline: str) -> str:
    return re.sub(r"\r?\n", newline, text)


def _says(merged: str, before: str, replaced: Mapping[str, str | None], new_values: Mapping[str, Any]) -> bool:
    """Whether the text says what was meant: the new values where they were taken, else what it said before."""
    try:
        said, was = split(merged).data, dict(split(before).data)
    except FrontMatterError:
        return False
    for key, text in replaced.items():
        if text is None:
            was.pop(key, None)
        else:
            was[key] = new_values.get(key)
    return said == was
