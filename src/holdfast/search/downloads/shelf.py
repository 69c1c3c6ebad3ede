"""A directory of downloads: its lock, its manifest, and what a killed call left in it.

The manifest says of every download where it came from and what it was. It is written by us and read with care,
since the directory may be anybody's: nothing is ever fetched or loaded because a manifest says so, and a file
of that name without our mark is not taken for one.
"""

import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import cancelled
from holdfast.search.downloads.unpack import PREVIOUS_PREFIX, UNPACK_PREFIX, discard
from holdfast.search.downloads.wheel import WORK_PREFIX
from holdfast.search.private import make_private, private_files

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["Entry", "Shelf", "real_path"]

Entry = dict[str, Any]
"""What a manifest says of a download: source, file, sha256, verified, etag, lastModified, downloadedAt, bytes."""

_MARK, _MARKED_AS, _ENTRIES = "holdfast", "downloads", "entries"
_LARGEST = 4 << 20
_POLL = 0.05
_PATIENCE = 30.0  # seconds for another download into the same directory
_OLD_PART = 7 * 86400.0  # seconds; nobody goes on with it any more
_DRAFT_PREFIX = ".holdfast-draft-"
_ARTIFACT_PREFIX = ".holdfast-fetched-"


class Shelf:
    """One directory with its manifest; `is_own` where it is that of the cache, which nobody chose."""

    def __init__(self, directory: Path, manifest: str, *, is_own: bool = False) -> None:
        self.directory = directory
        self._manifest = directory / manifest
        self._is_own = is_own

    @contextmanager
    def locked(self, stop: "Stop", *, patience: float = _PATIENCE) -> Iterator[None]:
        """Be the only one who writes here; QUEUE_OVERLOADED when another process does for too long."""
        self._refuse_foreign()
        with private_files():
            self.directory.mkdir(parents=True, exist_ok=True)
            with (self.directory / ".lock").open("a") as file:
                _lock(file, stop, time.monotonic() + patience)
                if self._is_own:
                    make_private(self.directory)
                self._sweep()
                yield

    def entries(self) -> dict[str, Entry]:
        """What is noted; nothing where the manifest is missing, damaged or not ours."""
        manifest = self._read()
        is_marked = manifest.get(_MARK) == _MARKED_AS
        if not is_marked and not self._is_own:  # in our own place, manifests were once without a mark
            return {}
        noted = manifest.get(_ENTRIES) if is_marked else manifest
        if not isinstance(noted, dict):
            return {}
        return {name: entry for name, entry in noted.items() if isinstance(entry, dict)}

    def note(self, name: str, entry: Entry) -> None:
        """Remember a download; needs the lock."""
        self._write(self.entries() | {name: entry})

    def forget(self, name: str) -> None:
        """Take a note back; needs the lock."""
        entries = self.entries()
        entries.pop(name, None)
        if entries:
            self._write(entries)
        else:
            self._manifest.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            found = self._manifest.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                return {}
            noted = json.loads(self._manifest.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def _refuse_foreign(self) -> None:
        """Refuse a directory where something else has the name of our manifest."""
        if not os.path.lexists(self._manifest) or self._read().get(_MARK) == _MARKED_AS:
            return
        if self._is_own and self._manifest.is_file() and not self._manifest.is_symlink():
            return
        message = f"the {self._manifest.name} in this directory is not one of ours, and is left as it is"
        hint = "move it away, or choose another directory"
        raise ToolError("FORBIDDEN", message, details={"path": str(self._manifest)}, hint=hint)

    def _write(self, entries: dict[str, Entry]) -> None:
        draft = self.directory / f"{_DRAFT_PREFIX}{secrets.token_hex(4)}"
        try:
            with draft.open("x") as file:
                json.dump({_MARK: _MARKED_AS, _ENTRIES: entries}, file, indent=2, sort_keys=True)
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
            if not os.path.lexists(place):
                left.rename(place)
        for prefix in (WORK_PREFIX, UNPACK_PREFIX, PREVIOUS_PREFIX):
            for left in self.directory.glob(f"{prefix}*"):
                discard(left)
        for prefix in (_DRAFT_PREFIX, _ARTIFACT_PREFIX):
            for left in self.directory.glob(f"{prefix}*"):
                left.unlink(missing_ok=True)
        for left in self.directory.glob(f".{_ARTIFACT_PREFIX}*.part*"):
            # Without its note nobody can go on with a part.
            is_useless = left.suffix == ".part" and not left.with_name(f"{left.name}.json").exists()
            if is_useless or time.time() - left.lstat().st_mtime > _OLD_PART:
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
