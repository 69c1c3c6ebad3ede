"""Releases of a server on disk: each in a directory of its own, with a digest of every file, never changed again.

    ROOT/current.json                 {"format": 1, "release": ID}: the one that is to serve
    ROOT/releases/ID/manifest.json    {"format": 1, "command", "directories": [PATH], "files": {PATH: {"sha256",
                                      "size", "mode"}}}
    ROOT/releases/ID/files/PATH

ID is the digest of the manifest, so a release is what its name says, or it is refused: whole, with nothing added,
no links, and nothing from ROOT down that others own or can write to. In the command `{release}` stands for the
directory of the files. They are packed read-only, so that a server that runs from them leaves nothing there.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from holdfast.errors import FULL_DISK, UsageError, WireError
from holdfast.wire.codec import decode

__all__ = ["PLACE", "Activation", "PackedRelease", "ReleaseDirectory"]

FORMAT = 1
PLACE = "{release}"
MAX_FILES = 20_000
_SMALL = 8 * 1024 * 1024  # bytes of a manifest; a pointer is far smaller
_BLOCK = 1024 * 1024
_PASSED_OVER = frozenset({"__pycache__", ".git"})
_PARTS = frozenset({"manifest.json", "files"})
_MAKE_ONE = "holdfast release pack, then holdfast release activate"


class PackedRelease(NamedTuple):
    """A release that is what its name says."""

    id: str
    command: tuple[str, ...]  # with the place of its files filled in
    files: int


class Activation(NamedTuple):
    """One act of choosing a release; choosing the same one again is another act."""

    release: str
    file: tuple[int, int]  # which file says so, and since when


class ReleaseDirectory:
    """The releases below one directory."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).absolute()

    def pack(self, source: str | os.PathLike[str], command: Sequence[str]) -> PackedRelease:
        """Make a release of the files in a directory; one with the same content is there once only."""
        if not Path(source).is_dir():
            raise UsageError(f"{source} is no directory", remedy="name the directory of the server's files")
        if self.root.resolve().is_relative_to(Path(source).resolve()):
            raise UsageError(f"{self.root} is inside {source}", remedy="keep releases outside of what is packed")
        for place in (self.root, self.root / "releases"):  # each by itself: the mode is not for parents
            place.mkdir(parents=True, exist_ok=True, mode=0o755)
            _trust(place)
        fresh = Path(tempfile.mkdtemp(prefix=".packing-", dir=self.root / "releases"))
        try:
            manifest = _canonical({"format": FORMAT, "command": list(command), **_copied(Path(source), fresh)})
            (fresh / "manifest.json").write_bytes(manifest)
            _seal(fresh)
            name = hashlib.sha256(manifest).hexdigest()
            self._set_aside_if_damaged(name)
            _put(fresh, self.root / "releases" / name)
        finally:
            _remove(fresh)
        return self.verified(name)

    def _set_aside_if_damaged(self, name: str) -> None:
        place = self.root / "releases" / name
        if place.is_symlink() or not place.is_dir():
            return  # what stands there is none of ours
        try:
            self.verified(name)
        except UsageError:
            place.rename(place.with_name(f".damaged-{name[:12]}-{secrets.token_hex(4)}"))

    def activate(self, release: str) -> PackedRelease:
        """Have a release serve: hosts that follow this directory take it up."""
        found = self.verified(self.find(release))
        _write(self.root / "current.json", _canonical({"format": FORMAT, "release": found.id}))
        return found

    def find(self, prefix: str) -> str:
        """The whole name of a release, by its beginning."""
        found = [name for name in self.names() if prefix and name.startswith(prefix)]
        if len(found) == 1:
            return found[0]
        text = f"there is no release {prefix!r}" if not found else f"{len(found)} releases begin with {prefix!r}"
        raise UsageError(f"{text} in {self.root}", remedy=f"holdfast release list {self.root}")

    def names(self) -> list[str]:
        """All releases, the newest last."""
        place = self.root / "releases"
        found = []
        for path in place.iterdir() if place.is_dir() else ():
            if _is_name(path.name):
                with contextlib.suppress(FileNotFoundError):  # somebody removes it just now
                    found.append((path.lstat().st_mtime_ns, path.name))
        return [name for _, name in sorted(found)]

    def current(self) -> str:
        """The name of the release that is to serve; UsageError where none is."""
        return self.activation().release

    def activation(self) -> Activation:
        """The release that is to serve, and which act has made it so; UsageError where none is."""
        path = self.root / "current.json"
        try:
            _trust(self.root)
            _trust(path)
            with _opened(path) as file:
                data, facts = file.read(_SMALL), os.fstat(file.fileno())
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}", remedy=_MAKE_ONE) from error
        told = _json(path, data)
        if told.get("format") != FORMAT or not _is_name(told.get("release")):
            raise UsageError(f"{path} names no release", remedy=f"holdfast release activate {self.root} ID")
        return Activation(str(told["release"]), (facts.st_ino, facts.st_mtime_ns))

    def verified(self, name: str) -> PackedRelease:
        """A release of which every file was looked at; UsageError says what is not as its manifest says."""
        try:
            return self._verified(name, self.root / "releases" / name)
        except OSError as error:  # what cannot be looked at is not known to be right
            raise _refused(name, f"{error.filename or 'a file'}: {error.strerror or error}") from error

    def _verified(self, name: str, place: Path) -> PackedRelease:
        for path in (self.root, self.root / "releases"):
            _trust(path)
        for path in (place, place / "files", place / "manifest.json"):
            _trust(path, name)
        for one in sorted(os.listdir(place)):
            if one not in _PARTS:
                raise _refused(name, f"{one} was added beside its files")
        command, directories, files = _manifest(place / "manifest.json", name)
        found = dict(_listed(place / "files", name))
        for one in sorted({*found, *directories, *files}):
            _compare(name, one, found, directories, files)
        words = tuple(str(word).replace(PLACE, str(place / "files")) for word in command)
        return PackedRelease(name, words, len(files))


