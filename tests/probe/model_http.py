"""The model server over HTTP, in threads of the test's own process; it has the faults of HTTP and of the core."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.probe.model_core import MODERN, REVISIONS, Core, Later, RefusedError, error_of


class ModelServer(ThreadingHTTPServer):
    """The server and its sessions."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fault: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.sessions: dict[str, Core] = {}
        self.poisoned: set[str] = set()

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is what some checks are about."""


class Handler(BaseHTTPRequestHandler):
    """One exchange."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _has(self, fault: str) -> bool:
        return self.server.fault == fault

    def _reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self) -> None:
        """No stream is offered."""
        self._reply(500 if self._has("http.get") else 405)

    def do_DELETE(self) -> None:
        """Ends a session."""
        self._body()
        self.server.sessions.pop(self.headers.get("Mcp-Session-Id", ""), None)
        self._reply(500 if self._has("http.delete") else 204)

    def do_PUT(self) -> None:
        """Means nothing here."""
        self._body()
        self._reply(200 if self._has("http.other-methods") else 405)

    def do_POST(self) -> None:
        """One message."""
        line = self._body()
        if self.headers.get("Mcp-Session-Id") in self.server.poisoned:
            self._reply(503)
            return
        if (status := self._refused_status(line)) is not None:
            self._reply(status)
            return
        session = self.headers.get("Mcp-Session-Id", "")
        core = self.server.sessions.get(session) or Core(self.server.fault)
        request_id = None
        try:
            value = core.read(line)
            message = None if value is None else core.checked(value)
            if message is None:
                self._reply(200 if value is None else 202)
                return
            request_id = message.get("id")
            self._serve(core, message, session)
        except RefusedError as refused:
            self._reply(400, json.dumps(error_of(refused, request_id)).encode(), Content_Type="application/json")

    def _refused_status(self, line: bytes) -> int | None:
        """What is refused before the body is read."""
        headers = self.headers
        revision = headers.get("MCP-Protocol-Version")
        session = headers.get("Mcp-Session-Id", "")
        if not headers.get("Content-Type", "").startswith("application/json") and not self._has(
            "http.content-type"
        ):
            return 415
        if headers.get("Origin") and not self._has("http.origin"):
            return 403
        if revision == "1999-01-01" and not self._has("http.revision-header"):
            return 400
        if session and session not in self.server.sessions and not self._has("http.unknown-session"):
            return 404
        wrong = revision == MODERN and headers.get("Mcp-Method", "").encode() not in line
        return 400 if wrong and not self._has("http.header-mismatch") else None

    def _serve(self, core: Core, message: dict[str, Any], session: str) -> None:
        headers: dict[str, str] = {}
        if message["method"] == "initialize" and not session:
            session = f"session-{len(self.server.sessions)}-{time.monotonic_ns()}"
            headers["Mcp_Session_Id"] = session
        answer = core.answer(message)
        if isinstance(answer, Later):
            if self._has("http.closed-stream") and message.get("id") == "hung-up":
                self.server.poisoned.add(session)
            threading.Event().wait(answer.seconds)
            answer = answer.result or {"content": [], "isError": True}
        if "id" not in message:
            self._reply(200 if self._has("http.notification") else 202)
            return
        if message["method"] == "initialize" and answer is not None:
            assert answer["protocolVersion"] in REVISIONS
            self.server.sessions[session] = core
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        if message["method"] == "tools/call":  # as a stream of events, which a server may choose
            events = f": a comment\r\n\r\nevent: message\r\ndata: {body}\r\n\r\n".encode()
            self._reply(200, events, Content_Type="text/event-stream", **headers)
        else:
            self._reply(200, body.encode(), Content_Type="application/json", **headers)


@contextmanager
def serving(fault: str = "") -> Iterator[str]:
    """The address of a model server that serves while the block runs."""
    server = ModelServer(fault)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
