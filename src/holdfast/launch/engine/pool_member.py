"""A machine in the pool: it is given requests by the queue, carries them out, and looks after those of the dead.

One at a time executes a run: whoever claims it in the store, as long as it gives signs of life. A member that
cannot give any stops its own work at half of its lease, so that it is over when the others take it up; if it
cannot even do that, it ends itself, and its processes with it. One that was given up all the same (it was frozen,
say) writes nothing any more, and joins again as somebody else.
"""

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.launch.engine.answering import Answering
from holdfast.launch.engine.asking import INTERRUPTED
from holdfast.launch.engine.dbos_queue import DbosQueue, QueueLostError
from holdfast.launch.engine.labour import Parts
from holdfast.launch.engine.pool import identity_of
from holdfast.launch.store.records import LASTING, OPEN
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.pool_store import PoolStore
    from holdfast.launch.store.records import AskedRequest

__all__ = ["Conditions", "PoolMember"]

_LOOK = 0.2  # seconds between two looks at what is wanted no more
_MIND = 1.0  # seconds between two looks at the pool
_DECLINE = 1.5  # seconds that a request may wait here for a free place; then it is left to the others
_ENDING = 10.0  # seconds that executions have to let go
_KEPT = timedelta(hours=1)  # how long answered requests are kept for those who still wait
_HOPELESS = 75
_PAUSE = threading.Event()  # that never comes

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a machine works in the pool."""

    name: str
    concurrency: int
    workers: int
    lease: float


class PoolMember(Answering):
    """One life of this machine in the pool, from joining to leaving; another identity for each.

    `serve` blocks until the life is over. `leave` may be called from anywhere, a signal handler too.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: "PoolStore",
        objects: "ObjectStore",
        queue: DbosQueue,
        conditions: Conditions,
        tell: Callable[[str, str], None],
    ) -> None:
        super().__init__()
        self.identity = identity_of(conditions.name)
        self.is_lost = False  # the others have given this life up, or the queue is gone: begin another one
        self._workspace, self._objects, self._queue = workspace, objects, queue
        self._store: PoolStore = store
        self._conditions = conditions
        self._tell_person = tell
        self._leaving, self._ended, self._over = threading.Event(), threading.Event(), threading.Event()
        self._places = threading.BoundedSemaphore(conditions.concurrency)
        self._guard = threading.Lock()
        self._taken: set[str] = set()  # under the guard
        self._running: dict[str, asyncio.Task[None]] = {}  # of the loop's thread
        self._loop: asyncio.AbstractEventLoop  # from the moment that it has joined
        self._parts: Parts | None = None
        self._signed = monotonic()
        self._fenced: float | None = None

    # --- a life ----------------------------------------------------------------------------------------------

    def serve(self, *, drain: bool = False) -> None:
        """Work in the pool until told to leave, given up, or, with `drain`, until nothing is left to do."""
        about, lease = self._conditions, self._conditions.lease
        self._store.join(
            self.identity, about.name, host=socket.gethostname(), pid=os.getpid(), concurrency=about.concurrency,
            lease=lease,
        )  # fmt: skip
        self._store.delivers_as = self.identity
        self._loop = asyncio.new_event_loop()
        self._objects.sweep()
        self._signed = monotonic()
        threads = [
            threading.Thread(target=work, name=f"launch-{work.__name__.strip('_')}", daemon=True)
            for work in (self._execute_all, self._live, self._mind)
        ]
        try:
            for thread in threads[:2]:
                thread.start()
            self._queue.open(self.identity, self._carry_out)
            threads[2].start()
            at_once = f"{about.concurrency} run{'s' if about.concurrency > 1 else ''} at a time"
            self._tell_person("join", f"{about.name} works in the pool, {at_once}")
            self._wait_for_the_end(drain=drain)
        finally:
            self._end(threads)

    def leave(self) -> None:
        """Take nothing more, hand over after the steps in hand, then end."""
        self._leaving.set()

    @property
    def executing(self) -> int:
        """How many requests this machine carries out now."""
        with self._guard:
            return len(self._taken)

    def stop(self) -> None:
        """End at once; what was begun is left to the others."""
        self._leaving.set()
        self._ended.set()

    def _wait_for_the_end(self, *, drain: bool) -> None:
        while not self._ended.wait(_LOOK):
            is_silent = monotonic() - self._signed > self._conditions.lease / 2
            self._fence(is_silent=is_silent)
            if self.executing:
                continue
            if self._leaving.is_set() or (drain and not is_silent and self._is_all_done()):
                return

    def _fence(self, *, is_silent: bool) -> None:
        """Whoever cannot say that it lives stops its work before others take it up."""
        if not is_silent:
            self._fenced = None
        elif self._fenced is None:
            self._fenced = monotonic()
            self._tell_person("silent", "the store cannot be reached; the work is stopped")
            self._loop.call_soon_threadsafe(self._cancel_all)
        elif self._running and monotonic() - self._fenced > self._conditions.lease / 4:
            # Our loop hangs in the store: only this ends our processes in time. What has stopped and only waits to
            # be written down is no reason: others do not mind it, and the store may come back any hour.
            self._tell_person("lost", "the work cannot be stopped; this process ends")
            os._exit(_HOPELESS)

    def _is_all_done(self) -> bool:
        with contextlib.suppress(StoreError):
            return not self._store.requests(state=OPEN)
        return False

    def _end(self, threads: list[threading.Thread]) -> None:
        self._leaving.set()
        self._loop.call_soon_threadsafe(self._cancel_all)
        end = monotonic() + _ENDING
        while self.executing and monotonic() < end:
            _PAUSE.wait(_LOOK)
        self._ended.set()
        with contextlib.suppress(Exception):  # whatever is left of it is another life's to mend
            self._queue.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in threads:
            if thread.ident is not None:
                thread.join(_ENDING)
        self._over.set()
        with contextlib.suppress(StoreError):  # then the others find out when the lease is over
            self._store.leave(self.identity)
            self._store.free_the_dead(INTERRUPTED)

    # --- signs of life, and those of others ------------------------------------------------------------------

    def _live(self) -> None:
        while not self._ended.wait(self._conditions.lease / 6):
            asked = monotonic()
            try:
                if not self._store.beat(self.identity):
                    self._be_lost("the pool has given this machine up; it joins again")
                    return
                self._signed = asked
            except StoreError as trouble:
                _log.warning("no sign of life could be given: %s", trouble)

    def _be_lost(self, why: str) -> None:
        self._tell_person("lost", why)
        self.is_lost = True
        self.stop()

    def _mind(self) -> None:
        """Free what the dead hold, and put into the queue what is pending."""
        while not self._ended.wait(min(_MIND, self._conditions.lease / 6)):
            try:
                freed = self._store.free_the_dead(INTERRUPTED)
                for run_id in freed.runs:
                    self._tell_person("freed", f"{run_id} was held by a machine that is gone")
                self._return_what_is_not_ours()
                if not self._leaving.is_set():
                    self._arrange()
                self._store.forget_requests(datetime.now(UTC) - _KEPT)
            except StoreError as trouble:
                _log.warning("the pool could not be looked after: %s", trouble)
            except QueueLostError as lost:
                self._be_lost(f"{lost}; it is made again"[:300])
                return

    def _arrange(self) -> None:
        members = self._store.members()
        self._queue.arrange(
            self._store.requests(state="pending"),
            {member.identity for member in members},
            per_member=max((member.concurrency for member in members), default=self._conditions.concurrency),
            in_all=self._store.bound(),
        )

    def _return_what_is_not_ours(self) -> None:
        """What was taken for us without our knowing it, since the answer of the store was lost."""
        for request in self._store.requests(state="running"):
            with self._guard:
                is_known = request.request_id in self._taken
            if request.owner == self.identity and not is_known:
                self._store.hand_back(request.request_id, self.identity)

    # --- executing -------------------------------------------------------------------------------------------

    def _carry_out(self, request_id: str) -> str:
        """Called by the queue, in a thread of its own: what became of the request, for whoever looks there."""
        if not self._places.acquire(timeout=_DECLINE):
            return "declined"
        try:
            if self._leaving.is_set():
                return "declined"
            with self._guard:
                if request_id in self._taken:
                    return "known"
                self._taken.add(request_id)
            try:
                return self._carried_out(request_id)
            finally:
                with self._guard:
                    self._taken.discard(request_id)
        finally:
            self._places.release()

    def _carried_out(self, request_id: str) -> str:
        try:
            request = self._store.request(request_id)
            if request is None or not self._store.take_request(request_id, self.identity):
                return "not pending"
        except StoreError as trouble:
            _log.warning("a request could not be taken: %s", trouble)
            return "store"
        answered = asyncio.run_coroutine_threadsafe(self._answered(request), self._loop)
        # With this life its loop stops, also where something hangs in it: then there is no end to wait for.
        while not futures.wait({answered}, timeout=_LOOK).done:
            if self._over.is_set():
                return "left"
        if answered.cancelled():
            return "left"
        answered.result()
        return "answered"

    async def _answered(self, request: "AskedRequest") -> None:
        assert self._parts is not None
        task = asyncio.create_task(self._answer(self._parts, request))
        self._running[request.request_id] = task
        self._tell_person("begin", f"{request.run_id} {request.kind}")
        try:
            await asyncio.wait({task})
        finally:
            del self._running[request.request_id]
        await self._write_until_done()
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a request failed", exc_info=error)
        with contextlib.suppress(StoreError):
            run = await asyncio.to_thread(self._store.run, request.run_id)
            self._tell_person("end", f"{request.run_id} {run.state if run else 'gone'}")

    async def _write_until_done(self) -> None:
        """What could not be written is written before the place is free; others hold it when our lease is over."""
        while self._unwritten and not self._ended.is_set():
            try:
                self._write_the_rest()
            except StoreError:
                await asyncio.sleep(_LOOK)

    def _tell(self, request: "AskedRequest", outcome: dict[str, Any]) -> None:
        if outcome == INTERRUPTED and request.kind in LASTING:
            self._store.hand_back(request.request_id, self.identity)
        else:
            self._store.answer_request(request.request_id, outcome, owner=self.identity)

    def _outcome(self, run_id: str, error: BaseException) -> dict[str, Any]:
        """A store that cannot be reached interrupts what was done; it goes on when it can be reached again."""
        if isinstance(error, StoreError) and error.reason in ("busy", "unavailable"):
            return INTERRUPTED
        return super()._outcome(run_id, error)

    def _execute_all(self) -> None:
        asyncio.set_event_loop(self._loop)
        slots = asyncio.Semaphore(self._conditions.workers)
        self._parts = Parts(
            self._workspace, self._store, self._objects, slots, self.identity, self._leaving.is_set, is_pool=True
        )
        looking = self._loop.create_task(self._look_for_unwanted())
        try:
            self._loop.run_forever()
        finally:
            rest = {looking, *asyncio.all_tasks(self._loop)}
            for task in rest:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(rest, timeout=_ENDING))
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _look_for_unwanted(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            with contextlib.suppress(StoreError):  # then at the next look
                self._stop_unwanted(self._running)

    def _cancel_all(self) -> None:
        for task in list(self._running.values()):
            if not task.cancelling():
                task.cancel()
