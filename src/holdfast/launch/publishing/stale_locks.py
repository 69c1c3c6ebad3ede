"""Lock files that a killed git left behind: they would keep everybody out for ever, and git never removes them.

A lock on a reference is held for milliseconds. One that is several seconds old belongs to nobody any more.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event

from holdfast.git.asking import never

__all__ = ["STALE_SECONDS", "locks_below", "locks_of", "settle"]

STALE_SECONDS = 5.0
_LOOK_SECONDS = 0.1


def locks_below(git_directory: Path) -> list[Path]:
    """The lock files of a repository of ours."""
    return [*git_directory.glob("*.lock"), *(git_directory / "refs").rglob("*.lock")]


def locks_of(directory: Path, references: Iterable[str]) -> list[Path]:
    """The lock files of these references of a repository on this machine, with or without a work tree."""
    inside = directory / ".git"
    git_directory = inside if inside.is_dir() else directory
    files = [git_directory / f"{reference}.lock" for reference in references]
    return [file for file in files if file.is_file()]


def settle(files: Iterable[Path], *, stop: Callable[[], bool] = never) -> bool:
    """Wait until each of the files is gone or old, and remove the old ones; whether all of them are gone."""
    for file in files:
        while not stop():
            try:
                age = time.time() - file.stat().st_mtime
            except FileNotFoundError:
                break
            if age >= STALE_SECONDS:
                file.unlink(missing_ok=True)
                break
            Event().wait(_LOOK_SECONDS)
        else:
            return False
    return True
