"""What git says about the files of a work tree: which are part of it, and which it ignores.

Git is asked, not imitated: nested ignore files, `info/exclude` and the user's own excludes count exactly as for
`git status`. Nothing is written, and no program that a repository names in its configuration is run.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest

__all__ = ["GitListing", "GitTrouble", "list_files"]

_TIMEOUT = 300.0  # seconds after which git is given up; a cold, huge tree on a network disk may take a minute
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_LISTED = ("-s", "-t", "--cached", "--others", "--exclude-standard")
_IGNORED = ("--others", "--ignored", "--exclude-standard", "--directory")


class GitTrouble(Exception):  # noqa: N818 - it is an answer, not an error of ours
    """Git is missing or refuses; the message is the reason in one line."""


@dataclass(slots=True)
class GitListing:
    """The paths of one work tree, each with the prefix under which the tree stands in the whole repository."""

    files: set[str] = field(default_factory=set)  # tracked, or new and not ignored; some may be gone from disk
    links: set[str] = field(default_factory=set)  # tracked as symbolic links, whatever the disk made of them
    submodules: set[str] = field(default_factory=set)
    repositories: set[str] = field(default_factory=set)  # new directories that are repositories of their own
    ignored: list[str] = field(default_factory=list)  # for people: an ignored directory stands for all below it
    ignored_files: set[str] = field(default_factory=set)
    ignored_directories: set[str] = field(default_factory=set)  # those that a rule matches, not just their files


def list_files(root: str, prefix: str = "") -> GitListing:
    """Ask git about the work tree at `root`; raises GitTrouble when it cannot or will not answer."""
    environment = _environment(root)
    with ExitStack() as running:
        # Both at once: each is busy with the same walk of the tree.
        listed = running.enter_context(_git(root, _LISTED, environment))
        ignored = running.enter_context(_git(root, _IGNORED, environment))
        listing = GitListing()
        _sort_files(listing, _entries(listed), prefix)
        _sort_ignored(listing, [prefix + entry for entry in _entries(ignored)])
    return listing


def _environment(root: str) -> dict[str, str]:
    """Our environment without what a hook or a caller says about another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    # Without a ceiling a broken repository would make git answer for the one around it.
    return kept | {"GIT_CEILING_DIRECTORIES": os.path.dirname(root), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


@contextmanager
def _git(
    root: str, arguments: tuple[str, ...], environment: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    # A repository can name a program as its file system monitor, which git would run for us.
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", *arguments]
    try:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as trouble:
        raise GitTrouble(f"git cannot be started: {trouble.strerror}") from trouble
    with process:
        try:
            yield process
        finally:
            process.kill()


def _entries(process: "subprocess.Popen[bytes]") -> list[str]:
    try:
        output, errors = process.communicate(timeout=_TIMEOUT)
    except subprocess.TimeoutExpired as trouble:
        raise GitTrouble(f"git gave no answer within {_TIMEOUT:g} s") from trouble
    if process.returncode != 0:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        raise GitTrouble(said[0] if said else f"git ended with status {process.returncode}")
    return os.fsdecode(output).split("\0")[:-1]


def _sort_files(listing: GitListing, entries: Iterable[str], prefix: str) -> None:
    """Entries are `? path`, or a letter, the mode, the object and the stage of a tracked `path` behind a tab."""
    for entry in entries:
        if entry.startswith("? "):
            path = prefix + entry[2:]
            if path.endswith("/"):
                listing.repositories.add(path[:-1])
            else:
                listing.files.add(path)
            continue
        facts, _, path = entry.partition("\t")
        path = prefix + path
        if facts[2:8] == "160000":
            listing.submodules.add(path)
        else:
            listing.files.add(path)
            if facts[2:8] == "120000":
                listing.links.add(path)


def _sort_ignored(listing: GitListing, entries: list[str]) -> None:
    """A directory that is followed by entries below it only holds ignored files; a new one in it would count."""
    entries.sort()
    topmost = "\0"
    for entry, following in zip_longest(entries, entries[1:], fillvalue=""):
        if not entry.endswith("/"):
            listing.ignored_files.add(entry)
        elif not following.startswith(entry):
            listing.ignored_directories.add(entry[:-1])
        if not entry.startswith(topmost):
            listing.ignored.append(entry)
            topmost = entry if entry.endswith("/") else "\0"
