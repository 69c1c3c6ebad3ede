"""The repositories that a server serves: which one a call means, and open indexes to answer it from.

What is served is said once, by the command line, in one environment variable: the child processes that build an
index inherit it with everything else.
"""

import contextlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.settings import Settings, load_settings

if TYPE_CHECKING:  # the engine is loaded by the first search: a host that only announces does without
    from concurrent.futures import ThreadPoolExecutor

    from holdfast.search.backends import StandIn
    from holdfast.search.library import SearchIndex

    AnyIndex = SearchIndex | StandIn

__all__ = ["SERVED_ENV", "Served", "aliases", "announce", "served"]

SERVED_ENV = "HOLDFAST_SEARCH_SERVED"
_TOLD_KNOBS = ("mcp_mode", "queue_max", "max_message_bytes")
_IDLE_READERS = 2  # per repository
# Searches at once. More would not be faster, since most of a search holds the interpreter's lock; they would only
# interrupt each other, and need a reader each.
_AT_ONCE = 2
_PATIENCE = 2.0  # seconds that a search waits for its turn; then it begins all the same, beside slow ones
_POLL = 0.05  # seconds between two looks whether anybody still waits for the search
_IDLE_IN_ALL = 64  # readers of all repositories; the one that was used longest ago is let go first
_THREADS = 4  # that open indexes; searches in open ones hold the interpreter's lock, and gain nothing by threads
_FOUND_SECONDS = 1.0  # how long a repository is taken to be what it was
_NOTHING_THERE = (0, 0)

Stamp = tuple[int, int]  # of the pointer to the current build
Item = TypeVar("Item")


def announce(
    named: Mapping[str, Path], cache_dir: Path, workspace: Path | None = None, server: Settings | None = None
) -> None:
    """Say what this process, and every one below it, serves, and with which settings as far as tools tell them."""
    told = {
        "named": {alias: str(root) for alias, root in named.items()},
        "cacheDir": str(cache_dir),
        "workspace": None if workspace is None else str(workspace),
        "server": None if server is None else {knob: getattr(server, knob) for knob in _TOLD_KNOBS},
    }
    os.environ[SERVED_ENV] = json.dumps(told)
    served.cache_clear()


@cache
def served() -> "Served":
    """What this process serves; by default the repository around its working directory."""
    told: dict[str, Any] = json.loads(os.environ.get(SERVED_ENV, "{}"))
    if not told:
        return Served({}, load_settings().cache_path())
    workspace, server = told["workspace"], told["server"]
    return Served(
        {alias: Path(root) for alias, root in told["named"].items()},
        Path(told["cacheDir"]),
        None if workspace is None else Path(workspace),
        None if server is None else Settings(**server),
    )


def aliases(roots: Iterable[Path], given: Mapping[Path, str] | None = None) -> dict[str, Path]:
    """A name for each root: the given one, or that of its directory, with a number where it is taken already."""
    given = given or {}
    named: dict[str, Path] = {}
    for root in dict.fromkeys(roots):
        wanted = given.get(root) or root.name or "root"
        alias, count = wanted, 1
        while alias in named or (root not in given and alias in given.values()):
            count += 1
            alias = f"{wanted}-{count}"
        named[alias] = root
    return named


