"""One worker process: its pipes, its messages, its end. It decides nothing; the host is told what happens.

Reading is never interrupted and never waits for writing: bytes go from the pipe into the framer in the loop's own
callback, whatever the worker is being sent meanwhile. Lines that are no message are noise: told, counted, and
tolerated up to a bound.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from holdfast.errors import ProcessError, WireError
from holdfast.host.stderr_relay import StderrRelay, Tail
from holdfast.host.unreadable import ENDS_KEPT, UnreadableAnswer, recognize
from holdfast.host.worker_input import WorkerInput
from holdfast.process import Outcome, Process, spawn
from holdfast.wire.codec import decode
from holdfast.wire.envelope import Message, parse
from holdfast.wire.framing import ContentLengthFramer, LineFramer

__all__ = ["WorkerListener", "WorkerOptions", "WorkerProcess"]

USAGE_EXIT = 2
MAX_WAITING = (
    64 * 1024 * 1024
)  # bytes unread by a worker from which on it is sent requests only; those are bounded
STDOUT_PATIENCE = 1.0  # seconds that a worker may live on after it has closed its stdout


class WorkerOptions:
    """How every worker of a host is started and read."""

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
        max_depth: int,
    ) -> None:
        self.command = tuple(command)
        self.is_ours = is_ours
        self.grace = grace
        self.noise_max = noise_max
        self.max_depth = max_depth
        self._legacy = legacy
        self._max_bytes = max_bytes
        self._max_header_bytes = max_header_bytes

    def framer(self, ends_kept: int = 0) -> LineFramer | ContentLengthFramer:
        """A framer of its own for one stream."""
        if self._legacy:
            return ContentLengthFramer(self._max_bytes, self._max_header_bytes, ends_kept=ends_kept)
        return LineFramer(self._max_bytes, ends_kept=ends_kept)


class WorkerListener(Protocol):
    """Who is told what a worker does."""

    def worker_said(self, generation: int, message: Message, frame: bytes) -> None:
        """A message came."""

    def worker_garbled(self, generation: int, answer: UnreadableAnswer) -> None:
        """An answer came that cannot be read."""

    def worker_noise(self, generation: int, line: bytes, count: int) -> None:
        """A line came that is no message."""

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        """It is gone, with all its processes, and everything that it said was told."""


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
        self._framer = options.framer(ENDS_KEPT)
        self._wrap = options.framer().wrap
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
        self._process = await spawn(
            self._options.command,
            stdin="pipe",
            on_stdout=self._on_stdout,
            on_stderr=self._on_stderr,
            grace=self._options.grace,
        )
        assert self._process.stdin is not None  # it was asked for
        self._input = WorkerInput(self._process.stdin)
        self._watch = asyncio.create_task(self._see_to_its_end(self._process))
        if self._is_unwanted:
            self.end(politely=False)

    def send(self, payload: bytes, attempt: int) -> None:
        """Write one message; a worker that is gone is told of by its end, not here."""
        assert self._input is not None  # the kernel waits for its start
        if attempt or self._input.waiting < MAX_WAITING:
            self._input.send(self._wrap(payload), attempt)

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
            cause = self._fault or _cause("process", "WORKER_EXITED", f"the worker ended ({outcome.describe()})")
        except ProcessError as error:
            outcome = Outcome(process.pid, lost=True)
            cause = _cause("process", "WORKER_EXITED", error.message)
        unsent = self._input.unsent if self._input is not None else frozenset()
        await process.stop(0)  # which also hands over the last of what it said
        for frame in self._framer.finish():
            self._take(frame, is_whole=False)
        told = {**cause, "exit_code": outcome.returncode, "survivors": outcome.survivors}
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
            message = parse(decode(frame, max_depth=self._options.max_depth))
        except WireError as error:
            line = error.message.encode() if isinstance(frame, WireError) else frame
            # The half that a worker managed to write before it died is no answer: the call was lost with it.
            answer = recognize(error, line) if is_whole else None
            if answer is None:
                self._count_noise(line)
            else:
                self._listener.worker_garbled(self.generation, answer)
            return
        self._has_spoken = True
        self._listener.worker_said(self.generation, message, frame)

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


def _cause(fault_class: str, code: str, message: str) -> Mapping[str, Any]:
    return {"class": fault_class, "code": code, "message": message}
