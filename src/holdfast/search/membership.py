"""Whether one path belongs to what is searched, decided by the rules of discovery without a walk over the tree.

Git is asked the question that discovery asks, about this path alone; where it does not answer, the ignore files on
the way are read, as discovery does then. While the configuration of the repository is broken, nothing is told, as
nobody knows what it leaves out. Whether a file can be read, and whether it is text, is not asked here.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from holdfast.git.asking import Git, GitError
from holdfast.search.configuration import load_configuration
from holdfast.search.discover.ignore import IgnoreFile
from holdfast.search.discover.rules import is_ignored, read_ignore_file, reason_of_name
from holdfast.search.repository import Repository

__all__ = ["why_left_out"]

_LISTED = ("--literal-pathspecs", "ls-files", "-z", "-s", "-t", "--cached", "--others", "--exclude-standard", "--")
_SUBMODULE = "160000"
_PATIENCE = 10.0  # seconds for git; after that, ignore files are read


def why_left_out(repository: Repository, path: str) -> str | None:
    """The reason, in the words of discovery, for which a file is left out; None when it belongs to the repository.

    `path` is the real one, relative to the root, with `/`; a file that is not there is judged by its name.
    """
    if any(part.casefold() == ".git" for part in path.split("/")):
        return "version-control"
    return (
        _by_configuration(repository, path)
        or _by_git(repository, path)
        or _by_own_ignores(str(repository.root), path)
    )


def _by_git(repository: Repository, path: str) -> str | None:
    """What git says, going down through the submodules on the way."""
    root, rest = str(repository.root), path
    if not repository.is_git:
        return _by_ignore_files(root, rest, None)
    deadline = monotonic() + _PATIENCE
    while True:
        git = Git(root, deadline=deadline)
        try:
            if _is_listed(git, rest):
                return None
            nested = _nested_repository(root, rest)
            if nested is not None and not _is_submodule(git, nested):
                return "nested-repository"
        except GitError:
            excludes = repository.git_dir if root == str(repository.root) else None
            return _by_ignore_files(root, rest, excludes)
        if nested is None:
            return "ignored"
        root, rest = f"{root}/{nested}", rest[len(nested) + 1 :]


def _is_listed(git: Git, path: str) -> bool:
    return any(name == path and mode != _SUBMODULE for mode, name in _entries(git, path))


def _is_submodule(git: Git, path: str) -> bool:
    return any(name == path and mode == _SUBMODULE for mode, name in _entries(git, path))


def _entries(git: Git, path: str) -> Iterator[tuple[str, str]]:
    """Mode and path of what git lists there: `? path`, or a letter, mode, object and stage in front of a tab."""
    with git.start(*_LISTED, path, seconds=_PATIENCE) as output:
        for entry in map(os.fsdecode, output.fields()):
            facts, _, name = entry.partition("\t")
            yield ("", entry[2:]) if entry.startswith("? ") else (facts[2:8], name)


def _nested_repository(root: str, path: str) -> str | None:
    """The topmost directory on the way that is a repository of its own."""
    return next((above for above, _ in _way(path) if os.path.lexists(f"{root}/{above}/.git")), None)


def _by_ignore_files(root: str, path: str, git_dir: Path | None) -> str | None:
    chain: list[tuple[str, IgnoreFile]] = []
    if git_dir is not None:
        _add_rules(chain, "", str(git_dir / "info" / "exclude"))
    _add_rules(chain, "", f"{root}/.gitignore")
    for above, name in _way(path):
        if is_ignored(chain, above, name, is_directory=True):
            return "ignored"
        if reason := reason_of_name(name):
            return reason
        if os.path.lexists(f"{root}/{above}/pyvenv.cfg"):
            return "dependencies"
        _add_rules(chain, f"{above}/", f"{root}/{above}/.gitignore")
    return "ignored" if is_ignored(chain, path, path.rpartition("/")[2], is_directory=False) else None


def _by_own_ignores(root: str, path: str) -> str | None:
    chain: list[tuple[str, IgnoreFile]] = []
    _add_rules(chain, "", f"{root}/.holdfastignore")
    for above, name in _way(path):
        if is_ignored(chain, above, name, is_directory=True):
            return "holdfastignore"
        _add_rules(chain, f"{above}/", f"{root}/{above}/.holdfastignore")
    return "holdfastignore" if is_ignored(chain, path, path.rpartition("/")[2], is_directory=False) else None


def _by_configuration(repository: Repository, path: str) -> str | None:
    patterns = load_configuration(repository).indexing.ignore_file()
    if not patterns:
        return None
    rules = IgnoreFile(patterns)
    left_out = any(rules.verdict(above, name, is_directory=True) for above, name in _way(path))
    return "configured" if left_out or rules.verdict(path, path.rpartition("/")[2], is_directory=False) else None


def _way(path: str) -> Iterator[tuple[str, str]]:
    """The directories above a path with their names, the topmost first."""
    parts = path.split("/")[:-1]
    for depth, name in enumerate(parts, 1):
        yield "/".join(parts[:depth]), name


def _add_rules(chain: list[tuple[str, IgnoreFile]], place: str, file: str) -> None:
    rules = read_ignore_file(file)
    if rules is not None:
        chain.append((place, rules))
