"""Why a server ends: its client left, a signal came, its parent died. One object waits for the first of them."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator

__all__ = ["Lifetime"]

PARENT_POLL = 1.0  # where the kernel cannot tell us of the parent's death, we look this often


class Lifetime:
    """Waits for the first reason to end. `reason` is eof, broken_pipe, parent_died or signal."""

    def __init__(self, *, exit_with_parent: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[str] = self._loop.create_future()
        self._exit_with_parent = exit_with_parent
        self.exit_code = 0

    def end(self, reason: str) -> None:
        """Say that the server should end; only the first reason counts."""
        if not self._ended.done():
            self._ended.set_result(reason)

    async def wait(self) -> str:
        """Wait for the reason to end."""
        with self._signals(), self._parent():
            return await asyncio.shield(self._ended)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        names = (signal.SIGINT, signal.SIGTERM)
        try:
            for number in names:
                self._loop.add_signal_handler(number, self._on_signal, number)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not in the main thread
            yield
            return
        try:
            yield
        finally:
            # From here on a second Ctrl-C ends the process the hard way.
            for number in names:
                self._loop.remove_signal_handler(number)

    def _on_signal(self, number: int) -> None:
        self.exit_code = 128 + number
        self.end("signal")

    @contextlib.contextmanager
    def _parent(self) -> Iterator[None]:
        parent = os.getppid()
        if not self._exit_with_parent or parent <= 1:
            yield
            return
        try:
            watch = os.pidfd_open(parent)
        except (AttributeError, OSError):
            timer = self._loop.call_later(PARENT_POLL, self._look_for_parent, parent)
            try:
                yield
            finally:
                timer.cancel()
            return
        self._loop.add_reader(watch, self.end, "parent_died")
        try:
            yield
        finally:
            self._loop.remove_reader(watch)
            os.close(watch)

    def _look_for_parent(self, parent: int) -> None:
        if os.getppid() != parent:
            self.end("parent_died")
        elif not self._ended.done():
            self._loop.call_later(PARENT_POLL, self._look_for_parent, parent)
