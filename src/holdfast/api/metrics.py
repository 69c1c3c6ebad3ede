"""Counters of the front in the text format of Prometheus, and the host's own numbers beside them.

Labels are taken from closed sets (routes, methods, reasons), so that no client can make the page grow.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.observe.exposition import CONTENT_TYPE, head, histogram, page, sample
from holdfast.observe.histogram import Histogram

__all__ = ["CONTENT_TYPE", "Metrics"]

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Metrics:
    """What was asked and how it went."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._rejected: Counter[str] = Counter()
        self._latency: dict[str, Histogram] = {}
        self.in_flight = 0
        self.streams = 0
        self.sessions = 0
        self.connections = 0
        self.neighbours: Counter[str] = Counter()  # connections by address, where they are limited
        self.progress_dropped = 0

    def finished(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered, or its client left (status 499)."""
        self._requests[route, method if method in _METHODS else "other", status] += 1
        if route not in self._latency:
            self._latency[route] = Histogram(BUCKETS)
        self._latency[route].add(seconds)

    def rejected(self, reason: str) -> None:
        """A request was turned away before any work was done for it."""
        self._rejected[reason] += 1

    def render(self, host: Mapping[str, Any] | None) -> bytes:
        """The page; `host` is what the host says about itself, None where it did not answer."""
        return page([*self._own_lines(), *_host_lines(host)])

    def _own_lines(self) -> Iterator[str]:
        yield from head("holdfast_http_requests_total", "counter", "Requests that were answered.")
        for (route, method, status), count in sorted(self._requests.items()):
            labels = {"route": route, "method": method, "status": status}
            yield sample("holdfast_http_requests_total", count, labels)
        yield from self._latency_lines()
        yield from head("holdfast_http_rejected_total", "counter", "Requests and connections turned away.")
        for reason, count in sorted(self._rejected.items()):
            yield sample("holdfast_http_rejected_total", count, {"reason": reason})
        for name, words, number in (
            ("in_flight", "Requests that are being answered.", self.in_flight),
            ("sse_streams", "Event streams that are open.", self.streams),
            ("mcp_sessions", "MCP sessions of clients with a handshake.", self.sessions),
            ("connections", "Connections that are open.", self.connections),
        ):
            yield from head(f"holdfast_http_{name}", "gauge", words)
            yield sample(f"holdfast_http_{name}", number)
        name = "holdfast_http_sse_progress_dropped_total"
        yield from head(name, "counter", "Progress events that a slow reader was spared.")
        yield sample(name, self.progress_dropped)

    def _latency_lines(self) -> Iterator[str]:
        name = "holdfast_http_request_duration_seconds"
        yield from head(name, "histogram", "Time from the head of a request to its answer.")
        for route, times in sorted(self._latency.items()):
            yield from histogram(name, times, {"route": route})


def _host_lines(host: Mapping[str, Any] | None) -> Iterator[str]:
    yield from head("holdfast_host_up", "gauge", "Whether the host answered.")
    yield sample("holdfast_host_up", int(host is not None))
    for name, number in sorted(_numbers("holdfast_host", host or {}, 3)):
        yield f"# TYPE {name} untyped"
        yield sample(name, number)


def _numbers(prefix: str, values: Mapping[str, Any], depth: int) -> Iterator[tuple[str, float]]:
    """The numbers of nested objects, named by the way to them."""
    for key, value in values.items():
        name = f"{prefix}_{_NOT_A_NAME.sub('_', _HUMP.sub('_', str(key)).lower()).strip('_')}"
        if isinstance(value, bool):
            yield name, int(value)
        elif isinstance(value, int | float):
            yield name, value
        elif isinstance(value, Mapping) and depth:
            yield from _numbers(name, value, depth - 1)
