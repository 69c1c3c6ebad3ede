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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from holdfast.errors import HoldfastError, ProcessError, RefusedError, TryAgainError
from holdfast.host.front import Front
from holdfast.host.judging import judge
from holdfast.host.outcomes import Conflict, OutcomeStore, digest_of
from holdfast.host.process_tree import NOTHING_SEEN, look_at_tree
from holdfast.host.public_side import PublicSide
from holdfast.host.releases import Releases
from holdfast.host.revival import PAUSE, revived
from holdfast.host.stderr_relay import StderrRelay
from holdfast.host.unreadable import UnreadableAnswer
from holdfast.host.worker_process import WorkerOptions, WorkerProcess
from holdfast.kernel.commands import (
    Command,
    JudgeCatalog,
    KeepOutcome,
    Leave,
    LookAtWorker,
    LookUpOutcome,
    Record,
    RolloutEnded,
    StartWorker,
    StopWorker,
    ToClient,
    ToWorker,
)
from holdfast.kernel.health import health, is_quiet
from holdfast.kernel.inputs import (
    CatalogJudged,
    Fenced,
    FromClient,
    FromWorker,
    GarbledAnswer,
    HeldUp,
    Input,
    OutcomeFound,
    RestartAsked,
    RolloutAsked,
    Tick,
    WorkerDown,
    WorkerSeen,
    WorkerUp,
)
from holdfast.kernel.machine import begin, resume, step
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import State
from holdfast.observe.sink import EventSink
from holdfast.observe.telemetry import Telemetry
from holdfast.vocabulary.events import Event, FaultRecorded, KillFailed, StdoutNoise, WorkerStarted
from holdfast.vocabulary.execution import Rollout
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INTERNAL_ERROR, Message, Request, error_message

__all__ = ["Host"]

