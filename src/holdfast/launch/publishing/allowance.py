"""Until when a forge wants to be left alone, remembered for all who use its token, processes to come included.

Every attempt of a run is a process of its own; without a memory each would ask a forge that has just said no.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Allowance"]


class Allowance:
    """One moment, as of `clock`; kept in the file, if there is one. A file that cannot be read says nothing."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._path = path
        self._until = 0.0

    def spend(self, seconds: float) -> None:
        """Nothing more may be asked for so long."""
        if seconds <= self.missing():
            return
        self._until = self.clock() + seconds
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}-{threading.get_ident()}")
            fresh.write_text(f"{self._until:.3f}\n", encoding="ascii")
            fresh.replace(self._path)

    def missing(self) -> float:
        """How long it still is."""
        remembered = 0.0
        if self._path is not None:
            with contextlib.suppress(OSError, ValueError):
                remembered = float(self._path.read_text(encoding="ascii"))
        until = max(self._until, remembered)
        return max(until - self.clock(), 0.0)
