"""A collector of spans for tests: takes OTLP over HTTP in protobuf, and keeps what it was sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

__all__ = ["Receiver", "attributes_of", "receiving"]


class Receiver:
    """What arrived so far, and where to send it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.endpoint = f"http://{address[0]}:{address[1]}"
        self.spans: list[Span] = []
        self.services: list[str] = []

    def take(self, path: str, body: bytes) -> None:
        """Keep the spans of one export."""
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services += [
                one.value.string_value for one in resource.resource.attributes if one.key == "service.name"
            ]
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def named(self, name: str) -> Span:
        """The only span of that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span


def attributes_of(span: Any) -> dict[str, Any]:
    """The attributes of a span, or of an event of one, as plain values."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A collector that listens on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(("127.0.0.1", server.server_address[1]))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
