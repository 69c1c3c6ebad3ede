"""The walk over a repository: every entry is found, or skipped with a reason.

Inside of a git repository git decides what belongs to it, and no directory is left out because of its name.
Without git, ignore files are read here, and what package managers install is left out. Links are never followed,
and nothing is opened that could wait.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.errors import ToolError
from holdfast.git.asking import GitError, GitStoppedError, GitTimeoutError, never
from holdfast.search.discover.found import Discovery, FoundFile, KnownFile, Limits, Skipped
from holdfast.search.discover.git import GitListing, list_files
from holdfast.search.discover.ignore import IgnoreFile
from holdfast.search.discover.kinds import TEXT, Kind
from holdfast.search.discover.rules import Chain, is_ignored, read_ignore_file, reason_of_name
from holdfast.search.discover.sniff import Look, look_at
from holdfast.search.repository import Repository

__all__ = ["DEFAULT_LIMITS", "discover"]

DEFAULT_LIMITS = Limits()

_CHANGED_MEANWHILE = -1


def discover(
    repo: Repository,
    *,
    limits: Limits = DEFAULT_LIMITS,
    ignore: bytes = b"",
    known: Mapping[str, KnownFile] | None = None,
    known_at: int | None = None,
    on_progress: Callable[[int], object] | None = None,
    stop: Callable[[], bool] = never,
) -> Discovery:
    """Find the files of a repository.

    `ignore` is what an ignore file at the root could hold; no other ignore file takes back what it leaves out.
    `known` comes from an earlier discovery with the same limits: files that it knows with the same size and time
    are not opened, unless something about them changed since `known_at` (nanoseconds). `on_progress` is told,
    after each directory, how many files were found so far; what it raises ends the walk. `stop` is asked before
    every entry and while git works; it ends the walk with CANCELLED.
    """
    return _Walk(repo, limits, IgnoreFile(ignore), _Known(known or {}, known_at), on_progress, stop).run()


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory to list, and the rules that hold in it; ignore files go with the path that they stand in."""

    path: str  # "" or with a slash at its end
    listing: GitListing | None  # what git says here; None where ignore files are read instead
    ignores: Chain = ()
    own_ignores: Chain = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What an earlier discovery said, and when it looked."""

    files: Mapping[str, KnownFile]
    at: int | None

    def look(self, path: str, status: os.stat_result) -> Look | None:
        known = self.files.get(path)
        if known is None or (known.size, known.mtime_ns) != (status.st_size, status.st_mtime_ns):
            return None
        if self.at is not None and status.st_ctime_ns > self.at:
            return None
        if known.skipped_reason is None:
            return Look(Kind(known.mode, known.language))
        # Permissions change without the time of the file.
        return None if known.skipped_reason == "unreadable" else Look(TEXT, known.skipped_reason, known.detail)


class _Walk:
    def __init__(
        self,
        repo: Repository,
        limits: Limits,
        configured: IgnoreFile,
        known: "_Known",
        on_progress: Callable[[int], object] | None,
        stop: Callable[[], bool],
    ) -> None:
        self._repo = repo
        self._root = str(repo.root).rstrip("/") + "/"
        self._limits = limits
        self._configured = configured
        self._known = known
        self._on_progress = on_progress
        self._stop = stop
        self._found = Discovery()
        self._waiting: list[_Place] = []

    def run(self) -> Discovery:
        if not self._repo.root.is_dir():
            raise ToolError("INVALID_REQUEST", f"Repo path not found: {self._repo.root}")
        self._waiting.append(self._first_place())
        while self._waiting and self._goes_on():
            self._list(self._waiting.pop())
            if self._on_progress is not None:
                self._on_progress(len(self._found.files))
        self._found.files.sort(key=lambda file: file.path)
        self._found.skipped.sort(key=lambda skipped: skipped.path)
        return self._found

    def _first_place(self) -> _Place:
        listing = self._ask_git("") if self._repo.is_git else None
        if listing is not None or self._repo.git_dir is None:
            return _Place("", listing)
        excludes = read_ignore_file(str(self._repo.git_dir / "info" / "exclude"))
        return _Place("", None, (("", excludes),) if excludes is not None else ())

    def _ask_git(self, path: str) -> GitListing | None:
        try:
            listing = list_files(str(Path(self._root + path)), path, stop=self._stop)
        except GitError as trouble:
            if isinstance(trouble, GitStoppedError) and not isinstance(trouble, GitTimeoutError):
                raise _cancelled() from None
            where = f" of {path}" if path else ""
            self._found.remarks.append(f"git does not list the files{where} ({trouble}); ignore files were read")
            return None
        for ignored in listing.ignored:
            self._skip(ignored, "ignored")
        return listing

    def _list(self, place: _Place) -> None:
        absolute = self._root + place.path
        try:
            changed = os.stat(absolute).st_mtime_ns
            with os.scandir(absolute) as listing:
                entries = [entry for entry in listing if self._goes_on()]
        except OSError as trouble:
            self._skip(place.path or "./", "unreadable", trouble.strerror or type(trouble).__name__)
            return
        names = {entry.name for entry in entries}
        if place.listing is None and place.path and "pyvenv.cfg" in names:
            self._skip(place.path, "dependencies", "a virtual environment")
            return
        place = self._with_ignore_files(place, names)
        self._found.directories[place.path.rstrip("/")] = changed
        for entry in entries:
            if entry.name != ".git" and self._goes_on():
                self._entry(place, entry)

    def _goes_on(self) -> bool:
        """True, or the end of the walk: one directory may hold a million files, on a disk that is far away."""
        if self._stop():
            raise _cancelled()
        return True

    def _with_ignore_files(self, place: _Place, names: set[str]) -> _Place:
        if place.listing is None and ".gitignore" in names:
            rules = read_ignore_file(self._root + place.path + ".gitignore")
            if rules is not None:
                place = replace(place, ignores=(*place.ignores, (place.path, rules)))
        if ".holdfastignore" in names:
            rules = read_ignore_file(self._root + place.path + ".holdfastignore")
            if rules is not None:
                place = replace(place, own_ignores=(*place.own_ignores, (place.path, rules)))
        return place

    def _entry(self, place: _Place, entry: "os.DirEntry[str]") -> None:
        path = place.path + entry.name
        is_directory = entry.is_dir(follow_symlinks=False)
        if self._is_left_out(place, entry, path, is_directory):
            return
        if is_directory:
            self._directory(place, entry.name, path)
        elif entry.is_symlink() or (place.listing is not None and path in place.listing.links):
            self._skip(path, "symlink", self._target(path))
        elif not entry.is_file(follow_symlinks=False):
            self._skip(path, "special", "it is no file that could be read")
        else:
            self._file(path, entry)

    def _is_left_out(self, place: _Place, entry: "os.DirEntry[str]", path: str, is_directory: bool) -> bool:
        shown = f"{path}/" if is_directory else path
        if place.listing is not None:
            if self._is_outside(place.listing, entry, path, is_directory):
                return True
        elif is_ignored(place.ignores, path, entry.name, is_directory):
            self._skip(shown, "ignored")
            return True
        if not _is_unicode(entry.name):
            self._skip(shown, "name", "it is not valid UTF-8")
            return True
        if is_ignored(place.own_ignores, path, entry.name, is_directory):
            self._skip(shown, "holdfastignore")
            return True
        if self._configured.verdict(path, entry.name, is_directory):
            self._skip(shown, "configured")
            return True
        return False

    def _is_outside(self, listing: GitListing, entry: "os.DirEntry[str]", path: str, is_directory: bool) -> bool:
        """Whether git leaves an entry out; what it ignores was reported with its listing already."""
        if is_directory:
            return path in listing.ignored_directories
        if path in listing.files:
            return False
        if path in listing.ignored_files:
            return True
        if not (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
            return False  # git does not speak of pipes and sockets
        # It came after git had looked. Whoever compares times must not believe that it was seen.
        self._found.directories[path.rpartition("/")[0]] = _CHANGED_MEANWHILE
        return True

    def _directory(self, place: _Place, name: str, path: str) -> None:
        inner = replace(place, path=f"{path}/")
        if place.listing is None:
            reason = reason_of_name(name)
            if reason is not None:
                self._skip(inner.path, reason)
                return
        elif path in place.listing.repositories:
            self._skip(inner.path, "nested-repository", "neither a submodule nor tracked here")
            return
        elif path in place.listing.submodules:
            if not os.path.lexists(f"{self._root}{path}/.git"):
                self._skip(inner.path, "submodule", "it is not checked out")
                return
            inner = replace(inner, listing=self._ask_git(inner.path))
        self._waiting.append(inner)

    def _file(self, path: str, entry: "os.DirEntry[str]") -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # removed a moment ago
            self._found.directories[path.rpartition("/")[0]] = _CHANGED_MEANWHILE
            return
        size, mtime_ns = status.st_size, status.st_mtime_ns
        look = self._known.look(path, status) or look_at(self._root + path, entry.name, size)
        limit = self._limits.of("records" if look.kind.language == "notebook" else look.kind.mode)  # mostly output
        if not look.reason and size > limit:
            look = Look(reason="oversized", detail=f"{_mib(size)}; {look.kind.mode} may have {_mib(limit)}")
        if look.reason:
            self._found.skipped.append(Skipped(_shown(path), look.reason, look.detail, size, mtime_ns))
        else:
            kind = look.kind
            found = FoundFile(path, size, mtime_ns, kind.mode, kind.language, ctime_ns=status.st_ctime_ns)
            self._found.files.append(found)

    def _target(self, path: str) -> str:
        target = os.path.realpath(self._root + path)
        if not os.path.exists(target):
            return "it leads nowhere"
        if target == self._root.rstrip("/"):
            return "to the root of the repository"
        if not target.startswith(self._root):
            return "it leaves the repository"
        return "to a directory of the repository" if os.path.isdir(target) else "to a file of the repository"

    def _skip(self, path: str, reason: str, detail: str = "") -> None:
        self._found.skipped.append(Skipped(_shown(path), reason, detail))


def _cancelled() -> ToolError:
    return ToolError("CANCELLED", "indexing was stopped; the old index is untouched")


def _is_unicode(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:  # bytes that are no UTF-8 come as lone surrogates
        return False
    return True


def _shown(path: str) -> str:
    """A path as it can be printed and stored, with the bytes that are no UTF-8 written out."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _mib(size: int) -> str:
    return f"{size / 1048576:.1f} MiB"
