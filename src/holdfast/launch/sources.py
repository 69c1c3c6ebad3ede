"""A repository that somebody names on the command line: where it is, which commit it has now, and its files.

A local one is asked where it lies; of one elsewhere the newest commit alone is fetched, for as long as it is
looked at. Nothing is checked out and nothing is run.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from holdfast.errors import UsageError
from holdfast.git.acting import act
from holdfast.git.asking import Git, GitError, GitStoppedError
from holdfast.launch.run_config_rules import problem_of_repository
from holdfast.launch.scouting.cloning import shown_address
from holdfast.launch.scouting.file_kinds import LARGE
from holdfast.launch.scouting.objects import Entry, entries, read_blobs
from holdfast.launch.secret_scan import redact_secrets

__all__ = ["Source", "opened"]

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:")

_LOCKED = re.compile(r"could not read (?:username|password)|authentication failed|error: 40[134]", re.IGNORECASE)
_LET_IN = (
    "it is private, or not there: GITHUB_TOKEN or GITEA_TOKEN with --forge lets git in, or git's own credentials"
)
_OF_ANOTHER = re.compile("dubious ownership in repository at '(.+)'")


@dataclass(frozen=True)
class Source:
    """A repository at the commit that it has now. `address` is what a run is given; `name` what it is called."""

    address: str
    commit: str
    name: str
    root: Path
    files: Mapping[str, Entry]

    def texts(self, wanted: Callable[[str], bool]) -> dict[str, str]:
        """The wanted files, those of them that are text, without credentials."""
        chosen = {entry: path for path, entry in self.files.items() if wanted(path) and entry.size <= LARGE}
        found = {}
        for entry, content in read_blobs(self.root, [entry for entry in chosen if not entry.is_link]):
            if b"\0" not in content:
                found[chosen[entry]] = redact_secrets(content.decode("utf-8", "replace"))
        return found


@contextmanager
def opened(
    given: str, what: str, tell: Callable[[str], None], *, access: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Source]:
    """The repository at a path or address; UsageError where there is none, or no commit in it.

    `access` is an environment in which git may enter where it may not without.
    """
    if _REMOTE.match(given):
        with tempfile.TemporaryDirectory(prefix="holdfast-look-") as folder:
            yield _remote(given, what, Path(folder), access)
    else:
        yield _local(given, what, tell)


def _local(given: str, what: str, tell: Callable[[str], None]) -> Source:
    path = Path(os.path.abspath(os.path.expanduser(given)))  # links stay as they are named
    if not path.is_dir():
        raise UsageError(
            f"{given} is no directory", remedy=f"give the path or the address of the {what} repository"
        )
    git = Git(path)
    try:
        is_bare = git.whole("rev-parse", "--is-bare-repository").strip() == b"true"
        root = path if is_bare else Path(os.fsdecode(git.whole("rev-parse", "--show-toplevel")).removesuffix("\n"))
    except GitError as error:
        raise _unusable(given, error) from error
    git = Git(root)
    if root != path.resolve():
        tell(f"{given} is a folder of the repository {root}, which is taken as a whole")
    commit = _head(git, given)
    if not is_bare and git.whole("status", "--porcelain", "-z", "--untracked-files=normal"):
        tell(f"{given} has changes that are not committed: a run does not see them")
    return _source(str(root), commit, root)


def _unusable(given: str, error: GitError) -> UsageError:
    if of_another := _OF_ANOTHER.search(str(error)):
        # Older versions of git ask for the inner folder when the repository is cloned.
        places = (of_another[1], f"{of_another[1]}/.git")
        trust = " && ".join(f"git config --global --add safe.directory {shlex.quote(one)}" for one in places)
        return UsageError(f"{given} belongs to another user, so git does not read it", remedy=trust)
    init = "run `git init`, and commit what there is"
    return UsageError(f"{given} is no git repository: {_short(error)}", remedy=init)


def _remote(given: str, what: str, folder: Path, access: Mapping[str, str]) -> Source:
    remedy = f"check the address of the {what} repository, and that something is committed there"
    if problem := problem_of_repository(given):
        raise UsageError(f"{shown_address(given)} cannot be fetched: {problem}", remedy=remedy)
    try:
        act(["init", "--quiet", "--bare"], root=folder)
        _fetch(given, folder, access)
        commit = act(["rev-parse", "--verify", "FETCH_HEAD^{commit}"], root=folder).decode().strip()
    except GitError as error:
        told = _short(error).replace(given, shown_address(given))
        remedy = _LET_IN if _LOCKED.search(str(error)) else remedy
        raise UsageError(f"{shown_address(given)} cannot be fetched: {told}", remedy=remedy) from error
    return _source(given, commit, folder)


def _fetch(given: str, folder: Path, access: Mapping[str, str]) -> None:
    wanted = ["fetch", "--quiet", "--depth=1", "--no-tags", "--", given, "HEAD"]
    try:
        act(wanted, root=folder, network=True)
    except GitStoppedError:  # a token makes no server faster
        raise
    except GitError:
        if not access:
            raise
        act(wanted, root=folder, network=True, env=access)


def _head(git: Git, given: str) -> str:
    try:
        return git.whole("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitError as error:
        raise UsageError(f"{given} has no commit yet", remedy="commit what there is, then try again") from error


def _source(address: str, commit: str, root: Path) -> Source:
    found: dict[str, Entry] = {}
    for entry in entries(root, commit):
        path = entry.name.decode("utf-8", "replace")
        if not entry.is_submodule and "\ufffd" not in path and path.isprintable():
            found[path] = entry
    name = shown_address(address).rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    return Source(address, commit, name or "product", root, found)


def _short(error: GitError) -> str:
    return str(error).splitlines()[0][:300] if str(error) else "git failed"
