"""What one stream of events says: kept until it was read, and a little longer where a reader may come back for it.

Whoever has something to say says it here and never waits. A reader that does not read costs what fits into the
channel: then reports are dropped, the oldest first, and the connection is given up by those who watch it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.api.envelope import Header
from holdfast.api.exchange import ClientGoneError, Exchange
from holdfast.api.sse import STREAM_HEADERS
from holdfast.wire.codec import encode

__all__ = ["Channel"]

MOST_EVENTS = 256
MOST_BYTES = 4 * 1024 * 1024
RETRY_MS = 500  # how long a reader waits before it comes back
_KEEP_ALIVE = b": keep-alive\n\n"


class _Event(NamedTuple):
    number: int
    data: bytes
    is_droppable: bool


class Channel:
    """The messages of one stream. One with a name can be read again: its events have ids."""

    def __init__(self, name: str = "", *, primes: bool = False) -> None:
        self.name = name
        self.is_closed = False
        self.answers: list[dict[str, Any]] = []
        self.is_plain = True  # nothing but answers was said
        self.dropped = 0
        self.delivered = 0  # the last event that a reader was sent
        self._primes = primes  # whether the first event is an id and nothing else
        self._events: deque[_Event] = deque()
        self._size = 0
        self._next = 1
        self._news = asyncio.Event()
        self._reader: Exchange | None = None
        self._when_closed: list[Callable[[], None]] = []

    @property
    def has_reader(self) -> bool:
        """Whether somebody reads it now."""
        return self._reader is not None

    def say(self, message: Mapping[str, Any], *, is_droppable: bool = False) -> None:
        """Add a message that is no answer."""
        if not self.is_closed:
            self.is_plain = False
            self._add(encode(message), is_droppable=is_droppable)

    def answer(self, message: dict[str, Any]) -> None:
        """Add an answer."""
        if not self.is_closed:
            self.answers.append(message)
            self._add(encode(message), is_droppable=False)

    def close(self) -> None:
        """Nothing more will be said."""
        self.is_closed = True
        self._news.set()
        told, self._when_closed = self._when_closed, []
        for tell in told:
            tell()

    def when_closed(self, tell: Callable[[], None]) -> None:
        """Have it told when nothing more will be said; at once where that is so already."""
        if self.is_closed:
            tell()
        else:
            self._when_closed.append(tell)

    def _add(self, data: bytes, *, is_droppable: bool) -> None:
        self._events.append(_Event(self._next, data, is_droppable))
        self._next += 1
        self._size += len(data)
        while len(self._events) > 1 and (len(self._events) > MOST_EVENTS or self._size > MOST_BYTES):
            self._drop()
        self._news.set()

    def _drop(self) -> None:
        droppable = next((event for event in self._events if event.is_droppable), self._events[0])
        self._events.remove(droppable)
        self._size -= len(droppable.data)
        self.dropped += 1

    async def wait(self, exchange: Exchange, at_most: float) -> None:
        """Wait until something was said or the channel was closed; ClientGoneError where nobody waits any more."""
        self._news.clear()
        exchange.gone.add_done_callback(self._wake)
        await self._wait_for_news(at_most)
        exchange.gone.remove_done_callback(self._wake)  # or each of many waits would leave one behind
        if exchange.gone.done() and not self.is_closed:
            raise ClientGoneError

    async def send_to(
        self, exchange: Exchange, *, keep_alive: float, after: int = 0, headers: tuple[Header, ...] = ()
    ) -> None:
        """Write what was said after an event, and what is said from now on, until the channel is closed.

        A second reader takes the place of the first, whose stream ends.
        """
        self._reader = exchange
        self._news.set()
        exchange.gone.add_done_callback(self._wake)
        try:
            await exchange.start(200, (*STREAM_HEADERS, *headers))
            await self._begin(exchange, after)
            while self._reader is exchange:
                self._news.clear()
                is_over = self.is_closed  # asked first: what was said before the end leaves before it
                after = await self._write_events(exchange, after)
                if is_over:
                    break
                if not await self._wait_for_news(keep_alive):
                    await exchange.write(_KEEP_ALIVE, more=True)
            await exchange.write(b"", more=False)
        finally:
            if self._reader is exchange:
                self._reader = None

    async def _begin(self, exchange: Exchange, after: int) -> None:
        if self.name and self._primes and not after:
            await exchange.write(b"id: %b-0\nretry: %d\ndata:\n\n" % (self.name.encode(), RETRY_MS), more=True)
        else:
            await exchange.write(b": open\n\n", more=True)  # so that the head leaves at once

    async def _write_events(self, exchange: Exchange, after: int) -> int:
        while self._reader is exchange and (event := self._first_after(after)) is not None:
            name = b"id: %b-%d\n" % (self.name.encode(), event.number) if self.name else b""
            await exchange.write(b"%bevent: message\ndata: %b\n\n" % (name, event.data), more=True)
            if exchange.gone.done():
                raise ClientGoneError
            self.delivered = after = event.number
            if not self.name:
                self._forget(after)
        if exchange.gone.done():
            raise ClientGoneError
        return after

    def _first_after(self, number: int) -> _Event | None:
        return next((event for event in self._events if event.number > number), None)

    def _forget(self, number: int) -> None:
        while self._events and self._events[0].number <= number:
            self._size -= len(self._events.popleft().data)

    def _wake(self, _: object) -> None:
        self._news.set()

    async def _wait_for_news(self, at_most: float) -> bool:
        try:
            async with asyncio.timeout(at_most):
                await self._news.wait()
        except TimeoutError:
            return False
        return True
