"""A small repository with an index, made once and copied for those who break it."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast.search.home import Build, IndexHome
from holdfast.search.library import build_index
from holdfast.search.repository import Repository, find_repository, index_home

__all__ = ["Indexed", "bytes_on_disk", "git", "make_indexed"]


@dataclass(frozen=True)
class Indexed:
    """A repository and the cache that its index is in."""

    repository: Repository
    cache: Path

    @property
    def home(self) -> IndexHome:
        return IndexHome(index_home(self.repository, self.cache))

    @property
    def build(self) -> Build:
        build = self.home.current()
        assert build is not None
        return build

    def copied(self, place: Path) -> "Indexed":
        """The same with another cache, which may be broken."""
        shutil.copytree(self.cache, place)
        return Indexed(self.repository, place)


def git(where: Path, *arguments: str) -> None:
    """Run git as somebody."""
    identity = ["-c", "user.name=N", "-c", "user.email=n@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True)


def make_indexed(place: Path) -> Indexed:
    """A git repository with a file of each kind, committed and indexed."""
    root = place / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    (root / "work.py").write_text("def work():\n    # a comment\n    return 1\n")
    (root / "README.md").write_text("# Title\n\nSome words.\n")
    (root / "data.bin").write_bytes(b"\0\1\2")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    repository = find_repository(root)
    build_index(repository, place / "cache")
    return Indexed(repository, place / "cache")


def bytes_on_disk(place: Path) -> int:
    """What the files below a directory have in all, counted by another program than ours."""
    listed = subprocess.run(
        ["find", str(place), "!", "-type", "d", "-printf", "%s\n"], capture_output=True, text=True, check=True
    )
    return sum(map(int, listed.stdout.split()))
