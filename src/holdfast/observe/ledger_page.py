"""The ledger and the health of a host as a page for Prometheus.

Every label is a name of the ledger, which bounds their number, or a word of a closed set.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.observe.exposition import head, histogram, page, sample
from holdfast.observe.ledger import Ledger
from holdfast.observe.series import Series
from holdfast.version import __version__
from holdfast.vocabulary.execution import Impediment, Lifecycle

__all__ = ["ledger_page"]

_GAUGES = (
    ("generation", "generation", "Generation of the worker that serves."),
    ("consecutive_failures", "consecutive_failures", "Losses of the worker in a row."),
    ("degraded", "degraded", "Whether workers keep failing, so that they are restarted at a low rate."),
    ("admits", "admits", "Whether a call that comes now is taken."),
    ("in_flight", "pending", "Requests that are under way or wait."),
    ("queued", "queued", "Of these, requests that no worker has."),
    ("held_for_probe", "held_for_probe", "Requests that wait for the word of a probe."),
)
# What became of requests: the name of the metric, its figure, its meaning.
_PER_SERIES: tuple[tuple[str, Callable[[Series], int], str], ...] = (
    ("response_errors", lambda series: series.response_errors, "Errors that the worker itself answered."),
    ("recovery_errors", lambda series: series.recovery_errors, "Errors because the worker was lost."),
    ("recovery_faults", lambda series: series.recovery_faults, "Losses of workers that requests went through."),
    ("retries", lambda series: series.retries, "Requests that were sent again to another worker."),
)


def ledger_page(
    ledger: Ledger, health: Mapping[str, Any], in_flight: Iterable[tuple[str, str]], extra: Mapping[str, int]
) -> bytes:
    """The page; `extra` are further counters, by their names."""
    under_way = ledger.tools.in_flight(tool for method, tool in in_flight if method == "tools/call")
    return page(
        [
            *_host_lines(ledger, health),
            *_series_lines("request", "method", ledger.methods),
            *_series_lines("tool_call", "tool", ledger.tools),
            *_tool_lines(ledger, under_way),
            *_extra_lines(extra),
        ]
    )


def _host_lines(ledger: Ledger, health: Mapping[str, Any]) -> Iterator[str]:
    yield from head("holdfast_info", "gauge", "The host.")
    yield sample("holdfast_info", 1, {"server": str(health.get("name", ""))[:200], "version": __version__})
    yield from head("holdfast_state", "gauge", "The state of the host's life: 1 for the one that it is in.")
    for state in Lifecycle:
        yield sample("holdfast_state", int(health.get("state") == state.value), {"state": state.value})
    yield from head(
        "holdfast_degraded_reason", "gauge", "Why the host is degraded: 1 for the reason, if there is one."
    )
    for reason in Impediment:
        is_it = health.get("reason_code") == reason.value
        yield sample("holdfast_degraded_reason", int(is_it), {"reason": reason.value})
    yield from _one(
        "uptime_seconds", "gauge", "Seconds since the host was started.", _of(health, "uptime_ms") / 1000
    )
    for name, field, words in _GAUGES:
        yield from _one(name, "gauge", words, _of(health, field))
    yield from _one(
        "restarts_total", "counter", "Workers started in the place of another.", _of(health, "restart_count")
    )
    yield from _one("workers_lost_total", "counter", "Workers that were lost.", ledger.workers_lost)


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield from head(f"holdfast_{name}", kind, words)
    yield sample(f"holdfast_{name}", value)


def _of(health: Mapping[str, Any], field: str) -> float:
    value = health.get(field)
    return value + 0 if isinstance(value, int | float) else 0


def _series_lines(what: str, label: str, names: Mapping[str, Series]) -> Iterator[str]:
    ordered = sorted(names.items())
    total = f"holdfast_{what}s_total"
    yield from head(total, "counter", "What has ended, by its outcome.")
    for name, series in ordered:
        for outcome, count in series.outcomes.items():
            yield sample(total, count, {label: name, "outcome": outcome})
    for figure, reading, words in _PER_SERIES:
        metric = f"holdfast_{what}_{figure}_total"
        yield from head(metric, "counter", words)
        for name, series in ordered:
            yield sample(metric, reading(series), {label: name})


def _tool_lines(ledger: Ledger, under_way: Counter[str]) -> Iterator[str]:
    name = "holdfast_tool_call_in_flight"
    yield from head(name, "gauge", "Calls that are under way or wait.")
    for tool in sorted({*ledger.tools, *under_way}):
        yield sample(name, under_way[tool], {"tool": tool})
    name = "holdfast_tool_call_duration_seconds"
    yield from head(name, "histogram", "Time from a call to its answer, restarts of the worker included.")
    for tool, series in sorted(ledger.tools.items()):
        yield from histogram(name, series.times, {"tool": tool})


def _extra_lines(extra: Mapping[str, int]) -> Iterator[str]:
    for name, count in sorted(extra.items()):
        yield from _one(f"{name}_total", "counter", f"Counted by the host: {name.replace('_', ' ')}.", count)