class Served:
    """The repositories of a server and its open indexes; safe to use from several threads."""

    def __init__(
        self,
        named: Mapping[str, Path],
        cache_dir: Path,
        workspace: Path | None = None,
        server: Settings | None = None,
    ) -> None:
        self.cache_dir = cache_dir
        self.workspace = workspace
        self.server = server
        self.aliases = dict(named)
        self._found: dict[Path, tuple[float, Repository]] = {}
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._idle: OrderedDict[str, list[_Reader]] = OrderedDict()
        self._homes: dict[str, IndexHome] = {}
        self._pool: ThreadPoolExecutor | None = None

    def find(self, repo_path: str | None = None) -> Repository:
        """The repository of a path or of a name that is served; without one, the first that is served."""
        first = next(iter(self.aliases.values()), None)
        root = first if repo_path is None else self.aliases.get(repo_path)
        return self._known(root) if root is not None else find_repository(repo_path)

    def _known(self, root: Path) -> Repository:
        """The repository of a root that is served; to find it costs as much as a remembered answer."""
        now, known = time.monotonic(), self._found.get(root)
        if known is None or now - known[0] > _FOUND_SECONDS or not os.path.isdir(root):
            known = self._found[root] = (now, find_repository(root))
        return known[1]

    @contextlib.contextmanager
    def index(self, repository: Repository, stop: Callable[[], bool] = lambda: False) -> "Iterator[AnyIndex]":
        """An open index that nobody else uses meanwhile; ToolError NO_INDEX when there is none.

        `stop` is asked while a turn is waited for; ToolError CANCELLED when it says so.
        """
        with self.turn(stop), self.reader(repository) as index:
            yield index

    @contextlib.contextmanager
    def turn(self, stop: Callable[[], bool]) -> Iterator[None]:
        """One of the few searches that run at a time, however many repositories it asks."""
        has_turn = self._wait_for_turn(stop)
        try:
            yield
        finally:
            if has_turn:
                self._turns.release()

    def is_open(self, repository: Repository) -> bool:
        """Whether an index of it is open and unused."""
        with self._lock:
            return repository.repo_id in self._idle

    def in_parallel(self, work: Callable[[Item], None], items: Sequence[Item]) -> None:
        """Do something for every item, several of them at a time; the first error, in their order, is raised."""
        if not items:
            return
        with self._lock:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="federated")
        begun = [self._pool.submit(work, item) for item in items]
        for one in begun:
            one.exception()  # nothing may go on behind the back of whoever asked
        for one in begun:
            one.result()

    def _wait_for_turn(self, stop: Callable[[], bool]) -> bool:
        """Wait for a turn, but not for ever: slow searches must not keep everybody else waiting."""
        until = time.monotonic() + _PATIENCE
        while not self._turns.acquire(timeout=_POLL):
            if stop():
                raise ToolError("CANCELLED", "the search was stopped before its turn")
            if time.monotonic() > until:
                return False
        return True

    @contextlib.contextmanager
    def reader(self, repository: Repository) -> "Iterator[AnyIndex]":
        """An open index that nobody else uses meanwhile, without a turn; ToolError NO_INDEX when there is none."""
        from holdfast.search.library import open_to_search

        stamp = self._home(repository).pointer_stamp()
        index = self._take(repository, stamp) or open_to_search(repository, self.cache_dir)
        try:
            yield index
        except ToolError:  # the question was wrong, not the index
            self._give_back(_Reader(index, stamp))
            raise
        except BaseException as error:
            index.close()
            self._refuse_if_damaged(repository, error)
            raise
        self._give_back(_Reader(index, stamp))

    def _home(self, repository: Repository) -> IndexHome:
        home = self._homes.get(repository.repo_id)
        if home is None:
            home = self._homes[repository.repo_id] = IndexHome(index_home(repository, self.cache_dir))
        return home

    def release(self, repository: Repository | None = None) -> None:
        """Let go of what is open and unused, so that it can be removed; of one repository or of all."""
        with self._lock:
            names = list(self._idle) if repository is None else [repository.repo_id]
            closing = [reader for name in names for reader in self._idle.pop(name, ())]
        _close(closing)

    def _take(self, repository: Repository, stamp: Stamp) -> "AnyIndex | None":
        """An idle reader. One of another build is let go: it would keep from the disk what nobody needs."""
        with self._lock:
            idle = self._idle.pop(repository.repo_id, [])
            fitting = [reader for reader in idle if reader.stamp == stamp != _NOTHING_THERE]
            taken = fitting.pop().opened if fitting else None
            if fitting:
                self._idle[repository.repo_id] = fitting
        _close(reader for reader in idle if reader.stamp != stamp or stamp == _NOTHING_THERE)
        return taken

    def _give_back(self, reader: "_Reader") -> None:
        closing = [reader]
        with self._lock:
            idle = self._idle.setdefault(reader.opened.repository.repo_id, [])
            self._idle.move_to_end(reader.opened.repository.repo_id)
            if len(idle) < _IDLE_READERS:
                idle.append(closing.pop())
            while sum(map(len, self._idle.values())) > _IDLE_IN_ALL:
                closing += self._idle.popitem(last=False)[1]
        _close(closing)

    def _refuse_if_damaged(self, repository: Repository, error: BaseException) -> None:
        """ToolError NO_INDEX where an error is that of an index that was damaged or removed while it was open."""
        import sqlite3

        from holdfast.search.library import open_index
        from holdfast.search.store.database import is_damage

        if isinstance(error, sqlite3.DatabaseError) and is_damage(error):
            message = f"{repository.root.name or '/'}: its index is damaged"
            raise ToolError("NO_INDEX", message, hint="Call build_index once.") from error
        if isinstance(error, (OSError, ValueError, sqlite3.Error)):
            open_index(repository, self.cache_dir).close()


class _Reader(NamedTuple):
    """An open index, and what the pointer to the current build was when it was last asked."""

    opened: "AnyIndex"
    stamp: Stamp


def _close(readers: Iterable[_Reader]) -> None:
    for reader in readers:
        reader.opened.close()
