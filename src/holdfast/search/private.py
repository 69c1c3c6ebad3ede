"""Files that hold a repository's text are for their owner alone: 0600, and 0700 for each directory.

A private directory on top would not do: it may be copied, mounted or opened up later, and its files go with it.
What other programs and libraries write (git, linters, the term index) follows the umask, which is one of the whole
process; so it is set while something is written, by as many threads as there are, and then put back.
"""

import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["close_to_others", "make_private", "open_private", "private_files"]

_OTHERS = 0o077


class _Umask:
    """The umask of the process, private for as long as somebody needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._before = 0

    def hold(self) -> None:
        with self._lock:
            if not self._holders:
                self._before = os.umask(_OTHERS)
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                os.umask(self._before)


_umask = _Umask()


@contextmanager
def private_files() -> Iterator[None]:
    """Have everything that this process and its children create meanwhile closed to others."""
    _umask.hold()
    try:
        yield
    finally:
        _umask.release()


def open_private(path: str, flags: int) -> int:
    """The `opener` of a file that others may not read, whatever the umask is."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def make_private(place: Path) -> None:
    """Close a file or a directory to others, with all below it, that an earlier version left open.

    The place itself comes last: one that was left half-way is found open again.
    """
    for root, directories, names in os.walk(place, topdown=False):
        close_to_others(Path(root, name) for name in (*names, *directories))
    close_to_others([place])


def close_to_others(paths: Iterable[Path]) -> None:
    """Close some files and directories; what belongs to another user, and what a link leads to, stays as it is."""
    for path in paths:
        with suppress(OSError):  # gone a moment ago, or on a disk that cannot be written to
            if _is_open(os.lstat(path)):
                _close(path)


def _is_open(status: os.stat_result) -> bool:
    is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return is_plain and bool(status.st_mode & _OTHERS)


def _close(path: Path) -> None:
    """Take the rights of others away; through a descriptor, so that a link put there meanwhile is not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if _is_open(status) and status.st_uid == os.geteuid():
            os.fchmod(descriptor, status.st_mode & 0o700)
    finally:
        os.close(descriptor)
