"""Other values for some keys of a front matter, with everything else of the file left as it was written.

Comments, the order of keys and ways of quoting belong to whoever wrote the file. So a key is changed where it
stands, in the text; what comes out is read again, and only if it does not say what was wanted is the front matter
written anew.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.front_matter import FrontMatterError, render, split

__all__ = ["updated"]


def updated(text: str, updates: Mapping[str, Any]) -> str:
    """The text with these keys of its front matter set.

    A value None removes its key, KeyError where it is not there; FrontMatterError where nothing can be set.
    """
    before = split(text)
    if before.format == "none":
        raise FrontMatterError("there is no front matter", 1)
    wanted = dict(before.data)
    for key, value in updates.items():
        if value is None:
            del wanted[key]
        else:
            wanted[key] = value
    if before.format in ("yaml", "toml"):
        edited = _edited(text, updates, before.format, before.body_line)
        if _says(edited, wanted, before.body):
            return edited
    return render(wanted, before.body, before.format)


def _says(text: str, wanted: Mapping[str, Any], body: str) -> bool:
    try:
        after = split(text)
    except FrontMatterError:
        return False
    return after.data == wanted and after.body == body


def _edited(text: str, updates: Mapping[str, Any], form: str, body_line: int) -> str:
    lines = text.split("\n")
    fence = "---" if form == "yaml" else "+++"
    begin = next(number for number, line in enumerate(lines) if line.strip("\ufeff \t\r") == fence) + 1
    end = body_line - 2  # where the line is that closes the front matter
    head = lines[begin:end]
    ending = "\r" if lines[begin - 1].endswith("\r") else ""
    for key, value in updates.items():
        new = [] if value is None else [line + ending for line in _lines_of(key, value, form)]
        start, stop = _extent(head, key, form)
        head[start:stop] = new
    return "\n".join([*lines[:begin], *head, *lines[end:]])


def _lines_of(key: str, value: Any, form: str) -> list[str]:
    """The key and its value as they stand between the two fences."""
    return render({key: value}, "", form).strip("\n").split("\n")[1:-1]


def _extent(head: list[str], key: str, form: str) -> tuple[int, int]:
    """Where a key stands with all of its value; an empty place for a key that is not there yet."""
    last = len(head)
    if form == "toml":  # what follows the first table belongs to that table
        last = next((number for number, line in enumerate(head) if line.startswith("[")), last)
    for number, line in enumerate(head[:last]):
        for written in (key, f'"{key}"', f"'{key}'"):
            rest = line.removeprefix(written).lstrip(" \t") if line.startswith(written) else ""
            if rest.startswith(":" if form == "yaml" else "="):
                return number, _end_of_value(head, number, last, form)
    return last, last


def _end_of_value(head: list[str], start: int, last: int, form: str) -> int:
    stop = start + 1
    while stop < last and form == "yaml" and re.match(r"[ \t]+\S|- |-\r?$|\r?$", head[stop]):
        stop += 1
    while stop > start + 1 and not head[stop - 1].strip():  # an empty line after a value is no part of it
        stop -= 1
    return stop
