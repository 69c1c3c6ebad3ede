"""A file of whole lines that several processes append to, kept small by rotation: PATH, PATH.1, ... PATH.N-1.

Every batch of lines is one append, so lines of different writers never mix. Only rotation takes a lock. A writer
is not told that another one has rotated: it goes on filling up the file it holds, which by then is all but full,
and finds the new one when its next batch does not fit. Each file may therefore exceed its size by one batch per
writer. What a write could not put down whole stays with the caller. Errors are raised as OSError.
"""

import contextlib
import errno
import os
import select
import sys
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["RotatingFile", "rotated_files"]

# O_NONBLOCK: opening a named pipe that nobody reads must fail instead of waiting.
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_ROTATION_ATTEMPTS = 3
_PATIENCE = 0.1  # seconds to wait for the lock; a rotation takes far less unless its process was interrupted
_IMPATIENCE = 1.0  # seconds not to wait again after that: a stopped process must not stop its neighbours
_POLL = 0.0005


class RotatingFile:
    """The current file of a set of at most `max_files` files of about `max_bytes` each."""

    def __init__(self, path: Path, *, max_bytes: int, max_files: int) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.max_files = max_files
        self._descriptor: int | None = None
        self._size = 0  # as of the latest write of this process
        self._torn = False  # the latest write ended inside a line
        self._patient_from = 0.0  # until then do not wait for a lock that was waited for in vain

    def append(self, lines: list[bytes]) -> None:
        """Write the lines, taking each out of the list once it is written whole."""
        while lines:
            data, count = self._batch(lines)
            descriptor = self._descriptor_with_room(len(data))
            written = os.write(descriptor, data)
            if written == len(data):
                self._torn = False
                if self._lost_to_rotation(descriptor):
                    continue
            elif not written:
                raise OSError(errno.EIO, "nothing was written")
            else:
                count = data.count(b"\n", 0, written) - data.startswith(b"\n")
                self._torn = not data[:written].endswith(b"\n")
            del lines[: max(count, 0)]

    def close(self) -> None:
        """Let go of the file; the next append opens it again."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _batch(self, lines: list[bytes]) -> tuple[bytes, int]:
        """As many lines as one file can take, and their number."""
        data = b"".join(lines)
        count = len(lines)
        while count > 1 and len(data) > self.max_bytes:
            count //= 2
            data = b"".join(lines[:count])
        # The rest of a torn line becomes a line of its own instead of spoiling the next one.
        return (b"\n" + data if self._torn else data), count

    def _descriptor_with_room(self, needed: int) -> int:
        descriptor = self._open()
        for _ in range(_ROTATION_ATTEMPTS):
            if self._size == 0 or self._size + needed <= self.max_bytes:
                return descriptor
            if not self._rotate(descriptor, needed):
                break
            self.close()
            descriptor = self._open()
        if self._size + needed > 2 * self.max_bytes:
            raise OSError(errno.EBUSY, "the file is full and another process holds the lock for its rotation")
        return descriptor

    def _open(self) -> int:
        if self._descriptor is None:
            _make_directories(self.path.parent)
            self._descriptor = os.open(self.path, _APPEND, 0o600)
            self._size = os.fstat(self._descriptor).st_size
        return self._descriptor

    def _lost_to_rotation(self, descriptor: int) -> bool:
        """Whether the file written to was already removed; if so the lines are still to be written."""
        status = os.fstat(descriptor)
        self._size = status.st_size
        if status.st_nlink > 0:
            return False
        self.close()
        return os.fstat(self._open()).st_nlink > 0  # some file systems count no links at all

    def _rotate(self, descriptor: int, needed: int) -> bool:
        """Put a new file in the place of the full one unless another writer has done so; False if it is busy."""
        patience = _PATIENCE if time.monotonic() >= self._patient_from else 0.0
        with _locked(Path(f"{self.path}.lock"), patience) as locked:
            if not locked:
                self._patient_from = time.monotonic() + _IMPATIENCE
                return False
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(self.path)
                if os.path.samestat(status, os.fstat(descriptor)) and status.st_size + needed > self.max_bytes:
                    self._shift()
            return True

    def _shift(self) -> None:
        for number, path in rotated_files(self.path):
            if number >= self.max_files - 1:
                path.unlink(missing_ok=True)
            else:
                path.replace(f"{self.path}.{number + 1}")
        if self.max_files > 1:
            self.path.replace(f"{self.path}.1")
        else:
            self.path.unlink()


def rotated_files(path: Path) -> list[tuple[int, Path]]:
    """The numbers and paths of the files rotated away from `path`, the oldest first."""
    prefix = f"{path.name}."
    found = [entry for entry in os.listdir(path.parent) if entry.startswith(prefix)]
    suffixes = [entry.removeprefix(prefix) for entry in found]
    numbers = sorted((int(suffix) for suffix in suffixes if suffix.isascii() and suffix.isdigit()), reverse=True)
    return [(number, Path(f"{path}.{number}")) for number in numbers]


def _make_directories(directory: Path) -> None:
    """Create what is missing of `directory`, for this user alone."""
    if not directory.is_dir():
        _make_directories(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def _locked(path: Path, patience: float) -> Iterator[bool]:
    """Hold the lock file; False when somebody else still does after `patience` seconds."""
    if sys.platform == "win32":
        yield True  # renaming an open file fails there, which is lock enough
        return
    import fcntl

    def acquire() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        locked = acquire()
        while not locked and time.monotonic() < deadline:
            select.select([], [], [], _POLL)
            locked = acquire()
        yield locked
    finally:
        os.close(descriptor)
