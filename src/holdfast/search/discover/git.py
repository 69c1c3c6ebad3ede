"""What git says about the files of a work tree: which are part of it, and which it ignores.

Git is asked, not imitated: nested ignore files, `info/exclude` and the user's own excludes count exactly as for
`git status`. How it is asked, so that nothing is written and nothing else is run, is said in `git.asking`.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import zip_longest

from holdfast.git.asking import Git, never

__all__ = ["GitListing", "list_files"]

_LISTED = ("ls-files", "-z", "-s", "-t", "--cached", "--others", "--exclude-standard")
_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


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


def list_files(root: str, prefix: str = "", *, stop: Callable[[], bool] = never) -> GitListing:
    """Ask git about the work tree at `root`; raises GitError when it cannot or will not answer."""
    git = Git(root, stop=stop)
    listing = GitListing()
    # Both at once: each is busy with the same walk of the tree.
    with git.start(*_LISTED) as listed, git.start(*_IGNORED) as ignored:
        _sort_files(listing, map(os.fsdecode, listed.fields()), prefix)
        _sort_ignored(listing, [prefix + os.fsdecode(entry) for entry in ignored.fields()])
    return listing


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
