"""The write fence: which paths of the site a run may write. Names only; whether a link is there, the tree knows.

A path is refused unless it means the same file to git and to every file system that a site is checked out on.
So nothing is mended here: a path is taken as it is written, or not at all, and compared segment by segment,
character by character; only whether two names would meet in one file is asked without case.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from holdfast.errors import ToolError

__all__ = ["Fence", "Names"]

_LONGEST_PATH = 1000
_LONGEST_SEGMENT = 255  # bytes, as most file systems have it
# A colon is a drive or a stream, a backslash another separator; the others cannot be in a name on Windows.
_FORBIDDEN = frozenset('\\:*?"<>|')
# Control, invisible, unpaired; and the two separators of lines and paragraphs.
_FORBIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])\s*(\..*)?")
_GIT = frozenset({".git", "git~1"})


class Fence:
    """The folders (or single files) that a run may write. An empty list allows nothing."""

    def __init__(self, allowed_paths: Sequence[str]) -> None:
        self._allowed = [_prefix(path) for path in allowed_paths]

    def check(self, path: str, existing: "Names | Iterable[str]" = ()) -> str:
        """The path, if it may be written; ToolError ALLOWED_PATHS_VIOLATION otherwise.

        With the names that `existing` holds, a path that would be the same file as another one where case does not
        count is refused too.
        """
        problem = _problem(path)
        if not problem and not self._is_inside(path):
            problem = "it is in none of the folders that this run may write"
        if not problem:
            names = existing if isinstance(existing, Names) else Names(existing)
            twin = names.twin(path)
            problem = f"it differs only by case from {twin}" if twin else ""
        if problem:
            raise ToolError(
                "ALLOWED_PATHS_VIOLATION",
                f"{_shown(path)} may not be written: {problem}",
                details={"reason": "outside_fence", "path": _shown(path), "problem": problem},
                retryable=False,
            )
        return path

    def allows(self, path: str) -> bool:
        """Whether the path may be written."""
        return not _problem(path) and self._is_inside(path)

    def _is_inside(self, path: str) -> bool:
        segments = path.split("/")
        return any(segments[: len(prefix)] == prefix for prefix in self._allowed)


class Names:
    """The paths of a tree, and of its folders, as a file system sees them for which case does not count."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._exact: set[str] = set()
        self._written: dict[str, str] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Another file."""
        self._exact.add(path)
        while path and (folded := _folded(path)) not in self._written:
            self._written[folded] = path
            path = path.rpartition("/")[0]

    def has(self, path: str) -> bool:
        """Whether there is a file of exactly this path."""
        return path in self._exact

    def folder(self, path: str) -> str:
        """The path, if it is a folder here; "" otherwise."""
        return path if path not in self._exact and _folded(path) in self._written else ""

    def twin(self, path: str) -> str:
        """A file or folder of another name that the path, or a folder on its way, would meet; "" where none."""
        if path in self._exact:  # it is there beside its twin already, so its file system knows how
            return ""
        while path:
            written = self._written.get(_folded(path), path)
            if written != path:
                return written
            path = path.rpartition("/")[0]
        return ""


def _prefix(path: str) -> list[str]:
    """The segments of an allowed path, which may end with `/` or `/**`."""
    plain = path.removesuffix("**") if path.endswith("/**") else path
    plain = plain.removesuffix("/")
    problem = _problem(plain)
    if problem:
        raise ToolError(
            "INVALID_INPUT",
            f"{_shown(path)} cannot be an allowed path: {problem}",
            details={"reason": "bad_allowed_path", "path": _shown(path), "problem": problem},
        )
    return plain.split("/")


def _problem(path: str) -> str:
    """Why this cannot be the path of a file of a site; "" where it can."""
    if not path:
        return "it is empty"
    if len(path) > _LONGEST_PATH:
        return f"it is longer than {_LONGEST_PATH} characters"
    for character in path:
        if character in _FORBIDDEN or unicodedata.category(character) in _FORBIDDEN_KINDS:
            return f"it holds the character U+{ord(character):04X}"
    if not unicodedata.is_normalized("NFC", path):
        return "its characters are not in their composed form (NFC)"
    return next((problem for problem in map(_problem_of_segment, path.split("/")) if problem), "")


def _problem_of_segment(segment: str) -> str:
    if segment in ("", ".", ".."):
        return "it is absolute, or has an empty, `.` or `..` segment"
    if segment != segment.strip() or segment.endswith("."):
        return "one of its segments begins or ends with a space, or ends with a dot"
    folded = _folded(segment)
    if folded in _GIT:
        return "it leads into git's own folder"
    if _DEVICES.fullmatch(folded):
        return f"{segment} is the name of a device"
    if len(segment.encode()) > _LONGEST_SEGMENT:
        return f"one of its segments is longer than {_LONGEST_SEGMENT} bytes"
    return ""


def _folded(path: str) -> str:
    """The same for all names that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _shown(path: str) -> str:
    """A path in a message: short, and without anything that a terminal would act upon."""
    return ascii(path)[1:-1][:200] if not path.isprintable() else path[:200]
