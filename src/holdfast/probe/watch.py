"""Starts a server through `watched` and reads what that program tells: who the server is, and what it left."""

import asyncio
import os
import sys
from contextlib import suppress

from holdfast.interpreter import script_command
from holdfast.probe import watched
from holdfast.probe.bench import Bench
from holdfast.probe.model import FailedError, SkippedError
from holdfast.probe.stdio_talk import StdioTalk
from holdfast.probe.target import StdioTarget

__all__ = ["Watch", "watch"]


class Watch:
    """A server whose end is looked at. `pid` is its process, `left` what it left behind, once that is known."""

    def __init__(self, talk: StdioTalk) -> None:
        self.talk = talk
        self.pid = 0
        self.has_ended = False
        self.left: list[str] | None = None
        self._news = asyncio.Event()
        self._pending = b""

    def take(self, data: bytes) -> None:
        """Read what the program between tells."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            word, *rest = line.decode(errors="replace").split()
            if word == "pid":
                self.pid = int(rest[0])
            elif word == "ended":
                self.has_ended = True
                self.talk.transcript.note("the server's process ended")
            elif word == "left":
                self.left = rest[1:]
                self.talk.transcript.note(f"processes left behind: {' '.join(rest)}")
        self._news.set()

    async def wait_left(self, seconds: float) -> list[str] | None:
        """What was left behind by the end of the server; None if it has not ended in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.has_ended:
                    await self._wait()
        if not self.has_ended:
            return None
        try:
            async with asyncio.timeout(watched.LEFT_BOUND + 5):
                while self.left is None:
                    await self._wait()
        except TimeoutError as error:
            raise FailedError("what the server left behind could not be counted") from error
        return self.left

    def signal(self, number: int) -> None:
        """Send the server's process a signal."""
        self.talk.transcript.note(f"the server is sent signal {number}")
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()


async def watch(bench: Bench) -> Watch:
    """A server with an open session, under watch; the check is skipped where that is not possible."""
    target = bench.target
    if sys.platform != "linux":
        raise SkippedError("orphans can be counted on Linux only")
    assert isinstance(target, StdioTarget)
    ours, theirs = os.pipe()
    try:
        argv = (*script_command(str(watched.__file__), str(theirs)), *target.argv)
        talk = await bench.start(StdioTarget(argv, target.label, target.env), pass_fds=(theirs,))
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    found = Watch(talk)
    bench.on_close(_listen(ours, found))
    await talk.open_session(bench.survey.revision)
    return found


def _listen(descriptor: int, found: Watch) -> "asyncio.Task[None]":
    """Feeds what arrives at a descriptor to the watch, until it ends or the task is cancelled."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    ended = loop.create_future()

    def on_readable() -> None:
        data = b""
        with suppress(BlockingIOError):
            data = os.read(descriptor, 4096)
        if data:
            found.take(data)
        elif not ended.done():
            ended.set_result(None)

    async def until_the_end() -> None:
        try:
            await ended
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    loop.add_reader(descriptor, on_readable)
    return asyncio.create_task(until_the_end())
