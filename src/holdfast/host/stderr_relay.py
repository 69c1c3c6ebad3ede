"""What workers write to stderr, passed on to the host's own: in order, without ever waiting for whoever reads it.

A client that does not read the stderr of its servers would stop them once the pipe is full. Here a thread waits in
their place; what does not fit its bound is dropped and counted.
"""

import os
import select
import threading
from collections import deque

from holdfast.stdio.terminal import printable_bytes

__all__ = ["StderrRelay", "Tail"]

_MAX_BYTES = 1024 * 1024


class Tail:
    """The last bytes of a stream."""

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._data = b""

    def add(self, data: bytes) -> None:
        """Take what came."""
        self._data = (self._data + data)[-self._limit :]

    def text(self) -> str:
        """What is kept, as far as it is text; half a line at its start is left out."""
        data = self._data
        if len(data) == self._limit and b"\n" in data:
            data = data[data.index(b"\n") + 1 :]
        return data.decode(errors="replace").strip()


class StderrRelay:
    """Writes to a descriptor from a thread of its own, which starts with the first bytes."""

    def __init__(self, descriptor: int = 2) -> None:
        self.dropped = 0
        self._descriptor = descriptor
        self._parts: deque[bytes] = deque()
        self._waiting = 0
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def write(self, data: bytes) -> None:
        """Pass bytes on, soon."""
        with self._wake:
            if self._closed or self._waiting + len(data) > _MAX_BYTES:
                self.dropped += len(data)
                return
            self._parts.append(data)
            self._waiting += len(data)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stderr", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self, bound: float = 0.5) -> None:
        """Write what is left, if that is possible in time."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(bound)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._parts and not self._closed:
                    self._wake.wait()
                if not self._parts:
                    return
                data = self._parts.popleft()
            left = self._write(printable_bytes(data, self._descriptor))
            with self._wake:
                if left:  # nobody will ever read it again
                    self._closed = True
                    self.dropped += left + sum(map(len, self._parts))
                    self._parts.clear()
                    return
                self._waiting = sum(map(len, self._parts))

    def _write(self, data: bytes) -> int:
        """Write it all, however long that takes; how many bytes can never be written."""
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:  # whoever has the same pipe made it so; it is only full
                select.select([], [self._descriptor], [])
            except OSError:
                return len(data)
        return 0
