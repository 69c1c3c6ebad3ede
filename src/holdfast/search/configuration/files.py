"""Reading a small text file that may be anything: a pipe, a link to elsewhere, a gigabyte, no text at all.

Nothing here waits or follows a link out of the repository. What the text means is not known here.
"""

import os
import stat
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.settings import toml

__all__ = ["MAX_BYTES", "FileRefused", "Stamp", "parse_toml", "read_bytes", "read_text", "stamp_of"]

MAX_BYTES = 256 * 1024

Stamp = tuple[int, ...]


class FileRefused(HoldfastError):  # noqa: N818 - it names what happened, as the refusal of a document does
    """A file that cannot be taken as what it should be; `reason` goes on where its name ends."""

    def __init__(self, reason: str, **params: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.params = params


def stamp_of(path: Path | str) -> Stamp | None:
    """What changes whenever a file is written or replaced; None where there is nothing of this name."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):  # a directory that may not be entered
        return (0,)
    if stat.S_ISLNK(status.st_mode):
        try:
            status = os.stat(path)
        except OSError:  # it leads nowhere, or in circles
            return (0,)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)


def read_text(path: Path, *, inside: Path | None = None) -> str:
    """The text of a file, which with `inside` has to lie below that directory, wherever its links lead."""
    data = read_bytes(path, inside=inside)
    if len(data) > MAX_BYTES:
        raise FileRefused(f"is larger than {MAX_BYTES} bytes", limit=MAX_BYTES)
    try:
        return data.decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        raise FileRefused(f"is not UTF-8: byte {error.start} is the first that is not", byte=error.start) from None


def read_bytes(path: Path, *, inside: Path | None = None) -> bytes:
    """The first bytes of a regular file, one more than it may have."""
    try:
        real = os.path.realpath(path, strict=True)
        if inside is not None and not Path(real).is_relative_to(os.path.realpath(inside)):
            raise FileRefused("is a link that leaves the repository")
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileRefused("is not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise FileRefused("is a link that leads nowhere" if path.is_symlink() else "does not exist") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or "its name is not valid"
        raise FileRefused(f"cannot be read: {reason}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        return toml.parse_toml(text)
    except toml.TomlRefused as refusal:
        raise FileRefused(refusal.reason) from None
