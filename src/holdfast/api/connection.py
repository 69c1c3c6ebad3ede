"""One connection: uvicorn's HTTP protocol with the bounds that it leaves out.

The head of a request has to arrive within a time and a size, a client has to read what it is sent, not drop by
drop, there are only so many connections, and each has its turn: one request is answered before the next is parsed.
Whatever cannot be answered as a request gets a refusal in the usual envelope, and the connection is closed, since
nobody can tell where the next request would begin.
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any

from httptools import HttpParserInvalidURLError
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from holdfast.api.addresses import TrustedProxies, is_loopback_address, neighbourhood
from holdfast.api.envelope import HttpError, Reply, Stamp, failure_reply, refusal
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions
from holdfast.api.turns import BodyFlow, Unparsed

__all__ = ["BoundedConnection", "connection_class", "reads_too_slowly"]

MAX_HEAD_BYTES = 32 * 1024
MAX_TARGET_BYTES = 16 * 1024
MAX_HEADERS = 100
SLOWEST_READER = 8 * 1024  # bytes a second; who reads less while the rest waits is cut off
# What the system takes counts as read, so it must not take much; by itself it would take megabytes.
SEND_BUFFER = 64 * 1024
_REASONS = {
    400: "malformed",
    408: "slow_head",
    414: "long_target",
    431: "large_head",
    429: "client_connections",
    503: "connections",
}


class BoundedConnection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """A connection with limits; made by `connection_class`, which fills in the class attributes."""

    options: FrontOptions
    metrics: Metrics
    stamp: Callable[[], Stamp]
    proxies: TrustedProxies

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._neighbour = ""  # whose connections are counted with this one
        self._head_bytes = 0
        self._in_head = False
        self._in_body = False
        self._unparsed = Unparsed()
        self._is_paused = False  # nothing is read, because nothing more can be kept
        self._is_parsing_later = False
        self._refusal: HttpError | None = None
        self._running: RequestResponseCycle | None = None  # that was begun last

    # --- what the transport tells ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or turn it away when there are too many."""
        super().connection_made(transport)
        self.flow = BodyFlow(transport, self._parse_later)
        self.metrics.connections += 1
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if self.metrics.connections > self.options.max_connections:
            self._refuse(refusal("QUEUE_OVERLOADED", "there are too many connections"))
            return
        if not self._is_counted_in():
            self._refuse(refusal("RATE_LIMITED", "there are too many connections from one address"))
            return
        self._expect_head()

    def _is_counted_in(self) -> bool:
        """Count this connection with those of its address; False where there are too many."""
        address = self.client[0] if self.client else ""
        most = self.options.client_connections
        if not most or not address or is_loopback_address(address) or self.proxies.trusts(address):
            return True
        self._neighbour = neighbourhood(address)
        self.metrics.neighbours[self._neighbour] += 1
        return self.metrics.neighbours[self._neighbour] <= most

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every request of this connection, also those that wait behind another one."""
        self.metrics.connections -= 1
        if self._neighbour:
            self.metrics.neighbours[self._neighbour] -= 1
            if not self.metrics.neighbours[self._neighbour]:
                del self.metrics.neighbours[self._neighbour]
        for timer in (self._head_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)
        waiting = [cycle for cycle, _ in self.pipeline]
        for cycle in (self._running, *waiting):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the buffer has its own size
        """Where the next bytes go."""
        return self._unparsed.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Take bytes."""
        self._unparsed.add(nbytes)
        self._parse()

    def data_received(self, data: bytes) -> None:
        """Parse a piece; the head of a request must not grow or last for ever."""
        if not self._in_body:
            self._head_bytes += len(data)
        self._expect_head()
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self._in_body and self._refusal is None:
            self._refuse(_head_too_large())

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """It has read nearly all; what is written from here on has a time of its own."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        self._watch_reading()

    # --- what the parser tells -------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        super().on_url(url)
        if len(self.url) > MAX_TARGET_BYTES:
            self._raise(refusal("INVALID_REQUEST", "the request target is too long", status=414))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header."""
        super().on_header(name, value)
        size = sum(len(key) + len(text) + 4 for key, text in self.headers)
        if len(self.headers) > MAX_HEADERS or size > MAX_HEAD_BYTES:
            self._raise(_head_too_large())

    def on_headers_complete(self) -> None:
        """The head is there; a target that names another server than `Host` is not ours to answer."""
        self._in_head, self._in_body = False, True
        self._head_bytes = 0
        self._stop_head_timer()
        self.url = self._origin_form(self.url)
        super().on_headers_complete()
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False  # no other protocol is spoken here; what follows would be one

    def on_message_complete(self) -> None:
        """The request is there as a whole; the next bytes begin another one."""
        super().on_message_complete()
        self._in_body = False
        self._stop_head_timer()

    def on_response_complete(self) -> None:
        """A response was written; it still has to be read."""
        super().on_response_complete()
        self._parse_later()  # not at once: the others have their turn first
        if self._in_head:
            self._expect_head()  # it came along with the request before
        self._watch_reading()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - ours says more
        """Answer bytes that are no request."""
        error = self._refusal or _unreadable(sys.exception())
        self._refusal = None
        self._refuse(error)

    # --- turns -----------------------------------------------------------------------------------------------

    def _parse(self) -> None:
        """Parse what is there, up to the end of a request that has to be answered first."""
        self._is_parsing_later = False
        for piece in self._unparsed.pieces(self._may_parse):
            self.data_received(piece)
        if self._unparsed.is_full is not self._is_paused and not self.transport.is_closing():
            self._is_paused = not self._is_paused
            if self._is_paused:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def _may_parse(self) -> bool:
        if self._refusal is not None or self.transport.is_closing() or self.flow.read_paused or self.pipeline:
            return False
        return self._in_body or not self._is_answering

    def _parse_later(self) -> None:
        if self._unparsed and not self._is_parsing_later:
            self._is_parsing_later = True
            self.loop.call_soon(self._parse)

    # --- bounds ----------------------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    @property
    def _is_answering(self) -> bool:
        return self._running is not None and not self._running.response_complete

    def _expect_head(self) -> None:
        if self._head_timer is None and not self._is_answering:
            self._head_timer = self.loop.call_later(self.options.header_timeout, self._head_is_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if not self._in_head:
            self.transport.close()  # it said nothing, or the rest of a body that was refused
        else:
            seconds = f"{self.options.header_timeout:g}"
            message = f"the request did not arrive within {seconds} seconds"
            self._refuse(refusal("INVALID_REQUEST", message, status=408))

    def _watch_reading(self) -> None:
        size = self.transport.get_write_buffer_size()
        if self._stall_timer is None and size:
            self._stall_timer = self.loop.call_later(self.options.write_timeout, self._check_reading, size)

    def _check_reading(self, before: int) -> None:
        self._stall_timer = None
        if reads_too_slowly(before, self.transport.get_write_buffer_size(), self.options.write_timeout):
            self.metrics.rejected("slow_reader")
            self.transport.abort()
        else:
            self._watch_reading()

    def _origin_form(self, target: bytes) -> bytes:
        if target.startswith(b"/"):
            return target
        scheme, found, rest = target.partition(b"://")
        authority, slash, path = rest.partition(b"/")
        host = next((value for name, value in self.headers if name == b"host"), b"")
        is_ours = bool(found and host) and authority.lower() == host.lower()
        if scheme.lower() not in {b"http", b"https"} or not is_ours:
            self._raise(refusal("INVALID_REQUEST", "the request target is not a path of this server"))
        return slash + path or b"/"

    def _raise(self, error: HttpError) -> None:
        """Stop the parser; it comes back in `send_400_response`."""
        self._refusal = error
        raise error

    def _refuse(self, error: HttpError) -> None:
        self._refusal = error
        self._stop_head_timer()
        self.metrics.rejected(_REASONS.get(error.status, "malformed"))
        self.transport.write(_as_bytes(failure_reply(self.stamp(), error)))
        self.transport.close()
        self._watch_reading()


def reads_too_slowly(before: int, now: int, seconds: float) -> bool:
    """Whether too much is left of the bytes that waited for a client those seconds ago."""
    return now > before - min(before, int(SLOWEST_READER * seconds))


def connection_class(
    options: FrontOptions, metrics: Metrics, stamp: Callable[[], Stamp]
) -> type[BoundedConnection]:
    """The class whose connections have these bounds."""
    bounds = {"options": options, "metrics": metrics, "proxies": TrustedProxies(options.trusted_proxies)}
    return type("Connection", (BoundedConnection,), {**bounds, "stamp": staticmethod(stamp)})


def _unreadable(error: BaseException | None) -> HttpError:
    """What the parser could not read; a target is told apart, because curl sends what was typed as it is."""
    if isinstance(error, HttpParserInvalidURLError):
        return refusal(
            "INVALID_REQUEST",
            "the request target holds characters that a URL cannot have",
            hint="Percent-encode it, as in curl -G --data-urlencode 'q=WORDS'; or send the words in a POST.",
        )
    return refusal("INVALID_REQUEST", "this is not a valid HTTP request")


def _head_too_large() -> HttpError:
    return refusal("INVALID_REQUEST", "the head of the request is too large", status=431)


def _as_bytes(reply: Reply) -> bytes:
    headers = [(b"content-type", reply.content_type), (b"content-length", b"%d" % len(reply.body))]
    lines = [b"%b: %b\r\n" % header for header in (*headers, (b"connection", b"close"), *reply.headers)]
    return b"HTTP/1.1 %d \r\n%b\r\n%b" % (reply.status, b"".join(lines), reply.body)
