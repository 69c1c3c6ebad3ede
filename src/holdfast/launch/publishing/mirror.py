"""A bare repository of our own that follows the repository of a site, and in which commits are made.

Whoever uses it holds its lock, which ends with the process. Nothing in it is precious: what comes from the site is
fetched again, and a commit is made again with the same name, so a broken mirror is thrown away. It never has a
work tree, and nothing of it reaches the site before a forge publishes it.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple

from holdfast.errors import HoldfastError
from holdfast.git.acting import GitFailedError, act
from holdfast.git.asking import GitError, GitStoppedError, GitTimeoutError, never
from holdfast.launch.publishing.addresses import repository_id, shown, without_secrets
from holdfast.launch.publishing.forge_token import ForgeToken
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.stale_locks import locks_below, settle

__all__ = ["Mirror", "MirrorError", "Remote", "Route", "opened"]

_LOOK_SECONDS = 0.02
_NETWORK_SECONDS = 240.0
_HEAD = "refs/site/head"
_WORK = "making-"
# What git says where a token does not open the repository, or not for this.
_LOCKED_OUT = re.compile(
    r"authentication failed|could not read (?:username|password)|returned error: 40[1-4]|repository .*not found"
    r"|permission to \S+ denied|terminal prompts disabled|unauthorized|access denied",
    re.IGNORECASE,
)


class MirrorError(HoldfastError):
    """Git failed inside our own repository, where only damage or a full disk makes it fail."""


class Remote(NamedTuple):
    """What the repository of the site says of itself; `head` and `default_branch` are empty where it has none."""

    head: str
    default_branch: str
    references: dict[str, str]


class Route(NamedTuple):
    """How git gets to the site: where that really is, and the token with which it is let in there, if any."""

    address: str
    token: ForgeToken | None = None
    environment: Mapping[str, str] = MappingProxyType({})


class Mirror:
    """The repository of one site, in the hands of one caller. `address` is the site as the caller named it."""

    def __init__(self, path: Path, address: str, *, stop: Callable[[], bool] = never) -> None:
        self.path = path
        self.address = address
        self.route = Route(address)
        self._stop = stop

    def git(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """What git prints about this repository; it reaches no other one."""
        try:
            return act(
                arguments,
                root=self.path,
                stdin=stdin,
                env={"GIT_DIR": str(self.path), **(env or {})},
                stop=self._stop,
            )
        except GitStoppedError:
            raise
        except GitError as error:
            raise MirrorError(str(error)) from error

    def ask_site(self, *arguments: str) -> bytes:
        """What git prints with the site's own repository at hand; raises what git raises."""
        return act(
            arguments, root=self.path, env={"GIT_DIR": str(self.path), **self.route.environment}, network=True,
            seconds=_NETWORK_SECONDS, stop=self._stop,
        )  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Let some time pass."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            if self._stop():
                raise GitStoppedError("stopped")
            Event().wait(min(left, _LOOK_SECONDS))

    def has(self, commit: str) -> bool:
        """Whether the commit is here."""
        checked = self.git("cat-file", "--batch-check", stdin=f"{commit}^{{commit}}\n".encode())
        return checked.split()[:2] == [commit.encode(), b"commit"]

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether `of` was built on the commit. Both are here."""
        return commit == of or self.git("rev-list", "--max-count=1", commit, f"^{of}").strip() == b""

    def look(self, *patterns: str) -> Remote:
        """The references of the site that match, and what is checked out there by default."""
        try:
            told = self.ask_site("ls-remote", "--symref", "--", self.route.address, "HEAD", *patterns)
        except GitError as error:
            raise self.unreachable(error) from error
        head, branch, references = "", "", {}
        for line in told.decode("utf-8", "surrogateescape").splitlines():
            value, _, name = line.partition("\t")
            if name == "HEAD" and value.startswith("ref: "):
                branch = value.removeprefix("ref: refs/heads/")
            elif name == "HEAD":
                head = value
            else:
                references[name] = value
        return Remote(head, branch if head else "", references)

    def follow(self) -> str:
        """Fetch what the site has checked out by default; its commit, or "" where it has none."""
        try:
            self._fetch(f"+HEAD:{_HEAD}")
        except GitStoppedError:
            raise
        except GitError:
            if not self.look().head:
                return ""
            self._fetch_or_refuse(f"+HEAD:{_HEAD}")
        return self.git("rev-parse", "--verify", _HEAD).decode().strip()

    def fetch_commit(self, commit: str) -> bool:
        """Whether the commit is here, after asking the site for it where that was needed."""
        if self.has(commit):
            return True
        try:
            self._fetch(f"+{commit}:refs/site/base/{commit}")
        except GitStoppedError:
            raise
        except GitError:  # some servers give only what a branch or a tag points to
            self._fetch_or_refuse("+refs/heads/*:refs/site/heads/*", "+refs/tags/*:refs/site/tags/*")
        return self.has(commit)

    def fetch_references(self, *names: str) -> None:
        """Fetch these references, which the site has, below `refs/site/`."""
        self._fetch_or_refuse(*(f"+{name}:refs/site/{name.removeprefix('refs/')}" for name in names))

    def push_new(self, references: Mapping[str, str]) -> None:
        """Create these references, which the site must not have: all of them, or none; raises what git raises."""
        self.ask_site(
            "push", "--quiet", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--no-signed",
            "--recurse-submodules=no", *(f"--force-with-lease={name}:" for name in references),
            "--", self.route.address, *(f"{commit}:{name}" for name, commit in references.items()),
        )  # fmt: skip

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A directory for as long as a commit is made."""
        path = self.path / f"{_WORK}{os.getpid()}"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def discard(self) -> None:
        """Throw the repository away; the next who opens it has a fresh one."""
        aside = self.path.with_name(f".{self.path.name}.discarded")
        shutil.rmtree(aside, ignore_errors=True)
        self.path.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def told(self, text: str) -> str:
        """What git or the site said, without what is secret."""
        text = without_secrets(text, self.address)
        return self.route.token.hidden(text) if self.route.token else text

    def is_locked(self, error: GitError) -> bool:
        """Whether the token is what the site does not like."""
        said = error.said if isinstance(error, GitFailedError) else ""
        return self.route.token is not None and _LOCKED_OUT.search(said) is not None

    def unreachable(self, error: GitError) -> Refusal | GitError:
        """What to tell where the site did not answer."""
        if isinstance(error, GitTimeoutError):
            return Refusal("OUT_OF_TIME", "the repository of the site did not answer in time")
        if isinstance(error, GitStoppedError):
            return error
        details = {"repo_url": shown(self.address)}
        if self.route.token and self.is_locked(error):
            message = f"the token does not open the repository to git: {self.told(str(error))}"
            remedy = f"give the token in {self.route.token.variable} the right to write contents"
            return Refusal("FORGE_FORBIDDEN", message, details=details, remedy=remedy)
        message = f"the repository of the site cannot be reached: {self.told(str(error))}"
        return Refusal("REMOTE_UNREACHABLE", message, details=details)

    def _fetch(self, *references: str) -> None:
        self.ask_site(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
            "--update-shallow", "--no-auto-maintenance", "--", self.route.address, *references,
        )  # fmt: skip

    def _fetch_or_refuse(self, *references: str) -> None:
        try:
            self._fetch(*references)
        except GitStoppedError as error:
            raise self.unreachable(error) from error
        except GitError as error:
            # The trouble may be ours: a whole look at the mirror ends with MirrorError where it is.
            self.git("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
            raise self.unreachable(error) from error


@contextmanager
def opened(root: Path, address: str, *, wait: float = 120.0, stop: Callable[[], bool] = never) -> Iterator[Mirror]:
    """The mirror of the site below `root`, made if missing; nobody else has it meanwhile, in any process."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / f"{repository_id(address)}.git"
    with open(path.with_suffix(".lock"), "ab") as lock:
        _take(lock.fileno(), monotonic() + wait, stop)
        mirror = Mirror(path, address, stop=stop)
        if path.is_dir():
            _tidy(mirror, stop)
        else:
            _make(path, stop)
        yield mirror


def _take(lock: int, deadline: float, stop: Callable[[], bool]) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > deadline:
                raise Refusal("BUSY", "another request on this repository takes long") from None
            if stop():
                raise GitStoppedError("stopped") from None
            Event().wait(_LOOK_SECONDS)
        else:
            return


def _make(path: Path, stop: Callable[[], bool]) -> None:
    fresh = path.with_name(f".{path.name}.making")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        act(["init", "--quiet", "--bare", "--object-format=sha1"], root=fresh, stop=stop)
    except GitStoppedError:
        raise
    except GitError as error:
        raise MirrorError(str(error)) from error
    fresh.rename(path)


def _tidy(mirror: Mirror, stop: Callable[[], bool]) -> None:
    """Remove what a process left that was killed here."""
    settle(locks_below(mirror.path), stop=stop)
    for left in mirror.path.glob(f"{_WORK}*"):
        shutil.rmtree(left, ignore_errors=True)
