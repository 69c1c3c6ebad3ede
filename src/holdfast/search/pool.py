"""A pool of parser processes in which one bad file costs only itself.

Parsers are C code that reads whatever lies in a repository: one may crash, loop or eat all memory. So each runs in
a fresh interpreter of its own, works on its items one after the other, and is killed and replaced when it fails.
Since the answers come in the order of the items, the first item without an answer is the one at fault; what was
sent ahead behind it is sent again.

Everything happens in the thread that takes the results: no threads, no event loop. While nobody takes any, nothing
more is read or sent than what fits into the pipes.
"""

import fcntl
import os
import pickle
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from holdfast.errors import ProcessError, ToolError, UsageError
from holdfast.interpreter import module_command
from holdfast.process.group import end_group
from holdfast.search.pool_worker import BROKEN, ERROR, HEADER, MEMORY, READY, RESULT, described

__all__ = ["Failure", "ParsePool"]

K = TypeVar("K")

_GIB = 1024**3
_AHEAD = 8  # items sent to a worker before it has answered the first of them
_AHEAD_BYTES = 1024 * 1024  # and no further one once so much is under way
_PIPE_BYTES = 1024 * 1024
_LARGEST_ANSWER = _GIB  # more can only be a broken frame
_START_BOUND = 60.0  # seconds in which a worker must have loaded the parsers
_SILENCE = 120.0  # seconds without an answer; what computes too long is ended by `parsing_time` well before
_STARTS = 3  # workers in a row that may die before they are ready
_KILL_BOUND = 5.0
_LONGEST_WAIT = 0.1  # seconds until `stop` is asked again
_SIGNALS = {int(number): number.name for number in signal.Signals}


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of an item that gave no result.

    `reason` is parser-error (the task raised), parser-crashed, parser-timeout or out-of-memory.
    """

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Job:
    key: Any
    frame: bytes
    payload: Any


class _Worker:
    """One parser process and its pipes; never waits for it, except for its end."""

    def __init__(self, task: str, memory_limit: int) -> None:
        life, self._life = os.pipe()
        foreign = not task.startswith("holdfast.")
        words = (task, str(memory_limit), str(life))
        command = module_command("holdfast.search.pool_worker", *words, user_code=foreign)
        try:
            # In a session of its own, Ctrl-C in the terminal is ours to handle.
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(life,),
                start_new_session=True,
            )
        except OSError as trouble:
            os.close(self._life)
            raise ProcessError(f"a parser process cannot be started: {trouble}") from trouble
        finally:
            os.close(life)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests = self._process.stdin.fileno()
        self.answers = self._process.stdout.fileno()
        for pipe in (self.requests, self.answers):
            os.set_blocking(pipe, False)
            with suppress(OSError, AttributeError):  # only on Linux, and only while the user's share lasts
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.ready = False
        self.deadline = time.monotonic() + _START_BOUND
        self.jobs: deque[_Job] = deque()
        self.open = True
        self.is_out_of_time = False  # it was ended because it had used up the computing time that it was given
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()

    @property
    def has_room(self) -> bool:
        """Whether another item may be sent ahead."""
        return len(self.jobs) < _AHEAD and sum(len(job.frame) for job in self.jobs) < _AHEAD_BYTES

    @property
    def is_sending(self) -> bool:
        """Whether something is still to be written when the pipe can take it."""
        return bool(self._outgoing)

    def give(self, job: _Job) -> None:
        """Put an item behind those that the worker has already."""
        self.jobs.append(job)
        self._outgoing.append(memoryview(job.frame))
        self.send()

    def send(self) -> None:
        """Write as much as the pipe takes."""
        try:
            while self._outgoing:
                written = os.write(self.requests, self._outgoing[0])
                if written == len(self._outgoing[0]):
                    self._outgoing.popleft()
                else:
                    self._outgoing[0] = self._outgoing[0][written:]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # it is dead; its last answers are still to be read
            self._outgoing.clear()

    def receive(self) -> bool:
        """Read what has arrived; False when the worker has closed its end."""
        try:
            received = os.read(self.answers, _PIPE_BYTES)
        except BlockingIOError:
            return True
        self._incoming += received
        return bool(received)

    def frames(self) -> Iterator[tuple[bytes, bytes]]:
        """The complete answers among what was read: a letter and a body each; OverflowError for nonsense."""
        while len(self._incoming) >= HEADER.size:
            (length,) = HEADER.unpack_from(self._incoming)
            if not 0 < length <= _LARGEST_ANSWER:
                raise OverflowError(length)
            end = HEADER.size + length
            if len(self._incoming) < end:
                return
            frame = bytes(memoryview(self._incoming)[HEADER.size : end])
            del self._incoming[:end]
            yield frame[:1], frame[1:]

    def finish(self) -> None:
        """End the process and whatever it has started; does not wait."""
        end_group(self._process)

    def end(self) -> str:
        """Wait for the end of a process that dies or was killed, and say how it ended."""
        try:
            code = self._process.wait(_KILL_BOUND)
        except subprocess.TimeoutExpired:
            return "it cannot be killed"
        if code >= 0:
            return f"exit status {code}"
        if -code == signal.SIGPROF:
            self.is_out_of_time = True
        hint = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
        return f"killed by {_SIGNALS.get(-code, -code)}{hint}"

    def close(self) -> None:
        """Close the pipes; the process has ended."""
        if self.open:
            self.open = False
            os.close(self._life)
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()


class ParsePool:
    """Runs a task, named `module:function`, over many items in processes that may die.

    Processes are started as they are needed, up to `workers`, and stay for the next `map`. Use it as a context
    manager, or call `stop`. One `map` at a time, from any thread.
    """

    def __init__(
        self, workers: int, task: str, *, timeout: float = _SILENCE, memory_limit: int | None = 2 * _GIB
    ) -> None:
        if workers < 1 or timeout <= 0:
            raise UsageError("a pool needs at least one worker and a timeout above 0")
        self._most = workers
        self._task = task
        self._timeout = timeout
        self._memory_limit = memory_limit or 0
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._again: deque[_Job] = deque()  # sent to a worker that was lost before it came to them
        self._done: deque[tuple[Any, bytes | Failure]] = deque()
        self._failed_starts = 0
        self._revise: Callable[[Any], Any] = lambda payload: payload
        self._at_work = False
        self._stopped = False
        self._finishing = threading.Lock()  # a map may end at the moment in which another thread stops the pool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        trouble: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def map(
        self,
        items: Iterable[tuple[K, Any]],
        stop: Callable[[], bool] = lambda: False,
        revise: Callable[[Any], Any] = lambda payload: payload,
    ) -> Iterator[tuple[K, Any]]:
        """Run the task over the payloads of `(key, payload)` items.

        Gives `(key, result)` or `(key, Failure)` for each item, in the order in which they are finished. Items are
        taken from the iterable only as far as workers have room; `revise` sees those that are sent again. Raises
        ProcessError when the task cannot be loaded, when processes do not start, or when the pool is stopped
        meanwhile, and ToolError CANCELLED soon after `stop` says so, whatever the parsers are at.
        """
        if self._at_work:
            raise UsageError("the pool is at work already", remedy="finish or close the other map first")
        self._raise_if_stopped()
        self._at_work, self._revise = True, revise
        try:
            source = iter(items)
            self._turn(0)  # a worker that died since the last map must not take anything with it
            while True:
                self._raise_if_stopped()
                if stop():  # the workers that are at something are killed below
                    raise ToolError("CANCELLED", "indexing was stopped; the old index is untouched")
                # What failed is heard of first: `revise` may not send more of its kind again.
                has_failure = any(isinstance(outcome, Failure) for _, outcome in self._done)
                more = has_failure or self._fill(source)
                if self._done:
                    key, outcome = self._done.popleft()
                    yield key, outcome if isinstance(outcome, Failure) else _read(outcome)
                elif any(worker.jobs for worker in self._workers):
                    self._turn(_LONGEST_WAIT)
                elif not more:
                    return
        finally:
            self._finish()

    def stop(self) -> None:
        """Kill every process at once; a `map` that is under way raises."""
        self._stopped = True
        for worker in tuple(self._workers):
            worker.finish()
        for worker in tuple(self._workers):
            worker.end()
        if not self._at_work:  # a map in another thread still looks at the pipes, and closes them as it ends
            self._finish()

    def _finish(self) -> None:
        """Leave nothing of a map behind: a worker that still has items would answer into the next one."""
        self._at_work = False
        with self._finishing:
            self._again.clear()
            self._done.clear()
            for worker in tuple(self._workers):
                if worker.jobs or self._stopped:
                    self._remove(worker)
            if self._stopped:
                self._selector.close()

    def _fill(self, source: Iterator[tuple[Any, Any]]) -> bool:
        """Send items while a worker has room; False when there are no more."""
        while len(self._workers) < self._most or any(worker.has_room for worker in self._workers):
            job = self._next_job(source)
            if job is None:
                return bool(self._done)
            worker = self._free_worker()
            if worker.ready and not worker.jobs:
                worker.deadline = time.monotonic() + self._timeout
            worker.give(job)
            self._watch_sending(worker)
        return True

    def _next_job(self, source: Iterator[tuple[Any, Any]]) -> _Job | None:
        if self._again:
            job = self._again.popleft()
            body = pickle.dumps(self._revise(job.payload), pickle.HIGHEST_PROTOCOL)
            return _Job(job.key, HEADER.pack(len(body)) + body, job.payload)
        for key, payload in source:
            try:
                body = pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
            except Exception as trouble:  # noqa: BLE001 - whatever the payload raises is its failure
                self._done.append((key, Failure("parser-error", f"it cannot be sent: {described(trouble)}")))
                return None
            return _Job(key, HEADER.pack(len(body)) + body, payload)
        return None

    def _free_worker(self) -> _Worker:
        """The worker with the least to do; a new one where all have something and more are allowed."""
        roomy = (worker for worker in self._workers if worker.has_room)
        best = min(roomy, key=lambda worker: len(worker.jobs), default=None)
        if best is not None and (not best.jobs or len(self._workers) >= self._most):
            return best
        worker = _Worker(self._task, self._memory_limit)
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        return worker

    def _turn(self, longest: float) -> None:
        """Wait until something can be read or written, at most so long and until the next deadline."""
        busy = [worker for worker in self._workers if worker.jobs]
        if busy:
            longest = min(longest, max(0.0, min(worker.deadline for worker in busy) - time.monotonic()))
        for event, _ in self._selector.select(longest):
            worker: _Worker = event.data
            if not worker.open:
                continue  # removed a moment ago, while its other pipe was looked at
            if event.fd == worker.requests:
                worker.send()
                self._watch_sending(worker)
            else:
                self._hear(worker)
        # Only now: whoever takes results slowly must not find workers guilty whose answers lay in the pipe.
        now = time.monotonic()
        for worker in busy:
            if worker.open and worker.jobs and now >= worker.deadline:
                self._lose(worker, "parser-timeout")

    def _hear(self, worker: _Worker) -> None:
        is_alive = worker.receive()
        worker.deadline = time.monotonic() + (self._timeout if worker.ready else _START_BOUND)
        try:
            for kind, body in worker.frames():
                self._take(worker, kind, body)
                if not worker.open:
                    return
        except OverflowError:
            is_alive = False  # the parser wrote into our pipe; nothing from it can be believed any more
        if not is_alive:
            self._lose(worker, "parser-crashed")

    def _take(self, worker: _Worker, kind: bytes, body: bytes) -> None:
        if kind == READY:
            worker.ready = True
            worker.deadline = time.monotonic() + self._timeout
            self._failed_starts = 0
        elif kind == BROKEN:
            raise ProcessError(f"the parser {self._task} cannot be loaded: {body.decode('utf-8', 'replace')}")
        elif not worker.jobs or kind not in {RESULT, ERROR, MEMORY}:
            raise OverflowError(kind)
        elif kind == RESULT:
            self._done.append((worker.jobs.popleft().key, body))
        else:
            reason = "parser-error" if kind == ERROR else "out-of-memory"
            detail = body.decode("utf-8", "replace")
            self._done.append((worker.jobs.popleft().key, Failure(reason, detail)))
            if kind == MEMORY:  # what it holds on to would fail the next file too
                self._again.extend(worker.jobs)
                self._remove(worker)

    def _lose(self, worker: _Worker, reason: str) -> None:
        """Replace a worker that died or must die; the item that it was at is blamed, the others are sent again."""
        how = self._remove(worker)
        jobs, worker.jobs = worker.jobs, deque()
        if worker.ready and jobs:
            self._done.append((jobs.popleft().key, self._failure(worker, reason, how)))
        elif not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                raise ProcessError(f"the processes for {self._task} do not start: {how}")
        self._again.extend(jobs)

    def _failure(self, worker: _Worker, reason: str, how: str) -> Failure:
        if worker.is_out_of_time:
            return Failure("parser-timeout", "no result within its computing time")
        return Failure(reason, how if reason == "parser-crashed" else f"no result within {self._timeout:g} s")

    def _remove(self, worker: _Worker) -> str:
        self._workers.remove(worker)
        for pipe in (worker.answers, worker.requests):
            with suppress(KeyError):
                self._selector.unregister(pipe)
        worker.finish()
        how = worker.end()
        worker.close()
        return how

    def _watch_sending(self, worker: _Worker) -> None:
        watched = worker.requests in self._selector.get_map()
        if worker.is_sending and not watched:
            self._selector.register(worker.requests, selectors.EVENT_WRITE, worker)
        elif watched and not worker.is_sending:
            self._selector.unregister(worker.requests)

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise ProcessError("the pool of parsers was stopped")


def _read(body: bytes) -> Any:
    try:
        return pickle.loads(body)  # noqa: S301 - from our own worker
    except Exception as trouble:  # noqa: BLE001 - a result may raise anything as it is put together
        return Failure("parser-error", f"the result cannot be read: {described(trouble)}")
