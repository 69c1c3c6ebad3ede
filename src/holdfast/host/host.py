"""The host: hands every happening to the kernel and carries out what the kernel commands. It decides nothing.

Inputs are taken one at a time, each to its end, however they come: a command that itself brings news (the outcome
store has an answer) queues its input behind the one at hand.
"""

import asyncio
import random
import secrets
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import HoldfastError, ProcessError, SessionError
from holdfast.host.outcomes import Conflict, OutcomeStore, digest_of
from holdfast.host.public_side import PublicSide
from holdfast.host.stderr_relay import StderrRelay
from holdfast.host.unreadable import UnreadableAnswer
from holdfast.host.worker_process import WorkerOptions, WorkerProcess
from holdfast.kernel.commands import (
    Command,
    KeepOutcome,
    Leave,
    LookUpOutcome,
    Record,
    RolloutEnded,
    StartWorker,
    StopWorker,
    ToClient,
    ToWorker,
)
from holdfast.kernel.health import health
from holdfast.kernel.inputs import (
    FromClient,
    FromWorker,
    GarbledAnswer,
    HeldUp,
    Input,
    OutcomeFound,
    RestartAsked,
    Tick,
    WorkerDown,
    WorkerUp,
)
from holdfast.kernel.machine import begin, step
from holdfast.kernel.policy import Policy
from holdfast.observe.sink import EventSink
from holdfast.vocabulary.events import Event, FaultRecorded, KillFailed, StdoutNoise, WorkerStarted
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INTERNAL_ERROR, Message, Request, error_message

__all__ = ["Host"]

_JITTER = 0.2  # so that many hosts that lost the same thing do not all come back at the same moment


