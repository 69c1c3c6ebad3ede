"""The ledger of a host: what was asked, how it ended and how long it took, per method and per tool.

It is fed with events and does no I/O. An event costs a bounded, small amount of work, and the number of series is
bounded: a name that the server does not know gets one of a few places, and then is `other`. Workers come and go
without a trace in it; `to_json` and `from_json` carry it over a replacement of the host itself.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from holdfast.observe.series import COUNTS, Series
from holdfast.vocabulary.events import CallEnded, CallReplayed, Event, RequestEnded, WorkerLost

__all__ = ["MAX_TOOLS", "OTHER", "Ledger"]

OTHER = "other"
MAX_TOOLS = 200
MAX_STRANGERS = 32  # methods, and tools, that nobody declares
LONGEST_NAME = 200
_VERSION = 1
_CALL = "tools/call"
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_METHODS = frozenset(
    {
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "server/discover",
        "subscriptions/listen",
        "tasks/cancel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tools/call",
        "tools/list",
    }
)
# What a snapshot repeats of the health.
_OF_HEALTH = ("uptime_ms", "state", "worker_handshake", "generation", "consecutive_failures", "restart_count")


class Ledger:
    """Counts requests; `known` tells the names of the tools that the server has."""

    def __init__(self, known: Callable[[], Container[str]] = tuple) -> None:
        self.methods = _Names(lambda: _METHODS, len(_METHODS) + MAX_STRANGERS)
        self.tools = _Names(known, MAX_TOOLS)
        self.workers_lost = 0
        self._takers: dict[type[Event], Callable[[Any], None]] = {
            CallEnded: self._ended,
            RequestEnded: self._ended,
            CallReplayed: self._replayed,
            WorkerLost: self._lost,
        }

    def take(self, event: Event) -> None:
        """Count an event, if it is one that counts."""
        taker = self._takers.get(type(event))
        if taker is not None:
            taker(event)

    def _ended(self, event: CallEnded) -> None:
        method = event.method or _CALL
        self.methods[method].add(event)
        if method == _CALL:
            self.tools[event.tool].add(event)

    def _replayed(self, event: CallReplayed) -> None:
        method = event.method or _CALL
        self.methods[method].retries += 1
        if method == _CALL:
            self.tools[event.tool].retries += 1

    def _lost(self, event: WorkerLost) -> None:  # noqa: ARG002
        self.workers_lost += 1

    # --- telling -----------------------------------------------------------------------------------------------

    def snapshot(self, health: Mapping[str, Any], in_flight: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """The telemetry of a host; `in_flight` are the method and the tool of each request that is under way."""
        under_way = list(in_flight)
        methods = self.methods.in_flight(method for method, _ in under_way)
        tools = self.tools.in_flight(tool for method, tool in under_way if method == _CALL)
        told = {name: health.get(name) for name in _OF_HEALTH}
        return {
            **told,
            "in_flight": len(under_way),
            "totals": self.totals(len(under_way)),
            "methods": [
                {"method": name, **_figures(series, methods[name])}
                for name, series in self._sorted(self.methods, methods)
            ],
            "tools": [
                {
                    "tool": name,
                    **_figures(series, tools[name]),
                    "in_flight": tools[name],
                    "outcomes": dict(series.outcomes),
                    **_distribution(series),
                }
                for name, series in self._sorted(self.tools, tools)
            ],
            "last_fault": health.get("last_fault"),
        }

    def totals(self, in_flight: int) -> dict[str, int]:
        """The seven counts of all requests; a lost worker is one fault, however many requests it had."""
        every = [series.counts(0) for series in self.methods.values()]
        totals = {name: sum(counts[name] for counts in every) for name in COUNTS}
        totals["request_count"] += in_flight
        totals["recovery_fault_count"] = self.workers_lost
        return totals

    @staticmethod
    def _sorted(names: "_Names", under_way: Mapping[str, int]) -> list[tuple[str, Series]]:
        """The series in the order of their names, with those whose first request is still under way."""
        return [(name, names.get(name) or Series()) for name in sorted({*names, *under_way})]

    # --- carrying over -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Everything that was counted, as a JSON document."""
        return {
            "version": _VERSION,
            "workers_lost": self.workers_lost,
            "methods": {name: series.to_json() for name, series in self.methods.items()},
            "tools": {name: series.to_json() for name, series in self.tools.items()},
        }

    @classmethod
    def from_json(cls, document: Any, known: Callable[[], Container[str]] = tuple) -> "Ledger":
        """A ledger that goes on from there; ValueError where the document is not what `to_json` gave."""
        if not isinstance(document, dict) or document.get("version") != _VERSION:
            raise ValueError("the ledger has another version")
        made = cls(known)
        lost = document.get("workers_lost")
        if type(lost) is not int or not 0 <= lost < 2**63:
            raise ValueError("a count is no count")
        made.workers_lost = lost
        made.methods.restore(document.get("methods"))
        made.tools.restore(document.get("tools"))
        return made


class _Names(dict[str, Series]):
    """Series by name, bounded in number; reading one that is not there makes it, or gives that of `other`."""

    def __init__(self, known: Callable[[], Container[str]], most: int) -> None:
        super().__init__()
        self._known = known
        self._most = most
        self._strangers = 0

    def __missing__(self, name: str) -> Series:
        told, is_stranger = self._place(name)
        if told not in self:
            self[told] = Series()
            self._strangers += is_stranger
        return self[told]

    def in_flight(self, names: Iterable[str]) -> Counter[str]:
        """How many requests are under way, by the names of their series."""
        return Counter(name if name in self else self._place(name)[0] for name in names)

    def restore(self, document: Any) -> None:
        """Take what was written down; ValueError where it cannot be."""
        if not isinstance(document, dict) or len(document) > self._most + 1:
            raise ValueError("the ledger has too many names, or none")
        for name, series in document.items():
            if name != OTHER and not _is_legible(name):
                raise ValueError("a name in the ledger is no name")
            self[name] = Series.from_json(series)
        self._strangers = min(len(self), MAX_STRANGERS)  # who declares what is not known yet

    def _place(self, name: str) -> tuple[str, bool]:
        """The name of the series that a new name belongs to, and whether nobody declares that name."""
        if len(self) >= self._most or not _is_legible(name):
            return OTHER, False
        if name in self._known():
            return name, False
        return (name, True) if self._strangers < MAX_STRANGERS else (OTHER, False)


def _is_legible(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()


def _figures(series: Series, in_flight: int) -> dict[str, Any]:
    return {**series.counts(in_flight), **series.latency(), "last_error": series.last_error}


def _distribution(series: Series) -> dict[str, Any]:
    quantiles = {name: series.times.quantile(share) for name, share in _QUANTILES.items()}
    quantiles["max"] = series.times.longest if series.times.count else None
    bounds = [*(bound * 1000 for bound in series.times.bounds), None]
    return {
        "latency_ms": {name: None if at is None else round(at * 1000, 3) for name, at in quantiles.items()},
        "histogram": [
            {"le_ms": bound, "count": count}
            for bound, count in zip(bounds, series.times.counts, strict=True)
            if count
        ],
    }
