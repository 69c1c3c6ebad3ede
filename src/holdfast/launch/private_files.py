"""Files of runs are for their owner alone: each of them, since a private folder on top can be opened by hand.

While a workspace is held, the process and all that it starts, git and Hugo too, write for its user alone. What an
older version, or another program, has left open is closed when the workspace is used for the first time.
"""

import os
import stat
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import Lock

__all__ = ["MASK", "held_private", "make_private"]

MASK = 0o077
_MARK = ".private"


class _Mask:
    """The umask belongs to the process, so the last one who lets go of it restores what was there."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._before = 0

    def take(self) -> None:
        with self._lock:
            before = os.umask(MASK)
            self._before = before if self._holders == 0 else self._before
            self._holders += 1

    def leave(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                os.umask(self._before)


_MASK = _Mask()


class _Held:
    """A directory that is held. A generator would let go when it is collected, at the end of the process, too."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __enter__(self) -> None:
        _MASK.take()
        try:
            make_private(self._root)
        except BaseException:
            _MASK.leave()
            raise

    def __exit__(self, *_: object) -> None:
        _MASK.leave()


def held_private(root: Path) -> AbstractContextManager[None]:
    """Everything below `root` is private, and so is what is written meanwhile."""
    return _Held(root)


def make_private(root: Path) -> None:
    """Make the directory, and close it with all that is in it, if that was not done before."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = root / _MARK
    if mark.exists() and not root.stat().st_mode & MASK:
        return
    for folder, folders, files in os.walk(root):
        _close(folder)
        for name in (*folders, *files):
            _close(os.path.join(folder, name))
    mark.touch(mode=0o600)


def _close(path: str) -> None:
    with suppress(OSError):  # it is gone, or somebody else's
        mode = os.lstat(path).st_mode
        if mode & MASK and not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode) & ~MASK)
