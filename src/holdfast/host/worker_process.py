"""One worker process: its pipes, its messages, its end. It decides nothing; the host is told what happens.

Reading is never interrupted and never waits for writing: bytes go from the pipe into the framer in the loop's own
callback, whatever the worker is being sent meanwhile. Lines that are no message are noise: told, counted, and
tolerated up to a bound.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Protocol

from holdfast.errors import ProcessError, UsageError, WireError
from holdfast.host.era_bridge import EraBridge
from holdfast.host.era_flow import EraMemory, Flow
from holdfast.host.stderr_relay import StderrRelay, Tail
from holdfast.host.unreadable import UnreadableAnswer, recognize
from holdfast.host.worker_input import WorkerInput
from holdfast.present.last_words import last_words
from holdfast.process import Outcome, Process, spawn
from holdfast.process.containers import WORKER_LABEL, container_engine, labelled, remove_labelled
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import Message, parse
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.wire.legible import ENDS_KEPT
from holdfast.wire.legible_answer import answer_behind_text

__all__ = ["WorkerListener", "WorkerOptions", "WorkerProcess"]

USAGE_EXIT = 2
MAX_WAITING = (
    64 * 1024 * 1024
)  # bytes unread by a worker from which on it is sent requests only; those are bounded
STDOUT_PATIENCE = 1.0  # seconds that a worker may live on after it has closed its stdout
CONTAINER_BOUND = 20.0  # seconds that the engine may take to remove the container of a worker


class WorkerOptions:
    """How every worker of a host is started and read.

    `token` is that of the host: the containers of its workers are labelled with it, and each with its own.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        is_ours: bool,
        legacy: bool,
        grace: float,
        noise_max: int,
        max_bytes: int,
        max_header_bytes: int,
        token: str = "",
        speaks_both: bool | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.environment = environment  # None is our own
        self.command = tuple(command)
        self._token = token
        self.is_ours = is_ours
        self.speaks_both = is_ours if speaks_both is None else speaks_both
        self.check: Callable[[], object] | None = None  # whether it is still what it was, before each start
        self.grace = grace
        self.noise_max = noise_max
        self._legacy = legacy
        self._max_bytes = max_bytes
        self._max_header_bytes = max_header_bytes
        self.eras = EraMemory()

    def of_release(self, command: Sequence[str], check: Callable[[], object] | None = None) -> "WorkerOptions":
        """The same for the workers of another release, which is another program."""
        other = copy(self)
        other.command = tuple(command)
        other.check = check
        other.eras = EraMemory()
        other.is_ours = self.is_ours and other.command == self.command
        other.speaks_both = self.speaks_both and other.command == self.command
        return other

    def command_of(self, generation: int) -> tuple[str, ...]:
        """What is run as this worker."""
        return labelled(self.command, self._token, self._label_of(generation)) if self._token else self.command

    async def remove_containers_of(self, generation: int) -> str:
        """Remove what a container engine still runs for this worker; what went wrong, if anything."""
        engine = container_engine(self.command) if self._token else None
        if engine is None:
            return ""
        label = self._label_of(generation)
        return (await remove_labelled(engine, label, CONTAINER_BOUND, key=WORKER_LABEL)).problem

    def _label_of(self, generation: int) -> str:
        return f"{self._token}-{generation}"

    def framer(self) -> LineFramer | ContentLengthFramer:
        """A framer of its own for one stream."""
        if self._legacy:
            return ContentLengthFramer(self._max_bytes, self._max_header_bytes, ends_kept=ENDS_KEPT)
        return LineFramer(self._max_bytes, ends_kept=ENDS_KEPT)


class WorkerListener(Protocol):
    """Who is told what a worker does."""

    def worker_said(self, generation: int, message: Message, frame: bytes) -> None:
        """A message came."""

    def worker_garbled(self, generation: int, answer: UnreadableAnswer) -> None:
        """An answer came that cannot be read."""

    def worker_noise(self, generation: int, line: bytes, count: int) -> None:
        """A line came that is no message."""

    def worker_unheard(self, generation: int) -> None:
        """A message for it was dropped: it does not read, and too much waits for it already."""

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        """It is gone, with all its processes and containers, and everything that it said was told."""


