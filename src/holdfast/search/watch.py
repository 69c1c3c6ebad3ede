"""Keeping an index fresh while files change: changes are noticed, gathered for a moment, and indexed together.

What the watcher says is only the reason to look: each update compares the whole repository with the index, so a
notice that was lost costs nothing but time. A look without any notice follows every few minutes. The files of the
configuration are watched like all others, also those that git ignores.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.configuration import is_refused
from holdfast.search.home import IndexBusyError, IndexHome
from holdfast.search.index_writer import Progress, Stop
from holdfast.search.keeper import IndexKeeper
from holdfast.search.repository import Repository
from holdfast.search.vectors.background import BackgroundEmbedding

__all__ = ["watch_index"]

_GATHER_MS = 150  # a save is often several events
_RECONCILE_MS = 120_000
_PATIENCE = 600.0  # seconds that another process may take to finish its own build first


def watch_index(
    repository: Repository,
    cache_dir: Path,
    *,
    on_report: Callable[[dict[str, Any]], None],
    progress: Progress,
    stop: Stop,
) -> None:
    """Index what changes until `stop` says so; `on_report` hears of every update that did something."""
    with IndexKeeper(repository, cache_dir) as keeper, BackgroundEmbedding(repository, cache_dir) as embedding:
        keeper.stay_warm()
        with contextlib.closing(_changes(repository, keeper.home, stop)) as changes:
            on_report(keeper.refresh(progress=progress, stop=stop, wait=_PATIENCE))
            embedding.look(changed=True)
            for _ in changes:
                try:
                    report = keeper.refresh(progress=progress, stop=stop, wait=_PATIENCE)
                except IndexBusyError:
                    continue
                except ToolError as error:
                    if not is_refused(error):
                        raise
                    # Somebody is writing it right now; the index stays as it is until it can be read again.
                    progress("note", 0, None, f"not brought up to date: {error.message}")
                    continue
                embedding.look(changed=report["action"] != "unchanged")
                if report["action"] != "unchanged":
                    on_report(report)


def _changes(repository: Repository, home: IndexHome, stop: Stop) -> Any:
    """Yields whenever something may have changed, and once in a while without a reason."""
    import threading

    import watchfiles

    stopped = threading.Event()
    own = str(home.directory)

    def wanted(_change: watchfiles.Change, path: str) -> bool:
        inside_git = f"{repository.root}/.git/"
        if path.startswith(own):
            return False
        return not path.startswith(inside_git) or path.endswith(("/HEAD", "/ORIG_HEAD"))

    waited = _RECONCILE_MS  # what changed before the watch began is found by a look as soon as it has
    watcher = watchfiles.watch(
        repository.root, watch_filter=wanted, step=_GATHER_MS, debounce=1000, rust_timeout=500,
        yield_on_timeout=True, stop_event=stopped, raise_interrupt=True,
    )  # fmt: skip
    for changes in watcher:
        if stop():
            stopped.set()
            return
        waited += 500
        if changes or waited >= _RECONCILE_MS:
            waited = 0
            yield changes
