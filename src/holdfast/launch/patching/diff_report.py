"""A change set for people: how much each file changes, then the changes themselves, as one Markdown document."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["FileChange", "change_of", "diff_report"]

_MOST_LINES = 20_000  # of all differences together that are shown
_CONTEXT = 3
_MOST_COMPARED = 20_000  # lines of both versions of one file; beyond, it is told to be replaced


class FileChange(NamedTuple):
    """How one file changes."""

    path: str
    kind: str  # new, changed or deleted
    added: int
    removed: int
    lines: list[str]  # the unified difference


def change_of(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    """What differs between two versions of a file; None is no file."""
    old, new = _lines(before), _lines(after)
    kind = "new" if before is None else "deleted" if after is None else "changed"
    if before is None or after is None or len(old) + len(new) > _MOST_COMPARED:
        body = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        body = list(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:]
    added = sum(1 for line in body if line.startswith("+"))
    removed = sum(1 for line in body if line.startswith("-"))
    head = [
        f"--- {'/dev/null' if before is None else 'a/' + path}",
        f"+++ {'/dev/null' if after is None else 'b/' + path}",
    ]
    return FileChange(path, kind, added, removed, [*head, *body])


def diff_report(
    files: Mapping[str, bytes | None],
    read_base: Callable[[str], bytes | None],
    *,
    title: str,
    about: Sequence[str] = (),
) -> str:
    """The document. `files` are the paths that differ from the base, None for a file that is gone."""
    found = [change_of(path, read_base(path), files[path]) for path in sorted(files)]
    parts = [f"# {title}", "", *about, *([""] if about else []), _total(found), ""]
    if found:
        parts += ["| File | Change | Added | Removed |", "| --- | --- | ---: | ---: |"]
        parts += [f"| `{each.path}` | {each.kind} | {each.added} | {each.removed} |" for each in found]
        parts.append("")
    left = _MOST_LINES
    for each in found:
        shown = each.lines[:left]
        left -= len(shown)
        parts += [f"## `{each.path}`", "", *_fenced(shown), ""]
        if len(shown) < len(each.lines):
            parts += [f"{len(each.lines) - len(shown)} more lines are not shown.", ""]
    return "\n".join(parts)


def _total(found: list[FileChange]) -> str:
    if not found:
        return "Nothing changes."
    added, removed = sum(each.added for each in found), sum(each.removed for each in found)
    files = "1 file" if len(found) == 1 else f"{len(found)} files"
    return f"{files}, {added} lines added, {removed} removed."


def _fenced(lines: list[str]) -> list[str]:
    """The lines in a block of code whose fence is longer than any that they hold."""
    longest = max((len(run) for line in lines for run in re.findall(r"`{3,}", line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}diff", *lines, fence]


def _lines(content: bytes | None) -> list[str]:
    """The lines as they are shown: what would end or hide a line is written out."""
    text = (content or b"").decode("utf-8", "replace").removesuffix("\n")
    if not content:
        return []
    return [
        "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line)
        for line in text.split("\n")
    ]
