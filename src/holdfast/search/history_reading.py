"""The history of a repository, read beside the parsing: git works while the parsers do."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from holdfast.errors import ToolError
from holdfast.git.asking import never
from holdfast.search.history import History, read_history, update_history
from holdfast.search.repository import Repository

__all__ = ["HistoryReading"]

_STEP = 0.05  # seconds


class HistoryReading:
    """Starts reading when it is entered; leaving it early ends git at once."""

    def __init__(self, repository: Repository, old: History | None, *, stop: Callable[[], bool] = never) -> None:
        self._repository = repository
        self._old = old
        self._stop = stop
        self._stopped = threading.Event()
        self._history = History()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._read, name="git-history", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def result(self) -> History:
        """What git said; waits for it, and raises CANCELLED when the caller's `stop` says so meanwhile."""
        while self._thread.is_alive():  # in steps, so that Ctrl-C is heard
            if self._stop():
                self._stopped.set()
                raise ToolError("CANCELLED", "indexing was stopped; the old index is untouched")
            self._thread.join(_STEP)
        if self._failure is not None:
            raise self._failure
        return self._history

    def _read(self) -> None:
        if not self._repository.is_git:
            return
        try:
            stop = self._stopped.is_set
            if self._old is None or not self._old.head:
                self._history = read_history(self._repository.root, stop=stop)
            else:
                self._history = update_history(self._old, self._repository.root, stop=stop)
        except Exception as error:  # noqa: BLE001 - raised again by `result`, in the thread that waits for it
            self._failure = error
