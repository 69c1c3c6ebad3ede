"""The site as files: at its commit (from git's objects), in the work tree, and how the one is made into the other.

The commit is the truth and the work tree only a picture of it with the run's changes, so nothing is computed from
the work tree. A site may hold links to anywhere: none is followed, neither at the end of a path nor on the way.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.git.acting import act
from holdfast.git.asking import Git, GitError
from holdfast.launch.patching.engine import Applied
from holdfast.launch.patching.operations import MOST_BYTES
from holdfast.launch.patching.work_tree import LEFTOVER, materialise, read_file, remove_link

__all__ = ["BaseTree", "edited", "materialise", "pictured", "read_file", "remove_link"]

_FILES = frozenset({"100644", "100755"})
_REF = re.compile(r"[0-9a-f]{40,64}|HEAD")


class BaseTree:
    """The files of one commit. Links and submodules are in it, but cannot be read."""

    def __init__(self, site: Path, ref: str) -> None:
        if not _REF.fullmatch(ref):
            raise GitError(f"{ref!r} is no commit")
        self._site = site
        self._git = Git(site)
        self._objects: dict[str, tuple[str, str, int]] = {}
        self._loaded: dict[str, bytes] = {}
        for row in self._git.whole("ls-tree", "-r", "-z", "-l", "--full-tree", ref).split(b"\0"):
            if row:
                about, _, name = row.partition(b"\t")
                mode, _, digest, size = about.decode("ascii").split()
                self._objects[_decoded(name)] = (mode, digest, int(size) if size.isdigit() else 0)

    def paths(self) -> list[str]:
        """All files, sorted; links too."""
        return sorted(self._objects)

    def is_link(self, path: str) -> bool:
        """Whether the path is no plain file there, but a link or another repository."""
        return path in self._objects and self._objects[path][0] not in _FILES

    def read(self, path: str) -> bytes | None:
        """A file's content, None where there is none; ToolError for a link, below a link, and for a huge file."""
        above = path
        while above:
            if self.is_link(above):
                raise ToolError(
                    "ALLOWED_PATHS_VIOLATION",
                    f"{path} is a link in the site, or below one",
                    details={"reason": "link", "path": path, "link": above},
                    retryable=False,
                )
            above = above.rpartition("/")[0]
        if path not in self._objects:
            return None
        size = self._objects[path][2]
        if size > MOST_BYTES:
            raise ToolError(
                "INVALID_INPUT",
                f"{path} has {size} bytes, and at most {MOST_BYTES} are read",
                details={"reason": "too_large", "path": path, "bytes": size},
            )
        self.load([path])
        return self._loaded[self._objects[path][1]]

    def load(self, paths: Iterable[str]) -> None:
        """Read many files at once, so that reading each of them costs nothing."""
        wanted: dict[str, None] = {}
        for path in paths:
            mode, digest, size = self._objects.get(path, ("", "", 0))
            if mode in _FILES and digest not in self._loaded and size <= MOST_BYTES:
                wanted[digest] = None
        if wanted:
            asked = "".join(f"{digest}\n" for digest in wanted).encode()
            self._loaded |= _batch(act(["cat-file", "--batch"], root=self._site, stdin=asked), len(wanted))

    def differences(self, ref: str) -> tuple[bytes, bytes]:
        """What git says of the work tree: files that differ from the commit, and files that it does not know."""
        plainly = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
        changed = self._git.whole("diff", "--name-only", "-z", *plainly, ref, "--")
        return changed, self._git.whole("ls-files", "-z", "--others", "--exclude-standard")


def pictured(bundle: Mapping[str, Any], applied: Applied, tree: BaseTree) -> dict[str, bytes | None]:
    """What the work tree must hold at every path that a bundle names; what it left alone, as at the commit."""
    outside = {item["path"] for item in applied.conflicts if item["kind"] in ("outside_fence", "too_large")}
    named = dict.fromkeys(patch["path"] for patch in bundle["patches"] if patch["path"] not in outside)
    return {path: applied.files[path] if path in applied.files else tree.read(path) for path in named}


def edited(site: Path, ref: str, files: Mapping[str, bytes | None], tree: BaseTree | None = None) -> list[str]:
    """The paths at which the work tree is neither as at the commit nor as the run made it, sorted.

    `tree` is that of the commit, where the caller has it already.
    """
    tree = tree or BaseTree(site, ref)
    changed, new = tree.differences(ref)
    named = [name for name in (*changed.split(b"\0"), *new.split(b"\0")) if name]
    looked_at = {_decoded(name) for name in named} | set(files)
    # What git names but we cannot is an edit in any case: nothing of ours is called so.
    found = {path for name in named if (path := _decoded(name)).encode("utf-8", "replace") != name}
    for path in looked_at - found:
        if not LEFTOVER.fullmatch(path.rpartition("/")[2]) and not _is_as_made(site, path, tree, files):
            found.add(path)
    return sorted(found)


def _is_as_made(site: Path, path: str, tree: BaseTree, files: Mapping[str, bytes | None]) -> bool:
    try:
        wanted = files[path] if path in files else tree.read(path)
        return read_file(site, path) == wanted
    except ToolError:  # something else than a file, on one side at least, and git says that it differs
        return False


def _batch(answer: bytes, count: int) -> dict[str, bytes]:
    """The objects that git gave: a line with name, kind and size, the content, a line feed; each."""
    found: dict[str, bytes] = {}
    place = 0
    for _ in range(count):
        end = answer.index(b"\n", place)
        words = answer[place:end].decode("ascii", "replace").split()
        if len(words) != 3:
            raise GitError(f"an object of the site is missing: {words[0] if words else ''}")
        digest, _, size = words
        found[digest] = answer[end + 1 : end + 1 + int(size)]
        place = end + 2 + int(size)
    return found


def _decoded(name: bytes) -> str:
    """A name as text; one that is none gets backslashes, with which no path of ours is written."""
    return name.decode("utf-8", "backslashreplace")
