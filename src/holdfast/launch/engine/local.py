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
import errno
import fcntl
import os
import secrets
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.launch import states
from holdfast.launch.engine.engine import never
from holdfast.launch.engine.execution import Execution
from holdfast.launch.engine.labour import SCRATCH, HandedOverError, Parts, RunLostError
from holdfast.launch.engine.refusals import busy
from holdfast.launch.store.refusals import Busy, LeaseLost, StoreError
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.records import AskedRequest
    from holdfast.launch.store.run_store import RunStore

__all__ = ["LocalEngine", "owned"]

_LOOK = 0.1  # seconds between two looks at the requests, and at the lock
_LINGER = 0.3  # seconds that an owner without work stays, for whoever asks next
_LOOK_AFTER = 0.5  # seconds between two looks at what nobody waits for
_HAND_OVER = 10.0  # seconds that the step in hand of somebody else's run may take when we leave
_ENDING = 5.0  # seconds that executions have to let go when the engine is closed
_PATIENCE = 10.0  # seconds that an owner has to stop what it was asked to stop
_CLOCKS = timedelta(seconds=2)  # how far the start of a process and our clock may be apart
_KEPT = timedelta(hours=1)  # how long answered requests are kept for those who still wait
_INTERRUPTED = {"interrupted": True}
_ALL = 1_000_000
_RESTING = frozenset({states.VALIDATING, states.READY_FOR_PR, *states.TERMINAL})


