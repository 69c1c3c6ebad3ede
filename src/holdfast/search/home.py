"""Where the index of a repository lives: builds side by side, a pointer to the current one, and the locks.

    <cache>/search/<repository>/
        holdfast-index.json the mark of a directory that is ours; without it, nothing here is ever removed
        current.json        {"build": ..., "format": ..., "root": ...}, replaced atomically
        writer.lock         held by the one process that writes
        sqlite-fts.db       the portable file, of the current build or of an earlier one; replaced atomically
        vectors.*           which model the vectors are of, a cache of them, a lock (see vectors/place)
        builds/<build>/     store.db, terms/, vectors/, readers.lock (shared by those who read it), seal.json
                            (checksums of the first two)

A build directory that `current.json` does not name is either being made (its maker holds writer.lock) or left over
from a process that died: then it is removed. A file that is locked may have been removed by the one who held the
lock before, so whoever gets a lock looks whether the file is still the one at its path.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from holdfast.errors import ToolError
from holdfast.search.engine.term_files import files_of_terms
from holdfast.search.private import close_to_others, make_private, open_private, private_files
from holdfast.search.seals import Entries, Seal

__all__ = ["FORMAT", "REBUILD_HINT", "Build", "IndexBusyError", "IndexHome"]

# Rises whenever stored data, words or terms change their meaning; an index of another format is built anew.
FORMAT = 2

REBUILD_HINT = "call build_index, or run `holdfast index build` there"

_MARKER = "holdfast-index.json"
_MARK = '{"holdfast": "index"}'
_NAME = re.compile(r".+-[0-9a-f]{12}")  # what `repository` calls the directory
_READERS = "readers.lock"
_DRAFTS = (".current.*.draft", ".sqlite-fts.*.draft*")  # what a writer that died has left behind
_POLL = 0.05  # seconds between two looks at a lock that another process holds


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
    def seal(self) -> Seal:
        """The checksums of its files."""
        return Seal(self.directory / "seal.json")

    def write_seal(self, before: Entries | None = None) -> None:
        """Seal both halves, as the last step of writing them; `before` is what the last seal held.

        Nothing is sealed while something is left in the log of the store, which goes into the store later.
        """
        log = self.store.with_name(f"{self.store.name}-wal")
        if log.exists() and log.stat().st_size:
            return
        # Files of the term index have a new name whenever they are written, but for the one that lists the others.
        settled = {name: entry for name, entry in (before or {}).items() if not name.endswith((".json", ".db"))}
        self.seal.write([self.store, *files_of_terms(self.terms)], settled=settled)

    def check(self) -> None:
        """Refuse a build that is not what was written: ToolError NO_INDEX."""
        if self.seal.damage():
            raise ToolError("NO_INDEX", "the index is damaged", hint=REBUILD_HINT)

    @property
    def blame(self) -> Path:
        """What `git blame` said; shared by every build."""
        return IndexHome(self.directory.parent.parent).blame

    @property
    def lint(self) -> Path:
        """What linters said; shared by every build."""
        return IndexHome(self.directory.parent.parent).lint

    @property
    def records(self) -> Path:
        """The records of triage; shared by every build."""
        return IndexHome(self.directory.parent.parent).records

    def size(self) -> int:
        """Bytes on disk; files that vanish meanwhile, as those of a writer do, count nothing."""
        return _size_of(self.directory)


class IndexHome:
    """The directory of one repository's indexes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.builds = directory / "builds"
        self.portable = directory / "sqlite-fts.db"
        self.blame = directory / "blame.db"
        self.lint = directory / "lint.db"
        self.records = directory / "triage" / "records"
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
        """An empty directory for a full build; needs the writer's lock."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        build = Build(self.builds / f"{stamp}-{secrets.token_hex(4)}")
        build.directory.mkdir(parents=True)
        (build.directory / _READERS).touch()  # so that a reader need not write
        return build

    def portable_draft(self) -> Path:
        """A name for a portable file that is being made; needs the writer's lock."""
        return self.directory / f".sqlite-fts.{secrets.token_hex(4)}.draft"

    def root(self) -> Path | None:
        """The repository that the index is of."""
        noted = self._noted() or {}
        return Path(noted["root"]) if isinstance(noted.get("root"), str) else None

    def promote(self, build: Build, root: Path) -> None:
        """Make a finished build the current one; readers switch to it with their next search."""
        _sync_tree(build.directory)
        _sync(self.builds)
        draft = self._pointer.with_name(f".current.{secrets.token_hex(4)}.draft")
        try:
            with draft.open("x") as file:
                file.write(json.dumps({"build": build.name, "format": FORMAT, "root": str(root)}))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._pointer)
        finally:
            draft.unlink(missing_ok=True)
        _sync(self.directory)

    def prune(self, *, dry_run: bool = False) -> list[tuple[Path, int]]:
        """Remove builds that are neither current nor read by anybody, and drafts; needs the writer's lock."""
        current = self.current()
        removed = []
        for directory in self._build_directories():
            if current and directory == current.directory:
                continue
            size = _size_of(directory)
            if _is_unread(directory) if dry_run else _remove_unread(directory):
                removed.append((directory, size))
        if not dry_run:
            self.remove_drafts()
        return removed

    def remove_drafts(self) -> None:
        """Remove what a writer that died has left behind; needs the writer's lock."""
        for draft in self._found(_DRAFTS):
            draft.unlink(missing_ok=True)

    def is_ours(self) -> bool:
        """Whether the directory has a name of ours and the mark inside; only then may anything here be removed."""
        named = _NAME.fullmatch(self.directory.name) and not self.directory.is_symlink()
        return bool(named) and self._is_marked()

    def size(self) -> int:
        """Bytes of everything here that is ours."""
        return sum(map(_size_of, self._entries()))

    def is_unread(self) -> bool:
        """Whether nobody reads any build."""
        return all(map(_is_unread, self._build_directories()))

    def remove(self) -> bool:
        """Remove what an IndexHome makes, and the directory if nothing else is in it; needs the writer's lock.

        False when somebody reads a build, which then stays with all the rest. The mark goes late, so that a
        removal that was interrupted is taken up again; the lock goes last, when nothing is left to protect.
        """
        if not all(map(_remove_unread, self._build_directories())):
            return False
        for entry in self._entries():
            if entry == self.builds:
                with contextlib.suppress(OSError):  # something foreign is inside
                    entry.rmdir()
            else:
                entry.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # likewise, or another writer has just come
            self.directory.rmdir()
        return True

    @contextlib.contextmanager
    def writing(self, *, wait: float = 0.0, stop: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Hold the writer's lock; IndexBusyError when another process keeps it for longer than `wait` seconds.

        `stop` is asked while it waits; ToolError CANCELLED when it says so.
        """
        with private_files(), self._locked(wait, stop) as file:
            make_private(self.directory)
            close_to_others([self.directory.parent])
            self._settle_in()
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    @contextlib.contextmanager
    def reading(self, build: Build) -> Iterator[None]:
        """Keep a build from being removed while it is searched; FileNotFoundError where it is gone already."""
        path = build.directory / _READERS
        self._close_to_others(build)
        with contextlib.ExitStack() as held:
            file = _open_to_lock(path)
            if file is not None:
                held.enter_context(file)
                _flock(file, wait=True, shared=True)
                if not _is_at(file, path):
                    raise FileNotFoundError(f"the build {build.name} was removed")
            yield

    def _close_to_others(self, build: Build) -> None:
        """What is read here, as far as an earlier version left it open."""
        with contextlib.suppress(OSError):
            close_to_others(sorted(self.directory.iterdir()))
        make_private(build.directory)
        close_to_others([self.directory, self.directory.parent])

    def _locked(self, wait: float, stop: Callable[[], bool]) -> IO[str]:
        """The file of the writer's lock, open and locked."""
        import threading

        until = time.monotonic() + wait
        pause = threading.Event()
        while (file := self._try_lock(is_last=time.monotonic() >= until)) is None:
            if stop():
                raise ToolError("CANCELLED", "indexing was stopped; the old index is untouched")
            pause.wait(_POLL)
        return file

    def _try_lock(self, *, is_last: bool) -> IO[str] | None:
        path = self.directory / "writer.lock"
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("a+")
        except FileNotFoundError:  # the directory was removed under us
            return None
        with contextlib.ExitStack() as stack:
            stack.enter_context(file)
            is_free = _flock(file)
            if is_free and _is_at(file, path):
                stack.pop_all()
                return file
            if is_last and not is_free:
                raise _busy(file)
        return None

    def _settle_in(self) -> None:
        """Make the directory ours; only with the lock, since another process may just have removed it all."""
        ignore = self.directory / ".gitignore"
        if not ignore.exists():  # a cache inside of a repository must not be indexed itself
            ignore.write_text("*\n")
        if not self._is_marked():
            (self.directory / _MARKER).write_text(_MARK)

    def _is_marked(self) -> bool:
        try:
            return (self.directory / _MARKER).read_text() == _MARK
        except (OSError, ValueError):
            return False

    def _entries(self) -> list[Path]:
        """What an IndexHome makes, in the order in which it may be removed."""
        kept = ("blame.db*", "lint.db*", "vectors.*", ".vectors.*")
        own = (self._pointer.name, *_DRAFTS, f"{self.portable.name}*", *kept)
        files = self._found((*own, ".gitignore", _MARKER, "writer.lock"))
        return [self.builds, *files] if self._build_root_exists() else files

    def _found(self, names: tuple[str, ...]) -> list[Path]:
        found = [entry for name in names for entry in sorted(self.directory.glob(name))]
        return [entry for entry in found if entry.is_symlink() or not entry.is_dir()]

    def _build_root_exists(self) -> bool:
        return self.builds.is_dir() and not self.builds.is_symlink()

    def _build_directories(self) -> list[Path]:
        if not self._build_root_exists():
            return []
        return [entry for entry in sorted(self.builds.iterdir()) if entry.is_dir() and not entry.is_symlink()]

    def _noted(self) -> dict[str, Any] | None:
        try:
            noted = json.loads(self._pointer.read_text())
        except (OSError, ValueError):
            return None
        return noted if isinstance(noted, dict) else None


def _busy(file: IO[str]) -> IndexBusyError:
    file.seek(0)
    holder = file.read(40).strip() or "unknown"
    return IndexBusyError(
        "QUEUE_OVERLOADED",
        f"the index of this repository is being written by process {holder}",
        hint="wait for it to finish, or stop that process",
    )


def _open_to_lock(path: Path) -> IO[str] | None:
    """The file, made if need be; None on a disk that cannot be written to, where nothing can be removed either."""
    try:
        return path.open()
    except FileNotFoundError:
        pass
    try:
        return open(path, "a+", opener=open_private)
    except FileNotFoundError:
        raise
    except OSError:
        return None


def _flock(file: IO[str], *, wait: bool = False, shared: bool = False) -> bool:
    """Lock a file for as long as it is open; False where another process holds it."""
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[str], path: Path) -> bool:
    """Whether the open file is the one at this path, and not one that was removed from there."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _is_unread(directory: Path) -> bool:
    try:
        with (directory / _READERS).open() as file:
            return _flock(file)
    except FileNotFoundError:  # nobody ever did
        return True
    except OSError:
        return False


def _remove_unread(directory: Path) -> bool:
    """Remove a build unless somebody reads it.

    It is moved away first, as one step: a reader that comes late finds no build, and never half of one.
    """
    try:
        with (directory / _READERS).open("a+") as file:
            if not _flock(file):
                return False
            gone = directory.rename(directory.with_name(f".{secrets.token_hex(4)}.gone"))
            shutil.rmtree(gone, ignore_errors=True)  # whatever stays is found again by the next one
    except OSError:  # not ours to remove; no reason for anybody's work to fail
        return False
    return True


def _sync_tree(directory: Path) -> None:
    """A pointer must not reach the disk before what it points to."""
    for root, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # merged away meanwhile
                _sync(Path(root, name))
        _sync(Path(root))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _size_of(path: Path) -> int:
    """Bytes of a file, or of all below a directory."""
    total = 0
    for file in (path, *(Path(root, name) for root, _, names in os.walk(path) for name in names)):
        with contextlib.suppress(OSError):
            if not file.is_dir():
                total += file.lstat().st_size
    return total
