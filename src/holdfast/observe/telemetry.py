"""Everything that looks at the events of a host and counts: ledger, hot paths, and spans where they are wanted."""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, Protocol

from holdfast.observe.hot_paths import HotPathWatch
from holdfast.observe.ledger import Ledger
from holdfast.observe.ledger_page import ledger_page
from holdfast.vocabulary.events import CallEnded, Event, HotPaths

__all__ = ["SpanSink", "Telemetry"]


class SpanSink(Protocol):
    """What makes spans of events; see `tracing`, which is loaded only where it is wanted."""

    revision: Callable[[], str]  # of the protocol that the session speaks

    def take(self, event: Event) -> None:
        """Take one event; never raises."""

    def counts(self) -> dict[str, int]:
        """What became of the spans."""

    def close(self) -> None:
        """Send what is left, for a bounded time."""


class Telemetry:
    """The figures of one host; `known` tells the names of the tools that its server has."""

    def __init__(self, known: Callable[[], Container[str]] = tuple) -> None:
        self._known = known
        self.ledger = Ledger(known)
        self.spans: SpanSink | None = None
        self._hot_paths = HotPathWatch()

    def go_on_from(self, document: Any) -> None:
        """Count on from what another host has counted: the ledger's `to_json`."""
        self.ledger = Ledger.from_json(document, self._known)

    def take(self, event: Event) -> HotPaths | None:
        """Count an event; sometimes there is one more to be written because of it."""
        self.ledger.take(event)
        if self.spans is not None:
            self.spans.take(event)
        return self._hot_paths.take(event, self.ledger.tools) if isinstance(event, CallEnded) else None

    def snapshot(self, health: Mapping[str, Any], in_flight: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """The telemetry of the host."""
        told = self.ledger.snapshot(health, in_flight)
        return told if self.spans is None else {**told, "tracing": self.spans.counts()}

    def page(self, health: Mapping[str, Any], in_flight: Iterable[tuple[str, str]]) -> bytes:
        """The same for Prometheus."""
        return ledger_page(self.ledger, health, in_flight, self.spans.counts() if self.spans is not None else {})