class WorkerProcess:
    """A worker from its start to its verified end."""

    def __init__(
        self, generation: int, options: WorkerOptions, listener: WorkerListener, stderr: StderrRelay
    ) -> None:
        self.generation = generation
        self.noise = 0
        self._options = options
        self._listener = listener
        self._relay = stderr
        self._tail = Tail()
        self._framer = options.framer()
        self._wrap = options.framer().wrap
        self._bridge = EraBridge(options.eras, speaks_both=options.speaks_both)
        self._bridge_alarm: asyncio.TimerHandle | None = None
        self._process: Process | None = None
        self._closed = asyncio.Event()  # its stdout
        self._input: WorkerInput | None = None
        self._has_spoken = False
        self._is_unwanted = False
        self._fault: Mapping[str, Any] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, once it runs."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Start it; ProcessError when that is not possible."""
        if self._options.check is not None:
            try:
                await asyncio.to_thread(self._options.check)
            except UsageError as error:
                raise ProcessError(error.message) from error
        self._process = await spawn(
            self._options.command_of(self.generation),
            env=self._options.environment,
            stdin="pipe",
            on_stdout=self._on_stdout,
            on_stderr=self._on_stderr,
            grace=self._options.grace,
        )
        # From here on its end is seen to, whatever happens.
        self._watch = asyncio.create_task(self._see_to_its_end(self._process))
        assert self._process.stdin is not None  # it was asked for
        self._input = WorkerInput(self._process.stdin)
        if self._is_unwanted:
            self.end(politely=False)

    def send(self, payload: bytes, attempt: int) -> None:
        """Write one message; a worker that is gone is told of by its end, not here."""
        if self._bridge.wants(payload):
            self._carry_out(self._bridge.to_worker(payload, _now(), attempt))
        else:
            self._write(payload, attempt)

    def _write(self, payload: bytes, attempt: int) -> None:
        assert self._input is not None  # the kernel waits for its start
        if attempt or self._input.waiting < MAX_WAITING:
            self._input.send(self._wrap(payload), attempt)
        else:
            self._listener.worker_unheard(self.generation)

    def pause(self, full: bool) -> None:
        """Stop or resume reading what it says."""
        if self._process is not None:
            self._process.pause_stdout(full)

    def end(self, *, politely: bool, fault: Mapping[str, Any] | None = None) -> None:
        """Begin to end it; its end is told to the listener."""
        self._fault = self._fault or fault
        if self._process is None:
            self._is_unwanted = True  # it is just being started
        elif self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(self._process, politely=politely))

    async def wait_ended(self) -> None:
        """Wait until it is gone."""
        if self._watch is not None:
            await asyncio.wait([self._watch])

    # --- its end -----------------------------------------------------------------------------------------------

    async def _stop(self, process: Process, *, politely: bool) -> None:
        if politely and self._input is not None:
            self._input.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._options.grace):
                    await process.wait()
        await process.stop(self._options.grace)

    async def _see_to_its_end(self, process: Process) -> None:
        ended = asyncio.ensure_future(process.wait())
        closed = asyncio.ensure_future(self._closed.wait())
        await asyncio.wait([ended, closed], return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await asyncio.wait([ended], timeout=STDOUT_PATIENCE)
        closed.cancel()
        if not ended.done():
            self.end(politely=False, fault=_cause("transport", "STDOUT_CLOSED", "the worker closed its stdout"))
        try:
            outcome = await ended
            cause = self._fault or _exited(f"the worker ended ({outcome.describe()})")
        except ProcessError as error:
            outcome = Outcome(process.pid, lost=True)
            cause = _exited(error.message)
        unsent = self._bridge.held | (self._input.unsent if self._input is not None else frozenset())
        await process.stop(0)  # which also hands over the last of what it said
        for frame in self._framer.finish():
            self._take(frame, is_whole=False)
        if self._bridge_alarm is not None:
            self._bridge_alarm.cancel()
        words = last_words(self._tail.text())
        if words and cause["code"] == "WORKER_EXITED":
            cause = {**cause, "message": f"{cause['message']}: {words}"}
        told = {**cause, "exit_code": outcome.returncode, "survivors": outcome.survivors}
        # Killing the command of a container leaves the container running, and with it perhaps the call.
        told["problem"] = await self._options.remove_containers_of(self.generation)
        # A server of ours that cannot be served says so with this code: a thing to correct, not to try again.
        told["refused"] = self._options.is_ours and outcome.returncode == USAGE_EXIT and not self._has_spoken
        self._listener.worker_ended(self.generation, {**told, "stderr": self._tail.text()}, unsent)

    # --- what it says ------------------------------------------------------------------------------------------

    def _on_stdout(self, data: bytes) -> None:
        if not data:
            self._closed.set()
            return
        for frame in self._framer.feed(data):
            self._take(frame)

    def _take(self, frame: bytes | WireError, *, is_whole: bool = True) -> None:
        try:
            if isinstance(frame, WireError):
                raise frame
            message = parse(decode(frame, max_depth=RELAY_DEPTH, halves="replaced"))
        except WireError as error:
            line = error.message.encode() if isinstance(frame, WireError) else frame
            if (split := answer_behind_text(line)) is not None:
                text, rest, response = split
                self._count_noise(text)
                self._deliver(response, rest)
                return
            # The half that a worker managed to write before it died is no answer: the call was lost with it.
            answer = recognize(error, line) if is_whole else None
            if answer is None:
                self._count_noise(line)
            else:
                self._bridge.forget(answer.id)
                self._listener.worker_garbled(self.generation, answer)
            return
        self._deliver(message, frame)

    def _deliver(self, message: Message, frame: bytes) -> None:
        self._has_spoken = True
        if self._bridge.listens:
            self._carry_out(self._bridge.from_worker(message, frame, _now()))
        else:
            self._listener.worker_said(self.generation, message, frame)

    def _carry_out(self, flow: Flow) -> None:
        """Do what the bridge between the eras of worker and client wants done."""
        for payload, attempt in flow.to_worker:
            self._write(payload, attempt)
        for message, frame in flow.to_host:
            self._listener.worker_said(self.generation, message, frame)
        due = self._bridge.due
        if self._bridge_alarm is not None and self._bridge_alarm.when() != due:
            self._bridge_alarm.cancel()
            self._bridge_alarm = None
        if due and self._bridge_alarm is None:
            self._bridge_alarm = asyncio.get_running_loop().call_at(due, self._on_bridge_alarm)

    def _on_bridge_alarm(self) -> None:
        self._bridge_alarm = None
        self._carry_out(self._bridge.tick(_now()))

    def _count_noise(self, line: bytes) -> None:
        self.noise += 1
        self._listener.worker_noise(self.generation, line, self.noise)
        if self.noise > self._options.noise_max:
            text = f"the worker wrote {self.noise} lines to stdout that are no messages"
            self.end(politely=False, fault=_cause("protocol", "STDOUT_NOISE", text))

    def _on_stderr(self, data: bytes) -> None:
        if data:
            self._tail.add(data)
            self._relay.write(data)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _exited(message: str) -> Mapping[str, Any]:
    return _cause("process", "WORKER_EXITED", message)


def _cause(fault_class: str, code: str, message: str) -> Mapping[str, Any]:
    return {"class": fault_class, "code": code, "message": message}
