"""The host: hands every happening to the kernel and carries out what the kernel commands. It decides nothing.

Inputs are taken one at a time, each to its end, however they come: a command that itself brings news (the outcome
store has an answer) queues its input behind the one at hand. Should the kernel fail, the session goes on: a
request gets an error, a tick is tried again later, and after a failure about a worker all workers begin anew.
"""

import asyncio
import random
import secrets
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import HoldfastError, ProcessError, SessionError
from holdfast.host.front import Front
from holdfast.host.outcomes import Conflict, OutcomeStore, digest_of
from holdfast.host.public_side import PublicSide
from holdfast.host.revival import PAUSE, revived
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

_OF_WORKERS = (FromWorker, GarbledAnswer, HeldUp, WorkerUp, WorkerDown)
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
        self.front: Front | None = None
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
        self._not_before = 0.0  # when the clock is looked at again after that failed
        self._is_closed = False  # no worker is started any more
        self._begins_anew = False  # all workers are ended; inputs wait until they are gone
        self._counts: Counter[str] = Counter()  # what the kernel does not see
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
        if not self._busy:
            self._work_off()

    def _work_off(self) -> None:
        self._busy = True
        try:
            while self._inputs and not self._begins_anew:
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
        text = f"the host failed at {type(given).__name__}"
        fault_id = self._record_failure(text, error)
        if isinstance(given, Tick):
            self._not_before = self._loop.time() + PAUSE
        elif isinstance(given, WorkerUp | WorkerDown):
            self._begin_anew()
        elif isinstance(given, FromClient) and isinstance(given.message, Request):
            number = given.message.id
            data = {
                "class": "invariant",
                "code": "INTERNAL",
                "retryable": False,
                "faultId": fault_id,
                "generation": self.state.active,
                "attempt": 0,
                "retry": {"safe": True, "afterMs": 0},  # no worker has ever been sent it
            }
            return [ToClient(encode(error_message(number, INTERNAL_ERROR, f"{text} ({fault_id})", data)), number)]
        return []

    def _record_failure(self, text: str, error: Exception) -> str:
        fault_id = secrets.token_hex(4)
        trace = "".join(traceback.format_exception(error))
        self._emit(FaultRecorded(fault_id, None, None, type(error).__name__, f"{text}: {error}", trace))
        return fault_id

    def _begin_anew(self) -> None:
        """End every worker; what the kernel knew about them cannot be relied on."""
        self._begins_anew = True
        for timer in self._starts.values():
            timer.cancel()
        self._starts.clear()
        for worker in self._workers.values():
            worker.end(politely=False)
        self._loop.call_soon(self._go_on_when_alone)

    def _go_on_when_alone(self) -> None:
        if self._workers or not self._begins_anew:
            return
        self._begins_anew = False
        self._rollout_ended(RolloutEnded("the host has failed, and begins anew with another worker"))
        # What workers still had to say is lost with them: their requests are decided about below.
        self._inputs = deque(given for given in self._inputs if not isinstance(given, _OF_WORKERS))
        try:
            self.state, commands = revived(self.state, self._loop.time())
        except Exception as error:  # noqa: BLE001
            self._record_failure("the host could not begin anew", error)
            self._on_leave()  # a session that nobody serves any more is better closed
            return
        self._do(commands)
        self._work_off()

    def _do(self, commands: list[Command]) -> None:
        for command in commands:
            self._carry_out[type(command)](command)

    def _set_alarm(self) -> None:
        at = max(self.state.wake_at, self._not_before) if self.state.wake_at else 0.0
        if at and not self._begins_anew and (self._alarm is None or at < self._alarm.when()):
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
        if self.front is not None and self.front.owns(command.concerns):
            self.front.send(command)
        else:
            self._public.send(command)

    def _to_worker(self, command: ToWorker) -> None:
        worker = self._workers.get(command.generation)
        if worker is not None:
            worker.send(command.payload, command.attempt)

    def _start_worker(self, command: StartWorker) -> None:
        if self._is_closed:
            return
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
            if worker.generation == 1:
                self._workers.pop(worker.generation, None)
                self.first_failure = error
                self._on_leave()
                return
            self._never_started(worker, "WORKER_NOT_STARTED", error.message)
        except Exception as error:  # noqa: BLE001 - a worker that nobody waits for would hold up the session
            fault_id = self._record_failure(f"the host failed to start worker {worker.generation}", error)
            self._never_started(worker, "INTERNAL", f"the host failed to start it ({fault_id})")
        else:
            known = self.state.workers.get(worker.generation)
            role = known.role.value if known is not None else "active"
            self._emit(WorkerStarted(worker.generation, worker.pid or 0, role))
            self.take(WorkerUp(worker.generation))

    def _never_started(self, worker: WorkerProcess, code: str, message: str) -> None:
        cause = {"class": "process", "code": code, "message": message}
        if worker.pid is None:
            self._gone(WorkerDown(worker.generation, cause))
        else:
            worker.end(politely=False, fault=cause)

    def _stop_worker(self, command: StopWorker) -> None:
        waiting = self._starts.pop(command.generation, None)
        if waiting is not None:
            waiting.cancel()
            cause = {"class": "process", "code": "WORKER_NOT_STARTED", "message": "it was not needed any more"}
            self._inputs.append(WorkerDown(command.generation, cause))
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
        self._counts["noise_lines"] += 1
        if count in {1, 10, 100, 1000, 10_000}:
            self._emit(StdoutNoise(generation, line[:200].decode(errors="replace"), count))

    def worker_unheard(self, generation: int) -> None:  # noqa: ARG002
        """A message for a worker was dropped, since it does not read."""
        self._counts["dropped_for_worker"] += 1

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        """A worker is gone."""
        if cause.get("survivors"):
            text = f"processes of worker {generation} are still alive"
            self._emit(KillFailed(None, tuple(cause["survivors"]), text))
        if cause.get("problem"):
            self._tell_problem("containers", f"the container of worker {generation}: {cause['problem']}")
        told = {name: value for name, value in cause.items() if name in {"class", "code", "message", "stderr"}}
        if cause.get("refused") and generation == 1:  # later on it is a fault like any other, which may be mended
            self._workers.pop(generation, None)
            self.refusal = cause["exit_code"]
            self._on_leave()
            return
        self._gone(WorkerDown(generation, told, unsent))

    def _gone(self, down: WorkerDown) -> None:
        self._workers.pop(down.generation, None)
        if self._begins_anew:
            self._go_on_when_alone()
        else:
            self.take(down)

    # --- what people ask ---------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """What was counted, by the kernel and beside it."""
        seen = {**self._counts, "stderr_bytes_dropped": self._relay.dropped}
        return {**self.state.counts, **{name: count for name, count in seen.items() if count}}

    def health(self) -> dict[str, Any]:
        """How the host is."""
        told = health(self.state, self._loop.time(), self._started_at)
        counters = {**told["counters"], **self._counts, "stderr_bytes_dropped": self._relay.dropped}
        return {**told, "counters": counters, "worker_pid": self._active_pid()}

    def _active_pid(self) -> int | None:
        active = self._workers.get(self.state.active)
        return active.pid if active is not None else None

    async def restart(self) -> dict[str, Any]:
        """Replace the worker; SessionError when that failed and the old one stays."""
        before = self.state.active
        done: asyncio.Future[str] = self._loop.create_future()
        self._restarts_awaited.append(done)
        try:
            self.take(RestartAsked())
            problem = await done
        finally:  # also where whoever asked has left
            if done in self._restarts_awaited:
                self._restarts_awaited.remove(done)
        if problem:
            stays = self.state.active == before and before in self._workers and not self.state.leaving_at
            remedy = "; if the server cannot run twice at once: holdfast stop, then start it again"
            raise SessionError(problem + (remedy if stays else ""))
        return {"generation": self.state.active, "worker_pid": self._active_pid()}

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
        """End the front and every worker, and wait for them."""
        self._is_closed = True
        if self.front is not None:
            await self.front.close()
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
