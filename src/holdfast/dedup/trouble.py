"""What can go wrong with a key table, told so that a person knows what to do.

A `KeyConflict` is the caller's mistake, and a tool may let it through to the caller. A `KeyTableError` is trouble
with the table itself: whatever its reason, the block that it ended has stored nothing, its effect is rolled back.
"""

import contextlib
import sqlite3
from collections.abc import Iterator

from holdfast.errors import FULL_DISK, HoldfastError, ToolError, UsageError

__all__ = ["CONFLICT_CODE", "KeyConflict", "KeyTableError", "translated"]

CONFLICT_CODE = "KEY_CONFLICT"

_BUSY = "try again; make sure that no transaction stays open while its tool waits for something else"
_FULL = "free some space, then try again"
_CORRUPT = "move the file aside, together with its -wal and -shm files, and find out which keys took effect"
_FOREIGN = "name another file or table; what is there was left as it was"
_UNWRITABLE = "make sure that this user may write the file and its directory"
_FAILED = "make sure that the disk is sound and has space; nothing was stored"

_REMEDIES = {
    sqlite3.SQLITE_BUSY: ("busy", _BUSY),
    sqlite3.SQLITE_LOCKED: ("busy", _BUSY),
    sqlite3.SQLITE_FULL: ("full", _FULL),
    sqlite3.SQLITE_CORRUPT: ("corrupt", _CORRUPT),
    sqlite3.SQLITE_NOTADB: ("corrupt", _CORRUPT),
    sqlite3.SQLITE_READONLY: ("unwritable", _UNWRITABLE),
    sqlite3.SQLITE_CANTOPEN: ("unwritable", _UNWRITABLE),
    sqlite3.SQLITE_PERM: ("unwritable", _UNWRITABLE),
    sqlite3.SQLITE_ERROR: ("foreign", _FOREIGN),  # our statements are sound, so the table is not ours
}
_PRIMARY = 0xFF  # the low byte of an extended result code


class KeyConflict(ToolError):  # noqa: N818 - it tells of two calls, not of a defect
    """The key was used before, with other arguments.

    It is a ToolError, so a tool that declares the code KEY_CONFLICT need not catch it.
    """

    def __init__(self, key: str, *, stored: str, given: str) -> None:
        super().__init__(
            CONFLICT_CODE,
            f"the key {key!r} was used before with other arguments",
            details={"key": key, "stored_digest": stored, "given_digest": given},
            hint="Send the same arguments again, or use a new key for a new request.",
            retryable=False,
        )
        self.key = key
        self.stored = stored
        self.given = given


class KeyTableError(HoldfastError):
    """The table could not do its work; `reason` is for programs, `remedy` for people.

    Reasons: busy, full, corrupt, foreign, newer, unwritable, failed, unfinished, bad_key, too_large.
    """

    def __init__(self, reason: str, message: str, *, remedy: str) -> None:
        super().__init__(f"{message} ({remedy})")
        self.reason = reason
        self.message = message
        self.remedy = remedy


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn what SQLite and the operating system raise into errors of this room; `doing` says what failed."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # a constraint of the tool's own tables that is checked at the end of its transaction
    except sqlite3.ProgrammingError as error:
        raise UsageError(
            f"{doing}: {error}",
            remedy="keep the connection open, and use it in the thread that opened it"
            " or open it with check_same_thread=False",
        ) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_INTERNAL) & _PRIMARY
        reason, remedy = _REMEDIES.get(code, ("failed", _FAILED))
        raise KeyTableError(reason, f"{doing}: {error}", remedy=remedy) from error
    except OSError as error:
        full = error.errno in FULL_DISK
        reason, remedy = ("full", _FULL) if full else ("unwritable", _UNWRITABLE)
        raise KeyTableError(reason, f"{doing}: {error.strerror or error}", remedy=remedy) from error
