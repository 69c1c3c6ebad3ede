"""The engine of a pool, for whoever asks: requests go into the store, and a machine of the pool carries them out.

Whoever only asks needs no scheduler and executes nothing. What it waits for ends with it; that a run is driven on
does not: that was asked for the run's sake.
"""

import contextlib
import os
import secrets
import socket
import threading
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.errors import ToolError
from holdfast.launch.engine.asking import Asking
from holdfast.launch.store.refusals import StoreError

if TYPE_CHECKING:
    from holdfast.launch.store.pool_store import PoolStore

__all__ = ["PoolEngine", "identity_of"]

_LEASE = 30.0  # seconds without a sign of life after which nobody waits for an answer any more
_SIGN = 5.0  # seconds between two signs of life, and between two looks whether anybody works in the pool
_NOBODY = 15.0  # seconds without a member after which it makes no sense to wait


def identity_of(name: str = "") -> str:
    """What no other process is called, in this pool or any other, now or later."""
    return f"{name or 'client'}:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"


class PoolEngine(Asking):
    """Asks the machines of a pool."""

    def __init__(self, store: "PoolStore") -> None:
        self.identity = identity_of()
        self._store: PoolStore = store
        self._closing = threading.Event()
        self._guard = threading.Lock()
        self._signed: float | None = None
        self._seen_somebody = monotonic()

    def begin(self, kind: str, run_id: str) -> str:
        """Ask for something without waiting for it; the id of the request."""
        return self.ask(kind, run_id)

    def adopt(self, *, leaving: str = "") -> list[str]:  # noqa: ARG002
        """Nothing: the machines of the pool go on with what was interrupted."""
        return []

    def is_at_work(self, holder: str) -> bool:
        """Whether the machine that holds a run has a lease that has not ended."""
        return any(member.identity == holder for member in self._store.members())

    def close(self, *, at_once: bool = True) -> None:  # noqa: ARG002
        """Wait no more; what was asked for the sake of a run stays."""
        self._closing.set()
        if self._signed is not None:
            with contextlib.suppress(StoreError):  # then they find out by themselves that nobody waits any more
                self._store.leave(self.identity)

    def wake(self) -> None:
        """Tell the others that somebody waits here, and look whether there are any."""
        with self._guard:
            if self._signed is not None and monotonic() - self._signed < _SIGN:
                return
            self._store.wait_here(self.identity, host=socket.gethostname(), pid=os.getpid(), lease=_LEASE)
            if self._signed is None or self._store.members():
                self._seen_somebody = monotonic()
            self._signed = monotonic()

    def _given_up(self) -> Exception | None:
        if monotonic() - self._seen_somebody < _NOBODY:
            return None
        return ToolError(
            "INTERNAL",
            "no machine works in the pool",
            details={"reason": "no_executor"},
            hint="on a machine of the pool: `holdfast launch work`",
            retryable=True,
        )
