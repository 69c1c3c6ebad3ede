"""What a tool is given besides its arguments: progress, programs that die with the call, and its client.

`Context` is for `async def` tools; `SyncContext` has the same verbs for tools that run in a thread.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from holdfast.errors import StopWork
from holdfast.observe.sink import EventSink
from holdfast.present.secrets import NO_SECRETS, Secrets
from holdfast.vocabulary.events import KillFailed
from holdfast.vocabulary.ids import RequestId
from holdfast.worker.asking import MUTE, Asking
from holdfast.worker.asking_verbs import AskingVerbs, SyncAskingVerbs
from holdfast.worker.client_log import SILENT, ClientLog
from holdfast.worker.progress import ProgressMeter

if TYPE_CHECKING:
    from holdfast.process import Completed, Outcome

__all__ = ["NO_STATE", "Context", "SyncContext"]

# What the lifespan of a server gives; a plain `Context` says nothing about it.
State = TypeVar("State", default=Any)
NO_STATE: Any = object()


class Context(AskingVerbs, Generic[State]):
    """The call, as its tool sees it. Made by the runtime; a tool asks for it with a parameter of this type.

    `Context[Library]` says what `ctx.state` is: what the lifespan of the server gave.
    """

    __slots__ = ("_asking", "_client_log", "_log", "_meter", "_numbers", "_programs", "_state", "_stopped",
                 "call_id", "grace", "request_id", "secrets", "tool")  # fmt: skip

    def __init__(
        self,
        *,
        tool: str,
        call_id: str,
        request_id: RequestId,
        meter: ProgressMeter,
        grace: float,
        log: EventSink,
        secrets: Secrets = NO_SECRETS,
        state: Any = NO_STATE,
        asking: Asking = MUTE,
        client_log: ClientLog = SILENT,
    ) -> None:
        self._state = state
        self.tool = tool
        self.call_id = call_id
        self.request_id = request_id
        self._meter = meter
        self.grace = grace
        self._log = log
        self.secrets = secrets  # what must not be told of its arguments
        self._asking = asking
        self._numbers = itertools.count(1)
        self._client_log = client_log
        self._stopped = False
        self._programs: set[asyncio.Task[Completed]] = set()

    @property
    def state(self) -> State:
        """What the lifespan of the server gave; the same object for every call of this process."""
        if self._state is NO_STATE:
            raise RuntimeError(
                f"{self.tool} has no state: write Server(..., lifespan=...), and do not isolate the tool"
            )
        state: State = self._state
        return state

    @property
    def stopped(self) -> bool:
        """Whether the call is being ended from outside: cancelled, timed out, or the server goes down."""
        return self._stopped

    @property
    def is_followed(self) -> bool:
        """Whether anybody asked for progress; a tool need not tell any if not."""
        return self._meter.is_open

    async def progress(
        self,
        message: str,
        *,
        progress: float | None = None,
        total: float | None = None,
        stream: str = "info",
        phase: str = "progress",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Report how far the work is, with early results as `data`. Throttled; dropped without a listener."""
        self._meter.report(message, progress, total, stream, phase, data)

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        check: bool = False,
        phase: str = "progress",
    ) -> "Completed":
        """Run a program in a process group of its own; it and all it starts die with the call.

        Its output lines become progress; the result holds the tail of both streams.
        """
        from holdfast.process import run

        if self._stopped:
            raise RuntimeError(f"the call of {self.tool} is over; its context runs no more programs")
        running = run(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            timeout=timeout,
            grace=self.grace,
            check=check,
            on_line=lambda stream, line: self._meter.report(line, stream=stream, phase=phase),
            on_end=self.record_end,
        )
        program = asyncio.ensure_future(running)
        self._programs.add(program)
        program.add_done_callback(self._programs.discard)
        return await program

    async def end_programs(self) -> None:
        """For the runtime: the tool has returned; end the programs that it left running, and start no more."""
        self.mark_stopped()
        cancelled: set[asyncio.Task[Completed]] = set()
        while self._programs:
            for program in self._programs - cancelled:
                program.cancel()
            cancelled |= self._programs
            # Somebody may stop the call meanwhile; its programs are being ended already.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(self._programs)

    def mark_stopped(self) -> None:
        """For the runtime: the call is being ended; no progress and no log leaves it any more."""
        self._stopped = True
        self._meter.close()
        if self._client_log is not SILENT:
            self._client_log.close()

    @property
    def asking(self) -> Asking:
        """For the runtime: the way to the client."""
        return self._asking

    @property
    def client_log(self) -> ClientLog:
        """For the runtime: the log of the client."""
        return self._client_log

    def relay(self, notice: Mapping[str, Any]) -> None:
        """For the runtime: pass on a progress report that a child process made for this call."""
        self._meter.report(
            notice["message"], notice.get("progress"), notice.get("total"), notice["stream"], notice["phase"],
            notice.get("data"),
        )  # fmt: skip

    def record_end(self, outcome: "Outcome") -> None:
        """For the runtime: a process tree of this call came to its end; survivors are an error event."""
        if outcome.survivors:
            self.record_survivors(outcome.survivors)

    def record_survivors(self, survivors: tuple[int, ...]) -> None:
        """For the runtime: these processes of the call could not be ended."""
        message = "a process tree of this call could not be ended"
        self._log.emit(KillFailed(self.call_id, survivors, message))


