"""One HTTP request and its whole answer, in bounded time and memory, with nothing but the standard library.

No redirects, no proxies, no cookies: whoever is named is asked, and nobody else learns a token. Whatever ends
without an answer is `Unreachable`; an answer of any status is an answer, and judging it is the caller's business.
"""

import contextlib
import functools
import http.client
import io
import json as jsons
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, NoReturn, cast
from urllib.parse import SplitResult, urlsplit

from holdfast.errors import HoldfastError
from holdfast.version import __version__

__all__ = ["Answer", "Unreachable", "call"]

MAX_BYTES = 16 * 1024 * 1024
_CHUNK = 64 * 1024
_NO_HEADERS: Mapping[str, str] = {}


class Unreachable(HoldfastError):  # noqa: N818 - a state of the other side, not a mistake
    """No answer came; `reason` says why in a word that a program may rely on.

    It is one of `address`, `connection`, `timeout`, `tls`, `too_large`, `no_http`, `forbidden`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Answer(NamedTuple):
    """What came back; the names of headers are in small letters, and of repeated ones the last counts."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The document that the body is; Unreachable where it is none."""
        try:
            return jsons.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Unreachable("no_http", f"the answer is no JSON document: {error}") from error

    def retry_after(self) -> float | None:
        """For how many seconds the other side wants to be left alone, which it tells as a number or a date."""
        told = self.headers.get("retry-after", "").strip()
        if told.isascii() and told.isdigit():
            return float(told[:9])
        try:
            when = parsedate_to_datetime(told)
            return max(0.0, (when - datetime.now(UTC)).total_seconds()) if when.tzinfo else None
        except (ValueError, TypeError, OverflowError):
            return None


def call(
    method: str,
    url: str,
    *,
    json: Any = None,
    token: str | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
    timeout: float = 10.0,
    max_bytes: int = MAX_BYTES,
    cut: bool = False,
    may_connect: Callable[[str], bool] | None = None,
) -> Answer:
    """Ask, and wait no longer than `timeout` seconds from the first byte sent to the last one received.

    `cut`: of a body that is too large, the beginning is enough. `may_connect` is asked about every address that
    the host has, and the connection goes to one of those that it was asked about.
    """
    address = _checked(url)
    body = None if json is None else jsons.dumps(json, ensure_ascii=False, allow_nan=False).encode()
    connection = _connection(address, time.monotonic() + timeout, timeout, may_connect)
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have answered all the same
            connection.request(method, target, body, _headers(headers, token, body))
        with connection.getresponse() as response:
            return _answer(response, max_bytes, cut=cut)
    except (OSError, http.client.HTTPException, ValueError) as error:
        _give_up(error, address)
    finally:
        connection.close()


def _checked(url: str) -> SplitResult:
    try:
        address = urlsplit(url)
        usable = address.scheme in {"http", "https"} and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in address.netloc or not url.isascii() or not url.isprintable() or " " in url:
        raise Unreachable("address", "this is not the address of an HTTP service")
    return address


def _headers(given: Mapping[str, str], token: str | None, body: bytes | None) -> dict[str, str]:
    made = {"Accept": "application/json", "User-Agent": f"holdfast/{__version__}", "Connection": "close"}
    if body is not None:
        made["Content-Type"] = "application/json"
    if token is not None:
        made["Authorization"] = f"Bearer {token}"
    return {**made, **given}


def _answer(response: http.client.HTTPResponse, max_bytes: int, *, cut: bool) -> Answer:
    body = bytearray()
    is_cut = False
    while not is_cut and (chunk := response.read(_CHUNK)):
        body += chunk
        is_cut = cut and len(body) > max_bytes
        if len(body) > max_bytes and not cut:
            raise Unreachable("too_large", f"the answer is larger than {max_bytes} bytes")
    if response.length and not is_cut:  # reading in parts does not notice by itself that the end is missing
        raise Unreachable("connection", "the answer ended before its last byte")
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, bytes(body))


def _give_up(error: Exception, address: SplitResult) -> NoReturn:
    """Tell what happened without the path or query of the address, which may hold what is nobody's business."""
    where = f"{address.hostname}:{address.port or ('443' if address.scheme == 'https' else '80')}"
    if isinstance(error, TimeoutError):
        raise Unreachable("timeout", f"{where} did not answer in time") from error
    if isinstance(error, ssl.SSLError):
        raise Unreachable("tls", f"{where} could not prove who it is: {error.reason}") from error
    if isinstance(error, http.client.HTTPException) and not isinstance(error, ConnectionError):
        raise Unreachable("no_http", f"{where} did not answer in HTTP: {type(error).__name__}") from error
    if isinstance(error, OSError):
        raise Unreachable("connection", f"{where} cannot be reached: {error.strerror or error}") from error
    # A header that cannot be sent, or a host that is no name; the value is not repeated here.
    raise Unreachable("address", f"the request to {where} holds what HTTP cannot say") from None


# --- time: every step counts against one deadline, or a server that drips bytes would hold us for ever ---


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, within_time: Callable[[], None]) -> None:
        self._raw = raw
        self._within_time = within_time

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._within_time()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedSocket:
    """As much of a socket as `http.client` uses."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline

    def _within_time(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)

    def sendall(self, data: Any) -> None:
        view = memoryview(data)
        while view:
            self._within_time()
            view = view[self._sock.send(view[:_CHUNK]) :]

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        # The socket's own file keeps it open until both are closed, which `http.client` counts on.
        return io.BufferedReader(_TimedReader(self._sock.makefile("rb", buffering=0), self._within_time))

    def close(self) -> None:
        self._sock.close()


def _connection(
    address: SplitResult, deadline: float, timeout: float, may_connect: Callable[[str], bool] | None
) -> http.client.HTTPConnection:
    made: http.client.HTTPConnection
    host = cast("str", address.hostname)
    if address.scheme == "https":
        made = http.client.HTTPSConnection(host, address.port, timeout=timeout)
    else:
        made = http.client.HTTPConnection(host, address.port, timeout=timeout)
    if may_connect is not None:
        made._create_connection = functools.partial(_connect_if, may_connect)  # type: ignore[attr-defined]
    connect: Callable[[], None] = made.connect

    def connect_in_time() -> None:
        connect()
        made.sock = _TimedSocket(made.sock, deadline)

    made.connect = connect_in_time  # type: ignore[method-assign]
    return made


def _connect_if(
    may_connect: Callable[[str], bool], address: tuple[str, int], timeout: float, *_: Any
) -> socket.socket:
    """A connection to an address that was asked about: a name that is looked up twice can mean two machines."""
    host, port = address
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise Unreachable("address", "this is not the name of a host") from error
    addresses = list(dict.fromkeys(str(row[4][0]) for row in rows))
    if not all(map(may_connect, addresses)):
        raise Unreachable("forbidden", f"{host} is an address that must not be asked")
    failure = OSError("the host has no address")
    for found in addresses:
        try:
            return socket.create_connection((found, port), timeout)
        except OSError as error:
            failure = error
    raise failure
