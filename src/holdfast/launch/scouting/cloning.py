"""Both repositories of a run, at their commits, whatever an interrupted run has left in their place.

A clone appears whole or not at all, so one that is there with the right commit and without a change is kept, and
anything else is removed first. What went wrong is told without credentials and without paths of this machine.
"""

import contextlib
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from holdfast.errors import ToolError
from holdfast.git.acting import GitFailedError, act, clone_at
from holdfast.git.asking import Git, GitError, GitStoppedError, GitTimeoutError
from holdfast.git.stall import GitStalledError
from holdfast.launch.site_access import access_of_run
from holdfast.launch.work import Workplace

__all__ = ["bring", "bring_both", "empty_repository", "git_told", "shown_address"]

# What git and its transports say when the network, and not the address, is to blame.
_NETWORK = re.compile(
    r"could not resolve|couldn't resolve|temporary failure|connection (?:refused|reset|timed out|closed)"
    r"|timed? ?out|failed to connect|network is unreachable|no route to host|early eof|hung up unexpectedly"
    r"|unexpected disconnect|operation too slow|tls connection|ssl_(?:error|connect)|gnutls|error: 5\d\d"
    r"|service unavailable",
    re.IGNORECASE,
)
# The last two are how a limit on the size of files ends git.
_FULL = re.compile(r"(?i)no space left|disk quota exceeded|file too large|died of signal 25|ended with -25")
_NO_COMMIT = re.compile(r"has no commit|not our ref|no such remote ref|couldn't find remote ref", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(?<![\w.:/])/[^\s'\":]+")
_USER = re.compile(r"(?<=://)[^/\s'\"]*@")
_LONGEST_COMPLAINT = 300


def shown_address(address: str) -> str:
    """An address as pages and artifacts may name it: no credentials, and of a local path only its last name."""
    scheme, separator, rest = address.partition("://")
    if separator and scheme.lower() != "file":
        host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
        return f"{scheme.lower()}://{host.rpartition('@')[2]}{slash}{path}"
    if not separator and not address.startswith("/"):
        return address.rpartition("@")[2]  # host:path, as ssh has it
    path = unquote(urlsplit(address).path) if separator else address
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return name or "repository"


def bring(
    address: str, commit: str, into: Path, what: str, *, access: Mapping[str, str] = MappingProxyType({})
) -> None:
    """A clean work tree of the commit at `into`; ToolError INVALID_INPUT where that cannot be had.

    `access` is an environment in which git may enter where it may not without.
    """
    if _is_there(into, commit):
        return
    _remove(into)
    into.parent.mkdir(parents=True, exist_ok=True)
    try:
        _clone(address, commit, into, access)
    except GitTimeoutError as error:
        why = str(error) if isinstance(error, GitStalledError) else "it took too long"
        raise _refusal("clone_failed", what, address, why, is_passing=True) from error
    except GitStoppedError:
        raise
    except GitError as error:
        raise _explained(error, address, commit, what) from error


def bring_both(place: Workplace, steps: int) -> None:
    """Have the product and the site of a run, at their commits: the first two of so many steps."""
    config = place.config
    place.progress(0, steps, "cloning the product")
    bring(config["github_repo_url"], config["github_ref"], place.repo, "product")
    place.progress(1, steps, "cloning the site")
    bring(config["site_repo_url"], config["site_ref"], place.site, "site", access=access_of_run(config))


def _clone(address: str, commit: str, into: Path, access: Mapping[str, str]) -> None:
    try:
        clone_at(address, commit, into)
    except GitStoppedError:
        raise
    except GitError as error:
        said = error.said if isinstance(error, GitFailedError) else ""
        if not access or _NETWORK.search(said) or _FULL.search(said):
            raise
        clone_at(address, commit, into, env=access)


@contextlib.contextmanager
def git_told() -> Iterator[None]:
    """What git cannot do with the clones becomes the failure of the worker that asked."""
    try:
        yield
    except GitStoppedError as error:
        raise ToolError("TOOL_TIMEOUT", "git took too long", details={"reason": "git_timeout"}) from error
    except GitError as error:
        raise ToolError(
            "INTERNAL", "the clones cannot be read", details={"cause_class": type(error).__name__}, retryable=True
        ) from error


def empty_repository(what: str) -> ToolError:
    """The refusal of a repository without a file."""
    return ToolError(
        "INVALID_INPUT",
        f"The {what} repository is empty: there is no file at its commit.",
        details={"reason": "empty_repository", "repository": what},
        retryable=False,
    )


def _is_there(into: Path, commit: str) -> bool:
    if into.is_symlink() or not (into / ".git").is_dir():
        return False
    git = Git(into)
    try:
        if git.whole("rev-parse", "--verify", "HEAD").decode().strip() != commit:
            return False
        return not git.whole("status", "--porcelain", "-z", "--untracked-files=all", "--ignored=traditional")
    except GitStoppedError:
        raise
    except GitError:
        return False


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _explained(error: GitError, address: str, commit: str, what: str) -> ToolError:
    said = f"{error}\n{error.said}" if isinstance(error, GitFailedError) else str(error)
    if _FULL.search(said):
        return _refusal("disk_full", what, address, "there is no space left for it", is_passing=True)
    if _NETWORK.search(said):
        return _refusal("clone_failed", what, address, str(error), is_passing=True)
    if _has_no_branch(address):
        return empty_repository(what)
    if _NO_COMMIT.search(said):
        told = _refusal("commit_not_found", what, address, f"it has no commit {commit}")
        told.details["commit"] = commit
        return told
    if "dubious ownership" in said:
        words = "it belongs to another user; `git config --global --add safe.directory PATH` lets git read it"
        return _refusal("clone_failed", what, address, words)
    return _refusal("clone_failed", what, address, str(error))


def _has_no_branch(address: str) -> bool:
    """Whether there is a repository, and nothing was ever committed to it."""
    try:
        return not act(["ls-remote", "--", address], root="/", network=True, seconds=60).strip()
    except GitError:
        return False


def _refusal(reason: str, what: str, address: str, said: str, *, is_passing: bool = False) -> ToolError:
    said = said.replace(address, shown_address(address))
    said = _ABSOLUTE.sub("(path)", _USER.sub("", said)).splitlines()[0][:_LONGEST_COMPLAINT]
    details: dict[str, Any] = {"reason": reason, "repository": what, "address": shown_address(address)}
    return ToolError(
        "INVALID_INPUT",
        f"The {what} repository {shown_address(address)} could not be cloned: {said}",
        details=details,
        retryable=is_passing,
    )
