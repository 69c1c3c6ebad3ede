"""Vectors made beside other work: one process at a time, started when there may be something to do.

A crash of the model is a process that ended, and the next change starts another one.
"""

import contextlib
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from holdfast.interpreter import module_command
from holdfast.process.group import end_group
from holdfast.search.home import IndexHome
from holdfast.search.repository import Repository, index_home
from holdfast.search.vectors.making import wants_vectors

__all__ = ["BackgroundEmbedding"]

_PROGRAM = "holdfast.search.vectors.working"


class BackgroundEmbedding:
    """Keeps the vectors of an index complete while the context lasts, if vectors were ever asked for there."""

    def __init__(self, repository: Repository, cache_dir: Path) -> None:
        self._home = IndexHome(index_home(repository, cache_dir))
        self._command = module_command(_PROGRAM, str(repository.root), str(cache_dir))
        self._process: subprocess.Popen[bytes] | None = None
        self._is_due = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            end_group(self._process)
            self._process.wait()

    def look(self, *, changed: bool) -> None:
        """Start the process if the index changed since it last looked; called again and again."""
        self._is_due = self._is_due or changed
        is_running = self._process is not None and self._process.poll() is None
        if self._is_due and not is_running and wants_vectors(self._home):
            self._is_due = False
            with contextlib.suppress(OSError):  # no room for a process: the next change tries again
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