def _manifest(path: Path, name: str) -> tuple[list[Any], frozenset[str], dict[str, Any]]:
    with _opened(path) as file:
        data = file.read(_SMALL)
    told = _json(path, data)
    if hashlib.sha256(data).hexdigest() != name:
        raise _refused(name, "its manifest is not the one that it was named after")
    match told:
        case {"format": 1, "command": list(command), "directories": list(directories), "files": dict(files)}:
            return command, frozenset(map(str, directories)), files
    raise _refused(name, f"its manifest is not of format {FORMAT}")


def _compare(
    name: str, path: str, found: dict[str, Path | None], directories: frozenset[str], files: dict[str, Any]
) -> None:
    if path not in found:
        raise _refused(name, f"{path} was removed")
    if path not in files and path not in directories:
        if path.endswith("__pycache__"):
            why = "a server that runs as root, or from a release that was made writable, leaves it there"
            raise _refused(
                name,
                f"{path} was added; {why}",
                remedy="remove it, and run Python with -B or PYTHONDONTWRITEBYTECODE=1",
            )
        raise _refused(name, f"{path} was added")
    file = found[path]
    if (_described(file) if file is not None else None) != files.get(path):
        raise _refused(name, f"{path} was changed")


def _copied(source: Path, fresh: Path) -> dict[str, Any]:
    """Copy what is in a directory, and tell of it what a manifest does."""
    target = fresh / "files"
    target.mkdir()
    told: dict[str, Any] = {"directories": [], "files": {}}
    for directory, names, files in os.walk(source, onerror=_raise):
        names[:] = sorted(name for name in names if name not in _PASSED_OVER)
        for name in (*names, *sorted(files)):
            path = Path(directory, name)
            relative = path.relative_to(source).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise UsageError(f"{path} is no plain file", remedy="a release holds files and directories only")
            if path.is_dir():
                (target / relative).mkdir()
                told["directories"].append(relative)
            else:
                _copy(path, target / relative)
                (target / relative).chmod(0o555 if os.access(path, os.X_OK) else 0o444)
                told["files"][relative] = _described(target / relative)
    return told


