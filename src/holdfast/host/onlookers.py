"""Who looks at a host from outside: the port for Prometheus and the spans, from before it serves to its end.

What cannot be had is told before anything is served: whoever asked for figures must not find out later that there
are none. Only a host that takes over a session from another one goes on without: the session is worth more.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from holdfast.errors import UsageError
from holdfast.host.metrics_port import MetricsPort, bind_metrics
from holdfast.host.takeover import Capsule
from holdfast.observe.telemetry import SpanSink, Telemetry
from holdfast.settings import Settings
from holdfast.stdio.terminal import write_stderr

__all__ = ["Onlookers", "Watched"]


class Watched(Protocol):
    """The host as those who look on see it."""

    figures: Telemetry

    def metrics(self, name: str) -> bytes:
        """The page for Prometheus."""

    def health(self) -> dict[str, Any]:
        """How the host is."""


class Onlookers:
    """The metrics port and the tracing of one host, as far as they were asked for."""

    def __init__(self, settings: Settings, name: str, before: Capsule | None = None) -> None:
        """Bind and load what is asked for; UsageError where that cannot be, unless a host came before this one."""
        self._name = name
        self._bound: socket.socket | None = None
        self._port: MetricsPort | None = None
        self._spans: SpanSink | None = None
        self._port_before = before.metrics_port if before is not None else 0
        for prepare in (self._bind, self._trace):
            try:
                prepare(settings)
            except UsageError as error:
                if before is None:
                    raise
                _say(f"{error.message}; try: {error.remedy}")

    def _bind(self, settings: Settings) -> None:
        if settings.metrics:
            self._bound = bind_metrics(settings.metrics, self._port_before)

    def _trace(self, settings: Settings) -> None:
        if settings.otel:
            from holdfast.observe.tracing import start_tracing

            self._spans = start_tracing(self._name)

    @property
    def address(self) -> str | None:
        """Where the figures are told; None where they are not."""
        return self._port.address if self._port is not None else None

    @property
    def port(self) -> int:
        """The number of that port; 0 where there is none."""
        return self._port.port if self._port is not None else 0

    async def start(self, host: Watched, revision: Callable[[], str]) -> None:
        """Begin to look on."""
        if self._spans is not None:
            self._spans.revision = revision
            host.figures.spans = self._spans
        if self._bound is not None:
            self._port = MetricsPort(self._bound, lambda: host.metrics(self._name), host.health)
            await self._port.start()
            _say(f"metrics at http://{self._port.address}/metrics")

    async def close(self) -> None:
        """Stop answering, and send what is left."""
        if self._port is not None:
            await self._port.close()
        if self._spans is not None:
            self._spans.close()


def _say(text: str) -> None:
    with suppress(OSError):  # stderr may be what is full
        write_stderr(f"holdfast: {text}")
