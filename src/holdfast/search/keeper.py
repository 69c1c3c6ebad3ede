"""An index that is kept by one process: refreshed again and again, with a parser that stays warm."""

import contextlib
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.search.build import full_build, parser_pool
from holdfast.search.configuration import load_configuration
from holdfast.search.home import IndexHome
from holdfast.search.index_writer import Progress, Stop
from holdfast.search.pool import ParsePool
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.database import is_damage
from holdfast.search.store.writer import DamagedIndexError
from holdfast.search.update import update
from holdfast.search.vectors.making import keep_known_vectors

__all__ = ["IndexKeeper"]


class IndexKeeper:
    """Keeps the index of a repository; the lock is held only while it is written."""

    def __init__(self, repository: Repository, cache_dir: Path) -> None:
        self.repository = repository
        self.home = IndexHome(index_home(repository, cache_dir))
        self._resources = contextlib.ExitStack()
        self._pool: ParsePool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def refresh(self, *, progress: Progress, stop: Stop, full: bool = False, wait: float = 0.0) -> dict[str, Any]:
        """Build the index, or bring it up to date where there is one; what was done, with figures."""
        report = self._refreshed(progress, stop, full=full, wait=wait)
        if report["action"] != "unchanged":
            keep_known_vectors(self.home, progress, stop)
        return report

    def _refreshed(self, progress: Progress, stop: Stop, *, full: bool, wait: float) -> dict[str, Any]:
        for warning in load_configuration(self.repository).warnings:  # raises before anything is touched
            progress("note", 0, None, warning["message"])
        with self.home.writing(wait=wait, stop=stop):
            build = self.home.current()
            if full or build is None:
                if self.home.outdated() is not None:
                    progress(
                        "note", 0, None, f"the index has the old format {self.home.outdated()} and is built anew"
                    )
                return full_build(self.repository, self.home, progress=progress, stop=stop)
            self.home.prune()
            try:
                return update(self.repository, build, progress=progress, stop=stop, pool=self._pool)
            except (DamagedIndexError, sqlite3.DatabaseError) as error:
                if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):
                    raise
                progress("note", 0, None, "the index is damaged and is built anew")
                return full_build(self.repository, self.home, progress=progress, stop=stop)

    def stay_warm(self) -> None:
        """Start a parser now and keep it: an update of one file then costs little more than that file."""
        if self._pool is None:
            self._pool = self._resources.enter_context(parser_pool(1))