def _copy(source: Path, target: Path) -> None:
    """Copy a file; a disk that is full is the one of the target, whichever file the error names first."""
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        raise UsageError(f"{target}: {error.strerror}", remedy="make room there, and pack again") from error


def _listed(root: Path, name: str) -> Iterator[tuple[str, Path | None]]:
    """Everything below a directory; a directory has no content of its own."""
    count = 0
    for directory, names, files in os.walk(root, onerror=_raise):
        for one in (*names, *files):
            path = Path(directory, one)
            relative = path.relative_to(root).as_posix()
            is_directory = stat.S_ISDIR(_trust(path, name, relative).st_mode)
            count += not is_directory
            if count > MAX_FILES:
                raise _refused(name, f"it has more than {MAX_FILES} files")
            yield relative, None if is_directory else path


def _trust(path: Path, name: str = "", label: str = "") -> os.stat_result:
    """Refuse what is neither file nor directory, and what somebody else than root or this user can change."""
    told = path.lstat()
    problem = ""
    if not (stat.S_ISDIR(told.st_mode) or stat.S_ISREG(told.st_mode)):
        problem = "is no plain file" if label else "is a link, or something else that is no plain file"
    elif hasattr(os, "getuid"):  # elsewhere these facts say nothing
        others = stat.S_IWGRP | stat.S_IWOTH
        if told.st_mode & (others if stat.S_ISDIR(told.st_mode) else others | stat.S_ISUID | stat.S_ISGID):
            problem = "can be changed by others"
        elif told.st_uid not in {os.getuid(), 0}:
            problem = "belongs to somebody else"
    if problem and name:
        raise _refused(name, f"{label or path} {problem}")
    if problem:
        raise UsageError(f"{path} {problem}", remedy="make it your own, and let nobody else write to it")
    return told


def _described(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    with _opened(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
        told = os.fstat(file.fileno())
    return {"mode": oct(stat.S_IMODE(told.st_mode)), "sha256": digest.hexdigest(), "size": told.st_size}


def _opened(path: Path) -> BinaryIO:
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NOFOLLOW", 0)))


def _seal(place: Path) -> None:
    (place / "manifest.json").chmod(0o444)
    for directory, _, _ in os.walk(place, topdown=False):
        Path(directory).chmod(0o555)


def _put(fresh: Path, target: Path) -> None:
    try:
        fresh.rename(target)
    except OSError:
        # A release of this name has this content, or is about to be refused: somebody was faster.
        if not os.path.lexists(target):
            raise


def _remove(place: Path) -> None:
    """Remove a release that came to nothing, also one that is read-only already."""
    for directory, _, files in os.walk(place):
        for path in (directory, *(os.path.join(directory, one) for one in files)):
            with contextlib.suppress(OSError):
                os.chmod(path, 0o700)
    shutil.rmtree(place, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    """Put a file in place whole, and for good: under its name there is always an old one or a new one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(draft, flags, 0o644), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o644)  # whatever the umask: a host of another user may be the one that reads it
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):  # the new name, too, survives a power cut
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _canonical(document: Any) -> bytes:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError as error:
        problem = text[max(0, error.start - 20) : error.end].encode(errors="backslashreplace").decode()
        raise UsageError(f"a name is no text: ...{problem}", remedy="rename the file") from error


def _json(path: Path, data: bytes) -> dict[str, Any]:
    try:
        told = decode(data.strip())
    except WireError as error:
        raise UsageError(f"{path}: {error}", remedy=_MAKE_ONE) from error
    if not isinstance(told, dict):
        raise UsageError(f"{path} is no JSON object", remedy="make it again with holdfast release")
    return told


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _raise(error: OSError) -> None:
    raise error


def _refused(name: str, problem: str, remedy: str = "remove it, then pack it again") -> UsageError:
    text = problem.encode(errors="backslashreplace").decode()  # a name in it may be no text
    return UsageError(f"release {name[:12]} is refused: {text}", remedy=remedy)
