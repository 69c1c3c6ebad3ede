"""What was left out of answers, kept for the client that may ask for it: files that only this user can read.

One file per answer, in a directory of this host that is made with the first of them, removed with the host, and
found by the token of a host that was killed. Names cannot be guessed. The oldest go first when there are too many,
too much, or when their time is up. A disk that is full costs the whole of an answer, never the answer.
"""

import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import HoldfastError, UsageError
from holdfast.host.private_places import private_directory

__all__ = [
    "OUTPUT_SCHEME",
    "OutputError",
    "OutputStore",
    "forget_old_outputs",
    "outputs_directory",
    "remove_outputs",
]

OUTPUT_SCHEME = "holdfast://output/"
DAY = 24 * 3600.0
_SUFFIX = ".output"
_URI = re.compile(r"holdfast://output/([0-9a-f]{8})\.([0-9a-f]{32})")
_DIRECTORY = re.compile(r"[0-9A-Za-z_-]{8,64}\.output")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


class OutputError(HoldfastError):
    """Something could not be kept, or could not be read again; the text says why."""


class _Kept(NamedTuple):
    size: int
    since: float


def outputs_directory(records: Path, token: str) -> Path:
    """Where a host with this token keeps what it left out."""
    return records / f"{token}{_SUFFIX}"


class OutputStore:
    """Bytes by URI, each for `ttl` seconds at most; nothing is touched before the first is kept."""

    def __init__(
        self,
        directory: Path,
        *,
        max_bytes: int = 64 * 1024 * 1024,
        max_entry: int = 8 * 1024 * 1024,
        max_count: int = 1000,
        ttl: float = DAY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._max_entry = max_entry
        self._max_count = max_count
        self._ttl = ttl
        self._clock = clock
        self._host = secrets.token_hex(4)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()  # the oldest first
        self._size = 0

    def new_uri(self) -> str:
        """A name for something that is about to be kept."""
        return f"{OUTPUT_SCHEME}{self._host}.{secrets.token_hex(16)}"

    def is_ours(self, uri: str) -> bool:
        """Whether only this store could know the URI; another host behind this one has names of its own."""
        found = _URI.fullmatch(uri)
        return found is None or found[1] == self._host

    def keep(self, uri: str, data: bytes) -> None:
        """Keep the bytes under a new URI; OutputError where that cannot be done."""
        name = self._name(uri)
        if len(data) > min(self._max_entry, self._max_bytes):
            raise OutputError(f"an output of {len(data):,} bytes is too large to be kept")
        self._make_room(len(data))
        path = self._directory / name
        try:
            private_directory(self._directory.parent, create=True)
            private_directory(self._directory, create=True)
            self._write(path, data)
        except UsageError as error:
            raise OutputError(error.message) from error
        except OSError as error:
            self._unlink(name)
            raise OutputError(f"{path}: {error.strerror}") from error
        self._kept[name] = _Kept(len(data), self._clock())
        self._size += len(data)

    def read(self, uri: str) -> bytes:
        """What was kept; OutputError with words for whoever asked where there is nothing (any more)."""
        found = _URI.fullmatch(uri)
        if found is None:
            raise OutputError("this is not the name of an output")
        self._forget_old()
        if found[1] != self._host or found[2] not in self._kept:
            raise OutputError("this output is not kept any more; call the tool again")
        try:
            descriptor = os.open(self._directory / found[2], os.O_RDONLY | _NO_LINKS)
            with open(descriptor, "rb") as file:
                data = file.read(self._max_entry + 1)
        except OSError as error:
            self._forget(found[2])
            raise OutputError(f"this output cannot be read any more: {error.strerror}") from error
        if len(data) != self._kept[found[2]].size:
            self._forget(found[2])
            raise OutputError("this output was changed by somebody, so it is not shown")
        return data

    def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._size = 0
        remove_outputs(self._directory)

    def _name(self, uri: str) -> str:
        found = _URI.fullmatch(uri)
        if found is None or found[1] != self._host:
            raise ValueError(f"{uri!r} is not a name that this store has given")
        return found[2]

    def _write(self, path: Path, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o600)
        with open(descriptor, "wb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]

    def _make_room(self, size: int) -> None:
        self._forget_old()
        while self._kept and (len(self._kept) >= self._max_count or self._size + size > self._max_bytes):
            self._forget(next(iter(self._kept)))

    def _forget_old(self) -> None:
        oldest = self._clock() - self._ttl
        for name, kept in list(self._kept.items()):
            if kept.since > oldest:
                break
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._size -= self._kept.pop(name).size
        self._unlink(name)

    def _unlink(self, name: str) -> None:
        with suppress(OSError):  # it is gone already, or its directory is not ours any more
            os.unlink(self._directory / name)


def remove_outputs(directory: Path) -> None:
    """Remove a directory of outputs with all that is in it; nothing else is ever removed."""
    if not _DIRECTORY.fullmatch(directory.name):
        return
    with suppress(OSError, UsageError):  # not there, or not ours: then it is not for us to remove
        if private_directory(directory, create=False):
            import shutil  # which most hosts can do without

            shutil.rmtree(directory, ignore_errors=True)


def forget_old_outputs(records: Path, *, older_than: float = 2 * DAY) -> None:
    """Remove directories that nobody has used for so long: of hosts that died without a record."""
    with suppress(OSError):
        for directory in records.iterdir():
            if _DIRECTORY.fullmatch(directory.name):
                with suppress(OSError):
                    if time.time() - directory.lstat().st_mtime > older_than:
                        remove_outputs(directory)
