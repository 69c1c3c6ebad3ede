"""A server in a process of its own, in custody: when the talk is closed, nothing of its tree is alive."""

import asyncio
from collections import deque
from contextlib import suppress

from holdfast.errors import WireError
from holdfast.present.last_words import last_words, own_complaint
from holdfast.probe.model import Options
from holdfast.probe.talk import Delivery, Talk
from holdfast.probe.target import StdioTarget
from holdfast.probe.transcript import Transcript
from holdfast.process import Outcome, Process, spawn
from holdfast.wire.framing import LineFramer

__all__ = ["StdioTalk"]

MAX_LINE = 64 * 2**20  # of the server's output
STDERR_BYTES = 2000  # of its last words
CLOSE_GRACE = 1.0
OUTPUT_PATIENCE = 1.0  # seconds that the last output of a dead server may take to arrive


class StdioTalk(Talk):
    """Newline JSON on the pipes of a program."""

    transport = "stdio"

    def __init__(self, options: Options, transcript: Transcript) -> None:
        super().__init__(options, transcript)
        self.process: Process | None = None
        self._framer = LineFramer(MAX_LINE)
        self._stderr: deque[bytes] = deque(maxlen=20)
        self._watch: asyncio.Task[None] | None = None
        self._output_ended = asyncio.Event()

    async def start(self, target: StdioTarget, *, pass_fds: tuple[int, ...] = ()) -> None:
        """Start the program; a ProcessError says why it cannot be started."""
        self.process = await spawn(
            target.argv, env=target.env, stdin="pipe", on_stdout=self._on_stdout, on_stderr=self._stderr.append,
            grace=CLOSE_GRACE, pass_fds=pass_fds,
        )  # fmt: skip
        self._watch = asyncio.create_task(self._see_the_end(self.process))

    async def write(self, data: bytes) -> Delivery:
        """Write one line."""
        await self.write_bytes(data + b"\n")
        return Delivery()

    async def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are, without the end of a line."""
        self.transcript.sent(data)
        stdin = self.process.stdin if self.process else None
        if stdin is not None and not stdin.is_closing() and not self.ended:
            stdin.write(data)
            await asyncio.sleep(0)  # what was written is on its way before anything else is

    def end_input(self) -> None:
        """Close the server's stdin, as a client that leaves does."""
        self.transcript.note("stdin is closed")
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()

    async def wait_end(self, seconds: float) -> Outcome | None:
        """How the process ended; None when it is still there after this time."""
        assert self.process is not None
        try:
            async with asyncio.timeout(seconds):
                return await self.process.wait()
        except TimeoutError:
            return None

    @property
    def is_mute(self) -> bool:
        """Whether the server has closed its stdout, and is still there."""
        return self._output_ended.is_set() and not self.ended

    @property
    def last_words(self) -> str:
        """What the server's stderr says at its end."""
        return last_words(self._stderr_text())

    @property
    def complaint(self) -> tuple[str, str] | None:
        """The error and the remedy in them, where the server is one of our own programs."""
        return own_complaint(self._stderr_text())

    def _stderr_text(self) -> str:
        return b"".join(self._stderr)[-STDERR_BYTES:].decode(errors="replace")

    async def close(self) -> None:
        """Stop the tree."""
        if self.process is None:
            return
        if self._watch is not None:
            self._watch.cancel()  # from here on its end is our doing, and no news
            await asyncio.gather(self._watch, return_exceptions=True)
        await self.process.stop(CLOSE_GRACE)

    def _on_stdout(self, data: bytes) -> None:
        for frame in self._framer.feed(data) if data else self._framer.finish():
            if isinstance(frame, WireError):
                self.noise.append(f"a line longer than {MAX_LINE} bytes".encode())
                self._tell()
            else:
                self.receive(frame)
        if not data:
            self._output_ended.set()

    async def _see_the_end(self, process: Process) -> None:
        outcome = await process.wait()
        with suppress(TimeoutError):  # its last output is delivered before its end is told
            await asyncio.wait_for(self._output_ended.wait(), OUTPUT_PATIENCE)
        self.lose(f"the process ended: {outcome.describe()}")
