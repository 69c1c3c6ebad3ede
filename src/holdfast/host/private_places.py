"""Directories that only this user can look into, for records and sockets of hosts.

A directory that somebody else could have prepared is refused, never repaired: what lies in it may be a trap.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.settings import Settings

__all__ = ["leave_directory", "private_directory", "records_directory", "socket_path"]

_SOCKET_BYTES = 100  # the kernel's own limit is 108 on Linux and 104 elsewhere


def records_directory(settings: Settings) -> Path:
    """Where the records of running hosts are; whoever knows the state directory finds them.

    It is not the runtime directory of the session: MCP clients start their servers without the variable that
    names it, and a person at a terminal has to find those hosts too.
    """
    return settings.state_path() / "hosts"


def private_directory(path: Path, *, create: bool) -> bool:
    """Whether the directory is there, ours and closed to others; UsageError when it is there but is not."""
    if create:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # something that is no directory; told below
            path.mkdir(mode=0o700, exist_ok=True)
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    trouble = _trouble(status)
    if trouble:
        raise UsageError(
            f"{path} {trouble}, so it is not used for hosts",
            remedy=f"look into it; then remove it or, if it is yours: chmod 700 {path}",
        )
    return True


def _trouble(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            return "belongs to another user"
        if status.st_mode & 0o077:
            return "is open to other users"
    return ""


def socket_path(settings: Settings, name: str) -> Path:
    """Where a socket of this name goes: a private directory whose path is short enough for one."""
    for directory in _socket_directories(settings):
        path = directory / name
        if len(os.fsencode(path)) <= _SOCKET_BYTES:
            private_directory(directory, create=True)
            return path
    raise UsageError(
        "there is no directory with a path short enough for a socket", remedy="set TMPDIR to a short one"
    )


def leave_directory(path: Path) -> None:
    """Remove the shared directory of sockets when nobody uses it any more."""
    if path.parent.name == _shared_name():
        try:
            path.parent.rmdir()
        except OSError:
            return  # others still use it


def _socket_directories(settings: Settings) -> Iterator[Path]:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "-")
    if settings.state_dir is None and runtime.is_absolute() and _is_usable(runtime):
        yield runtime / "holdfast"  # on a local disk, other than perhaps the home directory
    yield records_directory(settings)
    import tempfile  # which most hosts can do without

    yield Path(tempfile.gettempdir()) / _shared_name()
    yield Path("/tmp") / _shared_name()  # noqa: S108 - private, or refused


def _is_usable(runtime: Path) -> bool:
    try:
        status = runtime.stat()
    except OSError:
        return False
    return not _trouble(status) and os.access(runtime, os.W_OK)


def _shared_name() -> str:
    return f"holdfast-{os.getuid()}" if hasattr(os, "getuid") else "holdfast-hosts"
