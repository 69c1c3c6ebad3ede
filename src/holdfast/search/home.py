"""Where the index of a repository lives: builds side by side, a pointer to the current one, and the locks.

    <cache>/search/<repository>/
        current.json        {"build": ..., "format": ..., "root": ...}, replaced atomically
        writer.lock         held by the one process that writes
        builds/<build>/     store.db, terms/, readers.lock (shared by those who read it)

A build directory that `current.json` does not name is either being made (its maker holds writer.lock) or left over
from a process that died: then it is removed.
"""

import contextlib
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError

__all__ = ["FORMAT", "Build", "IndexBusyError", "IndexHome"]

# Rises whenever stored data, words or terms change their meaning; an index of another format is built anew.
FORMAT = 1


class IndexBusyError(ToolError):
    """Another process is writing this index."""


@dataclass(frozen=True, slots=True)
class Build:
    """One complete index on disk."""

    directory: Path

    @property
    def name(self) -> str:
        """Its name: the time it was begun, and a random part."""
        return self.directory.name

    @property
    def store(self) -> Path:
        """The SQLite file."""
        return self.directory / "store.db"

    @property
    def terms(self) -> Path:
        """The directory of the term index."""
        return self.directory / "terms"

    @property
    def blame(self) -> Path:
        """What `git blame` said; shared by every build."""
        return self.directory.parent.parent / "blame.db"

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in _files_below(self.directory))


class IndexHome:
    """The directory of one repository's indexes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.builds = directory / "builds"
        self._pointer = directory / "current.json"

    def current(self) -> Build | None:
        """The build that is searched; None when there is none of this format."""
        noted = self._noted()
        if noted is None or noted.get("format") != FORMAT:
            return None
        build = Build(self.builds / str(noted.get("build")))
        return build if build.store.exists() else None

    def outdated(self) -> int | None:
        """The format of an index that this version cannot read, if there is one."""
        noted = self._noted()
        return None if noted is None or noted.get("format") == FORMAT else noted.get("format", 0)

    def pointer_stamp(self) -> tuple[int, int]:
        """Changes whenever another build becomes current; cheap enough to be looked at before every search."""
        try:
            status = self._pointer.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def new_build(self) -> Build:
        """An empty directory for a full build."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        build = Build(self.builds / f"{stamp}-{secrets.token_hex(4)}")
        build.directory.mkdir(parents=True)
        return build

    def root(self) -> Path | None:
        """The repository that the index is of."""
        noted = self._noted() or {}
        return Path(noted["root"]) if isinstance(noted.get("root"), str) else None

    def promote(self, build: Build, root: Path) -> None:
        """Make a finished build the current one; readers switch to it with their next search."""
        _sync_tree(build.directory)
        draft = self._pointer.with_name(f".current.{secrets.token_hex(4)}.draft")
        try:
            with draft.open("x") as file:
                file.write(json.dumps({"build": build.name, "format": FORMAT, "root": str(root)}))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._pointer)
        finally:
            draft.unlink(missing_ok=True)

    def prune(self, *, dry_run: bool = False) -> list[tuple[Path, int]]:
        """Remove builds that are neither current nor read by anybody, and drafts; needs the writer's lock."""
        current = self.current()
        removed = []
        for directory in sorted(self.builds.iterdir()) if self.builds.exists() else []:
            if (current and directory == current.directory) or _is_read(directory):
                continue
            removed.append((directory, Build(directory).size()))
            if not dry_run:
                shutil.rmtree(directory, ignore_errors=True)
        for draft in self.directory.glob(".current.*.draft"):
            draft.unlink(missing_ok=True)
        return removed

    @contextlib.contextmanager
    def writing(self, *, wait: float = 0.0) -> Iterator[None]:
        """Hold the writer's lock; IndexBusyError when another process keeps it for longer than `wait` seconds."""
        self._settle_in()
        with (self.directory / "writer.lock").open("a+") as file:
            if not _locked(file.fileno(), wait):
                file.seek(0)
                holder = file.read(40).strip() or "unknown"
                raise IndexBusyError(
                    "QUEUE_OVERLOADED",
                    f"the index of this repository is being written by process {holder}",
                    hint="wait for it to finish, or stop that process",
                )
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    @contextlib.contextmanager
    def reading(self, build: Build) -> Iterator[None]:
        """Keep a build from being removed while it is searched."""
        if sys.platform == "win32":  # pragma: no cover
            yield
            return
        import fcntl

        with (build.directory / "readers.lock").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield

    def _settle_in(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        ignore = self.directory / ".gitignore"
        if not ignore.exists():  # a cache inside of a repository must not be indexed itself
            ignore.write_text("*\n")

    def _noted(self) -> dict[str, Any] | None:
        try:
            noted = json.loads(self._pointer.read_text())
        except (OSError, ValueError):
            return None
        return noted if isinstance(noted, dict) else None


def _is_read(directory: Path) -> bool:
    if sys.platform == "win32":  # pragma: no cover
        return False
    import fcntl

    try:
        with (directory / "readers.lock").open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _locked(descriptor: int, wait: float) -> bool:
    if sys.platform == "win32":  # pragma: no cover
        return True
    import fcntl
    import threading

    until = time.monotonic() + wait
    pause = threading.Event()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            pause.wait(0.05)
        else:
            return True


def _sync_tree(directory: Path) -> None:
    """A pointer must not reach the disk before what it points to."""
    for path in [*_files_below(directory), directory]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _files_below(directory: Path) -> Iterator[Path]:
    for root, _, names in os.walk(directory):
        yield from (Path(root) / name for name in names)
