"""The state of an index as it can always be told: what is in it, or why that cannot be said.

Opening an index ends in an error where there is none that can be read; who asks after its health wants an answer.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.library import open_index
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.database import is_damage
from holdfast.search.trouble import is_unreadable

__all__ = ["IndexState", "Problem", "damaged", "index_state"]

_FULL = "Build it anew: call build_index with incremental false, or run `holdfast index build --full`."
_BUILD = "Build it: call build_index, or run `holdfast index build`."


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an index cannot be searched; `code` is no-index, index-outdated, index-damaged or index-unreadable."""

    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class IndexState:
    """What `index status` tells, or the problem; never both."""

    status: dict[str, Any] | None
    problem: Problem | None


def index_state(repository: Repository, cache_dir: Path) -> IndexState:
    """Look at the index of a repository."""
    try:
        with open_index(repository, cache_dir) as index:
            return IndexState(index.status(), None)
    except ToolError as error:
        if error.code != "NO_INDEX":
            raise
        if isinstance(error.__cause__, OSError):
            return IndexState(None, _trouble(error.__cause__))
        return IndexState(None, _why_there_is_none(IndexHome(index_home(repository, cache_dir))))
    except BaseException as error:
        if not is_unreadable(error):
            raise
        return IndexState(None, _trouble(error))


def damaged(what: str) -> Problem:
    """The problem of an index that only a full build can mend."""
    return Problem("index-damaged", f"the index is damaged: {what}", _FULL)


def _why_there_is_none(home: IndexHome) -> Problem:
    outdated = home.outdated()
    if outdated is not None:
        return Problem("index-outdated", f"the index has the format {outdated}, which is not read any more", _FULL)
    if home.current() is not None:
        return damaged("a part of it cannot be read")
    if (home.directory / "current.json").exists():
        return damaged("the build that it names is not there")
    return Problem("no-index", "there is no index of this repository yet", _BUILD)


def _trouble(error: BaseException) -> Problem:
    if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):
        return Problem("index-unreadable", f"the index cannot be read now: {error}", "Try again in a moment.")
    if isinstance(error, OSError):
        why = (error.strerror or type(error).__name__).lower()
        return Problem(
            "index-unreadable", f"the index cannot be read: {why}", "Check the cache directory and its disk."
        )
    return damaged("a part of it cannot be read")
