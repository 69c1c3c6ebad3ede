"""What goes wrong with the files of an index, in the words of a person: a full disk, no permission, damage.

SQLite, the term index and the system each say it in their own way. What is not about the directory of the index is
left to others.
"""

import errno
import os
import re
from pathlib import Path

from holdfast.errors import FULL_DISK, UsageError

__all__ = ["is_unreadable", "quoted_error", "trouble_with"]

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_LEAST_ROOM = 64 * 1024  # bytes; the index of SQLite's log alone is made of pieces of half of that
_OTHER_PLACE = "choose another --cache-dir"

_SYSTEM_ERROR = re.compile(r"(?:os error |Os \{ code: )([0-9]+)")  # as the term index quotes one
_DAMAGE = re.compile(r"Data corrupt|Failed to open|Footer|[Ii]ncompatible|[Ss]chema")
# The first word behind SQLITE_ in the name of a code.
_NUMBERS = {"FULL": errno.ENOSPC, "READONLY": errno.EACCES, "CANTOPEN": errno.EACCES, "IOERR": errno.EIO}
_HARMLESS = {"BUSY", "LOCKED", "INTERRUPT", "NOMEM"}


def trouble_with(error: BaseException, cache: Path) -> UsageError | None:
    """What to tell about an error that came up while indexes in this directory were used; None for any other."""
    import sqlite3
    import zlib

    if isinstance(error, OSError):
        return _system_trouble(error.errno or 0, cache) if _is_about(error, cache) else None
    if isinstance(error, sqlite3.Error):
        return _store_trouble(error, cache)
    if isinstance(error, ValueError):
        return _term_trouble(error, cache)
    # A panic of the term index is no Exception, and its class cannot be imported.
    if isinstance(error, zlib.error) or type(error).__name__ == "PanicException":
        return _damage()
    return None


def quoted_error(error: BaseException) -> OSError | None:
    """The error of the system that the term index quotes in one of its own; None where it quotes none."""
    found = _SYSTEM_ERROR.search(str(error)) if isinstance(error, ValueError) else None
    return None if found is None else OSError(int(found[1]), os.strerror(int(found[1])))


def is_unreadable(error: BaseException) -> bool:
    """Whether an error is about the files of an index, and not a mistake of the program."""
    import sqlite3
    import zlib

    if isinstance(error, sqlite3.Error | OSError | ValueError | KeyError | zlib.error):
        return True
    return type(error).__name__ == "PanicException"  # of the term index: no Exception, and it cannot be imported


def _is_about(error: OSError, cache: Path) -> bool:
    """Whether it is about a file in the directory, about a directory above it, or about a file without a name."""
    if error.filename is None:
        return error.errno in FULL_DISK | _FORBIDDEN | {errno.EIO}
    try:
        file, place = Path(os.path.abspath(os.fsdecode(error.filename))), Path(os.path.abspath(cache))
    except (TypeError, ValueError, OSError):  # a number instead of a name; or the working directory is gone
        return False
    return file.is_relative_to(place) or place.is_relative_to(file)


def _is_full(cache: Path) -> bool:
    """Whether nothing more can be written there; SQLite says no more than that reading or writing failed."""
    import resource

    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return True
    try:
        state = os.statvfs(cache)
    except OSError:
        return False
    return state.f_bavail * state.f_frsize < _LEAST_ROOM


def _system_trouble(number: int, cache: Path) -> UsageError:
    if number in FULL_DISK or (number == errno.EIO and _is_full(cache)):
        return UsageError(f"no space left in {cache}", remedy=f"free some, or {_OTHER_PLACE}")
    reason = os.strerror(number).lower()
    if number in _FORBIDDEN:
        return UsageError(
            f"cannot write to {cache}: {reason}", remedy=f"change its permissions, or {_OTHER_PLACE}"
        )
    return UsageError(
        f"cannot use {cache}: {reason}", remedy=f"check that directory and its disk, or {_OTHER_PLACE}"
    )


def _store_trouble(error: BaseException, cache: Path) -> UsageError | None:
    name = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").split("_")[0]
    if name in _NUMBERS:
        return _system_trouble(_NUMBERS[name], cache)
    if name in _HARMLESS:
        message = f"the index in {cache} cannot be used now: {error}"
        return UsageError(message, remedy="try again when nothing else works on it")
    is_damage = name in {"CORRUPT", "NOTADB", "FORMAT"} or str(error).startswith("no such ")
    return _damage() if is_damage else None


def _term_trouble(error: ValueError, cache: Path) -> UsageError | None:
    quoted = quoted_error(error)
    if quoted is not None:
        return _system_trouble(quoted.errno or 0, cache)
    return _damage() if _DAMAGE.match(str(error)) else None


def _damage() -> UsageError:
    return UsageError("the index is damaged", remedy="holdfast index build --full")
