"""The search engine as a library: open an index and search it, build it, keep it fresh.

repository = find_repository("path/to/project")
with ensure_index(repository, cache_dir) as index:
    payload = index.search(SearchRequest(query="where is the retry budget enforced"))
"""

import contextlib
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

from holdfast.errors import ToolError
from holdfast.search.engine.tantivy_engine import TantivyEngine
from holdfast.search.freshness import changed_files
from holdfast.search.home import Build, IndexBusyError, IndexHome
from holdfast.search.repository import Repository, head, index_home
from holdfast.search.request import SearchRequest, cache_key
from holdfast.search.searching import Searching
from holdfast.search.shape import iso_time
from holdfast.search.store.database import is_damage
from holdfast.search.store.reader import ChunkRow, StoreReader

if TYPE_CHECKING:  # the building side is not loaded on the path of a query
    from holdfast.search.index_writer import Progress, Stop

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

_REMEMBERED = 64  # answers
_PATIENCE = 3.0  # seconds that a search waits for another process to finish its update
_FRESHNESS_SECONDS = 10.0  # how long a comparison with the files on disk counts
_BUILD_COMMAND = "holdfast index build"
_ATTEMPTS = 5


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
        self._answers: OrderedDict[tuple[str, int, int, str], bytes] = OrderedDict()
        self._freshness: tuple[float, int | None] = (0.0, None)
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
            self._resources.close()

    def search(self, request: SearchRequest) -> dict[str, Any]:
        """The answer to a request, as one JSON-like payload."""
        started = time.perf_counter()
        _check_backend(request)
        with self._lock:
            self._follow()
            found, remembered = self._found(request)
            about = self._about_index()
        answer = {"backend": self._engine.name, "query": request.query, **found, **about}
        if about["index"]["changedFiles"] != 0:
            answer["warnings"] = [*found["warnings"], _staleness(about["index"]["changedFiles"])]
        elapsed = answer["elapsedMs"] = round((time.perf_counter() - started) * 1000, 3)
        if request.explain:
            answer["stats"] = {**found.get("stats", {}), "elapsedMs": elapsed, "cache": {"hit": remembered}}
        return answer

    def status(self) -> dict[str, Any]:
        """What is in the index, how fresh it is, and what was left out and why."""
        from holdfast.search.status import status_of

        with self._lock:
            self._follow()
            return status_of(self.repository, self._build, self._store)

    def is_stale(self) -> bool:
        """Whether something on disk differs by size or time, or the index was left half written."""
        with self._lock:
            self._follow()
            moved = head(self.repository) != (self._facts.commit, self._facts.branch)
            return moved or self._changed_files() != 0

    def _found(self, request: SearchRequest) -> tuple[dict[str, Any], bool]:
        """What a request finds, and whether that was known already. Only what is found is remembered, as bytes: an
        answer that a caller changes stays theirs, and how fresh the index is, is told anew every time."""
        key = (self._build.name, self._engine.generation, self._store_version, cache_key(request))
        # "in the last two days" is another question tomorrow, and blame looks at the files as they are now
        lasting = request.modified_since is None and request.chunk_author is None
        known = self._answers.get(key) if lasting else None
        if known is not None:
            self._answers.move_to_end(key)
            return orjson.loads(known), True
        found = self._look_for(request)
        if lasting:
            self._answers[key] = orjson.dumps(found)
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return found, False

    def _look_for(self, request: SearchRequest) -> dict[str, Any]:
        branch = self._facts.branch
        searching = Searching(request, self._engine, self._store, chunk_authors=self._chunk_authors)
        wrong_branch = request.branch is not None and not _same_branch(request, branch)
        found = searching.nothing() if wrong_branch else searching.run()
        if request.ann:
            searching.warn("ann", "there are no vectors in this index; the answer is by words alone")
        if request.lint is not None:
            searching.warn("field-unavailable", "lint: no linter findings are in this index")
        if wrong_branch:
            searching.warn("branch", f"the index is of {f'the branch {branch}' if branch else 'no branch'}")
            found["stats"] = {"branchMatch": False}
        return {**found, "warnings": searching.warnings}

    def _about_index(self) -> dict[str, Any]:
        facts = self._facts
        about = {
            "build": facts.build,
            "generation": facts.generation,
            "commit": facts.commit,
            "branch": facts.branch,
            "builtAt": iso_time(facts.written_at),
            "changedFiles": self._changed_files(),
            "headMoved": head(self.repository)[0] != facts.commit,
        }
        return {"index": about, "asOf": _as_of(facts.build, facts.commit)}

    def _changed_files(self) -> int | None:
        when, changed = self._freshness
        if time.monotonic() - when > _FRESHNESS_SECONDS or not when:
            changed = changed_files(self.repository, self._store)
            self._freshness = (time.monotonic(), changed)
        return changed

    def _chunk_authors(self, rows: list[ChunkRow], author: str) -> tuple[list[ChunkRow], list[str]]:
        from holdfast.search.authors import rows_by_author

        return rows_by_author(self.repository, self._store, self._build.blame, rows, author)

    def _follow(self) -> None:
        """Switch to the newest build and generation, if there is another one than ours."""
        if self._home.pointer_stamp() != self._pointer:
            build = self._home.current()
            if build is not None and build != self._build:
                self._enter(build)
        stamp, version = _stamp(self._build), self._store.version()
        if (stamp, version) != (self._terms_stamp, self._store_version):
            self._terms_stamp, self._store_version = stamp, version
            self._store.at(self._engine.reload())
            self._facts = self._store.facts()
            self._freshness = (0.0, None)

    def _enter(self, build: Build) -> None:
        opened = contextlib.ExitStack()
        try:
            pointer = self._home.pointer_stamp()
            opened.enter_context(self._home.reading(build))
            stamp = _stamp(build)
            engine = TantivyEngine(build.terms)
            store = StoreReader(build.store, engine.generation)
            opened.callback(store.close)
            facts = store.facts()  # a damaged store is noticed here, not in the middle of an answer
        except BaseException:
            opened.close()
            raise
        self._resources.close()
        self._resources, self._build, self._engine = opened, build, engine
        self._store, self._facts = store, facts
        self._pointer, self._terms_stamp, self._store_version = pointer, stamp, store.version()
        self._answers.clear()
        self._freshness = (0.0, None)


def _stamp(build: Build) -> tuple[int, int]:
    """Changes with every commit of the term index."""
    status = (build.terms / "meta.json").stat()
    return (status.st_mtime_ns, status.st_ino)


def _check_backend(request: SearchRequest) -> None:
    if request.backend not in ("auto", "tantivy"):
        raise ToolError(
            "NO_INDEX", f"there is no {request.backend} index of this repository", hint="use the backend auto"
        )


def _same_branch(request: SearchRequest, branch: str | None) -> bool:
    """Whether the index is of the branch that was asked for."""
    wanted = request.branch or ""
    return branch is not None and (branch == wanted if request.case else branch.lower() == wanted.lower())


def _staleness(changed: int | None) -> dict[str, str]:
    what = "it was left half written" if changed is None else f"{changed} files or directories changed since"
    return {"code": "stale", "message": f"the index is not up to date: {what}"}


def _as_of(build: str, commit: str | None) -> dict[str, Any]:
    modes = ("code", "prose", "extracted-prose", "records")
    return {
        "ref": "latest",
        "identityHash": build,
        "resolved": {"type": "latest", "commit": commit, "buildIdByMode": dict.fromkeys(modes, build)},
    }


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
    raise ToolError("NO_INDEX", f"{why}: {repository.root}", hint=f"run `{_BUILD_COMMAND}` there")


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
