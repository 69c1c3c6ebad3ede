"""A server as people start it with `--http`, and bare clients of both eras that speak MCP to it."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.api.client import BOUND, Client, Got
from tests.api.running_server import port_of, started

__all__ = ["HARBOUR", "KEY", "YOUNGER", "McpServer", "Session", "Stream", "initialize_params", "meta", "serving"]

HARBOUR = ["serve", str(Path(__file__).parents[1] / "clients" / "server.py")]
YOUNGER = str(Path(__file__).parents[1] / "host" / "modern_worker.py")
KEY = "io.modelcontextprotocol/"
BOTH = "application/json, text/event-stream"
CLIENT = {"name": "bare", "version": "1.0.0"}
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def meta(**more: Any) -> dict[str, Any]:
    """How a request describes itself; with `capabilities`, and whatever else."""
    capabilities = more.pop("capabilities", {})
    told = {"protocolVersion": "2026-07-28", "clientCapabilities": capabilities, "clientInfo": CLIENT}
    return {**{f"{KEY}{name}": value for name, value in told.items()}, **more}


def initialize_params(revision: str, capabilities: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The parameters of a handshake."""
    return {"protocolVersion": revision, "capabilities": dict(capabilities or {}), "clientInfo": CLIENT}


class Stream:
    """An answer that is read while it comes."""

    def __init__(self, port: int, method: str, headers: Mapping[str, str], body: bytes | None = None) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
        self.connection.request(method, "/mcp", body, dict(headers))
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def next(self) -> dict[str, str]:
        """The fields of the next event; nothing at the end of the stream."""
        fields: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if not text and fields:
                return fields
            if text and not text.startswith(":"):
                name, _, value = text.partition(":")
                fields[name] = value.removeprefix(" ")
        return fields

    def message(self) -> Any:
        """The next message."""
        while True:
            event = self.next()
            if event.get("data") or not event:
                return json.loads(event["data"]) if event else None

    def messages(self) -> list[Any]:
        """All messages up to the end of the stream."""
        return list(iter(self.message, None))

    def close(self) -> None:
        """Leave."""
        self.response.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class McpServer(Client):
    """One server behind HTTP."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes], mark: str) -> None:
        super().__init__(port_of(folder / "stderr"))
        self.folder = folder
        self.process = process
        self.mark = mark

    @property
    def host(self) -> dict[str, Any]:
        """What the host says of itself."""
        told: dict[str, Any] = self.get("/health").json["result"]["host"]
        return told

    def logs(self) -> list[Path]:
        """The event logs of host and workers."""
        return list((self.folder / "state").glob("*/events.jsonl"))

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The events of one kind that host and worker have logged so far."""
        events = [json.loads(line) for log in self.logs() for line in log.read_text().splitlines()]
        return [one for one in events if one["event"] == event]

    def headers(self, message: Mapping[str, Any], **more: str) -> dict[str, str]:
        """The headers of a request that describes itself."""
        headers = {"Content-Type": "application/json", "Accept": BOTH, "MCP-Protocol-Version": "2026-07-28"}
        headers["Mcp-Method"] = str(message.get("method"))
        name = message.get("params", {}).get(_NAMES.get(str(message.get("method")), ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = name
        return {**headers, **{key.replace("_", "-"): value for key, value in more.items()}}

    def message(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 1, **more: Any) -> Any:
        """A request that describes itself."""
        params = {**(params or {}), "_meta": meta(**more)}
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    def ask(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 1, **more: Any) -> Got:
        """Send one, and read all that comes back."""
        message = self.message(method, params, number, **more)
        return self.send(message, self.headers(message))

    def send(self, message: Any, headers: Mapping[str, str]) -> Got:
        """Send a message with these headers and no others."""
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request("POST", "/mcp", raw, **{key.replace("-", "_"): text for key, text in headers.items()})

    def call(self, tool: str, arguments: Mapping[str, Any], number: Any = 1, **more: Any) -> Any:
        """The result of a tool."""
        got = self.ask("tools/call", {"name": tool, "arguments": dict(arguments)}, number, **more)
        assert got.status == 200, got.body
        return got.json["result"]

    def open(self, message: Mapping[str, Any], **headers: str) -> Stream:
        """Send one, and read what comes back while it comes."""
        return Stream(self.port, "POST", self.headers(message, **headers), json.dumps(message).encode())

    def session(self, revision: str = "2025-11-25", **more: Any) -> "Session":
        """A session of the older era, introduced."""
        return Session(self, revision, **more)


class Session:
    """A client with a handshake."""

    def __init__(self, server: McpServer, revision: str, *, capabilities: Any = None, **headers: str) -> None:
        self.server = server
        self._headers = {"Content-Type": "application/json", "Accept": BOTH, **headers}
        message = self.message("initialize", initialize_params(revision, capabilities), 0)
        got = server.send(message, self._headers)
        assert got.status == 200, got.body
        self.answer = got.json
        self.id = got.headers["mcp-session-id"]
        self.headers = {**self._headers, "Mcp-Session-Id": self.id}
        if revision >= "2025-06-18":
            self.headers["MCP-Protocol-Version"] = self.answer["result"]["protocolVersion"]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert server.send(note, self.headers).status == 202

    def message(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 1) -> dict[str, Any]:
        """A request."""
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}

    def ask(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 1) -> Any:
        """Send one; its answer, whatever comes before it."""
        with self.open(method, params, number) as stream:
            assert stream.status == 200, stream.response.read()
            if "json" in (stream.response.getheader("content-type") or ""):
                return json.loads(stream.response.read())
            return stream.messages()[-1]

    def call(self, tool: str, arguments: Mapping[str, Any], number: Any = 1) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": dict(arguments)}, number)["result"]

    def tell(self, message: Mapping[str, Any]) -> Got:
        """Post a notification or an answer."""
        return self.server.send({"jsonrpc": "2.0", **message}, self.headers)

    def open(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 1) -> Stream:
        """Send one, and read what comes back while it comes."""
        body = json.dumps(self.message(method, params, number)).encode()
        return Stream(self.server.port, "POST", self.headers, body)

    def listen(self, last: str = "") -> Stream:
        """The stream of the session; or the rest of another after its last event."""
        headers = {**self.headers, "Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        return Stream(self.server.port, "GET", headers)

    def delete(self) -> Got:
        """End it."""
        named = {key.replace("-", "_"): value for key, value in self.headers.items()}
        return self.server.request("DELETE", "/mcp", **named)


@contextmanager
def serving(
    folder: Path, words: Sequence[str], *, before: Sequence[str] = (), **environment: str
) -> Iterator[McpServer]:
    """Serve over HTTP alone; `before` comes ahead of the rest. At the end nothing may be left behind."""
    command, *rest = words
    line = [sys.executable, "-m", "holdfast", command, "--http", "127.0.0.1:0", *before, *rest]
    with started(folder, line, environment) as (process, mark):
        yield McpServer(folder, process, mark)
