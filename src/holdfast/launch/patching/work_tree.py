"""Files of a work tree, read and written without following any link: not the last one, and none on the way.

Every folder is opened from the one above it, so nobody who swaps a folder for a link meanwhile leads a write
outside. A file appears whole or not at all; several files are written only after each was found writable.
"""

import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256

__all__ = ["LEFTOVER", "materialise", "read_file", "remove_link"]

LEFTOVER = re.compile(r"\.holdfast-[0-9a-f]{16}")
"""The name of a file that was being written when its writer was killed; the next writer of the file removes it."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o600


def materialise(site: Path, files: Mapping[str, bytes | None]) -> None:
    """Make these files of the work tree be so, None for none.

    ToolError ALLOWED_PATHS_VIOLATION, before anything is written, where a link is in the way.
    """
    for path in files:
        with _folder(site, path, is_made=False) as folder:
            if folder is not None:
                _check_kind(folder, path)
    for path in sorted(files):
        content = files[path]
        with _folder(site, path, is_made=content is not None) as folder:
            if folder is None:
                continue
            kind = _check_kind(folder, path)
            if content is not None:
                if read_file(site, path) != content:
                    _write(folder, path, content, kind)
            elif kind is not None:
                os.unlink(_name(path), dir_fd=folder)
        if content is None:
            _prune(site, path)


def remove_link(site: Path, path: str) -> None:
    """Take away a link that stands where a file should be; what it leads to is not touched."""
    with _folder(site, path, is_made=False) as folder, suppress(FileNotFoundError):
        if folder is not None and stat.S_ISLNK(os.stat(_name(path), dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(_name(path), dir_fd=folder)


def read_file(site: Path, path: str) -> bytes | None:
    """What the work tree holds; None for nothing, ToolError for a link and other things."""
    with _folder(site, path, is_made=False) as folder:
        if folder is None or _check_kind(folder, path) is None:
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(_name(path), flags, dir_fd=folder), "rb") as file:
            return file.read()


@contextmanager
def _folder(site: Path, path: str, *, is_made: bool) -> Generator[int | None, None, None]:
    """The folder of a file, open; None where it is not there."""
    place: int | None = os.open(site, _FOLDER)
    try:
        for part in path.split("/")[:-1]:
            assert place is not None
            below = _below(place, part, path, is_made=is_made)
            os.close(place)
            place = below
            if place is None:
                break
        yield place
    finally:
        if place is not None:
            os.close(place)


def _below(place: int, part: str, path: str, *, is_made: bool) -> int | None:
    if is_made:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=place)
    try:
        return os.open(part, _FOLDER, dir_fd=place)
    except FileNotFoundError:
        return None
    except OSError as error:  # a link, or a file
        raise _refusal(path, f"{part} on its way is no folder") from error


def _check_kind(folder: int, path: str) -> os.stat_result | None:
    """What is there, None for nothing; anything but a plain file is refused."""
    try:
        found = os.stat(_name(path), dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise _refusal(path, "it is no plain file")
    return found


def _write(folder: int, path: str, content: bytes, before: os.stat_result | None) -> None:
    name = _name(path)
    draft = f".holdfast-{sha256(name.encode())[:16]}"
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=folder)
    mode = stat.S_IMODE(before.st_mode) if before else _MODE
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, mode, dir_fd=folder), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise ToolError(
            "INTERNAL",
            f"{path} cannot be written: {error.strerror}",
            details={"reason": "cannot_write", "path": path, "cause_class": type(error).__name__},
            retryable=True,
        ) from error


def _prune(site: Path, path: str) -> None:
    """Remove the folders that a deletion has left empty, as git would."""
    while "/" in path:
        path = path.rpartition("/")[0]
        with _folder(site, path, is_made=False) as folder:
            if folder is None:
                continue
            try:
                os.rmdir(_name(path), dir_fd=folder)
            except OSError:  # not empty, so it stays, and all above it
                return


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _refusal(path: str, why: str) -> ToolError:
    return ToolError(
        "ALLOWED_PATHS_VIOLATION",
        f"{path} may not be written: {why}",
        details={"reason": "link", "path": path, "problem": why},
        retryable=False,
    )
