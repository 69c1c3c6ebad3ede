"""The calls of one session: admitted, queued, run, stopped, and each answered exactly once.

Every decision about one call is taken by the pure machine in `vocabulary.call`; this module drives it: it owns
the tasks, the timers and the queue.
"""

import asyncio
import contextlib
import itertools
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.contract.surface import Surface
from holdfast.observe.sink import EventSink
from holdfast.present.dialects import Dialect
from holdfast.present.profile import Profile
from holdfast.present.render import Presentation
from holdfast.process.ownership import CallProcesses, owned_by
from holdfast.settings import Settings
from holdfast.vocabulary.call import ACCEPTED, Call, Command, Phase, Step, Stop
from holdfast.vocabulary.events import CallEnded, WorkAbandoned
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.ids import RequestId, match_cancellation
from holdfast.worker.answer import Answer, Manner, ToolResult, stop_fault
from holdfast.worker.context import NO_STATE, Context
from holdfast.worker.deadlines import Deadlines
from holdfast.worker.faults import internal_fault
from holdfast.worker.progress import ProgressMeter

__all__ = ["GIVE_UP_MARGIN", "CallTable", "LiveCall"]

# On top of the grace time, what it may take to see the last process of a tree gone.
GIVE_UP_MARGIN = 0.5

_OUTCOMES = {
    Stop.CANCEL_REQUEST: "cancelled",
    Stop.CANCELLED_NOTIFICATION: "cancelled",
    Stop.TIMEOUT: "timeout",
    Stop.SHUTDOWN: "cancelled",
    Stop.DISCONNECT: "disconnected",
}


