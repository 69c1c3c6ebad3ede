"""The patterns of one ignore file, with the meaning that git gives them.

A pattern is matched against the entry at hand alone, never against what is below it: whoever walks a tree does not
enter what is ignored, which is also why nothing can be taken back below an ignored directory. Patterns are split
at their slashes and matched part by part, so that no pattern, however hostile, takes more than its length times
the length of the path. Git knows bytes only (`?` is not `é`), so texts stand for bytes here: one character each.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["IgnoreFile"]

_NOTHING = r"(?!)"
_NEVER = re.compile(_NOTHING)
_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r" \t\n\r\f\v",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pattern:
    negated: bool
    only_directories: bool
    name: re.Pattern[str] | None  # for patterns without a slash: the name alone counts, at any depth
    parts: tuple[re.Pattern[str] | None, ...]  # for the others: the path from the ignore file on; None is `**`

    def matches(self, path: str, name: str, is_directory: bool) -> bool:
        if self.only_directories and not is_directory:
            return False
        if self.name is not None:
            return self.name.fullmatch(name) is not None
        return _match_parts(self.parts, path.split("/"))


class IgnoreFile:
    """What one ignore file says about the entries at and below its directory."""

    def __init__(self, content: bytes) -> None:
        patterns = [pattern for line in _lines(content) if (pattern := _parse(line)) is not None]
        patterns.reverse()  # the last pattern that matches decides
        self._patterns = patterns
        self._by_path = [pattern for pattern in patterns if pattern.name is None]
        names = [pattern.name.pattern for pattern in patterns if pattern.name is not None]
        self._any_name = re.compile("|".join(f"(?:{name})" for name in names) or _NOTHING, re.DOTALL)

    def verdict(self, path: str, name: str, is_directory: bool) -> bool | None:
        """Whether an entry is ignored; None when no pattern speaks of it. `path` is relative to the file."""
        if not path.isascii():
            path, name = _bytewise(path), _bytewise(name)
        # Almost no entry is ignored: one look at its name settles most patterns together.
        candidates = self._patterns if self._any_name.fullmatch(name) else self._by_path
        for pattern in candidates:
            if pattern.matches(path, name, is_directory):
                return not pattern.negated
        return None


def _bytewise(text: str) -> str:
    return os.fsencode(text).decode("latin-1")


def _lines(content: bytes) -> Iterator[str]:
    for written in content.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n"):
        line = written.removesuffix("\r")
        bare = line.rstrip(" ")
        if bare.endswith("\\") and bare != line:  # the first of the spaces at the end is meant
            bare += " "
        if bare and not bare.startswith("#"):
            yield bare


def _parse(line: str) -> _Pattern | None:
    negated = line.startswith("!")
    glob = line[1:] if negated else line
    only_directories = glob.endswith("/")
    glob = glob[:-1] if only_directories else glob
    if not glob:
        return None
    if "/" not in glob:
        return _Pattern(negated, only_directories, _translated(glob), ())
    try:
        parts = tuple(_part(part) for part in _split(glob.removeprefix("/")))
    except ValueError:  # a bracket that is never closed
        return None
    return _Pattern(negated, only_directories, None, parts)


def _split(glob: str) -> list[str]:
    """The parts between slashes, where a slash in brackets is none: there it may stand, and matches nothing."""
    parts = [""]
    position = 0
    while position < len(glob):
        start = position
        position += 2 if glob[position] == "\\" else 1
        if glob[start] == "[":
            _, position = _bracket(glob, position)
        if glob[start:position] in {"/", "\\/"}:
            parts.append("")
        else:
            parts[-1] += glob[start:position]
    return parts


def _part(glob: str) -> re.Pattern[str] | None:
    return None if len(glob) > 1 and set(glob) == {"*"} else _translated(glob)


def _match_parts(parts: tuple[re.Pattern[str] | None, ...], names: list[str]) -> bool:
    """Match a path; on a mismatch only the last `**` is tried further, which is enough and keeps it cheap."""
    part = name = 0
    retry_part, retry_name = -1, 0
    while name < len(names):
        expected = parts[part] if part < len(parts) else _NEVER
        if expected is None:
            if part == len(parts) - 1:
                return True  # at the end it takes everything, but at least one name
            part += 1
            retry_part, retry_name = part, name
        elif expected.fullmatch(names[name]):
            part += 1
            name += 1
        elif retry_part >= 0:
            retry_name += 1
            part, name = retry_part, retry_name
        else:
            return False
    return part == len(parts)


@lru_cache(maxsize=1024)
def _translated(glob: str) -> re.Pattern[str]:
    """A glob without slashes as a regular expression over one name."""
    try:
        chunks = _chunks(glob)
    except ValueError:  # an open bracket, a backslash at the end: git matches nothing with it
        return _NEVER
    first, *rest = chunks
    if not rest:
        return re.compile(first, re.DOTALL)
    # What is found first between two stars may stay found: the group is atomic, and nothing is tried twice.
    middle = "".join(f"(?>.*?{chunk})" for chunk in rest[:-1])
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def _chunks(glob: str) -> list[str]:
    """The expressions between the stars of a glob."""
    chunks = [""]
    position = 0
    while position < len(glob):
        character = glob[position]
        position += 1
        if character == "*":
            chunks.append("")
        elif character == "?":
            chunks[-1] += "."
        elif character == "[":
            expression, position = _bracket(glob, position)
            chunks[-1] += expression
        else:
            if character == "\\":
                if position == len(glob):
                    raise ValueError(glob)
                character = glob[position]
                position += 1
            chunks[-1] += re.escape(character)
    return chunks


def _bracket(glob: str, position: int) -> tuple[str, int]:
    """The set that starts behind a `[`, and where the glob goes on."""
    negated = glob[position : position + 1] in {"!", "^"}
    position += negated
    items: list[str] = []
    while not items or glob[position : position + 1] != "]":
        if glob.startswith("[:", position) and (end := glob.find(":]", position)) > 0:
            if glob[position + 2 : end] not in _CLASSES:
                raise ValueError(glob)
            items.append(_CLASSES[glob[position + 2 : end]])
            position = end + 2
            continue
        low, position = _member(glob, position)
        if glob[position : position + 1] == "-" and glob[position + 1 : position + 2] not in {"]", ""}:
            high, position = _member(glob, position + 1)
            items.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
        else:
            items.append(re.escape(low))
    members = "".join(items)
    if not members:
        return ("." if negated else _NOTHING), position + 1
    return f"[{'^' if negated else ''}{members}]", position + 1


def _member(glob: str, position: int) -> tuple[str, int]:
    if glob[position : position + 1] == "\\":
        position += 1
    if position >= len(glob):
        raise ValueError(glob)
    return glob[position], position + 1
