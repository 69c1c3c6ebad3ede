"""How a request is carried out by the process that has taken it: claimed, executed, released, answered.

The same for every engine. Whatever happens, the request is answered; where the store cannot be written to at that
moment, a little later.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.launch import states
from holdfast.launch.engine.asking import INTERRUPTED, failure, unexpected
from holdfast.launch.engine.execution import Execution
from holdfast.launch.engine.labour import SCRATCH, HandedOverError, Parts, RunLostError
from holdfast.launch.engine.refusals import busy
from holdfast.launch.store.refusals import Busy, LeaseLost, StoreError

if TYPE_CHECKING:
    from holdfast.launch.store.records import AskedRequest
    from holdfast.launch.store.run_store import RunStore

__all__ = ["Answering"]


class Answering:
    """The part of an engine that carries out requests. Used from one event loop."""

    identity: str
    _store: "RunStore"

    def __init__(self) -> None:
        self._unwanted: set[str] = set()
        self._unwritten: list[Callable[[], None]] = []

    async def _answer(self, parts: Parts, request: "AskedRequest") -> None:
        """Execute one request; whatever happens, it is answered."""
        outcome: dict[str, Any] = INTERRUPTED
        try:
            outcome = {"done": await self._execute(parts, request)}
        except asyncio.CancelledError:
            if request.request_id in self._unwanted:
                outcome = failure(
                    ToolError("CANCELLED", "the request was cancelled",
                              details={"run_id": request.run_id, "scope": "request"})
                )  # fmt: skip
        except BaseExceptionGroup as group:  # of work that is done side by side; the first is why the others ended
            outcome = self._outcome(request.run_id, group.exceptions[0])
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            outcome = self._outcome(request.run_id, error)
        finally:
            self._unwanted.discard(request.request_id)
            self._insist(lambda: self._tell(request, outcome))

    def _tell(self, request: "AskedRequest", outcome: dict[str, Any]) -> None:
        """Write down what became of a request that this process has taken."""
        self._store.answer_request(request.request_id, outcome)

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

    def _outcome(self, run_id: str, error: BaseException) -> dict[str, Any]:
        """What whoever asked is told of an execution that ended like this."""
        if isinstance(error, ToolError):
            return failure(error)
        run = None
        with contextlib.suppress(StoreError):
            run = self._store.run(run_id)
        # What was being written when the run was cancelled may have failed in more ways than one.
        if run is not None and run.state == states.CANCELLED:
            return failure(_lost(run_id))
        if isinstance(
            error, HandedOverError | RunLostError | LeaseLost
        ):  # it is somebody else's now, who can be asked
            return INTERRUPTED
        return failure(unexpected(run_id, error))

    async def _execute(self, parts: Parts, request: "AskedRequest") -> dict[str, Any]:
        try:
            token = self._store.claim(request.run_id, self.identity)
        except Busy as error:
            raise busy(request.run_id) from error
        try:
            # What a process that was killed has left there is nobody's.
            shutil.rmtree(parts.workspace.run(request.run_id) / SCRATCH, ignore_errors=True)
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


def _lost(run_id: str) -> ToolError:
    return ToolError("CANCELLED", "the run was cancelled", details={"run_id": run_id, "scope": "run"})
