"""Counters of the front in the text format of Prometheus, and the host's own numbers beside them.

Labels are taken from closed sets (routes, methods, reasons), so that no client can make the page grow.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Metrics:
    """What was asked and how it went."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._rejected: Counter[str] = Counter()
        self._latency: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self.in_flight = 0
        self.streams = 0
        self.connections = 0
        self.progress_dropped = 0

    def finished(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered, or its client left (status 499)."""
        self._requests[route, method if method in _METHODS else "other", status] += 1
        counts = self._latency.setdefault(route, [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def rejected(self, reason: str) -> None:
        """A request was turned away before any work was done for it."""
        self._rejected[reason] += 1

    def render(self, host: Mapping[str, Any] | None) -> bytes:
        """The page; `host` is what the host says about itself, None where it did not answer."""
        lines = [*self._own_lines(), *_host_lines(host)]
        return "".join(f"{line}\n" for line in lines).encode()

    def _own_lines(self) -> Iterator[str]:
        yield from _head("holdfast_http_requests_total", "counter", "Requests that were answered.")
        for (route, method, status), count in sorted(self._requests.items()):
            labels = f'route="{route}",method="{method}",status="{status}"'
            yield f"holdfast_http_requests_total{{{labels}}} {count}"
        yield from self._latency_lines()
        yield from _head("holdfast_http_rejected_total", "counter", "Requests and connections turned away.")
        for reason, count in sorted(self._rejected.items()):
            yield f'holdfast_http_rejected_total{{reason="{reason}"}} {count}'
        for name, words, number in (
            ("in_flight", "Requests that are being answered.", self.in_flight),
            ("sse_streams", "Event streams that are open.", self.streams),
            ("connections", "Connections that are open.", self.connections),
        ):
            yield from _head(f"holdfast_http_{name}", "gauge", words)
            yield f"holdfast_http_{name} {number}"
        name = "holdfast_http_sse_progress_dropped_total"
        yield from _head(name, "counter", "Progress events that a slow reader was spared.")
        yield f"{name} {self.progress_dropped}"

    def _latency_lines(self) -> Iterator[str]:
        name = "holdfast_http_request_duration_seconds"
        yield from _head(name, "histogram", "Time from the head of a request to its answer.")
        for route, counts in sorted(self._latency.items()):
            total = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def _host_lines(host: Mapping[str, Any] | None) -> Iterator[str]:
    yield from _head("holdfast_host_up", "gauge", "Whether the host answered.")
    yield f"holdfast_host_up {int(host is not None)}"
    for name, number in sorted(_numbers("holdfast_host", host or {}, 3)):
        yield f"# TYPE {name} untyped"
        yield f"{name} {number}"


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
