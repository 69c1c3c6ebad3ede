"""Custody of a process tree: what a caller holds from the start of a command to the verified end of its tree.

`Process` is the promise; `posix` and `windows` keep it. Nothing here logs: outcomes are returned to the caller.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self, TypeVar

from holdfast.process.outcome import Outcome

__all__ = ["DEFAULT_GRACE", "STREAM_LIMIT", "Deliver", "Input", "Output", "Process", "finished"]

DEFAULT_GRACE = 2.0
STREAM_LIMIT = 64 * 1024

Input = Literal["null", "pipe"]
Output = Literal["pipe", "null", "inherit"]
Deliver = Callable[[bytes], None]  # takes output as it comes, and b"" once at its end
T = TypeVar("T")


class Process(ABC):
    """One command and its tree. Use it as an async context manager, or see to it that `wait` or `stop` is awaited.

    The tree lives no longer than the command: what the command leaves running is ended with it. It lives no longer
    than the server either, however that ends, nor than the thread whose event loop started it.
    """

    pid: int
    token: str  # what marks the tree in the environment of each of its members
    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    @abstractmethod
    async def wait(self) -> Outcome:
        """Wait until the whole tree has ended; cancelling this wait leaves the tree alone."""

    @abstractmethod
    async def stop(self, grace: float | None = None) -> Outcome:
        """End the whole tree: TERM, up to `grace` seconds, KILL; then close the streams.

        Returns when the end is verified, also when the awaiting task is cancelled meanwhile: the cancellation is
        raised afterwards. A second stop joins the first. On a tree that has ended it only closes the streams.
        """

    @abstractmethod
    def pause_stdout(self, full: bool) -> None:
        """Stop or resume reading what goes to `on_stdout`; of no effect without it, and after the end."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


async def finished(future: "asyncio.Future[T]") -> T:
    """The result of `future`, waited for to its end: a cancellation meanwhile is raised only then."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait((future,))  # unlike awaiting it, this does not pass the cancellation on to it
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return future.result()
