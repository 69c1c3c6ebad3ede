"""The engine inside this process. In each workspace one process at a time owns it; the others are its clients.

Whoever wants something writes a request into the store. The first process with a request takes the lock of the
workspace and executes what is asked for, by whomever; it lets go of the lock when nothing is left to do. A process
that waits for an owner that dies finds its request marked as interrupted, and asks again: then it is the owner
itself, or another one is. Nothing is locked before the first request, so two servers can live side by side.

An owner that is stopped (a debugger, SIGSTOP) keeps its lock: whoever waits for it goes on waiting until it
continues or ends, and can stop waiting. A run can be cancelled at any time, whoever executes it.
"""

import asyncio
import contextlib
import fcntl
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.launch import states
from holdfast.launch.engine.answering import Answering
from holdfast.launch.engine.asking import INTERRUPTED, Asking, unexpected
from holdfast.launch.engine.labour import Parts
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.records import AskedRequest
    from holdfast.launch.store.run_store import RunStore

__all__ = ["LocalEngine", "held", "owned"]

_LOOK = 0.1  # seconds between two looks at the requests, and at the lock
_LINGER = 0.3  # seconds that an owner without work stays, for whoever asks next
_LOOK_AFTER = 0.5  # seconds between two looks at what nobody waits for
_HAND_OVER = 10.0  # seconds that the step in hand of somebody else's run may take when we leave
_ENDING = 5.0  # seconds that executions have to let go when the engine is closed
_CLOCKS = timedelta(seconds=2)  # how far the start of a process and our clock may be apart
_KEPT = timedelta(hours=1)  # how long answered requests are kept for those who still wait
_ALL = 1_000_000


