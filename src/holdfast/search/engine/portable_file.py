"""Whether a file is a portable index of ours, whole and of this format, and what to say where it is not.

Somebody may have given us anything under that name, so the file is looked at before SQLite does: its head says
whose it is and of which format, and a checksum over all the rest that nothing in it was changed or lost. Both
stand in fields of the head that SQLite leaves to applications.
"""

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import orjson

from holdfast.errors import ToolError
from holdfast.search.engine.portable_schema import APPLICATION

__all__ = ["DAMAGE", "connect_portable", "damage_told", "how_to_build", "is_portable", "seal"]

# What a broken page, or a row that was changed, leads to.
DAMAGE = (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError, orjson.JSONDecodeError)

_MAGIC = b"SQLite format 3\0"
_HEAD = 100  # bytes
# Where SQLite keeps the numbers that belong to the application: `user_version` and `application_id`.
_CHECKSUM, _OURS, _FORMAT = slice(60, 64), slice(68, 71), slice(71, 72)
_BLOCK = 1 << 20


def is_portable(path: Path) -> bool:
    """Whether the file is, or once was, one of ours; of whatever format, and however damaged behind its head."""
    try:
        return _is_ours(_head(path))
    except OSError:
        return False


def how_to_build(backend: str) -> str:
    """What to do where a backend is not there, or cannot be used as it is."""
    return f"run `holdfast index build --backend {backend}`, or call build_sqlite_index"


def connect_portable(path: Path, backend: str = "sqlite-fts") -> sqlite3.Connection:
    """A connection that only reads; ToolError NO_INDEX where the file is none that can be searched."""
    try:
        problem = _problem_of(path)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_index(f"there is no {backend} index of this repository yet", backend) from None
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise _no_index(f"the SQLite file of the index cannot be read: {reason}", backend) from None
    if problem:
        raise _no_index(f"the SQLite file of the index {problem}", backend)
    address = f"file:{quote(str(path))}?mode=ro"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def seal(path: Path) -> None:
    """Write the checksum into a complete file, as the last thing that is done to it."""
    with path.open("r+b") as file:
        value = _checksum(path)
        file.seek(_CHECKSUM.start)
        file.write(value)


@contextlib.contextmanager
def damage_told(backend: str = "sqlite-fts") -> Iterator[None]:
    """Tell whatever a broken page or row leads to as what it is: a fault of the file, not of the program."""
    try:
        yield
    except (*DAMAGE, FileNotFoundError) as error:
        if "no such module" in str(error):
            raise ToolError(
                "CAPABILITY_MISSING",
                "the SQLite of this Python has no FTS5",
                hint="use the backend sqlite, which needs none, or a Python with a complete SQLite",
            ) from error
        raise _no_index(f"the SQLite file of the index is damaged: {error}", backend) from error


def _problem_of(path: Path) -> str:
    """Why a file cannot be searched, as its bytes tell; empty where nothing speaks against it."""
    head = _head(path)
    if not _is_ours(head):
        return "is not one of ours, or was never finished"
    if head[_FORMAT] != _bytes(APPLICATION)[3:]:
        return f"has the other format {head[_FORMAT][0]}"
    return "" if head[_CHECKSUM] == _checksum(path) else "is damaged: its checksum is another one"


def _head(path: Path) -> bytes:
    # A pipe or a device under that name must not be waited for.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        return file.read(_HEAD) or b""


def _is_ours(head: bytes) -> bool:
    return len(head) == _HEAD and head.startswith(_MAGIC) and head[_OURS] == _bytes(APPLICATION)[:3]


def _checksum(path: Path) -> bytes:
    """Over the whole file without the field that the checksum stands in."""
    with path.open("rb") as file:
        first = file.read(_BLOCK)
        value = zlib.crc32(first[_CHECKSUM.stop :], zlib.crc32(first[: _CHECKSUM.start]))
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return _bytes(value)


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _no_index(message: str, backend: str) -> ToolError:
    return ToolError("NO_INDEX", message, hint=how_to_build(backend))
