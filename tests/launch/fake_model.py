"""A service of the chat-completions kind on a real socket, which answers as a test has written down."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["BOUND", "FakeModel", "Fault", "fake_model", "said"]

BOUND = 60.0


@dataclass(frozen=True)
class Fault:
    """An answer as it goes over the wire; `length` is what its header says, where that is a lie."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    length: int | None = None


Answering = Callable[[str], Any]


@dataclass
class FakeModel:
    """Where it listens, what it was asked, and how many waited at the same time; `hold` makes all wait."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    hold: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


def said(text: str, *, usage: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    """A completion with this text."""
    choice = {"message": {"content": text}, "finish_reason": "stop"} | more
    told = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100} if usage is None else usage
    return {"choices": [choice], "usage": told}


@contextmanager
def fake_model(answer: Answering, *, held: bool = False) -> Iterator[FakeModel]:
    """A server; `answer` makes a document, or a Fault, of the text that is asked about."""
    lock, now = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """One question."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                now[0] += 1
                fake.most_at_once = max(fake.most_at_once, now[0])
                fake.asked.append({"path": self.path, "key": self.headers["authorization"], "body": body})
            fake.arrived.release()
            fake.hold.wait(BOUND)
            with lock:
                now[0] -= 1
            made = answer(body["messages"][-1]["content"])
            self._send(made if isinstance(made, Fault) else Fault(body=json.dumps(made).encode()))

        def _send(self, fault: Fault) -> None:
            try:
                self.send_response(fault.status)
                self.send_header("content-type", fault.kind)
                self.send_header("content-length", str(len(fault.body) if fault.length is None else fault.length))
                for name, value in fault.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(fault.body)
            except ConnectionError:
                self.close_connection = True  # whoever asked was killed

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    fake = FakeModel(f"http://127.0.0.1:{server.server_port}/v1")
    if not held:
        fake.hold.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        fake.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
