"""Git that writes: clones, objects, references, pushes. Hardened like `asking`, and as little trusting.

A repository or an address may come from anybody: no hook, filter, helper or transport that starts a program runs,
and an address can only be https, ssh, git, file or a plain path. Nobody is asked for a password: credentials come
from the user's own git configuration, or from the environment that the caller gives.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic

from holdfast.git.asking import GitError, GitStoppedError, GitTimeoutError, never
from holdfast.git.stall import STALLED, Stall
from holdfast.process.group import end_group

__all__ = ["GitFailedError", "act", "checked_address", "clone_at"]

_POLL_SECONDS = 0.05
_LONGEST_COMPLAINT = 2000
_SCHEMES = ("https", "http", "ssh", "git", "file")
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^:].*")
# Whatever a repository says about its files, they are checked out byte for byte as they are stored.
_SSH = f"ssh -oBatchMode=yes -oConnectTimeout={STALLED:.0f} -oServerAliveInterval=10 -oServerAliveCountMax=3"
_ATTRIBUTES = "* -text -crlf !eol -ident !filter !working-tree-encoding\n"
_CONFIGURATION = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false", "color.ui=false", "gc.auto=0",
    "maintenance.auto=false", "core.symlinks=true", "core.autocrlf=false", "core.attributesFile=/dev/null",
    "core.protectHFS=true", "core.protectNTFS=true", "advice.detachedHead=false", "transfer.fsckObjects=false",
    "protocol.ext.allow=never", "submodule.recurse=false", "fetch.bundleURI=", "init.defaultBranch=main",
    "commit.gpgSign=false", "tag.gpgSign=false", "push.gpgSign=false", "init.templateDir=",
    f"http.lowSpeedTime={STALLED:.0f}", "http.lowSpeedLimit=1", "i18n.commitEncoding=UTF-8",
)  # fmt: skip


class GitFailedError(GitError):
    """Git ended with a complaint; `said` is all of it, with what the other side said too."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


def checked_address(address: str) -> str:
    """The address of a repository, if it is one that starts no program; GitError otherwise."""
    scheme, separator, _ = address.partition("://")
    if any(ord(char) < 32 or char == "\x7f" for char in address) or address.startswith("-"):
        raise GitError("this is no address of a repository")
    if separator:
        if scheme.lower() not in _SCHEMES:
            raise GitError(f"repositories are not fetched by {scheme!r}: use https, ssh, git, file or a path")
        return address
    if os.path.isabs(address) or _SCP.fullmatch(address):
        return address
    raise GitError("an address is a URL or an absolute path")


def act(
    arguments: Sequence[str],
    *,
    root: str | Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    network: bool = False,
    seconds: float = 300.0,
    stalled: float = STALLED,
    stop: Callable[[], bool] = never,
) -> bytes:
    """What git prints; GitError with its complaint where it fails. `network` allows other repositories too.

    Only with `network` is the configuration of the user read, for the credentials in it. What git writes is for
    this user alone. With `network`, `stalled` seconds without a byte end it too: GitStalledError.
    """
    words = ["git", "--no-pager", "-C", os.fspath(root), *(part for one in _CONFIGURATION for part in ("-c", one))]
    protocols = "https:http:ssh:git:file" if network else ""
    own = {} if network else {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    ours = {
        "GIT_ALLOW_PROTOCOL": protocols, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ASKPASS": "/bin/false", "TZ": "UTC",
        "SSH_ASKPASS": "/bin/false", "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", _SSH),
    }  # fmt: skip
    # A file and not a pipe: `communicate` forgets the rest of its input when it is asked again after a timeout.
    with ExitStack() as opened:
        given = opened.enter_context(tempfile.TemporaryFile())
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen.__new__(subprocess.Popen)
        try:
            process.__init__(  # type: ignore[misc]
                [*words, *arguments], env=kept | ours | own | dict(env or {}), process_group=0,
                stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, umask=0o077,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be started: {error}") from error
        except BaseException:  # an interrupt, when git may run already
            if getattr(process, "pid", None):
                end_group(process)
            raise
        opened.enter_context(process)  # closes its pipes, whatever happens
        opened.callback(end_group, process)
        stall = Stall(process.pid, stalled) if network else None
        out, err = _communicate(process, monotonic() + seconds, stop, stall)
    if process.returncode:
        said = err.decode("utf-8", "replace")[:_LONGEST_COMPLAINT]
        raise GitFailedError(_complaint(said) or f"git ended with {process.returncode}", said)
    return out


def clone_at(
    address: str,
    commit: str,
    into: Path,
    *,
    env: Mapping[str, str] | None = None,
    stop: Callable[[], bool] = never,
) -> None:
    """A work tree of exactly this commit at `into`, which must not exist; it appears whole or not at all.

    Only what the commit needs is fetched where the other side allows that. Submodules are left empty.
    """
    address = checked_address(address)
    into.parent.mkdir(parents=True, exist_ok=True)
    # A git whose parent was killed may still write into what it began: each attempt has a place of its own.
    for left in into.parent.glob(f".{into.name}.cloning*"):
        left.unlink() if left.is_symlink() else shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{into.name}.cloning-", dir=into.parent))
    try:
        act(["init", "--quiet"], root=fresh, stop=stop)
        (fresh / ".git" / "info").mkdir(exist_ok=True)
        (fresh / ".git" / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
        act(["remote", "add", "--", "origin", address], root=fresh, stop=stop)
        _fetch(fresh, commit, env, stop)
        act(["checkout", "--quiet", "--detach", commit], root=fresh, stop=stop)
        fresh.rename(into)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _fetch(root: Path, commit: str, env: Mapping[str, str] | None, stop: Callable[[], bool]) -> None:
    try:
        act(["fetch", "--quiet", "--depth=1", "--no-tags", "origin", commit], root=root, env=env,
            network=True, stop=stop)  # fmt: skip
    except GitStoppedError:
        raise
    except GitError:  # older servers give only what a branch or tag points to
        act(["fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"], root=root, env=env,
            network=True, stop=stop)  # fmt: skip
    try:
        act(["cat-file", "-e", f"{commit}^{{commit}}"], root=root, stop=stop)
    except GitStoppedError:
        raise
    except GitError as error:
        raise GitError(f"the repository has no commit {commit}") from error


def _communicate(
    process: "subprocess.Popen[bytes]", deadline: float, stop: Callable[[], bool], stall: Stall | None
) -> tuple[bytes, bytes]:
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_POLL_SECONDS)
        if stop():
            raise GitStoppedError("stopped")
        if monotonic() > deadline:
            raise GitTimeoutError("out of time")
        if stall is not None:
            stall.check()


def _complaint(said: str) -> str:
    # That nobody was asked for a password is no news; what it was needed for is in the next line.
    lines = [line for line in said.splitlines() if "askpass" not in line]
    worst = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return worst.removeprefix("fatal: ").removeprefix("error: ").strip()
