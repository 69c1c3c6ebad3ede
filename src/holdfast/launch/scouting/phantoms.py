"""Paths that the documentation names and the repository does not have: lines that are not to be trusted."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["linked_documents", "phantom_paths"]

_MOST = 500
_LONGEST_LINE = 5000
_FENCE = re.compile(r"\s*(?:```|~~~)")
# Of Markdown inline, of Markdown at the end of the page, of reStructuredText.
_LINK = re.compile(r"\]\(\s*<?([^)\s>]{1,500})|^\s*\[[^\]\n]+\]:\s*<?([^\s>]{1,500})|<([^`\n<>]{1,500})>`_")
_CODE = re.compile(r"``?([^`\n]{3,200})``?")
_PATH = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)+/?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|/|\{|<|\$")


def phantom_paths(texts: Mapping[str, str], files: Collection[str]) -> list[dict[str, Any]]:
    """Each path that one of the texts names and that is no file or folder, with the line that names it."""
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    known = set(files) | folders
    found: list[dict[str, Any]] = []
    for claiming in sorted(texts):
        for line, claimed in _claims(texts[claiming], claiming, known, folders):
            found.append({"claimed_path": claimed, "claiming_file": claiming, "claiming_line": line})
            if len(found) >= _MOST:
                return found
    return found


def linked_documents(start: str, texts: Mapping[str, str]) -> list[str]:
    """The documents that one leads its readers to, and those that these lead to, in the order in which they come.

    `texts` are all that count, by their paths.
    """
    found, known = [start], {start}
    for path in found:  # it grows while it is read
        here = path.rpartition("/")[0]
        for line in _prose(texts.get(path, "")):
            led = dict.fromkeys(_joined(here, target) for target in _linked(line, here))
            new = [one for one in led if one in texts and one not in known]
            found += new
            known.update(new)
    return found[1:]


def _prose(text: str) -> Iterator[str]:
    is_code = False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        if not is_code and not is_fence and len(line) <= _LONGEST_LINE:
            yield line


def _claims(text: str, claiming: str, known: set[str], folders: set[str]) -> Iterator[tuple[int, str]]:
    is_code, told = False, set()
    here = claiming.rpartition("/")[0]
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            is_code = not is_code
            continue
        if is_code or len(line) > _LONGEST_LINE:
            continue
        for claimed in (*_linked(line, here), *_written(line, folders)):
            is_there = any(_joined(start, claimed) in known for start in {here, ""})
            if not is_there and claimed not in told and len(claimed) <= 1000:
                told.add(claimed)
                yield number, claimed


def _linked(line: str, here: str) -> Iterator[str]:
    """Targets of links, except those that lead elsewhere or out of the repository."""
    for found in _LINK.finditer(line):
        target = unquote(next(group for group in found.groups() if group)).partition("#")[0].partition("?")[0]
        if target and not _SCHEME.match(target) and target.isprintable() and _joined(here, target):
            yield target.rstrip("/").removeprefix("./") or "."


def _written(line: str, folders: set[str]) -> Iterator[str]:
    """Paths in code marks; one whose first folder does not exist is only an example."""
    for found in _CODE.finditer(line):
        words = found[1].strip()
        if _PATH.fullmatch(words):
            path = words.removeprefix("./").rstrip("/")
            if path.partition("/")[0] in folders and ("." in path.rpartition("/")[2] or words.endswith("/")):
                yield path


def _joined(folder: str, target: str) -> str:
    """The path below the root that a target means from a folder; "" where it leads out."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == ".." and not parts:
            return ""
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
