"""A web site on a real socket that behaves in every way in which sites behave; its paths say how."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["BOUND", "StrangeSite", "strange_site"]

BOUND = 60.0
_PIECE = b"x" * (1 << 16)


@dataclass
class StrangeSite:
    """Its port, what it was asked, and how many asked at the same time; who hangs waits for `over`."""

    port: int
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"http://{host}:{self.port}{path}"


class _Handler(BaseHTTPRequestHandler):
    site: StrangeSite
    guard: threading.Lock
    now: Counter[str]

    def do_HEAD(self) -> None:
        """What a link checker asks first."""
        self._answer(is_head=True)

    def do_GET(self) -> None:
        """What it asks then."""
        self._answer(is_head=False)

    def _answer(self, *, is_head: bool) -> None:
        with self.guard:
            self.is_here = True
            self.now["all"] += 1
            self.now[self.path] += 1
            times = self.now[self.path]
            self.site.most_at_once = max(self.site.most_at_once, self.now["all"])
            self.site.asked.append((self.command, self.path))
            self.site.headers.append({name.lower(): value for name, value in self.headers.items()})
        try:
            self._behave(self.path.strip("/").split("/"), times, is_head=is_head)
        except ConnectionError:
            self.close_connection = True
        finally:
            self._leave()

    def _leave(self) -> None:
        """Counted as gone before the answer is sent: whoever has it may ask again at once."""
        with self.guard:
            self.now["all"] -= self.is_here
            self.is_here = False

    def _behave(self, words: list[str], times: int, *, is_head: bool) -> None:
        match words:
            case ["head", refused, status]:
                self._send(int(refused if is_head else status))
            case ["busy", wait]:
                self._send(*((429, {"Retry-After": wait}) if times == 1 else (200, {})))
            case ["moved", status, *rest]:
                self._send(int(status), {"Location": "/" + "/".join(rest)})
            case ["found", *about]:
                self._send(302, {"Location": self._elsewhere(about)})
            case ["hang"]:
                self.site.over.wait(BOUND)
            case ["huge", status]:
                self._huge(int(status), is_head=is_head)
            case ["reset"]:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
            case ["garbage"]:
                self.wfile.write(b"I speak no HTTP\r\n\r\n")
            case _:
                self._send(int(words[-1]))

    def _elsewhere(self, about: list[str]) -> str:
        match about:
            case ["at", host]:
                return f"http://{host}:{self.site.port}/status/200"
            case ["%C3%BC"]:
                return "/ü/200".encode().decode("latin-1")
            case ["file"]:
                return "file:///etc/passwd"
            case ["keys"]:
                return f"http://me:secret@127.0.0.1:{self.site.port}/status/200"
            case _:
                number = int(about[-1])
                return f"/found/chain/{number - 1}" if number else "/status/200"

    def _send(self, status: int, headers: dict[str, str] | None = None) -> None:
        self._leave()
        self.send_response(status)
        self.send_header("Content-Length", "0")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _huge(self, status: int, *, is_head: bool) -> None:
        self.send_response(405 if is_head else status)
        self.end_headers()
        while not is_head and not self.site.over.is_set():
            self.wfile.write(_PIECE)

    def log_message(self, *_: object) -> None:
        """Silent."""


@contextmanager
def strange_site() -> Iterator[StrangeSite]:
    """The site, on every address of this machine's loopback."""
    handler = type("Handler", (_Handler,), {"guard": threading.Lock(), "now": Counter()})
    server = ThreadingHTTPServer(("0.0.0.0", 0), handler)
    server.daemon_threads = True
    site = StrangeSite(server.server_port)
    handler.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        with suppress(OSError):
            server.shutdown()
        thread.join()
        server.server_close()
