"""How a client session reaches its server: a spawned program, or callables in the same process.

A transport moves frames and knows when its peer is gone; what a frame says is the session's business. A spawned
server is in custody: however this process ends, the whole tree of the server ends with it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.client.peer import PeerEndedError, PeerLostError
from holdfast.errors import SessionError
from holdfast.present.last_words import last_words
from holdfast.process import Outcome, Process, spawn
from holdfast.wire.codec import encode
from holdfast.wire.framing import MAX_MESSAGE_BYTES, Frame, LineFramer

__all__ = ["Link", "MemoryTransport", "ProcessTransport", "Receiver", "Transport"]

READ_SIZE = 64 * 1024
TAIL_LINES = 20  # of stderr, kept to explain the death of the server
MAX_LINE = 4096  # of stderr; what is longer arrives in pieces
EXIT_PATIENCE = 2.0  # seconds that a server has to leave by itself once its input is closed
STDERR_PATIENCE = 1.0  # seconds that the last lines of a dead server may take to arrive


class Receiver(NamedTuple):
    """Where a transport delivers: frames in order, then at most once why there will be no more."""

    on_frame: Callable[[Frame], None]
    on_lost: Callable[[PeerLostError], None]


class Transport(Protocol):
    """One connection to one server."""

    async def open(self, receiver: Receiver) -> None:
        """Connect; from now on the receiver is told what arrives."""

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; a peer that is gone is told through the receiver, not here."""

    async def close(self) -> None:
        """End the connection and all that was started for it."""


class ProcessTransport:
    """A server in a program of its own: newline JSON on its stdin and stdout.

    `on_stderr` gets each line that the server writes to stderr.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        grace: float = 2.0,
        max_bytes: int = MAX_MESSAGE_BYTES,
        on_stderr: Callable[[str], None] | None = None,
    ) -> None:
        self._argv = list(argv)
        self._cwd = cwd
        self._env = env
        self._grace = grace
        self._framer = LineFramer(max_bytes)
        self._on_stderr = on_stderr
        self._process: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._tail: list[str] = []
        self._closing = False
        self.outcome: Outcome | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the server, once it was started."""
        return self._process.pid if self._process else None

    async def open(self, receiver: Receiver) -> None:
        """Start the server; raises ProcessError when that is not possible."""
        self._process = await spawn(
            self._argv, cwd=self._cwd, env=self._env, stdin="pipe", grace=self._grace, limit=READ_SIZE
        )
        stderr = asyncio.create_task(self._read_stderr(self._process))
        stdout = asyncio.create_task(self._read_stdout(self._process, stderr, receiver))
        self._tasks = [stdout, stderr]

    def send(self, message: dict[str, Any]) -> None:
        """Write one message to the server's stdin."""
        process = self._process
        if process is None or process.stdin is None:
            raise SessionError("the server has not been started")
        if not process.stdin.is_closing():
            process.stdin.write(self._framer.wrap(encode(message)))

    async def close(self) -> None:
        """Close the server's stdin, let it leave, then stop its tree."""
        process = self._process
        if process is None or self._closing:
            return
        self._closing = True
        try:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EXIT_PATIENCE):
                    await process.wait()
        finally:
            self.outcome = await process.stop(self._grace)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_stdout(self, process: Process, stderr: asyncio.Task[None], receiver: Receiver) -> None:
        assert process.stdout is not None
        while data := await process.stdout.read(READ_SIZE):
            for frame in self._framer.feed(data):
                receiver.on_frame(frame)
        for frame in self._framer.finish():
            receiver.on_frame(frame)
        if not self._closing:
            receiver.on_lost(await self._cause_of_end(process, stderr))

    async def _cause_of_end(self, process: Process, stderr: asyncio.Task[None]) -> PeerLostError:
        try:
            async with asyncio.timeout(EXIT_PATIENCE):
                outcome = await process.wait()
        except TimeoutError:
            return PeerLostError("the server closed its stdout but goes on running")
        await asyncio.wait([stderr], timeout=STDERR_PATIENCE)
        return PeerEndedError(f"the server ended ({outcome.describe()})", last_words("\n".join(self._tail)))

    async def _read_stderr(self, process: Process) -> None:
        assert process.stderr is not None
        pending = b""
        while data := await process.stderr.read(READ_SIZE):
            *lines, pending = (pending + data).split(b"\n")
            if len(pending) > MAX_LINE:
                lines.append(pending)
                pending = b""
            for line in lines:
                self._keep(line)
        if pending:
            self._keep(pending)

    def _keep(self, line: bytes) -> None:
        whole = line.decode(errors="replace").rstrip("\r")
        for start in range(0, len(whole) or 1, MAX_LINE):
            piece = whole[start : start + MAX_LINE]
            self._tail = [*self._tail[1 - TAIL_LINES :], piece]
            if self._on_stderr is not None:
                self._on_stderr(piece)


class Link(NamedTuple):
    """A server in this process, as the transport sees it: feed it frames, close it."""

    receive: Callable[[Frame], None]
    close: Callable[[], Awaitable[None]]


class MemoryTransport:
    """A server in the same process and loop. `connect` is given where to send messages and returns the link.

    Messages are encoded on their way, so that nothing can cross here that could not cross a pipe, and delivered
    in a later turn of the loop, as a pipe would.
    """

    def __init__(self, connect: Callable[[Callable[[Any], None]], Link]) -> None:
        self._connect = connect
        self._link: Link | None = None
        self._receiver: Receiver | None = None

    async def open(self, receiver: Receiver) -> None:
        """Make the link."""
        self._receiver = receiver
        self._link = self._connect(self._deliver)

    def send(self, message: dict[str, Any]) -> None:
        """Hand one message to the server."""
        if self._link is not None:
            asyncio.get_running_loop().call_soon(self._link.receive, encode(message))

    async def close(self) -> None:
        """Close the link; nothing is delivered from then on."""
        link, self._link = self._link, None
        if link is not None:
            await asyncio.sleep(0)  # what was sent in this turn arrives before the end
            await link.close()
            self._receiver = None

    def _deliver(self, message: Any) -> None:
        if self._receiver is not None:
            asyncio.get_running_loop().call_soon(self._receiver.on_frame, encode(message))
