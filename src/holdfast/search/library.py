"""The search engine as a library: open an index and search it, build it, keep it fresh.

repository = find_repository("path/to/project")
with ensure_index(repository, cache_dir) as index:
    payload = index.search(SearchRequest(query="where is the retry budget enforced"))
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.engine.tantivy_engine import TantivyEngine
from holdfast.search.home import Build, IndexBusyError, IndexHome
from holdfast.search.opened import Opened
from holdfast.search.repository import Repository, head, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.store.database import is_damage
from holdfast.search.store.reader import StoreReader

if TYPE_CHECKING:  # the building side is not loaded on the path of a query
    from holdfast.search.index_writer import Progress, Stop
    from holdfast.search.portable_reading import OpenedPortable

__all__ = [
    "SearchIndex",
    "build_index",
    "collect_garbage",
    "compact_index",
    "ensure_index",
    "index_path",
    "open_index",
    "watch_index",
]

_PATIENCE = 3.0  # seconds that a search waits for another process to finish its update
_BUILD_COMMAND = "holdfast index build"
_ATTEMPTS = 5
_SERVED = ("auto", "tantivy", "sqlite-fts")
_OLDER = {
    "code": "stale",
    "message": "the sqlite-fts file is older than the index; call build_sqlite_index to bring it up to date",
}


def _no_progress(stage: str, done: int, total: int | None, detail: str) -> None:
    """Nobody looks."""


def _never() -> bool:
    return False


class SearchIndex:
    """One open index. It follows the newest generation and build by itself; safe to use from several threads."""

    def __init__(self, repository: Repository, home: IndexHome, build: Build) -> None:
        self.repository = repository
        self._home = home
        self._lock = threading.RLock()
        self._resources = contextlib.ExitStack()
        self._portable: OpenedPortable | None = None
        self._pointer, self._terms_stamp, self._store_version = (0, 0), (0, 0), 0
        self._enter(build)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        with self._lock:
            self._close_portable()
            self._resources.close()

    def search(self, request: SearchRequest, *, stop: "Stop | None" = None) -> dict[str, Any]:
        """The answer to a request, as one JSON-like payload; `stop` ends it with CANCELLED."""
        started = time.perf_counter()
        if request.backend not in _SERVED:
            raise ToolError(
                "NO_INDEX",
                f"there is no {request.backend} index of this repository, nor can there be one",
                hint=f"use the backend {', '.join(_SERVED[:-1])} or {_SERVED[-1]}",
            )
        with self._lock:
            self._follow()
            if request.backend == "sqlite-fts":
                return self._search_portable(request, stop)
            return self._opened.answer(request, started, stop)

    def status(self) -> dict[str, Any]:
        """What is in the index, how fresh it is, and what was left out and why."""
        from holdfast.search.status import status_of

        with self._lock:
            self._follow()
            return status_of(self.repository, self._build, self._opened.store)

    def is_there(self) -> bool:
        """Whether the index still has a place on disk; one that was removed is not answered from any more."""
        return self._home.pointer_stamp() != (0, 0)

    def is_stale(self) -> bool:
        """Whether something on disk or in the configuration differs, or the index was left half written."""
        with self._lock:
            self._follow()
            facts = self._opened.facts
            if load_configuration(self.repository).indexing.digest() != facts.values.get("configuration"):
                return True
            moved = head(self.repository) != (facts.commit, facts.branch)
            return moved or self._opened.changed_files() != 0

    def _search_portable(self, request: SearchRequest, stop: "Stop | None") -> dict[str, Any]:
        """The answer of the portable file, which may be of an older generation than the index."""
        from holdfast.search.portable_reading import open_portable, stamp_of

        path = self._home.portable
        if self._portable is None or self._portable.stamp != stamp_of(path):
            self._close_portable()
            self._portable = open_portable(path, self.repository, blame=self._build.blame)
        answer = self._portable.search(request, stop)
        if not self._is_of_this_generation(self._portable.opened):
            answer["warnings"] = [*answer["warnings"], _OLDER]
        return answer

    def _is_of_this_generation(self, other: Opened) -> bool:
        ours, theirs = self._opened.facts, other.facts
        return (ours.build, ours.generation) == (theirs.build, theirs.generation)

    def _close_portable(self) -> None:
        if self._portable is not None:
            self._portable.close()
            self._portable = None

    def _follow(self) -> None:
        """Switch to the newest build and generation, if there is another one than ours."""
        if self._home.pointer_stamp() != self._pointer:
            build = self._home.current()
            if build is not None and build != self._build:
                self._enter(build)
        opened = self._opened
        stamp, version = _stamp(self._build), opened.store.version()
        if (stamp, version) != (self._terms_stamp, self._store_version):
            self._terms_stamp, self._store_version = stamp, version
            opened.store.at(self._engine.reload())
            opened.renew()

    def _enter(self, build: Build) -> None:
        held = contextlib.ExitStack()
        try:
            pointer = self._home.pointer_stamp()
            held.enter_context(self._home.reading(build))
            stamp = _stamp(build)
            engine = TantivyEngine(build.terms)
            store = StoreReader(build.store, engine.generation)
            held.callback(store.close)
            facts = store.facts()  # a damaged store is noticed here, not in the middle of an answer
        except BaseException:
            held.close()
            raise
        self._resources.close()
        self._resources, self._build, self._engine = held, build, engine
        self._opened = Opened(engine, store, facts, self.repository, build.blame)
        self._pointer, self._terms_stamp, self._store_version = pointer, stamp, store.version()


def _stamp(build: Build) -> tuple[int, int]:
    """Changes with every commit of the term index."""
    status = (build.terms / "meta.json").stat()
    return (status.st_mtime_ns, status.st_ino)


def index_path(repository: Repository, cache_dir: Path) -> Path:
    """Where the index of a repository lives."""
    return index_home(repository, cache_dir)


def open_index(repository: Repository, cache_dir: Path) -> SearchIndex:
    """The index of a repository; ToolError NO_INDEX when there is none that can be read."""
    home = IndexHome(index_home(repository, cache_dir))
    why = "there is no index of this repository yet"
    for _ in range(_ATTEMPTS):  # a build may be replaced between reading its name and opening it
        build = home.current()
        if build is None:
            break
        try:
            return SearchIndex(repository, home, build)
        except FileNotFoundError:
            why = "its index is incomplete"
        except (ValueError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):
                raise
            why = "its index is damaged"
    if home.outdated() is not None:
        why = f"its index has the old format {home.outdated()}"
    hint = f"call build_index, or run `{_BUILD_COMMAND}` there"
    raise ToolError("NO_INDEX", f"{repository.root.name or '/'}: {why}", hint=hint)


def build_index(
    repository: Repository,
    cache_dir: Path,
    *,
    full: bool = False,
    progress: "Progress | None" = None,
    stop: "Stop | None" = None,
    wait: float = 0.0,
) -> dict[str, Any]:
    """Build the index, or bring it up to date where there is one; what was done, with figures."""
    from holdfast.search.keeper import IndexKeeper

    with IndexKeeper(repository, cache_dir) as keeper:
        return keeper.refresh(progress=progress or _no_progress, stop=stop or _never, full=full, wait=wait)


def ensure_index(
    repository: Repository,
    cache_dir: Path,
    *,
    progress: "Progress | None" = None,
    stop: "Stop | None" = None,
    update: bool = True,
) -> SearchIndex:
    """An open index that is there and, with `update`, up to date.

    When another process is writing it, its present state is searched; a first build is waited for.
    """
    try:
        index = open_index(repository, cache_dir)
    except ToolError as error:
        if error.code != "NO_INDEX":
            raise
        build_index(repository, cache_dir, progress=progress, stop=stop, wait=3600.0)
        return open_index(repository, cache_dir)
    try:
        if update and index.is_stale():
            with contextlib.suppress(IndexBusyError):
                build_index(repository, cache_dir, progress=progress, stop=stop, wait=_PATIENCE)
    except BaseException:
        index.close()
        raise
    return index


def compact_index(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    """Forget dead versions of files and give their space back."""
    from holdfast.search import upkeep

    return upkeep.compact_index(repository, cache_dir)


def collect_garbage(
    cache_dir: Path, repository: Repository | None = None, *, dry_run: bool = False
) -> dict[str, Any]:
    """Remove what no index uses any more, of one repository or of all."""
    from holdfast.search import upkeep

    return upkeep.collect_garbage(cache_dir, repository, dry_run=dry_run)


def watch_index(
    repository: Repository,
    cache_dir: Path,
    *,
    on_report: Callable[[dict[str, Any]], None],
    progress: "Progress | None" = None,
    stop: "Stop | None" = None,
) -> None:
    """Keep the index fresh until `stop` says so."""
    from holdfast.search import watch

    watch.watch_index(
        repository, cache_dir, on_report=on_report, progress=progress or _no_progress, stop=stop or _never
    )
