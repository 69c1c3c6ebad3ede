"""Files put into their place as one step, and what goes wrong with that in words: no space, no permission.

A file that is no portable index of ours is never replaced, whatever the caller says.
"""

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import FULL_DISK, ToolError
from holdfast.search.engine.portable_file import is_portable

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["check_stop", "checked_target", "copied", "copy_blocks", "placed", "trouble_told"]

_NO_SPACE = "there is no space left for it"
_BLOCK = 4 << 20  # bytes copied between two questions whether to stop


def checked_target(path: Path) -> Path:
    """Where a copy may be written: no directory, and no file of somebody else."""
    real = Path(os.path.realpath(path))
    shown = {"path": str(real)}
    if not real.parent.is_dir():
        raise ToolError(
            "INVALID_REQUEST", "out: its directory does not exist", details=shown, hint="create it first"
        )
    if real.is_dir():
        raise ToolError("INVALID_REQUEST", "out: it is a directory", details=shown, hint="name a file in it")
    if os.path.lexists(real) and not is_portable(real):
        raise ToolError(
            "FORBIDDEN",
            f"out: {real.name} is there and is no portable index of ours",
            details=shown,
            hint="name another file, or remove that one",
        )
    return real


def copied(source: Path, target: Path, stop: "Stop") -> None:
    """A copy under another name, all at once."""
    if target.exists() and target.samefile(source):
        return
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.draft")
    try:
        with trouble_told(target):
            copy_blocks(source, draft, stop)
            placed(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def copy_blocks(source: Path, target: Path, stop: "Stop") -> None:
    """The bytes of a file in a new one, which nobody looks at yet."""
    with source.open("rb") as reading, target.open("xb") as writing:
        while block := reading.read(_BLOCK):
            check_stop(stop)
            writing.write(block)


def check_stop(stop: "Stop") -> None:
    """End the work where the caller has asked for it."""
    if stop():
        raise ToolError("CANCELLED", "it was stopped; the SQLite file of the index is as it was")


def placed(draft: Path, place: Path) -> None:
    """Move a complete file to its place; it is on the disk before its name is."""
    _sync(draft)
    draft.replace(place)
    _sync(place.parent)


@contextlib.contextmanager
def trouble_told(path: Path) -> Iterator[None]:
    """Tell what the system or SQLite cannot do, with what to do about it; the old file is untouched."""
    try:
        yield
    except OSError as error:
        reason = _NO_SPACE if error.errno in FULL_DISK else (error.strerror or str(error)).lower()
        raise _refusal(reason, path) from error
    except sqlite3.OperationalError as error:
        name = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").split("_")[0]
        if name not in {"FULL", "IOERR", "READONLY", "CANTOPEN", "BUSY", "LOCKED"}:
            raise
        raise _refusal(_NO_SPACE if name == "FULL" else str(error), path) from error


def _refusal(reason: str, path: Path) -> ToolError:
    return ToolError(
        "CAPABILITY_MISSING",
        f"{path.name} cannot be written: {reason}; what was there is as it was",
        details={"path": str(path)},
        hint="free some space, or change the rights of its directory",
    )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
