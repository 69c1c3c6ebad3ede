"""This machine in a pool, for as long as it likes: life after life, where one is lost with the store or queue."""

import secrets
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.launch.engine.dbos_queue import DbosQueue, QueueLostError, check_is_installed
from holdfast.launch.engine.pool_member import Conditions, PoolMember
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.pool_store import PoolStore

__all__ = ["PoolExecutor"]

_ATTEMPTS = 3  # to begin at all: the tables of the queue may be dropped at that very moment
_AGAIN = (1.0, 30.0)  # seconds before the second life, and the longest pause before another one


class PoolExecutor:
    """This machine in the pool, for as long as it likes: life after life, where one is lost."""

    def __init__(
        self,
        workspace: Workspace,
        store: "PoolStore",
        objects: "ObjectStore",
        conditions: Conditions,
        tell: Callable[[str, str], None],
    ) -> None:
        check_is_installed()
        queue = DbosQueue(*store.queue_place())
        self._new: Callable[[], PoolMember] = lambda: PoolMember(
            workspace, store, objects, queue, conditions, tell
        )
        self._store = store
        self._tell_person = tell
        self._member = self._new()
        self._leaving = threading.Event()
        self._has_worked = False

    def serve(self, *, drain: bool = False) -> None:
        """Work until told to leave or, with `drain`, until nothing is left to do."""
        pause, failures = _AGAIN[0], 0
        while not self._leaving.is_set():
            begun = monotonic()
            try:
                self._member.serve(drain=drain)
            except (QueueLostError, StoreError) as trouble:
                failures += 1
                if not self._has_worked and failures == _ATTEMPTS:
                    raise  # there is no reason to believe that it ever works
                self._tell_person("lost", str(trouble)[:300])
                self._member.is_lost = True
            else:
                self._has_worked = True
            if not self._member.is_lost:
                return
            pause = _AGAIN[0] if monotonic() - begun > _AGAIN[1] else pause
            self._leaving.wait(pause)
            pause = min(2 * pause, _AGAIN[1])
            self._member = self._new()

    def adopt(self) -> list[str]:
        """Ask for the runs that are not at rest and that nobody executes or has asked for; their ids."""
        left = self._store.unattended()
        for run_id in left:
            self._store.ask(secrets.token_hex(8), run_id, "drive", self._member.identity)
        return left

    def leave(self, *, at_once: bool = False) -> None:
        """Hand over what is in hand, at once or after its step; may be called by a signal handler."""
        self._leaving.set()
        if at_once:
            self._member.stop()
        else:
            self._member.leave()

    @property
    def executing(self) -> int:
        """How many requests this machine carries out now."""
        return self._member.executing
