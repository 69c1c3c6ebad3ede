"""What one patch does to the text of one file. Pure; which file, and whether it may be written, others decide.

create_file               `new_content` is the file
update_file_range         `new_content` takes the place of lines `start_line` to `end_line`, both included, from 1;
                          with an `end_line` before `start_line` it is put before that line
update_by_anchor          `new_content` takes the place of what the line `anchor` names: a heading its whole
                          section, up to the next heading of its rank, any other line itself.
                          The line must be there exactly once
update_frontmatter_keys   the keys get these values, the rest of the file stays as it is; null removes a key
delete_file               the file is gone
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.launch.front_matter import FrontMatterError
from holdfast.launch.patching.front_matter_edit import updated
from holdfast.launch.patching.page_lines import HEADING, prose

__all__ = ["MOST_BYTES", "ConflictError", "anchor_extent", "as_text", "is_text", "patched"]

MOST_BYTES = 5_000_000
"""The largest file that is patched, before and after."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # as git and editors count them: by the line feed alone


class ConflictError(HoldfastError):
    """A patch that cannot be applied to what is there; `kind` as in the list of conflicts."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def patched(patch: Mapping[str, Any], before: bytes | None) -> bytes | None:
    """The file after the patch, None for no file; ConflictError where the patch does not fit."""
    kind = patch["type"]
    if kind == "create_file":
        if before is not None:
            raise ConflictError("file_exists", "another file is there already")
        return _as_bytes(patch["new_content"])
    if before is None:
        raise ConflictError("file_missing", "there is no such file")
    if kind == "delete_file":
        return None
    text = as_text(before)
    if kind == "update_file_range":
        return _as_bytes(_with_range(text, patch["start_line"], patch["end_line"], patch["new_content"]))
    if kind == "update_by_anchor":
        first, last = anchor_extent(text, patch["anchor"])
        return _as_bytes(_with_range(text, first, last, patch["new_content"]))
    return _as_bytes(_with_keys(text, patch["frontmatter_updates"]))


def as_text(content: bytes) -> str:
    """A file as text; ConflictError where it is none, or is too large to be patched."""
    if len(content) > MOST_BYTES:
        raise ConflictError("too_large", f"the file has more than {MOST_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConflictError("not_text", f"the file is not UTF-8: byte {error.start}") from error
    if "\0" in text:
        raise ConflictError("not_text", "the file holds NUL, so it is no text")
    return text


def is_text(content: bytes) -> bool:
    """Whether a file is text that can be patched."""
    try:
        as_text(content)
    except ConflictError:
        return False
    return True


def anchor_extent(text: str, anchor: str) -> tuple[int, int]:
    """First and last line of what an anchor names; ConflictError unless it is there exactly once."""
    lines, wanted = prose(text), anchor.rstrip()
    places = [number for number, line in lines if line.rstrip() == wanted]
    if len(places) != 1:
        told = "is not there" if not places else f"is there {len(places)} times"
        raise ConflictError("anchor_missing", f"the line {wanted[:200]!r} {told}")
    start = places[0]
    heading = HEADING.match(wanted)
    if not heading:
        return start, start
    for number, line in lines:
        following = HEADING.match(line) if number > start else None
        if following and len(following[1]) <= len(heading[1]):
            return start, number - 1
    return start, len(_LINE.findall(text))


def _with_range(text: str, start: int, end: int, new: str) -> str:
    lines = _LINE.findall(text)
    if not (1 <= start <= len(lines) + 1 and start - 1 <= end <= len(lines)):
        raise ConflictError("range_out_of_bounds", f"lines {start} to {end} of a file of {len(lines)} lines")
    return "".join((*lines[: start - 1], new, *lines[end:]))


def _with_keys(text: str, updates: Mapping[str, Any]) -> str:
    try:
        return updated(text, updates)
    except KeyError as error:
        raise ConflictError("key_missing", f"the front matter has no key {error.args[0]!r}") from error
    except FrontMatterError as error:
        raise ConflictError("key_missing", f"the front matter cannot be changed: {error}") from error


def _as_bytes(text: str) -> bytes:
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConflictError("not_text", "the new text holds half a character") from error
    as_text(content)
    return content
