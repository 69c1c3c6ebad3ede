"""`run`: one command from start to end, with bounded output, a timeout, and nothing left alive in any case."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from holdfast.errors import ProcessError
from holdfast.process.command import checked_seconds
from holdfast.process.custody import DEFAULT_GRACE, Process
from holdfast.process.outcome import Completed, Outcome
from holdfast.process.output import Capture, drain
from holdfast.process.starting import spawn

__all__ = ["TAIL_BYTES", "run"]

TAIL_BYTES = 64 * 1024

# After the end of the tree its pipes are at their end too, unless somebody outside of it was handed one.
_EOF_BOUND = 1.0


async def run(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    timeout: float | None = None,
    grace: float = DEFAULT_GRACE,
    tail_bytes: int = TAIL_BYTES,
    on_line: Callable[[str, str], None] | None = None,
    on_end: Callable[[Outcome], None] | None = None,
    check: bool = False,
) -> Completed:
    """Run a command to its end; when this returns or raises, nothing of its tree is alive.

    `on_line(stream, line)` gets each line of output ("stdout" or "stderr"), and nothing more from the moment of a
    timeout or cancellation. `on_end` gets the outcome in every case, also when a cancellation hides the result.
    With `check`, an end that is not `ok` raises ProcessError with the details.
    """
    begin = time.monotonic()
    if timeout is not None:
        checked_seconds("timeout", timeout)
    if tail_bytes < 0:
        raise ProcessError(f"tail_bytes is {tail_bytes}; give the number of bytes to keep, 0 or more")
    process = await spawn(argv, cwd=cwd, env=env, stdin="null" if stdin is None else "pipe", grace=grace)
    left = None if timeout is None else max(0.0, begin + timeout - time.monotonic())
    call = _Call(process, tail_bytes, on_line)
    outcome = await call.carry_out(stdin, left, on_end)
    completed = Completed(
        argv=tuple(argv),
        outcome=outcome,
        stdout=call.captures[0].tail.text(),
        stderr=call.captures[1].tail.text(),
        stdout_truncated=call.captures[0].tail.truncated,
        stderr_truncated=call.captures[1].tail.truncated,
        duration=time.monotonic() - begin,
        timed_out=call.timed_out,
    )
    if check and not completed.ok:
        raise _failure(completed)
    return completed


class _Call:
    """One run in progress: the process, the tasks that move its input and output, and whether it was aborted."""

    def __init__(self, process: Process, tail_bytes: int, on_line: Callable[[str, str], None] | None) -> None:
        self.timed_out = False
        self._process = process
        self._aborted = False
        self._owner = asyncio.current_task()
        self._cancels_before = self._cancels()
        self.captures = [Capture(name, tail_bytes, on_line, self._is_muted) for name in ("stdout", "stderr")]

    def _cancels(self) -> int:
        return 0 if self._owner is None else self._owner.cancelling()

    def _is_muted(self) -> bool:
        # A cancellation counts from the moment it is asked for, which is before this task gets to see it.
        return self._aborted or self._cancels() > self._cancels_before

    async def carry_out(
        self, stdin: bytes | None, seconds: float | None, on_end: Callable[[Outcome], None] | None
    ) -> Outcome:
        """See the process to its end, within `seconds` or by force."""
        readers = self._read()
        tasks = [*readers, asyncio.ensure_future(_feed(self._process.stdin, stdin or b""))]
        tasks.append(ending := asyncio.ensure_future(self._end_and_drain(readers)))
        try:
            await self._wait(ending, readers, seconds)
        except BaseException:
            self._aborted = True
            raise
        finally:
            try:
                await self._process.stop()  # of a tree that has ended by itself it only closes the streams
            finally:
                for task in tasks:
                    task.cancel()
                outcome = await self._process.wait()  # known by now, so it cannot be interrupted
                if on_end is not None:
                    on_end(outcome)
                await asyncio.gather(*tasks, return_exceptions=True)
        return outcome

    def _read(self) -> list["asyncio.Task[None]"]:
        streams = (self._process.stdout, self._process.stderr)
        return [
            asyncio.create_task(drain(stream, capture))
            for stream, capture in zip(streams, self.captures, strict=True)
            if stream is not None
        ]

    async def _end_and_drain(self, readers: list["asyncio.Task[None]"]) -> None:
        await self._process.wait()
        await asyncio.wait(readers, timeout=_EOF_BOUND)

    async def _wait(
        self, ending: "asyncio.Future[None]", readers: list["asyncio.Task[None]"], seconds: float | None
    ) -> None:
        """Wait for the end of process and output; passes on what `on_line` raises; sets `timed_out`."""
        deadline = None if seconds is None else time.monotonic() + seconds
        pending: set[asyncio.Future[None]] = {ending, *readers}
        while ending in pending:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if not done:
                self.timed_out = self._aborted = True
                return


async def _feed(writer: asyncio.StreamWriter | None, data: bytes) -> None:
    if writer is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):  # a command need not read what it is given
        writer.write(data)
        await writer.drain()
    writer.close()


def _failure(completed: Completed) -> ProcessError:
    details = {
        "argv": list(completed.argv),
        "returncode": completed.returncode,
        "signal": completed.signal,
        "timed_out": completed.timed_out,
        "survivors": list(completed.survivors),
        "duration": completed.duration,
        "stdout": completed.stdout,
        "stderr": completed.stderr,
    }
    lines = completed.stderr.strip().splitlines()
    said = f": {lines[-1][:200]}" if lines else "; it printed nothing on stderr"
    return ProcessError(f"{completed.argv[0]!r} failed, {completed.describe()}{said}", details=details)
