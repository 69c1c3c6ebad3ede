"""Many MCP clients over HTTP at once, of both eras: each asks, listens, waits when told to, and comes back.

A client with a handshake keeps a session and its stream open; the others describe every request. Whoever loses its
session or its connection although no front has died tells the soak, which fails then.
"""

import http.client
import json
import random
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["Crowd", "Visitor"]

KEY = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
BOTH = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BUSY = (429, 503)
LONGEST_WAIT = 5.0
_META = {f"{KEY}protocolVersion": MODERN, f"{KEY}clientCapabilities": {}}


class LostError(Exception):
    """The session is not known any more."""


class Visitor(threading.Thread):
    """One client."""

    def __init__(self, crowd: "Crowd", number: int) -> None:
        super().__init__(daemon=True)
        self._crowd = crowd
        self._dice = random.Random(number)
        self._has_session = number % 2 == 0
        self._session: dict[str, str] = {}
        self._stream: http.client.HTTPConnection | None = None
        self._number = 0

    def run(self) -> None:
        """Ask until the crowd goes home."""
        connection = self._connection()
        while not self._crowd.is_over.wait(self._dice.uniform(0.5, 1.5) * self._crowd.pace):
            try:
                self._visit(connection)
            except (LostError, OSError, http.client.HTTPException) as error:
                connection.close()
                self._leave_stream()
                self._session = {}
                self._crowd.lost(repr(error))
            except Exception as error:
                self._crowd.failed(f"MCP over HTTP failed: {error!r}")
                break
        connection.close()
        self._leave_stream()

    def _visit(self, connection: http.client.HTTPConnection) -> None:
        if self._has_session and not self._session and not self._begin(connection):
            return
        answer = self._ask(
            connection, "tools/call", {"name": "search", "arguments": self._crowd.question(self._dice)}
        )
        if answer is None:
            return
        if answer.get("id") != self._number or answer.get("result", {}).get("isError") is not False:
            self._crowd.failed(f"MCP over HTTP: {json.dumps(answer)[:400]}")
        self._crowd.done("MCP calls over HTTP")

    def _begin(self, connection: http.client.HTTPConnection) -> bool:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "v", "version": "1"}}
        if self._ask(connection, "initialize", client) is None:
            return False
        self._crowd.done("MCP sessions")
        self._stream = self._connection()
        self._stream.request("GET", "/mcp", headers={**self._session, "Accept": "text/event-stream"})
        self._stream.getresponse()  # what is said on it is of no interest
        return True

    def _ask(self, connection: http.client.HTTPConnection, method: str, params: dict[str, Any]) -> Any:
        """The answer; None where the server has said to come back later."""
        self._number += 1
        headers = {**BOTH, **self._session}
        if not self._has_session:
            params = {**params, "_meta": _META}
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": str(params.get("name"))}
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        response = connection.getresponse()
        text = response.read()
        if response.status in BUSY:
            self._crowd.done("MCP told to wait")
            self._crowd.is_over.wait(min(LONGEST_WAIT, float(response.getheader("retry-after") or 1)))
            return None
        if response.status == 404 and self._session:
            raise LostError("the session is gone")
        if response.status != 200:
            self._crowd.failed(f"MCP over HTTP {response.status}: {text[:300]!r}")
            return None
        if method == "initialize":
            self._session = {"Mcp-Session-Id": response.getheader("mcp-session-id") or ""}
        if b"data: " in text[:200]:
            text = [line for line in text.splitlines() if line.startswith(b"data: {")][-1][6:]
        answer = json.loads(text)
        if answer.get("error", {}).get("data", {}).get("code") == "QUEUE_OVERLOADED":
            self._crowd.done("MCP told to wait")
            return None
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._crowd.address, timeout=self._crowd.patience)

    def _leave_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class Crowd:
    """All clients of one server."""

    def __init__(
        self,
        address: str,
        count: int,
        *,
        pace: float,
        patience: float,
        question: Callable[[random.Random], dict[str, Any]],
        done: Callable[[str], None],
        failed: Callable[[str], None],
        lost: Callable[[str], None],
    ) -> None:
        self.address = address
        self.pace = pace
        self.patience = patience
        self.question = question
        self.done = done
        self.failed = failed
        self.lost = lost
        self.is_over = threading.Event()
        self._visitors = [Visitor(self, number) for number in range(count)]

    def start(self) -> None:
        """Let them in."""
        for visitor in self._visitors:
            visitor.start()

    def end(self, patience: float) -> None:
        """Send them home."""
        self.is_over.set()
        for visitor in self._visitors:
            visitor.join(patience)
