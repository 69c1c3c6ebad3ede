"""A client that speaks HTTP to whatever listens on a port, politely or byte by byte."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

__all__ = ["BOUND", "Client", "Got", "parse_events", "read_to_end", "until"]

BOUND = 20.0  # seconds after which what a test waits for is taken not to come


class Got(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """Asks one server on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def request(self, method: str, path: str, /, *body: bytes, **headers: str) -> Got:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND)
        try:
            connection.request(
                method,
                path,
                b"".join(body) if body else None,
                {key.replace("_", "-"): value for key, value in headers.items()},
            )
            answer = connection.getresponse()
            return Got(answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Got:
        """GET."""
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Got:
        """POST a value as JSON, or bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", path, raw, **{"Content_Type": "application/json", **headers})

    def events(self, path: str, body: Any = None, **headers: str) -> list[tuple[str, Any]]:
        """The events of a stream, read to its end."""
        got = self.get(path, **headers) if body is None else self.post(path, body, **headers)
        assert got.status == 200, got.body
        return parse_events(got.body)

    def connect(self, *, buffer: int | None = None) -> socket.socket:
        """A bare connection; with a small buffer, what is not read soon waits on the other side."""
        connection = socket.socket()
        connection.settimeout(BOUND)
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def exchange(self, raw: bytes) -> bytes:
        """Send bytes as they are and read until the server closes."""
        with self.connect() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(raw)
            return read_to_end(connection)

    def begin(self, path: str, query: str, *, is_last: bool = True) -> socket.socket:
        """A search that was sent and whose answer is not read yet; the last on its connection, or not."""
        return self.begin_post(path, {"query": query}, is_last=is_last)

    def begin_post(self, path: str, value: Any, *, is_last: bool = True) -> socket.socket:
        """The same with any body."""
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
        connection = self.connect()
        close = "Connection: close\r\n" if is_last else ""
        connection.sendall(f"{head}{close}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return connection


def read_to_end(connection: socket.socket) -> bytes:
    """Everything that the server sends until it closes."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def parse_events(raw: bytes) -> list[tuple[str, Any]]:
    """The events of a stream, without comments."""
    events = []
    for block in raw.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is so, with a bound."""
    end = time.monotonic() + BOUND
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, what
        pause.wait(0.01)
