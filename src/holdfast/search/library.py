"""The search engine as a library: open an index and search it, build it, keep it fresh.

repository = find_repository("path/to/project")
with ensure_index(repository, cache_dir) as index:
    payload = index.search(SearchRequest(query="where is the retry budget enforced"))
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from holdfast.errors import ToolError
from holdfast.search.capabilities import reading_abilities
from holdfast.search.configuration import load_configuration
from holdfast.search.engine.tantivy_engine import TantivyEngine
from holdfast.search.home import REBUILD_HINT, Build, IndexBusyError, IndexHome
from holdfast.search.opened import Opened, Standing, standing_of
from holdfast.search.repository import Repository, head, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.request_fields import BACKENDS, PORTABLE_BACKENDS
from holdfast.search.store.database import is_damage
from holdfast.search.store.reader import StoreReader
from holdfast.search.trouble import quoted_error
from holdfast.search.vectors.offered import OfferedVectors

if TYPE_CHECKING:  # the building side is not loaded on the path of a query
    from holdfast.search.backends import PortableBackends, StandIn
    from holdfast.search.index_writer import Progress, Stop

__all__ = [
    "SearchIndex",
    "build_for",
    "build_index",
    "collect_garbage",
    "compact_index",
    "ensure_index",
    "index_path",
    "open_index",
    "open_to_search",
    "watch_index",
]

_OF_A_BROKEN_ROW = (KeyError, TypeError, AttributeError)
_PATIENCE = 3.0  # seconds that a search waits for another process to finish its update
_ATTEMPTS = 5
_DEFAULT, _MEMORY, _PORTABLE = BACKENDS[:2], BACKENDS[2], PORTABLE_BACKENDS


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
        self._portable: PortableBackends | None = None
        self._in_memory: Opened | None = None
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
            if self._portable is not None:
                self._portable.close()
            self._in_memory = None
            self._resources.close()

    def search(self, request: SearchRequest, *, stop: "Stop | None" = None) -> dict[str, Any]:
        """The answer to a request, as one JSON-like payload; `stop` ends it with CANCELLED."""
        started = time.perf_counter()
        with self._lock, self._damage_told():
            self._follow()
            if request.backend in _DEFAULT:
                return self._opened.answer(request, started, stop)
            if request.backend == _MEMORY:
                return self._memory().answer(request, started, stop)
            if request.backend in _PORTABLE:
                return self._beside().search(request.backend, request, self._opened, stop)
        known = ", ".join((*_DEFAULT, _MEMORY, *_PORTABLE))
        raise ToolError("INVALID_REQUEST", f"there is no backend {request.backend}", hint=f"use one of: {known}")

    def stand(self, request: SearchRequest, *, stop: "Stop | None" = None) -> Standing:
        """What this index has to say in a search over several; nobody else may use it until that is shown."""
        with self._lock, self._damage_told():
            self._follow()
            if request.backend in _DEFAULT:
                return self._opened.stand(request, stop)
        return standing_of(self.search(request, stop=stop))

    def status(self) -> dict[str, Any]:
        """What is in the index, how fresh it is, and what was left out and why."""
        from holdfast.search.status import status_of

        with self._lock, self._damage_told():
            self._follow()
            self._check()
            return status_of(self.repository, self._build, self._opened.store)

    def is_there(self) -> bool:
        """Whether the index still has a place on disk; one that was removed is not answered from any more."""
        return self._home.pointer_stamp() != (0, 0)

    def is_stale(self) -> bool:
        """Whether something on disk or in the configuration differs, or the index was left half written."""
        with self._lock, self._damage_told():
            self._follow()
            self._check()
            facts = self._opened.facts
            if self._build.seal.stamp() == (0, 0):
                return True
            if load_configuration(self.repository).indexing.digest() != facts.values.get("configuration"):
                return True
            if facts.values.get("abilities") != reading_abilities():
                return True
            moved = head(self.repository) != (facts.commit, facts.branch)
            return moved or self._opened.changed_files() != 0

    def _beside(self) -> "PortableBackends":
        """The SQLite file, which may be of an older generation than the index."""
        from holdfast.search.backends import PortableBackends

        if self._portable is None:
            self._portable = PortableBackends(self._home, self.repository)
        return self._portable

    def _memory(self) -> Opened:
        """The same index with postings in this process, made from it when they are first asked for."""
        from holdfast.search.engine.portable_schema import FIELDS
        from holdfast.search.in_memory import memory_engine

        if self._in_memory is None:
            state = (self._build.directory, self._terms_stamp, self._engine.generation)
            engine = memory_engine(self._opened.store, state, lambda: self._engine.figures(FIELDS))
            self._in_memory = replace(self._opened, engine=engine, _answers=OrderedDict(), _scores=OrderedDict())
        return self._in_memory

    def _follow(self) -> None:
        """Switch to the newest build and generation, if there is another one than ours."""
        if self._home.pointer_stamp() != self._pointer:
            build = self._home.current()
            if build is not None and build != self._build:
                self._enter(build)
        opened = self._opened
        stamp, version = _stamp(self._build), opened.store.version()
        if (stamp, version) != (self._terms_stamp, self._store_version):
            if stamp != self._terms_stamp:
                self._in_memory = None
            self._terms_stamp, self._store_version = stamp, version
            opened.store.at(self._engine.reload())
            opened.renew()
            if self._in_memory is not None:
                self._in_memory.renew()

    @contextlib.contextmanager
    def _damage_told(self) -> Iterator[None]:
        """Whatever a damaged file leads to is NO_INDEX; an error that comes from something else stays as it is."""
        try:
            yield
        except ToolError:
            raise
        except BaseException as error:
            # A panic of the term index is no Exception, and its class cannot be imported.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            from holdfast.search.integrity import damage_of

            if damage_of(self._home, self._build)[0]:
                raise self._damage() from error
            raise

    def _check(self) -> None:
        if self._watched.damage():
            raise self._damage()

    def _damage(self) -> ToolError:
        return ToolError(
            "NO_INDEX", f"{self.repository.root.name or '/'}: its index is damaged", hint=REBUILD_HINT
        )

    def _enter(self, build: Build) -> None:
        held = contextlib.ExitStack()
        try:
            pointer = self._home.pointer_stamp()
            held.enter_context(self._home.reading(build))
            watched = build.seal.watched()
            if watched.damage():  # before anything in it is believed
                raise self._damage()
            stamp = _stamp(build)
            engine = TantivyEngine(build.terms)
            store = StoreReader(build.store, engine.generation)
            held.callback(store.close)
            store.lint = build.lint
            facts = store.facts()  # a damaged store is noticed here, not in the middle of an answer
        except BaseException:
            held.close()
            raise
        self._resources.close()
        self._resources, self._build, self._engine, self._watched = held, build, engine, watched
        vectors = OfferedVectors(self._home, build)
        self._opened = Opened(engine, store, facts, self.repository, build.blame, vectors, self._check)
        self._in_memory = None
        self._pointer, self._terms_stamp, self._store_version = pointer, stamp, store.version()


def _stamp(build: Build) -> tuple[int, int]:
    """Changes with every commit of the term index."""
    status = os.stat(f"{build.directory}/terms/meta.json")
    return (status.st_mtime_ns, status.st_ino)


def index_path(repository: Repository, cache_dir: Path) -> Path:
    """Where the index of a repository lives."""
    return index_home(repository, cache_dir)


def open_index(repository: Repository, cache_dir: Path) -> SearchIndex:
    """The index of a repository; ToolError NO_INDEX when there is none that can be read."""
    home = IndexHome(index_home(repository, cache_dir))
    why, hint = "there is no index of this repository yet", REBUILD_HINT
    unreadable: OSError | None = None
    for _ in range(_ATTEMPTS):  # a build may be replaced between reading its name and opening it
        build = home.current()
        if build is None:
            break
        try:
            return SearchIndex(repository, home, build)
        except FileNotFoundError:
            why = "its index is incomplete"
        except (*_OF_A_BROKEN_ROW, ValueError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):
                raise
            why, unreadable = "its index is damaged", quoted_error(error)
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of the term index: no Exception, and no importable one
                raise
            why = "its index is damaged"
    if unreadable is not None:
        why = f"its index cannot be read: {str(unreadable.strerror).lower()}"
        hint = "a search takes locks in the cache directory: change its permissions, or choose another --cache-dir"
    if home.outdated() is not None:
        why = f"its index has the old format {home.outdated()}"
    raise ToolError("NO_INDEX", f"{repository.root.name or '/'}: {why}", hint=hint) from unreadable


def open_to_search(repository: Repository, cache_dir: Path) -> "SearchIndex | StandIn":
    """The index of a repository; where it cannot be opened, its SQLite file, if that can be."""
    try:
        return open_index(repository, cache_dir)
    except ToolError as refusal:
        home = IndexHome(index_home(repository, cache_dir))
        if refusal.code != "NO_INDEX" or not home.portable.exists():
            raise
        from holdfast.search.backends import StandIn

        return StandIn(repository, home, refusal)


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


def build_for(
    backend: str, repository: Repository, cache_dir: Path, *, full: bool, progress: "Progress", stop: "Stop"
) -> dict[str, Any]:
    """Build the index as `build_index` does, and what a backend needs beside it; that is told as `sqlite`."""
    report = build_index(repository, cache_dir, full=full, progress=progress, stop=stop)
    if backend not in _PORTABLE:
        return report
    from holdfast.search.portable import build_portable

    made = build_portable(
        repository, cache_dir, incremental=not full, backend=backend, progress=progress, stop=stop
    )
    return report | {"sqlite": made}


def ensure_index(
    repository: Repository,
    cache_dir: Path,
    *,
    progress: "Progress | None" = None,
    stop: "Stop | None" = None,
    update: bool = True,
    backend: str = "auto",
) -> SearchIndex:
    """An open index that is there and, with `update`, up to date, as is the SQLite file if that is the backend.

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
        with contextlib.suppress(IndexBusyError):
            if update and _is_stale(index):
                build_index(repository, cache_dir, progress=progress, stop=stop, wait=_PATIENCE)
            if update and backend in _PORTABLE and IndexHome(index_home(repository, cache_dir)).portable.exists():
                told, asked = progress or _no_progress, stop or _never
                build_for(backend, repository, cache_dir, full=False, progress=told, stop=asked)
    except BaseException:
        index.close()
        raise
    return index


def _is_stale(index: SearchIndex) -> bool:
    """Whether the index has to be brought up to date; what cannot be read of it is mended on the way."""
    try:
        return index.is_stale()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return True


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
