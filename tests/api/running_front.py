"""A real front process on a real socket, the scripted host at the other end of its pipe, and a client of it."""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.api.scripted_host import BOUND, ScriptedHost

ALIAS = "project"


class Got(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class RunningFront:
    """One front; `host` is None where the server behind it is not scripted."""

    def __init__(
        self, port: int, host: ScriptedHost | None, process: subprocess.Popen[bytes], stderr: Path
    ) -> None:
        self.port = port
        self._host = host
        self.process = process
        self._stderr = stderr
        self.url = f"http://127.0.0.1:{port}"

    @property
    def host(self) -> ScriptedHost:
        """The scripted host."""
        assert self._host is not None
        return self._host

    def stderr(self) -> str:
        """What the front wrote to stderr so far."""
        return self._stderr.read_text(errors="replace")

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


@contextmanager
def running_front(place: Path, **options: Any) -> Iterator[RunningFront]:
    """Start a front with these options and stop it at the end; it must end by itself, with exit code 0."""
    repository = place / ALIAS
    repository.mkdir(exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0))
    mounted = [{"alias": ALIAS, "root": str(repository)}]
    line = json.dumps({"schemaVersion": "1.0.0", "repositories": mounted, **options}).encode() + b"\n"
    with (place / "stderr").open("wb") as stderr:
        process = start_process(listener.fileno(), stderr)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    port = listener.getsockname()[1]
    listener.close()
    host = ScriptedHost(os.dup(process.stdout.fileno()), process.stdin.fileno(), str(repository))
    try:
        yield RunningFront(port, host, process, place / "stderr")
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            code = process.wait(BOUND)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        process.stdout.close()
        host.thread.join(BOUND)
        assert code == 0, (place / "stderr").read_text()
        assert "Traceback" not in (place / "stderr").read_text(errors="replace"), (place / "stderr").read_text()


def start_process(
    descriptor: int, stderr: Any, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """The front as the host starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast.search.http", "--fd", str(descriptor), "--id-prefix", "http:"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        pass_fds=(descriptor,),
        env={**os.environ, **(environment or {})},
    )
