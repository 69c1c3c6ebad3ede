"""A directory of downloads: its lock, its manifest, and what a killed call left in it.

The manifest says of every download where it came from and what it was. It is written by us and read with care,
since the directory may be anybody's: nothing is ever fetched or loaded because a manifest says so.
"""

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import cancelled
from holdfast.search.downloads.unpack import PREVIOUS_PREFIX, UNPACK_PREFIX
from holdfast.search.downloads.wheel import WORK_PREFIX

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["Entry", "Shelf", "real_path"]

Entry = dict[str, Any]
"""What a manifest says of a download: source, file, sha256, verified, etag, lastModified, downloadedAt, bytes."""

_LARGEST = 4 << 20
_POLL = 0.05
_PATIENCE = 30.0  # seconds for another download into the same directory
_OLD_PART = 7 * 86400.0  # seconds; nobody goes on with it any more
_DRAFT_PREFIX = ".holdfast-draft-"
_ARTIFACT_PREFIX = ".holdfast-fetched-"


class Shelf:
    """One directory with its manifest."""

    def __init__(self, directory: Path, manifest: str) -> None:
        self.directory = directory
        self._manifest = directory / manifest

    @contextmanager
    def locked(self, stop: "Stop", *, patience: float = _PATIENCE) -> Iterator[None]:
        """Be the only one who writes here; QUEUE_OVERLOADED when another process does for too long."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / ".lock").open("a") as file:
            _lock(file, stop, time.monotonic() + patience)
            self._sweep()
            yield

    def entries(self) -> dict[str, Entry]:
        """What is noted; nothing where the manifest is missing or damaged."""
        try:
            if self._manifest.is_symlink() or self._manifest.stat().st_size > _LARGEST:
                return {}
            noted = json.loads(self._manifest.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(noted, dict):
            return {}
        return {name: entry for name, entry in noted.items() if isinstance(entry, dict)}

    def note(self, name: str, entry: Entry) -> None:
        """Remember a download; needs the lock."""
        entries = self.entries() | {name: entry}
        draft = self.directory / f"{_DRAFT_PREFIX}{secrets.token_hex(4)}"
        try:
            with draft.open("x") as file:
                json.dump(entries, file, indent=2, sort_keys=True)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._manifest)
        finally:
            draft.unlink(missing_ok=True)

    def artifact(self, name: str) -> Path:
        """Where something lies between its fetching and its unpacking."""
        return self.directory / (_ARTIFACT_PREFIX + hashlib.sha256(os.fsencode(name)).hexdigest()[:16])

    def _sweep(self) -> None:
        """Remove what calls left that were killed, and bring back what they had put aside."""
        for left in self.directory.glob(f"{PREVIOUS_PREFIX}*"):
            place = left.with_name(left.name.removeprefix(PREVIOUS_PREFIX))
            if not place.exists():
                left.rename(place)
        for prefix in (WORK_PREFIX, UNPACK_PREFIX, PREVIOUS_PREFIX):
            for left in self.directory.glob(f"{prefix}*"):
                shutil.rmtree(left, ignore_errors=True)
        for prefix in (_DRAFT_PREFIX, _ARTIFACT_PREFIX):
            for left in self.directory.glob(f"{prefix}*"):
                left.unlink(missing_ok=True)
        for left in self.directory.glob(f".{_ARTIFACT_PREFIX}*.part*"):
            if time.time() - left.lstat().st_mtime > _OLD_PART:
                left.unlink(missing_ok=True)


def real_path(path: Path) -> Path:
    """A path that the caller chose, absolute and without links on the way."""
    try:
        return Path(os.path.realpath(os.path.expanduser(path)))
    except ValueError as error:  # a NUL
        raise ToolError("INVALID_REQUEST", f"this is no path: {error}") from error


def _lock(file: IO[str], stop: "Stop", until: float) -> None:
    import fcntl
    import threading

    pause = threading.Event()
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if stop():
                raise cancelled() from None
            if time.monotonic() > until:
                hint = "wait for it to finish"
                raise ToolError(
                    "QUEUE_OVERLOADED", "another download into this directory is running", hint=hint
                ) from None
            pause.wait(_POLL)
        else:
            return
