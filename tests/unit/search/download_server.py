"""A web server on this machine that serves well, or badly in the way that a test asks for."""

import threading
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

__all__ = ["Page", "Web", "never", "quiet"]


def quiet(stage: str, done: int, total: int | None, detail: str) -> None:
    """Progress that nobody looks at."""


def never() -> bool:
    """The stop of somebody who does not."""
    return False


@dataclass
class Page:
    """What is at one address."""

    content: bytes = b""
    status: int = 200
    etag: str | None = '"one"'
    location: str | None = None
    has_ranges: bool = True
    heeds_if_range: bool = True
    sends: int | None = None  # bytes, after which the connection is closed
    claims: int | None = None  # what Content-Length says
    waits: threading.Event | None = None  # before the second half
    headers: list[Message] = field(default_factory=list)  # of the requests that came


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name is given
        """Tests are silent."""

    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        page = self.server.pages.get(self.path, Page(b"gone", status=404))
        page.headers.append(self.headers)
        if page.etag and self.headers["If-None-Match"] == page.etag:
            self.send_response(304)
            self.end_headers()
            return
        self.close_connection = True
        content, start = page.content, 0
        is_same = self.headers["If-Range"] == page.etag or not page.heeds_if_range
        if page.has_ranges and self.headers["Range"] and is_same:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self._head(page, content, start)
        body = content[start:][: page.sends]
        half = len(body) // 2
        self.wfile.write(body[:half])
        if page.waits is not None:
            self.wfile.flush()
            page.waits.wait(20)
        self.wfile.write(body[half:])

    def _head(self, page: Page, content: bytes, start: int) -> None:
        self.send_response(206 if start else page.status)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if page.etag:
            self.send_header("ETag", page.etag)
        if page.location:
            self.send_header("Location", page.location)
        length = page.claims if page.claims is not None else len(content) - start
        if length >= 0:
            self.send_header("Content-Length", str(length))
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    pages: dict[str, Page]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is what some tests are about."""


class Web:
    """The server, for as long as the context lasts."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, Page] = {}
        self._server.pages = self.pages
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def serve(self, path: str, page: Page) -> str:
        """Put a page there; its address."""
        self.pages[path] = page
        return self.url + path

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for page in self.pages.values():
            if page.waits is not None:
                page.waits.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
