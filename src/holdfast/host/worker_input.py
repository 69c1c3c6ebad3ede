"""What is written to one worker: never waited for, and known to the message how far it has come.

The pipe gets one message after the other, each when the one before is gone; the rest waits here. So when the
worker is lost it is certain which messages it can never have seen, however the pipe broke.
"""

import asyncio
from collections import deque

__all__ = ["WorkerInput"]


class WorkerInput:
    """The input of a worker that runs."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._transport = writer.transport
        self._transport.set_write_buffer_limits(high=0)  # `drain` then waits until everything is written
        self._queue: deque[tuple[bytes, int]] = deque()
        self.waiting = 0  # bytes in the queue
        self._refused: set[int] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def unsent(self) -> frozenset[int]:
        """The attempts of which not a single byte has left this process."""
        return frozenset(self._refused.union(attempt for _, attempt in self._queue))

    def send(self, data: bytes, attempt: int) -> None:
        """Write bytes, now or when there is room; `attempt` is the id of the request in them."""
        if self._queue or self._flushing is not None or self._transport.get_write_buffer_size():
            self._queue.append((data, attempt))
            self.waiting += len(data)
            if self._flushing is None:
                self._flushing = asyncio.create_task(self._flush())
        else:
            self._write(data, attempt)

    def close(self) -> None:
        """Close the pipe behind what is still to be written."""
        self._is_closed = True
        if self._flushing is None:
            self._writer.close()

    def _write(self, data: bytes, attempt: int) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)
            if not self._transport.is_closing():
                return
        self._refused.add(attempt)  # nobody is at the other end: not even the first byte was taken

    async def _flush(self) -> None:
        try:
            while self._queue:
                await self._writer.drain()
                data, attempt = self._queue.popleft()
                self.waiting -= len(data)
                self._write(data, attempt)
        except ConnectionError:
            return  # the worker is gone, which is told by its end; what is left in the queue was never sent
        self._flushing = None
        if self._is_closed:
            self._writer.close()
