"""The files of a commit as git has them: every byte as it was committed, whatever a checkout makes of it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.git.acting import act
from holdfast.git.asking import Git, GitError

__all__ = ["Entry", "entries", "ignored_names", "read_blobs"]

_LARGEST_BATCH = 16 << 20
_MOST_IN_BATCH = 2000
# Whether a repository of another user may be read was asked of the user's own configuration when it was listed.
_TRUSTED = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


class Entry(NamedTuple):
    """One file of a commit."""

    name: bytes
    mode: str
    sha: str
    size: int

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link; its content is where it leads."""
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        """Whether it stands for another repository."""
        return self.mode == "160000"


def entries(root: Path, commit: str) -> list[Entry]:
    """All files of the commit, in the order of their names."""
    found = []
    with Git(root).start("ls-tree", "-r", "-z", "-l", "--full-tree", commit) as output:
        for field in output.fields():
            head, _, name = field.partition(b"\t")
            mode, _, sha, size = head.decode("ascii").split()
            found.append(Entry(name, mode, sha, int(size) if size != "-" else 0))
    return sorted(found)


def ignored_names(root: Path) -> frozenset[bytes]:
    """The names of files that are committed although a .gitignore of the repository names them."""
    found = Git(root).whole("ls-files", "--cached", "--ignored", "-z", "--exclude-per-directory=.gitignore")
    return frozenset(name for name in found.split(b"\0") if name)


def read_blobs(root: Path, wanted: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
    """The contents of these files, many at a time and never too much at once."""
    batch: list[Entry] = []
    size = 0
    for entry in wanted:
        if batch and (size + entry.size > _LARGEST_BATCH or len(batch) >= _MOST_IN_BATCH):
            yield from _batch(root, batch)
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield from _batch(root, batch)


def _batch(root: Path, batch: list[Entry]) -> Iterator[tuple[Entry, bytes]]:
    asked = "".join(f"{entry.sha}\n" for entry in batch).encode("ascii")
    answer = act(["cat-file", "--batch", "--buffer"], root=root, stdin=asked, env=_TRUSTED)
    at = 0
    for entry in batch:
        end = answer.index(b"\n", at)
        words = answer[at:end].split()
        if len(words) != 3 or words[1] != b"blob":
            raise GitError(f"the object {entry.sha} is missing from the clone")
        size = int(words[2])
        yield entry, answer[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