_OF_WORKERS = (FromWorker, GarbledAnswer, HeldUp, WorkerUp, WorkerDown, WorkerSeen)
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
        restored: State | None = None,
    ) -> None:
        self.first_failure: ProcessError | None = None
        self.refusal: int | None = None  # the exit code of a first worker that refused to start at all
        self._loop = asyncio.get_running_loop()
        self.releases = Releases(options)
        self._public = public
        self.front: Front | None = None
        self._outcomes = outcomes
        self._log = log
        self._on_leave = on_leave
        self._relay = StderrRelay()
        self._workers: dict[int, WorkerProcess] = {}
        self._starts: dict[int, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._judges: set[asyncio.Task[None]] = set()  # which the end does not wait for
        self._inputs: deque[Input] = deque()
        self._busy = False
        self._alarm: asyncio.TimerHandle | None = None
        self._is_paused = False  # workers are not read from
        self._has_news = False  # events that are not written yet
        self._not_before = 0.0  # when the clock is looked at again after that failed
        self._is_closed = False  # no worker is started any more
        self._begins_anew = False  # all workers are ended; inputs wait until they are gone
        self._is_frozen = False  # nothing changes any more: another host is to go on from here
        self._quiet: asyncio.Future[None] | None = None  # somebody waits until workers could end without harm
        self._counts: Counter[str] = Counter()  # what the kernel does not see
        self._replacements_awaited: list[asyncio.Future[str]] = []
        self.figures = Telemetry(self._tool_names)
        self._started_at = self._loop.time()
        self._carry_out: dict[type, Callable[[Any], None]] = {
            ToClient: self._to_client,
            ToWorker: self._to_worker,
            StartWorker: self._start_worker,
            StopWorker: self._stop_worker,
            LookAtWorker: self._look_at_worker,
            JudgeCatalog: self._begin_judging,
            LookUpOutcome: self._look_up,
            KeepOutcome: self._keep,
            Record: lambda command: self.emit(command.event),
            RolloutEnded: self._rollout_ended,
            Leave: lambda _: on_leave(),
        }
        self.state, commands = (
            begin(policy, self._started_at) if restored is None else resume(restored, self._started_at)
        )
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
            while self._inputs and not self._begins_anew and not self._is_frozen:
                self._do(self._decide(self._inputs.popleft()))
        finally:
            self._busy = False
        self._public.settle(self.state.pending)
        self._set_alarm()
        if self._quiet is not None and is_quiet(self.state) and not self._quiet.done():
            self._quiet.set_result(None)

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
        self.emit(FaultRecorded(fault_id, None, None, type(error).__name__, f"{text}: {error}", trace))
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
            return
        self._public.send(command)
        if self.front is not None and command.concerns is None and self._only_front_waits(self.front):
            self.front.overhear(command)

    def _only_front_waits(self, front: Front) -> bool:
        """Whether nobody but the front has asked anything that a worker could be speaking of."""
        return bool(self.state.pending) and all(front.owns(number) for number in self.state.pending)

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
        begin = partial(self._begin_start, command.generation, self.releases[command.release])
        self._starts[command.generation] = self._loop.call_later(delay, begin)

    def _begin_start(self, generation: int, options: WorkerOptions) -> None:
        self._starts.pop(generation, None)
        worker = WorkerProcess(generation, options, self, self._relay)
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
            self.emit(WorkerStarted(worker.generation, worker.pid or 0, role))
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

    def _look_at_worker(self, command: LookAtWorker) -> None:
        worker = self._workers.get(command.generation)
        tree = look_at_tree(worker.pid) if worker is not None and worker.pid is not None else NOTHING_SEEN
        self._inputs.append(WorkerSeen(command.generation, tree.is_halted, tree.cpu))

    async def _judge(self, command: JudgeCatalog) -> None:
        worker = self.state.workers.get(command.generation)
        accepted = worker is not None and self.releases.may_break(worker.release)
        try:
            problem = "" if accepted else await judge(command.before, command.after)
        except Exception as error:  # noqa: BLE001 - a successor that nobody judges would hold up every other
            problem = (
                f"the tools could not be compared ({self._record_failure('the host failed to judge', error)})"
            )
        self.take(CatalogJudged(command.generation, problem))

    def _begin_judging(self, command: JudgeCatalog) -> None:
        task = self._loop.create_task(self._judge(command))
        self._judges.add(task)
        task.add_done_callback(self._judges.discard)

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
        for waiting in self._replacements_awaited:
            if not waiting.done():
                waiting.set_result(command.problem)
        self._replacements_awaited.clear()

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
            self.emit(StdoutNoise(generation, line[:200].decode(errors="replace"), count))

    def worker_unheard(self, generation: int) -> None:  # noqa: ARG002
        """A message for a worker was dropped, since it does not read."""
        self._counts["dropped_for_worker"] += 1

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        """A worker is gone."""
        if cause.get("survivors"):
            text = f"processes of worker {generation} are still alive"
            self.emit(KillFailed(None, tuple(cause["survivors"]), text))
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

    def telemetry(self) -> dict[str, Any]:
        """What was asked, how it ended and how long it took."""
        return self.figures.snapshot(self.health(), self._under_way())

    def metrics(self, name: str) -> bytes:
        """The same for Prometheus; `name` is that of the server."""
        return self.figures.page({**self.health(), "name": name}, self._under_way())

    def _under_way(self) -> list[tuple[str, str]]:
        return [(entry.method, entry.tool) for entry in self.state.pending.values() if not entry.is_own]

    def _tool_names(self) -> Mapping[str, Any]:
        worker = self.state.workers.get(self.state.active)
        return worker.catalog.tools if worker is not None else {}

    def _active_pid(self) -> int | None:
        active = self._workers.get(self.state.active)
        return active.pid if active is not None else None

    async def restart(self) -> dict[str, Any]:
        """Replace the worker; RefusedError when that failed and the old one stays."""
        return await self._replace(RestartAsked())

    async def rollout(self, command: Sequence[str] | None, *, accept_breaking: bool = False) -> dict[str, Any]:
        """Have another program serve, or the same one as it is now; RefusedError when the old one stays."""
        if self.state.rollout is not Rollout.STABLE:
            raise TryAgainError("another replacement of the worker is under way; try again when it is over")
        number = self.releases.add(self.state.release, command, accept_breaking=accept_breaking)
        try:
            return await self._replace(RolloutAsked(number))
        finally:
            self.releases.forget(self.state)

    @property
    def command(self) -> tuple[str, ...]:
        """What serves at the moment."""
        return self.releases[self.state.release].command

    async def _replace(self, wish: RestartAsked | RolloutAsked) -> dict[str, Any]:
        before = self.state.active
        done: asyncio.Future[str] = self._loop.create_future()
        self._replacements_awaited.append(done)
        try:
            self.take(wish)
            problem = await done
        finally:  # also where whoever asked has left
            if done in self._replacements_awaited:
                self._replacements_awaited.remove(done)
        if problem:
            stays = self.state.active == before and before in self._workers and not self.state.leaving_at
            has_ended = problem.startswith("the successor was lost: the worker ended")
            remedy = "; if the server cannot run twice at once: holdfast stop, then start it again"
            raise RefusedError(problem + (remedy if stays and has_ended else ""))
        told = {"generation": self.state.active, "release": self.state.release}
        return {**told, "worker_pid": self._active_pid()}

    async def come_to_rest(self, bound: float) -> None:
        """Send workers nothing new, and wait until they could end without harm; RefusedError when they cannot."""
        if self.state.pins:
            names = ", ".join(sorted(self.state.pins))
            raise RefusedError(f"the session has state in its worker that no other can take up, by {names}")
        if self.state.probation is not None:
            raise TryAgainError("a new release is on probation, and what came before it is kept; try again later")
        self._quiet = quiet = self._loop.create_future()
        self.take(Fenced(True))  # noqa: FBT003
        await asyncio.wait([quiet], timeout=bound)
        self._quiet = None
        if not quiet.done():
            raise TryAgainError("calls that may not be repeated are in flight; try again when they have ended")

    def freeze(self, frozen: bool) -> None:
        """Let nothing happen any more, or all that has come meanwhile, and the fence down."""
        self._is_frozen = frozen
        if not frozen:
            self.take(Fenced(False))  # noqa: FBT003

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
        for judging in self._judges:
            judging.cancel()
        await asyncio.gather(*self._judges, return_exceptions=True)
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

    def emit(self, event: Event) -> None:
        """Count an event, and write it in this turn of the loop, also when no answer leaves to see to that."""
        more = self.figures.take(event)
        if not event.is_logged and more is None:
            return
        for told in (event, more):
            if told is not None and told.is_logged:
                self._log.emit(told)
        if not self._has_news:
            self._has_news = True
            self._loop.call_soon(self._write_news)

    def _write_news(self) -> None:
        self._has_news = False
        self._log.flush()

    def _tell_problem(self, what: str, message: str) -> None:
        self.emit(FaultRecorded(what, None, None, "HoldfastError", message, ""))
