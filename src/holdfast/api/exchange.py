"""One request and its one response, as a handler sees them; a thin face over ASGI.

It reads headers and body and writes the response, and it knows when the client has gone. Nothing is judged here.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from holdfast.api.callers import Caller
from holdfast.api.envelope import Header, Reply, Stamp
from holdfast.vocabulary.ids import RequestId

__all__ = ["ClientGoneError", "Exchange", "Receive", "Scope", "Send"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# No answer is to be framed, sniffed, cached, or loaded by pages of other origins.
_ALWAYS: tuple[Header, ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)


class ClientGoneError(Exception):
    """The client closed its connection; there is nobody left to answer."""


class Exchange:
    """A request that waits for its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, stamp: Stamp) -> None:
        self._receive = receive
        self._send = send
        self._gone: asyncio.Task[None] | None = None
        self.stamp = stamp
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.raw_query: bytes = scope["query_string"]
        self.server: tuple[str, int | None] | None = scope.get("server")
        self.address: str = (scope.get("client") or ("",))[0]
        self.caller = Caller("")  # who asks, once that was found out
        self.request_id: RequestId | None = None  # of the message in the body, once that was read
        self.headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.extra_headers: list[Header] = []  # of the response, whatever it will be
        self.status = 0  # of the response, once it has begun

    def values(self, name: bytes) -> list[str]:
        """Every value of a header, in order; the name in small letters."""
        return [value.decode("latin-1") for key, value in self.headers if key == name]

    async def body_chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            more = message.get("more_body", False)
            yield message.get("body", b"")

    @property
    def gone(self) -> asyncio.Task[None]:
        """Ends when the client goes away. To be asked for after the body was read, or where there is none."""
        if self._gone is None:
            self._gone = asyncio.ensure_future(self._wait_until_gone())
        return self._gone

    async def _wait_until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass  # a body that nobody asked for

    async def start(self, status: int, headers: Sequence[Header]) -> None:
        """Send the head of the response."""
        self.status = status
        own = {name for name, _ in headers}
        always = [header for header in _ALWAYS if header[0] not in own]
        every = [*headers, *always, *self.extra_headers]
        await self._send({"type": "http.response.start", "status": status, "headers": every})

    async def write(self, data: bytes, *, more: bool) -> None:
        """Send a part of the body; waits while the client does not read."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def reply(self, reply: Reply) -> None:
        """Send a whole response."""
        headers = list(reply.headers)
        if reply.status != 204:
            length = str(len(reply.body)).encode()
            headers = [(b"content-type", reply.content_type), (b"content-length", length), *headers]
        await self.start(reply.status, headers)
        await self.write(reply.body, more=False)

    async def close(self) -> None:
        """Stop listening for the client; always called at the end."""
        if self._gone is not None:
            self._gone.cancel()
            await asyncio.gather(self._gone, return_exceptions=True)