class LocalEngine:
    """Executes runs in a thread of this process, or waits for the process that does."""

    def __init__(
        self, workspace: Workspace, store: "RunStore", objects: "ObjectStore", *, workers: int = 4
    ) -> None:
        self.identity = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._workspace = workspace
        self._store = store
        self._objects = objects
        self._workers = workers
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None  # under the guard, as is what it could not do
        self._trouble: Exception | None = None
        self._unwanted: set[str] = set()
        self._unwritten: list[Callable[[], None]] = []
        self._begun: dict[str, tuple[str, str]] = {}  # what nobody waits for, under the guard
        self._looking: threading.Thread | None = None
        self._leaving = threading.Event()
        self._closing = threading.Event()

    # --- for callers -----------------------------------------------------------------------------------------

    def begin(self, kind: str, run_id: str) -> str:
        """Ask for something without waiting for it; the id of the request."""
        request = self._ask(kind, run_id)
        with self._guard:
            self._begun[request] = (kind, run_id)
            if self._looking is None:
                self._looking = threading.Thread(target=self._look_after, name="launch-requests", daemon=True)
                self._looking.start()
        return request

    def _ask(self, kind: str, run_id: str) -> str:
        request = secrets.token_hex(8)
        self._store.ask(request, run_id, kind, self.identity, datetime.now(UTC))
        self._wake()
        return request

    def _look_after(self) -> None:
        """Ask again for what nobody waits for, and what was interrupted with the process that did it."""
        while not self._closing.wait(_LOOK_AFTER):
            with self._guard:
                if not self._begun:
                    self._looking = None
                    return
                begun = dict(self._begun)
            for request, (kind, run_id) in begun.items():
                with contextlib.suppress(StoreError):  # then at the next look
                    found = self._store.request(request)
                    if found is not None and found.state in ("pending", "running"):
                        self._wake()
                        continue
                    if found is not None and found.outcome == _INTERRUPTED:
                        self._ask_again(kind, run_id)
                    with self._guard:
                        del self._begun[request]

    def _ask_again(self, kind: str, run_id: str) -> None:
        request = self._ask(kind, run_id)
        with self._guard:
            self._begun[request] = (kind, run_id)

    def perform(self, kind: str, run_id: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Ask for something and wait for its outcome; ToolError where it is refused, fails, or is stopped."""
        try:
            run = self._store.run(run_id)
            again = {"fix": f"finish_fix:{run.fix_attempts if run else 0}", "open_pr": "finish_open_pr"}
            outcome = self._wait(self._ask(kind, run_id), stop)
            while outcome == _INTERRUPTED:
                outcome = self._wait(self._ask(again.get(kind, kind), run_id), stop)
        except StoreError as trouble:
            raise _unexpected(run_id, trouble) from trouble
        if "error" in outcome:
            error = outcome["error"]
            raise ToolError(
                error["code"], error["message"], details=error["details"], hint=error["hint"],
                retryable=error["retryable"],
            )  # fmt: skip
        done: dict[str, Any] = outcome["done"]
        return done

    def adopt(self, *, leaving: str = "") -> list[str]:
        """Go on with the runs that nobody executes and that do not rest, but for one; their ids."""
        with owned(self._workspace) as is_owned:
            if not is_owned:  # another process executes runs, and would be the one to ask
                return []
            self._void_the_dead()
            left = [
                run.run_id
                for run in self._store.runs(limit=_ALL)
                if run.state not in _RESTING and run.holder is None and run.run_id != leaving
            ]
        for run_id in left:
            self.begin("drive", run_id)
        return left

    def close(self, *, at_once: bool = True) -> None:
        """Stop executing: at once, or when what is at work for others has come to the end of its step."""
        self._leaving.set()
        thread = self._thread
        if thread is not None and not at_once:
            thread.join(_HAND_OVER)
        self._closing.set()
        if thread is not None:
            thread.join(_ENDING)

    def _wait(self, request: str, stop: Callable[[], bool]) -> dict[str, Any]:
        asked_to_stop: float | None = None
        while True:
            found = self._store.request(request)
            if found is None or found.state == "cancelled":
                return _failure(ToolError("CANCELLED", "the request was cancelled", details={"scope": "request"}))
            if found.state == "done":
                return found.outcome or _INTERRUPTED
            if asked_to_stop is None and stop():
                asked_to_stop = monotonic()
                self._store.cancel_request(request)
            if asked_to_stop is not None and monotonic() - asked_to_stop > _PATIENCE:
                return _failure(_not_stopped(found.run_id))
            trouble = self._given_up()
            if trouble is not None:
                with contextlib.suppress(StoreError):  # then it stays, and is done by whoever comes next
                    self._store.cancel_request(request)
                return _failure(_unexpected(found.run_id, trouble))
            self._wake()
            if self._closing.wait(_LOOK):
                return _failure(ToolError("CANCELLED", "the engine was closed", details={"scope": "request"}))

    def _wake(self) -> None:
        with self._guard:
            if self._leaving.is_set() or self._thread is not None:
                return
            self._trouble = None
            self._thread = threading.Thread(target=self._live, name="launch-engine", daemon=True)
            self._thread.start()

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
            self._store.answer_request(request.request_id, _INTERRUPTED)
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
                self._store.answer_request(request.request_id, _INTERRUPTED)
            elif self._store.take_request(request.request_id, self.identity):
                running[request.request_id] = asyncio.create_task(self._answer(parts, request))

    def _insist(self, write: Callable[[], None]) -> None:
        """Write it, or later, where the store cannot now: till then the run stays held, and the caller waits."""
        try:
            write()
        except StoreError:
            self._unwritten.append(write)

    def _write_the_rest(self) -> None:
        while self._unwritten:
            self._unwritten[0]()
            del self._unwritten[0]

    def _stop_unwanted(self, running: dict[str, "asyncio.Task[None]"]) -> None:
        if not running:
            return
        for request in self._store.requests(state="running"):
            task = running.get(request.request_id)
            # Once: it is given the time to end its processes.
            if request.wants_cancel and task is not None and not task.cancelling():
                self._unwanted.add(request.request_id)
                task.cancel()

    async def _answer(self, parts: Parts, request: "AskedRequest") -> None:
        """Execute one request; whatever happens, it is answered."""
        outcome: dict[str, Any] = _INTERRUPTED
        try:
            outcome = {"done": await self._execute(parts, request)}
        except asyncio.CancelledError:
            if request.request_id in self._unwanted:
                outcome = _failure(
                    ToolError("CANCELLED", "the request was cancelled",
                              details={"run_id": request.run_id, "scope": "request"})
                )  # fmt: skip
        except BaseExceptionGroup as group:  # of work that is done side by side; the first is why the others ended
            outcome = self._outcome(request.run_id, group.exceptions[0])
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            outcome = self._outcome(request.run_id, error)
        finally:
            self._unwanted.discard(request.request_id)
            self._insist(lambda: self._store.answer_request(request.request_id, outcome))

    def _outcome(self, run_id: str, error: BaseException) -> dict[str, Any]:
        """What whoever asked is told of an execution that ended like this."""
        if isinstance(error, ToolError):
            return _failure(error)
        run = None
        with contextlib.suppress(StoreError):
            run = self._store.run(run_id)
        # What was being written when the run was cancelled may have failed in more ways than one.
        if run is not None and run.state == states.CANCELLED:
            return _failure(_lost(run_id))
        if isinstance(
            error, HandedOverError | RunLostError | LeaseLost
        ):  # it is somebody else's now, who can be asked
            return _INTERRUPTED
        return _failure(_unexpected(run_id, error))

    async def _execute(self, parts: Parts, request: "AskedRequest") -> dict[str, Any]:
        try:
            token = self._store.claim(request.run_id, self.identity)
        except Busy as error:
            raise busy(request.run_id) from error
        try:
            # What a process that was killed has left there is nobody's.
            shutil.rmtree(self._workspace.run(request.run_id) / SCRATCH, ignore_errors=True)
            execution = Execution(parts, request.run_id, token)
            name, _, number = request.kind.partition(":")
            done: dict[str, Any] = await _METHODS[name](execution, *([int(number)] if number else []))
            return done
        finally:
            self._insist(lambda: self._store.release(request.run_id, token))


_METHODS: dict[str, Callable[..., Any]] = {
    "drive": Execution.drive,
    "resume": Execution.resume,
    "validate": Execution.validate,
    "fix": Execution.fix,
    "finish_fix": Execution.finish_fix,
    "finish_open_pr": Execution.finish_open_pr,
    "open_pr": Execution.open_pr,
}


@contextlib.contextmanager
def owned(workspace: Workspace) -> Iterator[bool]:
    """Whether nobody else executes runs of the workspace; then nobody does while the block runs."""
    workspace.root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(workspace.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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


def _failure(error: ToolError) -> dict[str, Any]:
    return {
        "error": {
            "code": error.code, "message": error.message, "details": error.details, "hint": error.hint,
            "retryable": bool(error.retryable),
        }
    }  # fmt: skip


def _lost(run_id: str) -> ToolError:
    return ToolError("CANCELLED", "the run was cancelled", details={"run_id": run_id, "scope": "run"})


def _not_stopped(run_id: str) -> ToolError:
    return ToolError(
        "CANCELLED",
        "the request was cancelled; the process that carries it out does not answer",
        details={"run_id": run_id, "scope": "request", "reason": "owner_does_not_answer"},
        hint="see whether that process was stopped; to cancel the run works at once",
    )


def _unexpected(run_id: str, error: BaseException) -> ToolError:
    import logging

    logging.getLogger(__name__).error("a request failed", exc_info=error)
    if isinstance(error, StoreError):
        return ToolError(
            "INTERNAL",
            "the run store could not be used",
            details={"run_id": run_id, "cause_class": "StoreError", "reason": f"store_{error.reason}"},
            hint=error.remedy or None,
            retryable=error.retryable,
        )
    return ToolError(
        "INTERNAL",
        "the request failed unexpectedly",
        details={"run_id": run_id, "cause_class": type(error).__name__},
        retryable=isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT),
    )