class LiveCall(ABC):
    """One call between its admission and its answer; a subclass knows what is called, and how it is answered.

    `method` is told in the event log; tools leave it out. `timeout` None is the server's default, 0 is no limit.
    """

    __slots__ = ("answer", "began", "begun", "context", "ending", "method", "outcome", "owns_processes",
                 "patience", "processes", "request_id", "state", "task", "timeout", "trace")  # fmt: skip

    def __init__(
        self,
        request_id: RequestId,
        context: Context,
        answer: Callable[[Answer], None],
        trace: str | None,
        *,
        timeout: float | None,
        method: str | None = None,
    ) -> None:
        self.request_id = request_id
        self.context = context
        self.answer = answer
        self.trace = trace
        self.timeout = timeout
        self.method = method
        self.state: Call = ACCEPTED
        self.began = 0.0
        self.begun = False
        self.outcome: Any = None
        self.task: asyncio.Task[None] | None = None
        self.patience: asyncio.TimerHandle | None = None
        self.processes = CallProcesses()
        self.owns_processes = False  # whether they end with the call also when it returns
        self.ending: asyncio.Task[None] | None = None  # of its processes

    @property
    def name(self) -> str:
        """What is called, for people."""
        return self.context.tool

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The dialect of the server."""

    @abstractmethod
    async def run(self, log: EventSink, settings: Settings) -> Any:
        """Do the work: its outcome, or the fault that was declared for it."""

    @abstractmethod
    def told(self, outcome: Any, settings: Settings) -> ToolResult | Fault:
        """The answer of work that succeeded, or why it cannot be sent."""

    @abstractmethod
    def failed(self, problem: Fault, duration_ms: float = 0.0) -> Answer:
        """The answer of work that failed."""


class CallTable:
    """Admission, the queue and the running calls of one session."""

    def __init__(
        self,
        settings: Settings,
        log: EventSink,
        state: Any = NO_STATE,
        on_stuck: Callable[[int], None] | None = None,
    ) -> None:
        self.server_state = state  # what the lifespan of the server gave
        self._on_stuck = on_stuck  # gets the number of pieces of stopped work that do not end
        self._settings = settings
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._in_flight: dict[RequestId, LiveCall] = {}
        self._waiting: deque[LiveCall] = deque()
        self._running = 0
        self._closing = False
        self._held = False
        self._deadlines: Deadlines[LiveCall] = Deadlines(self._loop, lambda call: self._stop(call, Stop.TIMEOUT))
        self._abandoned: set[asyncio.Task[None]] = set()
        self._idle: asyncio.Future[None] | None = None
        self._manners: dict[tuple[Profile, Presentation], Manner] = {}
        self._silent = ProgressMeter(None, {}, settings.progress_interval, self._loop)
        self._numbers = itertools.count(1)
        self._prefix = os.urandom(4).hex()
        self.late = 0  # inputs that arrived for a call that had its answer
        self.unmatched = 0  # cancellations that fit no call
        self.ended = 0

    # --- admission -------------------------------------------------------------------------------------------

    def overload(self) -> Fault | None:
        """Why no further call can be admitted now, or None."""
        most, slots = self._settings.queue_max, self._settings.concurrency
        stuck = len(self._abandoned)
        if not self._closing and stuck < slots and (self._running < slots or len(self._waiting) < most):
            return None
        if stuck >= slots and not self._closing:
            remedy = "restart the server, and declare tools that do not stop with isolate=True"
            message = f"{stuck} stopped calls still hold threads, as many as may run at the same time: {remedy}"
            return fault("INTERNAL", message)
        size = len(self._waiting)
        message = "the server is shutting down" if self._closing else f"the queue is full ({size} of {most})"
        return fault("QUEUE_OVERLOADED", message, details={"queue": {"max": most, "size": size}})

    def is_in_flight(self, request_id: RequestId) -> bool:
        """Whether a call with exactly this id has no answer yet."""
        return request_id in self._in_flight

    @property
    def is_idle(self) -> bool:
        """Whether every call has its answer."""
        return not self._in_flight

    def next_call_id(self) -> str:
        """An id for the event log that no other call of any process has."""
        return f"{self._prefix}-{next(self._numbers)}"

    def meter(self, send: Callable[[dict[str, Any]], None] | None, fixed: dict[str, Any]) -> ProgressMeter:
        """The progress meter of one call; all calls of which nobody wants to hear share one that is silent."""
        if send is None:
            return self._silent
        return ProgressMeter(send, fixed, self._settings.progress_interval, self._loop)

    def manner(self, surface: Surface, profile: Profile, presentation: Presentation) -> Manner:
        """How a call is answered; there are only a few ways, and each is made once."""
        key = (profile, presentation)
        manner = self._manners.get(key)
        if manner is None or manner.surface is not surface:
            manner = Manner(surface, profile, presentation, self._settings.max_message_bytes)
            self._manners[key] = manner
        return manner

    def submit(self, call: LiveCall) -> None:
        """Take the call in: it runs at once or waits for a slot. `overload` must have been asked first."""
        call.began = self._loop.time()
        self._in_flight[call.request_id] = call
        if self._running < self._settings.concurrency and not self._held:
            self._dispatch(call)
        else:
            self._waiting.append(call)

    def hold(self, full: bool) -> None:
        """Begin no call while the client does not read: what is running may still answer, more would pile up."""
        self._held = full
        self._start_waiting()

    # --- stopping --------------------------------------------------------------------------------------------

    def cancel(self, wanted: object, why: Stop) -> None:
        """Stop the call that a cancellation means; count it when there is none."""
        request_id = match_cancellation(wanted, self._in_flight)
        if request_id is None:
            self.unmatched += 1
            return
        self._stop(self._in_flight[request_id], why)

    def stop_all(self, why: Stop) -> None:
        """Stop every call, waiting or running, and admit no more."""
        self._closing = True
        for call in list(self._in_flight.values()):
            self._stop(call, why)

    async def wait_idle(self, bound: float) -> bool:
        """Wait until every call has its answer, but no longer than `bound` seconds; tell whether it came so."""
        if not self._in_flight:
            return True
        self._idle = self._idle or self._loop.create_future()
        done, _ = await asyncio.wait([self._idle], timeout=bound)
        return bool(done)

    @property
    def has_abandoned_work(self) -> bool:
        """Whether a tool that would not stop is still running."""
        return bool(self._abandoned)

    def _stop(self, call: LiveCall, why: Stop) -> None:
        waiting = call.state.phase is Phase.ACCEPTED
        command = self._advance(call, call.state.request_stop(why))
        if command is Command.ABORT:
            call.context.mark_stopped()
            assert call.task is not None
            call.task.cancel()
            if not call.begun:  # a task that is cancelled before its first step never takes it
                self._finish(call)
                return
            call.ending = self._loop.create_task(self._end_processes(call))
            bound = self._settings.kill_grace + GIVE_UP_MARGIN
            call.patience = self._loop.call_later(bound, self._give_up, call)
        elif command is Command.ANSWER_STOP and waiting:
            self._waiting.remove(call)

    def _give_up(self, call: LiveCall) -> None:
        call.patience = None
        assert call.task is not None
        if not call.task.done():
            # Its slot is given to the next call; `overload` bounds how much abandoned work there can be.
            self._abandoned.add(call.task)
            call.task.add_done_callback(self._abandoned.discard)
            self._running -= 1
            self._log.emit(WorkAbandoned(call.context.call_id, call.name))
            if self._on_stuck is not None:
                self._on_stuck(len(self._abandoned))
        self._advance(call, call.state.give_up())
        self._start_waiting()

    # --- running ---------------------------------------------------------------------------------------------

    def _dispatch(self, call: LiveCall) -> None:
        if self._advance(call, call.state.dispatch()) is not Command.RUN:
            return
        self._running += 1
        timeout = self.timeout_of(call)
        if timeout:
            self._deadlines.add(call, timeout)
        call.task = self._loop.create_task(self._work(call))

    def timeout_of(self, call: LiveCall) -> float:
        """Seconds that a call may run; 0 means no limit."""
        return self._settings.tool_timeout if call.timeout is None else call.timeout

    @contextlib.contextmanager
    def not_counted(self, request_id: RequestId) -> Iterator[None]:
        """Inside, the time limit of this call stands still: somebody else is taking the time."""
        call = self._in_flight.get(request_id)
        if call is None:
            yield
            return
        self._deadlines.pause(call)
        try:
            yield
        finally:
            self._deadlines.resume(call)

    async def _end_processes(self, call: LiveCall) -> None:
        """End what the call started: a thread that waits for such a program comes back by itself."""
        survivors = await call.processes.end(self._settings.kill_grace)
        if survivors:
            call.context.record_survivors(survivors)

    async def _work(self, call: LiveCall) -> None:
        call.begun = True
        owned_by(call.processes)
        try:
            call.outcome = await call.run(self._log, self._settings)
        except asyncio.CancelledError as error:
            if call.state.phase is Phase.RUNNING:  # nobody stopped the call: the tool cancelled itself
                call.outcome = internal_fault(error, call.context, self._log)
        except BaseException as error:  # noqa: BLE001 - also sys.exit() in a tool ends the call, not the server
            call.outcome = internal_fault(error, call.context, self._log)
        finally:
            # The tool has returned in time; what it left running is ours to end, not its own lateness.
            self._deadlines.remove(call)
            await call.context.end_programs()
            if call.owns_processes and call.ending is None:
                call.ending = self._loop.create_task(self._end_processes(call))
            if call.ending is not None:
                with contextlib.suppress(asyncio.CancelledError):  # it is stopped while this is under way already
                    await asyncio.shield(call.ending)
            self._finish(call)

    def _finish(self, call: LiveCall) -> None:
        if call.task not in self._abandoned:
            self._running -= 1
        self._advance(call, call.state.finish())
        self._start_waiting()

    def _start_waiting(self) -> None:
        while self._waiting and self._running < self._settings.concurrency and not self._held:
            self._dispatch(self._waiting.popleft())

    def _advance(self, call: LiveCall, step: Step) -> Command:
        call.state = step.call
        if step.command is Command.ANSWER_OUTCOME:
            self._answer_outcome(call)
        elif step.command is Command.ANSWER_STOP:
            self._answer_stop(call)
        elif step.command is Command.DROP_LATE:
            self.late += 1
        return step.command

    # --- the one answer --------------------------------------------------------------------------------------

    def _answer_outcome(self, call: LiveCall) -> None:
        outcome = call.outcome
        if not isinstance(outcome, Fault):
            answer = self._rendered(call, outcome)
            if isinstance(answer, ToolResult):
                self._end(call, answer, "ok", None)
                return
            outcome = answer
        self._end(call, self._failed(call, outcome), "error", outcome)

    def _rendered(self, call: LiveCall, outcome: Any) -> ToolResult | Fault:
        try:
            return call.told(outcome, self._settings)
        except BaseException as error:  # noqa: BLE001 - a renderer is the tool author's code
            return internal_fault(error, call.context, self._log)

    def _failed(self, call: LiveCall, problem: Fault) -> Answer:
        try:
            return call.failed(problem, self._elapsed_ms(call))
        except BaseException as error:  # noqa: BLE001 - a failure that cannot be told must still be told
            return call.failed(internal_fault(error, call.context, self._log))

    def _answer_stop(self, call: LiveCall) -> None:
        why = call.state.stop
        assert why is not None
        problem = stop_fault(why, call.name, self.timeout_of(call), call.dialect)
        answer = self._failed(call, problem) if why.answered else None
        self._end(call, answer, _OUTCOMES[why], problem)

    def _end(self, call: LiveCall, answer: Answer, outcome: str, problem: Fault | None) -> None:
        call.context.mark_stopped()
        self._deadlines.remove(call)
        if call.patience is not None:
            call.patience.cancel()
        del self._in_flight[call.request_id]
        self.ended += 1
        self._log.emit(
            CallEnded(
                request_id=call.request_id,
                call_id=call.context.call_id,
                tool=call.name,
                outcome=outcome,
                duration_ms=round(self._elapsed_ms(call), 3),
                code=problem.code if problem else None,
                fault_class=problem.fault_class.value if problem else None,
                fault_id=problem.fault_id if problem else None,
                trace=call.trace,
                method=call.method,
            )
        )
        call.answer(answer)
        if not self._in_flight and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _elapsed_ms(self, call: LiveCall) -> float:
        return (self._loop.time() - call.began) * 1000
