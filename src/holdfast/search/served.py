"""The repositories that a server serves: which one a call means, and open indexes to answer it from.

What is served is said once, by the command line, in one environment variable: the child processes that build an
index inherit it with everything else.
"""

import contextlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.library import SearchIndex, open_index
from holdfast.search.repository import Repository, find_repository
from holdfast.settings import Settings, load_settings

__all__ = ["SERVED_ENV", "Served", "aliases", "announce", "served"]

SERVED_ENV = "HOLDFAST_SEARCH_SERVED"
_TOLD_KNOBS = ("mcp_mode", "queue_max", "max_message_bytes")
_IDLE_READERS = 4  # per repository
_IDLE_REPOSITORIES = 8


def announce(
    roots: Sequence[Path], cache_dir: Path, workspace: Path | None = None, server: Settings | None = None
) -> None:
    """Say what this process, and every one below it, serves, and with which settings as far as tools tell them."""
    told = {
        "roots": [str(root) for root in roots],
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
        return Served([], load_settings().cache_path())
    workspace, server = told["workspace"], told["server"]
    return Served(
        [Path(root) for root in told["roots"]],
        Path(told["cacheDir"]),
        None if workspace is None else Path(workspace),
        None if server is None else Settings(**server),
    )


def aliases(roots: Sequence[Path], given: Mapping[Path, str] | None = None) -> dict[str, Path]:
    """A name for each root: the given one, or that of its directory; with a number where two have the same."""
    named: dict[str, Path] = {}
    for root in roots:
        wanted = (given or {}).get(root) or root.name or "root"
        alias, count = wanted, 1
        while alias in named:
            count += 1
            alias = f"{wanted}-{count}"
        named[alias] = root
    return named


class Served:
    """The repositories of a server and its open indexes; safe to use from several threads."""

    def __init__(
        self,
        roots: Sequence[Path],
        cache_dir: Path,
        workspace: Path | None = None,
        server: Settings | None = None,
    ) -> None:
        self.cache_dir = cache_dir
        self.workspace = workspace
        self.server = server
        self.aliases = aliases(roots)
        self._lock = threading.Lock()
        self._idle: OrderedDict[str, list[SearchIndex]] = OrderedDict()

    def find(self, repo_path: str | None = None) -> Repository:
        """The repository of a path or of a name that is served; without one, the first that is served."""
        if repo_path is None:
            return find_repository(next(iter(self.aliases.values()), None))
        return find_repository(self.aliases.get(repo_path, repo_path))

    @contextlib.contextmanager
    def index(self, repository: Repository) -> Iterator[SearchIndex]:
        """An open index that nobody else uses meanwhile; ToolError NO_INDEX when there is none."""
        index = self._take(repository) or open_index(repository, self.cache_dir)
        try:
            yield index
        except ToolError:  # the question was wrong, not the index
            self._give_back(index)
            raise
        except BaseException:
            index.close()
            raise
        self._give_back(index)

    def release(self, repository: Repository | None = None) -> None:
        """Let go of what is open and unused, so that it can be removed; of one repository or of all."""
        with self._lock:
            names = list(self._idle) if repository is None else [repository.repo_id]
            closing = [index for name in names for index in self._idle.pop(name, ())]
        for index in closing:
            index.close()

    def _take(self, repository: Repository) -> SearchIndex | None:
        with self._lock:
            idle = self._idle.get(repository.repo_id, [])
            index = idle.pop() if idle else None
        if index is not None and not index.is_there():
            index.close()
            self.release(repository)
            return None
        return index

    def _give_back(self, index: SearchIndex) -> None:
        closing = [index]
        with self._lock:
            idle = self._idle.setdefault(index.repository.repo_id, [])
            self._idle.move_to_end(index.repository.repo_id)
            if len(idle) < _IDLE_READERS:
                idle.append(closing.pop())
            while len(self._idle) > _IDLE_REPOSITORIES:
                closing += self._idle.popitem(last=False)[1]
        for unused in closing:
            unused.close()
