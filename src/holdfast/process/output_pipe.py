"""One output pipe of a command, read from the event loop straight into a callable: no task and no buffer between.

For callers to whom every microsecond counts and who take bytes as they come; the others get a `StreamReader`.
POSIX only.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

__all__ = ["READ_BYTES", "OutputPipe"]

READ_BYTES = 256 * 1024
# More than a pipe can hold, unless root has allowed more. Only somebody outside of the tree who was handed the
# pipe can write more than that behind our back, and what he writes is not awaited.
_REST_BYTES = 1024 * 1024


class OutputPipe:
    """Hands what arrives to `deliver`, and b"" exactly once at the end; nothing before `start`."""

    def __init__(self, pipe: IO[bytes], deliver: Callable[[bytes], None]) -> None:
        self._pipe = pipe
        self._descriptor = pipe.fileno()
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._started = self._paused = self._ended = False
        os.set_blocking(self._descriptor, False)

    def start(self) -> None:
        """Begin to read; the first bytes are handed over in the next turn of the loop at the earliest."""
        self._started = True
        self._loop.add_reader(self._descriptor, self._on_readable)

    def pause(self, full: bool) -> None:
        """Stop reading, so that the command has to wait once the pipe is full; or resume."""
        if self._ended or full == self._paused:
            return
        self._paused = full
        if full:
            self._loop.remove_reader(self._descriptor)
        else:
            self._loop.add_reader(self._descriptor, self._on_readable)

    def finish(self) -> None:
        """Hand over what the pipe still holds, also when paused, and end."""
        if self._ended:
            return
        rest: list[bytes] = []
        with suppress(OSError):  # empty, though somebody outside of the tree holds its other end
            while sum(map(len, rest)) < _REST_BYTES and (data := os.read(self._descriptor, READ_BYTES)):
                rest.append(data)
        self._close()
        if self._started:
            for data in (*rest, b""):
                self._deliver(data)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""  # what cannot be read has ended
        if not data:
            self._close()
        self._deliver(data)

    def _close(self) -> None:
        self._ended = True
        self._loop.remove_reader(self._descriptor)
        self._pipe.close()
