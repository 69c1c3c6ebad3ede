"""Why a server ends: its client left, a signal came, its parent died. One object waits for the first of them.

A signal that comes while the last calls are given time to finish means: hurry. One more ends the process the
hard way, as somebody who presses Ctrl-C three times expects.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Iterator
from typing import Any

__all__ = ["Lifetime"]

PARENT_POLL = 1.0  # where the kernel cannot tell us of the parent's death, we look this often
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Lifetime:
    """Waits for the first reason to end. `reason` is eof, broken_pipe, parent_died, signal, asked or error."""

    def __init__(self, *, exit_with_parent: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[str] = self._loop.create_future()
        self._hurry = asyncio.Event()
        self._exit_with_parent = exit_with_parent
        self.exit_code = 0

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Heed signals and the parent's death from here to the end of the block, the last calls included."""
        with self._signals(), self._parent():
            yield

    @property
    def is_over(self) -> bool:
        """Whether there is a reason to end."""
        return self._ended.done()

    def end(self, reason: str) -> None:
        """Say that the server should end; only the first reason counts."""
        if not self._ended.done():
            self._ended.set_result(reason)

    async def wait(self) -> str:
        """Wait for the reason to end."""
        return await asyncio.shield(self._ended)

    async def give_time(self, work: Awaitable[Any]) -> None:
        """Wait for the work to end by itself, but no longer once a signal says to hurry."""
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self._hurry.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # as nohup wants
        try:
            for number in heeded:
                self._loop.add_signal_handler(number, self._on_signal, number)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not in the main thread
            yield
            return
        try:
            yield
        finally:
            for number in heeded:
                self._loop.remove_signal_handler(number)

    def _on_signal(self, number: int) -> None:
        if not self._ended.done():
            self.exit_code = 128 + number
            self.end("signal")
        elif not self._hurry.is_set():
            self._hurry.set()
        else:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    @contextlib.contextmanager
    def _parent(self) -> Iterator[None]:
        parent = os.getppid()
        if not self._exit_with_parent or parent <= 1:
            yield
            return
        try:
            watch = os.pidfd_open(parent)
        except (AttributeError, OSError):
            self._loop.call_later(PARENT_POLL, self._look_for_parent, parent)
            yield
            return
        self._loop.add_reader(watch, self._on_parent_died, watch)
        try:
            yield
        finally:
            self._loop.remove_reader(watch)
            os.close(watch)

    def _on_parent_died(self, watch: int) -> None:
        self._loop.remove_reader(watch)  # it stays readable, and once is enough
        self.end("parent_died")

    def _look_for_parent(self, parent: int) -> None:
        if os.getppid() != parent:
            self.end("parent_died")
        elif not self._ended.done():
            self._loop.call_later(PARENT_POLL, self._look_for_parent, parent)