class LocalEngine(Asking, Answering):
    """Executes runs in a thread of this process, or waits for the process that does."""

    def __init__(
        self, workspace: Workspace, store: "RunStore", objects: "ObjectStore", *, workers: int = 4
    ) -> None:
        super().__init__()
        self.identity = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._workspace = workspace
        self._store = store
        self._objects = objects
        self._workers = workers
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None  # under the guard, as is what it could not do
        self._trouble: Exception | None = None
        self._begun: dict[str, tuple[str, str]] = {}  # what nobody waits for, under the guard
        self._looking: threading.Thread | None = None
        self._leaving = threading.Event()
        self._closing = threading.Event()

    # --- for callers -----------------------------------------------------------------------------------------

    def begin(self, kind: str, run_id: str) -> str:
        """Ask for something without waiting for it; the id of the request."""
        request = self.ask(kind, run_id)
        with self._guard:
            self._begun[request] = (kind, run_id)
            if self._looking is None:
                thread = threading.Thread(target=self._look_after, name="launch-requests", daemon=True)
                thread.start()  # first, or one that cannot be started would be taken for one that looks
                self._looking = thread
        return request

    def _look_after(self) -> None:
        """Ask again for what nobody waits for, and what was interrupted with the process that did it."""
        told: set[str] = set()
        while not self._closing.wait(_LOOK_AFTER):
            with self._guard:
                if not self._begun:
                    self._looking = None
                    return
                begun = dict(self._begun)
            for request, (kind, run_id) in begun.items():
                try:
                    self._look_at(request, kind, run_id)
                except StoreError:
                    continue  # then at the next look
                except Exception as error:  # noqa: BLE001 - nobody else would look after the others
                    if repr(error) not in told:  # the same is not told twice a second
                        told.add(repr(error))
                        unexpected(run_id, error)

    def _look_at(self, request: str, kind: str, run_id: str) -> None:
        found = self._store.request(request)
        if found is not None and found.state in ("pending", "running"):
            self.wake()
            return
        if found is not None and found.outcome == INTERRUPTED:
            self._ask_again(kind, run_id)
        with self._guard:
            del self._begun[request]

    def _ask_again(self, kind: str, run_id: str) -> None:
        request = self.ask(kind, run_id)
        with self._guard:
            self._begun[request] = (kind, run_id)

    def adopt(self, *, leaving: str = "") -> list[str]:
        """Go on with the runs that nobody executes and that do not rest, but for one; their ids."""
        with owned(self._workspace) as is_owned:
            if not is_owned:  # another process executes runs, and would be the one to ask
                return []
            self._void_the_dead()
            left = [
                run.run_id
                for run in self._store.runs(limit=_ALL)
                if run.state not in states.RESTING and run.holder is None and run.run_id != leaving
            ]
        for run_id in left:
            self.begin("drive", run_id)
        return left

    def is_at_work(self, holder: str) -> bool:  # noqa: ARG002
        """Whether some process owns the engine: only that one holds runs, and its lock ends with it."""
        with owned(self._workspace) as is_free:
            return not is_free

    def close(self, *, at_once: bool = True) -> None:
        """Stop executing: at once, or when what is at work for others has come to the end of its step."""
        self._leaving.set()
        thread = self._thread
        if thread is not None and not at_once:
            thread.join(_HAND_OVER)
        self._closing.set()
        if thread is not None:
            thread.join(_ENDING)

    def wake(self) -> None:
        """See to it that somebody looks at the requests: this process, unless another one owns the engine."""
        with self._guard:
            if self._leaving.is_set() or self._thread is not None:
                return
            self._trouble = None
            thread = threading.Thread(target=self._live, name="launch-engine", daemon=True)
            thread.start()  # first, or one that cannot be started would be waited for without an end
            self._thread = thread

    def _given_up(self) -> Exception | None:
        """Why this process could not go on executing, unless it tries again."""
        with self._guard:
            return self._trouble if self._thread is None else None

    # --- the owner -------------------------------------------------------------------------------------------

    def _live(self) -> None:
        """Own the engine while there is something to do; nothing where somebody else owns it."""
        while True:
            is_owned, trouble = False, None
            try:
                with owned(self._workspace) as is_owned:
                    if is_owned:
                        self._void_the_dead()
                        asyncio.run(self._serve())
            except Exception as error:  # noqa: BLE001 - whoever waits has to be told
                trouble = error
            with self._guard:
                # Whoever asked just before the lock was free has found it taken, and relies on us to look again.
                if trouble or not is_owned or self._leaving.is_set() or not self._is_asked():
                    self._trouble, self._thread = trouble, None
                    return

    def _is_asked(self) -> bool:
        with contextlib.suppress(StoreError):
            return bool(self._store.requests(state="pending"))
        return False

    def _void_the_dead(self) -> None:
        """We have the lock, so whoever held runs or requests before us is gone."""
        self._store.release_all(except_holders=())
        for request in self._store.requests(state="running"):
            self._store.answer_request(request.request_id, INTERRUPTED)
        self._store.forget_requests(datetime.now(UTC) - _KEPT)
        self._objects.sweep()

    async def _serve(self) -> None:
        slots = asyncio.Semaphore(self._workers)
        parts = Parts(self._workspace, self._store, self._objects, slots, self.identity, self._leaving.is_set)
        running: dict[str, asyncio.Task[None]] = {}
        self._unwritten.clear()  # of what we owned before, and is void by now
        idle_since = monotonic()
        while not self._closing.is_set():
            running = {name: task for name, task in running.items() if not task.done()}
            try:
                self._write_the_rest()
                if not self._leaving.is_set():
                    self._take(parts, running)
                self._stop_unwanted(running)
            except StoreError:
                if not running:  # others may come to their end all the same
                    raise
            if running:
                idle_since = monotonic()
                await asyncio.wait(running.values(), timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            elif self._leaving.is_set() or monotonic() - idle_since > _LINGER:
                return
            else:
                await asyncio.sleep(_LOOK / 2)
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)

    def _take(self, parts: Parts, running: dict[str, "asyncio.Task[None]"]) -> None:
        for request in self._store.requests(state="pending"):
            if request.asked_by != self.identity and _is_gone(request):
                # Nobody waits for it any more; a pull request, say, must not be opened hours later.
                self._store.answer_request(request.request_id, INTERRUPTED)
            elif self._store.take_request(request.request_id, self.identity):
                running[request.request_id] = asyncio.create_task(self._answer(parts, request))


def owned(workspace: Workspace) -> contextlib.AbstractContextManager[bool]:
    """Whether nobody else executes runs of the workspace; then nobody does while the block runs."""
    return held(workspace.lock)


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether nobody else holds this lock, which ends with its process; then it is ours while the block runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _is_gone(request: "AskedRequest") -> bool:
    """Whether the process that asked has ended; of one on another machine nobody can tell."""
    import psutil

    host, _, rest = request.asked_by.partition(":")
    number = rest.partition(":")[0]
    if host != socket.gethostname() or not number.isdigit():
        return False
    try:
        process = psutil.Process(int(number))
        begun = datetime.fromtimestamp(process.create_time(), UTC)
    except psutil.NoSuchProcess:
        return True
    # One that is younger than the request has only got the same number.
    return process.status() == psutil.STATUS_ZOMBIE or begun > datetime.fromisoformat(request.asked_at) + _CLOCKS