class SyncContext(SyncAskingVerbs, Generic[State]):
    """`Context` for a tool that runs in a thread: the same verbs, blocking.

    A thread cannot be interrupted from outside. Every verb raises `StopWork` once the call is being ended, and
    `check()` does nothing else: call it inside long loops.
    """

    __slots__ = ("_inner", "_loop", "_tasks")

    def __init__(self, inner: Context[State], loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def _verbs(self) -> AskingVerbs:
        return self._inner

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self._inner.tool

    @property
    def state(self) -> State:
        """What the lifespan of the server gave; the same object for every call, so guard what threads share."""
        return self._inner.state

    @property
    def request_id(self) -> RequestId:
        """The id that the client gave the call."""
        return self._inner.request_id

    @property
    def call_id(self) -> str:
        """The id of this call in the event log."""
        return self._inner.call_id

    @property
    def stopped(self) -> bool:
        """Whether the call is being ended from outside."""
        return self._inner.stopped

    @property
    def is_followed(self) -> bool:
        """Whether anybody asked for progress."""
        return self._inner.is_followed

    def check(self) -> None:
        """Raise `StopWork` when the call is being ended; return at once otherwise."""
        if self._inner.stopped:
            raise StopWork

    def progress(
        self,
        message: str,
        *,
        progress: float | None = None,
        total: float | None = None,
        stream: str = "info",
        phase: str = "progress",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Report how far the work is; see `Context.progress`."""
        self.check()
        self._wait_for(
            self._inner.progress(message, progress=progress, total=total, stream=stream, phase=phase, data=data)
        )

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        timeout: float | None = None,
        check: bool = False,
        phase: str = "progress",
    ) -> "Completed":
        """Run a program that dies with the call; see `Context.run`."""
        self.check()
        completed: Completed = self._wait_for(
            self._inner.run(argv, cwd=cwd, env=env, stdin=stdin, timeout=timeout, check=check, phase=phase)
        )
        return completed

    def interrupt(self) -> None:
        """For the runtime, in the loop's thread: end the programs that the tool is waiting for."""
        for task in self._tasks:
            task.cancel()

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        # Not run_coroutine_threadsafe: its future is cancelled before the task is, and the tool would go on
        # while the process tree that it waits for is still being ended.
        outcome: Future[Any] = Future()

        def start() -> None:
            task = self._loop.create_task(coroutine)
            self._tasks.add(task)
            task.add_done_callback(finish)
            if self._inner.stopped:
                task.cancel()

        def finish(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                outcome.set_exception(StopWork())
            elif (error := task.exception()) is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(task.result())

        self._loop.call_soon_threadsafe(start)
        return outcome.result()