class Host:
    """One session, its workers, and the state of the kernel between two inputs."""

    def __init__(
        self,
        policy: Policy,
        options: WorkerOptions,
        public: PublicSide,
        outcomes: OutcomeStore,
        log: EventSink,
        on_leave: Callable[[], None],
    ) -> None:
        self.first_failure: ProcessError | None = None
        self.refusal: int | None = None  # the exit code of a first worker that refused to start at all
        self._loop = asyncio.get_running_loop()
        self._options = options
        self._public = public
        self._outcomes = outcomes
        self._log = log
        self._on_leave = on_leave
        self._relay = StderrRelay()
        self._workers: dict[int, WorkerProcess] = {}
        self._starts: dict[int, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._inputs: deque[Input] = deque()
        self._busy = False
        self._alarm: asyncio.TimerHandle | None = None
        self._is_paused = False  # workers are not read from
        self._has_news = False  # events that are not written yet
        self._restarts_awaited: list[asyncio.Future[str]] = []
        self._started_at = self._loop.time()
        self._carry_out: dict[type, Callable[[Any], None]] = {
            ToClient: self._to_client,
            ToWorker: self._to_worker,
            StartWorker: self._start_worker,
            StopWorker: self._stop_worker,
            LookUpOutcome: self._look_up,
            KeepOutcome: self._keep,
            Record: lambda command: self._emit(command.event),
            RolloutEnded: self._rollout_ended,
            Leave: lambda _: on_leave(),
        }
        self.state, commands = begin(policy, self._started_at)
        self._do(commands)

    # --- the loop ----------------------------------------------------------------------------------------------

    def take(self, given: Input) -> None:
        """Let something happen."""
        self._inputs.append(given)
        if self._busy:
            return
        self._busy = True
        try:
            while self._inputs:
                self._do(self._decide(self._inputs.popleft()))
        finally:
            self._busy = False
        self._public.settle(self.state.pending)
        self._set_alarm()

    def _decide(self, given: Input) -> list[Command]:
        """What the kernel commands; nothing, and a record of it, if it fails: the session is worth more than that.

        The state is then the one from before, since a step changes nothing that was there.
        """
        try:
            self.state, commands = step(self.state, self._loop.time(), given)
        except Exception as error:  # noqa: BLE001
            return self._outlive(given, error)
        return commands

    def _outlive(self, given: Input, error: Exception) -> list[Command]:
        fault_id = secrets.token_hex(4)
        trace = "".join(traceback.format_exception(error))
        text = f"the host failed at {type(given).__name__}"
        self._emit(FaultRecorded(fault_id, None, None, type(error).__name__, f"{text}: {error}", trace))
        if not (isinstance(given, FromClient) and isinstance(given.message, Request)):
            return []
        data = {"class": "invariant", "code": "INTERNAL", "retryable": False, "faultId": fault_id}
        number = given.message.id
        return [ToClient(encode(error_message(number, INTERNAL_ERROR, f"{text} ({fault_id})", data)), number)]

    def _do(self, commands: list[Command]) -> None:
        for command in commands:
            self._carry_out[type(command)](command)

    def _set_alarm(self) -> None:
        at = self.state.wake_at
        if at and (self._alarm is None or at < self._alarm.when()):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self._loop.call_at(at, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        if self._is_paused:
            self._excuse_workers()
        self.take(Tick())

    # --- commands ----------------------------------------------------------------------------------------------

    def _to_client(self, command: ToClient) -> None:
        self._public.send(command)

    def _to_worker(self, command: ToWorker) -> None:
        worker = self._workers.get(command.generation)
        if worker is not None:
            worker.send(command.payload, command.attempt)

    def _start_worker(self, command: StartWorker) -> None:
        waiting = self._starts.pop(command.generation, None)
        if waiting is not None:
            waiting.cancel()
        elif command.generation in self._workers:
            return  # it is being started
        delay = command.delay * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
        self._starts[command.generation] = self._loop.call_later(delay, self._begin_start, command.generation)

    def _begin_start(self, generation: int) -> None:
        self._starts.pop(generation, None)
        worker = WorkerProcess(generation, self._options, self, self._relay)
        self._workers[generation] = worker
        self._spawn_task(self._start(worker))

    async def _start(self, worker: WorkerProcess) -> None:
        try:
            await worker.start()
        except ProcessError as error:
            self._workers.pop(worker.generation, None)
            if worker.generation == 1:
                self.first_failure = error
                self._on_leave()
                return
            cause = {"class": "process", "code": "WORKER_NOT_STARTED", "message": error.message}
            self.take(WorkerDown(worker.generation, cause))
            return
        known = self.state.workers.get(worker.generation)
        role = known.role.value if known is not None else "active"
        self._emit(WorkerStarted(worker.generation, worker.pid or 0, role))
        self.take(WorkerUp(worker.generation))

    def _stop_worker(self, command: StopWorker) -> None:
        waiting = self._starts.pop(command.generation, None)
        if waiting is not None:
            waiting.cancel()
        worker = self._workers.get(command.generation)
        if worker is not None:
            worker.end(politely=command.politely)

    def _look_up(self, command: LookUpOutcome) -> None:
        result: bytes | None = None
        conflict = ""
        try:
            found = self._outcomes.look_up(command.tool, command.key, digest_of(command.arguments))
            if isinstance(found, Conflict):
                conflict = f"the key of this call to {command.tool} was used before, with other arguments"
            else:
                result = found
        except HoldfastError as error:
            self._tell_problem("outcomes", str(error))
        self._tell_mended()
        self._inputs.append(OutcomeFound(command.id, result, conflict))

    def _keep(self, command: KeepOutcome) -> None:
        try:
            self._outcomes.keep(command.tool, command.key, digest_of(command.arguments), command.result)
        except HoldfastError as error:
            self._tell_problem("outcomes", str(error))
        self._tell_mended()

    def _tell_mended(self) -> None:
        for problem in self._outcomes.take_problems():
            self._tell_problem("outcomes", problem)

    def _rollout_ended(self, command: RolloutEnded) -> None:
        for waiting in self._restarts_awaited:
            if not waiting.done():
                waiting.set_result(command.problem)
        self._restarts_awaited.clear()

    # --- what workers do ---------------------------------------------------------------------------------------

    def worker_said(self, generation: int, message: Message, frame: bytes) -> None:
        """A worker sent a message."""
        self.take(FromWorker(generation, message, frame))

    def worker_garbled(self, generation: int, answer: UnreadableAnswer) -> None:
        """A worker sent an answer that cannot be read."""
        self.take(GarbledAnswer(generation, answer.id, answer.problem))

    def worker_noise(self, generation: int, line: bytes, count: int) -> None:
        """A worker wrote something else to stdout."""
        self.state.counts["noise_lines"] = self.state.counts.get("noise_lines", 0) + 1
        if count in {1, 10, 100, 1000, 10_000}:
            self._emit(StdoutNoise(generation, line[:200].decode(errors="replace"), count))

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        """A worker is gone."""
        self._workers.pop(generation, None)
        if cause.get("survivors"):
            text = f"processes of worker {generation} are still alive"
            self._emit(KillFailed(None, tuple(cause["survivors"]), text))
        told = {name: value for name, value in cause.items() if name in {"class", "code", "message", "stderr"}}
        if cause.get("refused") and generation == 1:  # later on it is a fault like any other, which may be mended
            self.refusal = cause["exit_code"]
            self._on_leave()
            return
        self.take(WorkerDown(generation, told, unsent))

    # --- what people ask ---------------------------------------------------------------------------------------

    def health(self) -> dict[str, Any]:
        """How the host is."""
        active = self._workers.get(self.state.active)
        told = health(self.state, self._loop.time(), self._started_at)
        return {**told, "worker_pid": active.pid if active is not None else None}

    async def restart(self) -> dict[str, Any]:
        """Replace the worker; SessionError when that failed and the old one stays."""
        done: asyncio.Future[str] = self._loop.create_future()
        self._restarts_awaited.append(done)
        self.take(RestartAsked())
        problem = await done
        if problem:
            raise SessionError(problem)
        return {"generation": self.state.active}

    def pause_workers(self, full: bool) -> None:
        """Stop or resume reading what workers say; asked for when the client does not read."""
        if full != self._is_paused:
            self._is_paused = full
            self._excuse_workers()
        for worker in self._workers.values():
            worker.pause(full)

    def _excuse_workers(self) -> None:
        for generation in list(self._workers):
            self.take(HeldUp(generation))

    async def close(self) -> None:
        """End every worker, and wait for it."""
        for timer in (*self._starts.values(), *filter(None, [self._alarm])):
            timer.cancel()
        self._starts.clear()
        if self._tasks:  # a start that is under way comes to its end first, or its process would be forgotten
            await asyncio.wait(self._tasks)
        workers = list(self._workers.values())
        for worker in workers:
            worker.end(politely=True)
        await asyncio.gather(*(worker.wait_ended() for worker in workers))
        self._outcomes.close()
        self._relay.close()

    def _spawn_task(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _emit(self, event: Event) -> None:
        """Write an event in this turn of the loop, also when no answer leaves that would see to it."""
        self._log.emit(event)
        if not self._has_news:
            self._has_news = True
            self._loop.call_soon(self._write_news)

    def _write_news(self) -> None:
        self._has_news = False
        self._log.flush()

    def _tell_problem(self, what: str, message: str) -> None:
        self._emit(FaultRecorded(what, None, None, "HoldfastError", message, ""))
