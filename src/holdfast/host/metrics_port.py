"""A port on this machine where a host tells its figures: `GET /metrics` for Prometheus, `GET /health` for probes.

It is no HTTP server beyond that: one request per connection, a bounded head, no body, a bounded time, few
connections at once. Only loopback addresses are listened on, and a request must name one of them, so that no web
page can be made to read what it finds here (DNS rebinding).
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.errors import UsageError
from holdfast.host.discretion import Discretion
from holdfast.host.listener import is_loopback, listen, parse_address
from holdfast.observe.exposition import CONTENT_TYPE
from holdfast.wire.codec import encode

__all__ = ["MAX_CONNECTIONS", "MetricsPort", "bind_metrics"]

MAX_CONNECTIONS = 16
MAX_HEAD_BYTES = 8 * 1024
PATIENCE = 5.0  # seconds for a request to arrive, and for its answer to be taken
_REQUEST = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.[01]")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[^\s:/?#@\[\]\\,]{1,255}?)\.?(?::([0-9]{1,5}))?")
_DEFAULT_PORT = 80
_WORDS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class _Reply(NamedTuple):
    """A status and what is said with it."""

    status: int
    body: bytes
    content_type: bytes = b"text/plain; charset=utf-8"


def bind_metrics(text: str, port_before: int = 0) -> socket.socket:
    """The socket of `PORT` or `HOST:PORT`; UsageError where it cannot be listened on, or others could reach it.

    Where any port will do, it is the one before, if that is still free: whoever fetches the figures knows it.
    """
    host, port = parse_address(text if ":" in text else f"127.0.0.1:{text}")
    if not is_loopback(host):
        raise UsageError(
            f"--metrics listens on this machine only, and {host} is more than that",
            remedy="--metrics 127.0.0.1:PORT, and a proxy of your own in front of it",
        )
    if port == 0 and port_before:
        with contextlib.suppress(UsageError):
            return listen(host, port_before)
    return listen(host, port)


class MetricsPort:
    """Answers on a socket that is bound already, until it is closed."""

    def __init__(
        self,
        bound: socket.socket,
        page: Callable[[], bytes],
        health: Callable[[], Mapping[str, Any]],
        *,
        patience: float = PATIENCE,
    ) -> None:
        host, self.port = bound.getsockname()[:2]
        self.address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self._bound = bound
        self._page = page
        self._health = health
        self._patience = patience
        self._discretion = Discretion()  # anybody on this machine may ask
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to answer."""
        self._server = await asyncio.start_server(self._on_connection, sock=self._bound, limit=MAX_HEAD_BYTES)

    async def close(self) -> None:
        """Stop answering; whoever is talking is cut off."""
        if self._server is None:
            self._bound.close()
            return
        self._server.close()
        for task in self._talks:
            task.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._talks) >= MAX_CONNECTIONS:
            writer.write(_response(_Reply(503, b"too many connections\n"), with_body=True))
            writer.close()
            return
        task = asyncio.ensure_future(self._talk(reader, writer))
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answer = await self._answer(reader)
            if answer is not None:
                writer.write(answer)
                await asyncio.wait_for(writer.drain(), self._patience)
                writer.close()
                await asyncio.wait_for(writer.wait_closed(), self._patience)
        except (TimeoutError, OSError):
            pass  # the caller has left, or does not read: nobody is left to be told
        finally:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes | None:
        """What to answer; None to somebody who left before asking."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self._patience)
        except asyncio.IncompleteReadError as error:
            return _response(_bad("the request is cut off"), with_body=True) if error.partial else None
        except asyncio.LimitOverrunError:
            return _response(_Reply(431, b"the head of the request is too long\n"), with_body=True)
        except TimeoutError:
            return _response(_Reply(408, b"the request took too long\n"), with_body=True)
        try:
            reply = self._reply(head)
        except Exception as error:  # noqa: BLE001 - whoever asks is told; the host has to go on
            reply = _Reply(500, f"{type(error).__name__}\n".encode())
        return _response(reply, with_body=not head.startswith(b"HEAD "))

    def _reply(self, head: bytes) -> _Reply:
        first, *rest = head[:-4].split(b"\r\n")
        request = _REQUEST.fullmatch(first)
        headers = [_HEADER.fullmatch(line) for line in rest]
        if request is None or None in headers:
            return _bad("that is not HTTP/1.1")
        named = [(found[1].lower(), found[2].decode("latin-1")) for found in headers if found is not None]
        refusal = self._refusal(named)
        if refusal is not None:
            return refusal
        if request[1] not in {b"GET", b"HEAD"}:
            return _Reply(405, b"only GET and HEAD\n")
        path = request[2].partition(b"?")[0]
        if path == b"/metrics":
            return _Reply(200, self._page(), CONTENT_TYPE)
        if path in {b"/health", b"/ready"}:
            return self._told_health(must_admit=path == b"/ready")
        return _Reply(404, b"there is /metrics, /health and /ready\n")

    def _refusal(self, headers: list[tuple[bytes, str]]) -> _Reply | None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1:
            return _bad("there must be one Host header")
        found = _HOST.fullmatch(hosts[0])
        if found is None or int(found[2] or _DEFAULT_PORT) != self.port or not is_loopback(found[1].strip("[]")):
            return _Reply(403, b"this server is not called by that host name\n")
        if any(name == b"origin" for name, _ in headers):  # no page of a browser has any business here
            return _Reply(403, b"web pages may not ask\n")
        if any(name in {b"content-length", b"transfer-encoding"} and value != "0" for name, value in headers):
            return _bad("a request has no body here")
        return None

    def _told_health(self, *, must_admit: bool) -> _Reply:
        health = self._discretion.of(self._health())
        status = 503 if must_admit and not health.get("admits") else 200
        return _Reply(status, encode(health) + b"\n", b"application/json")


def _bad(words: str) -> _Reply:
    return _Reply(400, f"{words}\n".encode())


def _response(reply: _Reply, *, with_body: bool) -> bytes:
    head = (
        f"HTTP/1.1 {reply.status} {_WORDS[reply.status]}\r\n"
        f"content-length: {len(reply.body)}\r\n"
        "connection: close\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n"
        + ("allow: GET, HEAD\r\n" if reply.status == 405 else "")
    )
    told = head.encode() + b"content-type: " + reply.content_type + b"\r\n\r\n"
    return told + reply.body if with_body else told
