"""Server-sent events: start, progress, result or error, done. Every event carries an envelope.

One stream is one loop that writes; what the tool reports in the meantime waits in a short line of which the
oldest is dropped. So a reader that does not read costs a few kilobytes until the connection is given up, and
then the work is cancelled, as it is whenever the reader leaves.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from holdfast.api.answers import Answer
from holdfast.api.envelope import Header, HttpError
from holdfast.api.exchange import ClientGoneError, Exchange
from holdfast.api.limits import timed_out
from holdfast.api.link import HostCall, HostLink
from holdfast.api.metrics import Metrics
from holdfast.vocabulary.faults import Fault
from holdfast.wire.codec import encode

__all__ = ["STREAM_HEADERS", "EventStream", "event"]

STREAM_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-store"),
    (b"x-accel-buffering", b"no"),
)
_WAITING = 16  # progress events that may wait for a slow reader
_MOMENT = 0.5  # seconds
_REFUSALS = frozenset({"INVALID_REQUEST", "QUEUE_OVERLOADED", "NOT_READY"})  # of a call that never began
_KEEP_ALIVE = b": keep-alive\n\n"


def event(name: str, envelope: Mapping[str, Any]) -> bytes:
    """One event as it is sent; compact JSON holds no line end, so one `data` line is enough."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), encode(envelope))


class EventStream:
    """The stream of one call; what it reports on its way is handed to `report`."""

    def __init__(
        self,
        exchange: Exchange,
        link: HostLink,
        metrics: Metrics,
        *,
        repo: str | None,
        keep_alive: float,
        timeout: float,
    ) -> None:
        self._exchange = exchange
        self._link = link
        self._metrics = metrics
        self._repo = repo
        self._keep_alive = keep_alive
        self._timeout = timeout
        self._progress: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()

    def report(self, progress: dict[str, Any]) -> None:
        """Take a result of the kind that `progress` events carry; it leaves as soon as the reader reads."""
        if len(self._progress) >= _WAITING:
            self._progress.popleft()
            self._metrics.progress_dropped += 1
        self._progress.append(progress)
        self._news.set()

    async def run(
        self,
        call: Callable[[], HostCall[Answer]],
        *,
        place: AbstractContextManager[None],
        start: Mapping[str, Any],
        shape: Callable[[dict[str, Any]], Mapping[str, Any]],
        redact: Callable[[Fault], Fault],
    ) -> None:
        """Make the call and write its stream, to the end or until the reader is gone.

        `place` is held while there is work. `start` is the result of the first event, `shape` turns the payload of
        the call into that of the last.
        """
        with ExitStack() as held:
            held.enter_context(place)
            await self._run(call, held, start=start, shape=shape, redact=redact)

    async def _run(
        self,
        call: Callable[[], HostCall[Answer]],
        held: ExitStack,
        *,
        start: Mapping[str, Any],
        shape: Callable[[dict[str, Any]], Mapping[str, Any]],
        redact: Callable[[Fault], Fault],
    ) -> None:
        if self._exchange.method == "HEAD":
            await self._exchange.start(200, STREAM_HEADERS)
            await self._exchange.write(b"", more=False)
            return
        self._metrics.streams += 1
        running = call()
        try:
            await self._wait_for_refusal(running)
            stamp = self._exchange.stamp
            await self._exchange.start(200, STREAM_HEADERS)
            await self._write("start", stamp.success(start, repo=self._repo))
            answer = await self._answer(running)
            held.close()  # the work is done: a reader that takes its time keeps nobody else from theirs
            if isinstance(answer, Fault):
                await self._write("error", stamp.failure(redact(answer)))
            else:
                await self._write("result", stamp.success(shape(answer), repo=self._repo))
            await self._exchange.write(event("done", stamp.success({}, repo=self._repo)), more=False)
        finally:
            self._metrics.streams -= 1
            self._link.cancel(running)

    async def _wait_for_refusal(self, call: HostCall[Answer]) -> None:
        """Give the server a moment to refuse the call: that is told with a status, not in a stream of success."""
        for end in (call.answer, self._exchange.gone):
            end.add_done_callback(lambda _: self._news.set())
        await self._wait_for_news(min(_MOMENT, self._timeout))
        answer = call.answer.result() if call.answer.done() else None
        if isinstance(answer, Fault) and answer.code in _REFUSALS:
            raise HttpError(answer)

    async def _answer(self, call: HostCall[Answer]) -> dict[str, Any] | Fault:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._timeout - self._exchange.stamp.seconds
        while True:
            self._news.clear()
            is_over = call.answer.done()  # asked first: what was reported before the answer leaves before it
            await self._write_progress()
            if self._exchange.gone.done():
                raise ClientGoneError
            if is_over:
                return call.answer.result()
            if loop.time() >= until:
                return timed_out(self._timeout)
            if not await self._wait_for_news(until - loop.time()):
                await self._exchange.write(_KEEP_ALIVE, more=True)

    async def _write_progress(self) -> None:
        while self._progress:
            report = self._progress.popleft()
            await self._write("progress", self._exchange.stamp.success(report, repo=self._repo))

    async def _wait_for_news(self, at_most: float) -> bool:
        """Whether there is any before it is time to show a sign of life."""
        try:
            async with asyncio.timeout(min(self._keep_alive, at_most)):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def _write(self, name: str, envelope: Mapping[str, Any]) -> None:
        await self._exchange.write(event(name, envelope), more=True)
        if self._exchange.gone.done():
            raise ClientGoneError
