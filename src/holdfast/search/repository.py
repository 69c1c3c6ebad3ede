"""The repository around a path: where its root is, what it is called in the cache, and which commit it is at.

Everything is read from the files of `.git` themselves, since starting git costs more than a query. What git alone
can tell (which files are ignored) is asked in `discover`.
"""

import hashlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import ToolError, UsageError

__all__ = ["Repository", "absent_repository", "find_repository", "head", "index_home"]

_MARKERS = ("holdfast.toml", ".holdfastignore", ".pairofcleats.json")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LONGEST_SLUG = 24
_LONGEST_SHOWN = 500  # characters of a path in a message
_LONGEST_POINTER = 65536  # bytes of a file that holds one line
_LONGEST_CHAIN = 5  # references that point to references
_NO_BRANCH = "refs/heads/.invalid"  # what stands in HEAD where references are kept in another format


@dataclass(frozen=True, slots=True)
class Repository:
    """A directory that is searched as one: the work tree of a git repository, or any other directory."""

    root: Path
    is_git: bool
    git_dir: Path | None
    repo_id: str

    @property
    def shown(self) -> str:
        """Its root as it can be printed and sent, with the bytes that are no UTF-8 written out."""
        return os.fsencode(self.root).decode("utf-8", "backslashreplace")


def find_repository(path: str | Path | None = None) -> Repository:
    """The repository around a directory, by default around the current one.

    It is the nearest git work tree; without one, the nearest directory with a configuration of ours; else the
    directory itself. Every search begins here, so here it is told where none can work.
    """
    if sys.platform == "win32":  # locks, and limits and signals for parsers, are those of POSIX
        raise UsageError("the code search needs Linux or macOS", remedy="run it in WSL or in a container")
    start = _directory(path)
    candidates = (start, *start.parents)
    for directory in candidates:
        git_dir = _git_dir(directory)
        if git_dir is not None:
            return Repository(directory, is_git=True, git_dir=git_dir, repo_id=_repo_id(directory))
    marked = (place for place in candidates if any((place / marker).is_file() for marker in _MARKERS))
    root = next(marked, start)
    return Repository(root, is_git=False, git_dir=None, repo_id=_repo_id(root))


def absent_repository(root: Path) -> Repository:
    """A repository whose directory is not there, as it would be called if it were."""
    return Repository(root, is_git=False, git_dir=None, repo_id=_repo_id(root))


def head(repo: Repository) -> tuple[str | None, str | None]:
    """The commit and the branch that are checked out; None for what there is not."""
    if repo.git_dir is None:
        return None, None
    places = (repo.git_dir, _common_dir(repo.git_dir))
    text = _first_line(repo.git_dir / "HEAD")
    branch = None
    for _ in range(_LONGEST_CHAIN):
        if not text.startswith("ref:"):
            break
        name = text.removeprefix("ref:").strip()
        if branch is None and name.startswith("refs/heads/") and name != _NO_BRANCH:
            branch = name.removeprefix("refs/heads/")
        text = _reference(places, name)
    return (text if _COMMIT.fullmatch(text) else None), branch


def index_home(repo: Repository, cache_dir: Path) -> Path:
    """The directory in the cache in which everything about this repository is kept."""
    return cache_dir / "search" / repo.repo_id


def _directory(path: str | Path | None) -> Path:
    try:
        given = os.getcwd() if path is None else os.fspath(path)
        real = Path(os.path.realpath(given, strict=True))
        is_directory = bool(given) and real.is_dir()
    except (OSError, ValueError):  # ValueError: a path with a NUL
        is_directory = False
    if not is_directory:
        written = "the current directory" if path is None else str(path)[:_LONGEST_SHOWN]
        shown = "".join(character if character.isprintable() else "?" for character in written)
        raise ToolError("NOT_FOUND", f"Repo path not found: {shown}", hint="Name an existing directory.")
    return real


def _git_dir(directory: Path) -> Path | None:
    """Where the repository of this work tree keeps its data; None when the directory is not the top of one."""
    entry = directory / ".git"
    try:
        if entry.is_dir():
            return entry if (entry / "HEAD").exists() or (entry / "HEAD").is_symlink() else None
        if not entry.is_file():
            return None
    except OSError:  # a directory on the way up that may not be looked into
        return None
    line = _first_line(entry)  # of a linked work tree or a submodule
    pointer = line.removeprefix("gitdir:").strip()
    return directory / pointer if line.startswith("gitdir:") and pointer else None


def _common_dir(git_dir: Path) -> Path:
    """What linked work trees share with the repository that they belong to."""
    pointer = _first_line(git_dir / "commondir")
    return git_dir / pointer if pointer else git_dir


def _reference(places: tuple[Path, ...], name: str) -> str:
    if not name.startswith("refs/") or ".." in name:
        return ""
    for place in dict.fromkeys(places):
        text = _first_line(place / name)
        if text:
            return text
    return _packed(places[-1] / "packed-refs", name)


def _packed(path: Path, name: str) -> str:
    ending = f" {name}"
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                stripped = line.rstrip("\n")
                if stripped.endswith(ending):
                    return stripped.removesuffix(ending)
    except OSError:  # most repositories have none
        pass
    return ""


def _first_line(path: Path) -> str:
    """The first line of a small file; nothing when there is none, or when it is something else than a file."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            text = file.read(_LONGEST_POINTER).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""
    return text.split("\n", 1)[0].strip()


def _repo_id(root: Path) -> str:
    slug = re.sub(r"[^a-z0-9._-]+", "-", root.name.lower()).strip("-.")[:_LONGEST_SLUG].rstrip("-.")
    digest = hashlib.sha1(os.fsencode(root), usedforsecurity=False).hexdigest()
    return f"{slug or 'root'}-{digest[:12]}"
