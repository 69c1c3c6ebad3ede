"""The telemetry of a host as a person reads it: totals in a few lines, then a table per tool and one per method.

A host of another version may leave out or add fields; what is not there is not shown.
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.cli.health import duration
from holdfast.present.bounds import clean_line, collapse_whitespace, truncate_chars
from holdfast.present.counted import counted
from holdfast.present.table import render_table

__all__ = ["describe_telemetry"]

_WIDE = 160  # where nobody says how wide the screen is
_TOOLS = ("tool", "calls", "errors", "retries", "in flight", "p50", "p95", "max", "last error")
_METHODS = ("method", "requests", "errors", "retries", "avg", "max", "last error")
_MOST_ROWS = 50


def describe_telemetry(telemetry: Mapping[str, Any]) -> Iterator[str]:
    """The lines of one host's telemetry."""
    width = max(shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE, 40)
    for line in (*_facts(telemetry), ""):
        yield truncate_chars(clean_line(line), width)
    tools = _rows(telemetry.get("tools"))
    if tools:
        yield from _table(_TOOLS, map(_tool, tools), width)
        yield ""
    yield from _table(_METHODS, map(_method, _rows(telemetry.get("methods"))), width)


def _facts(telemetry: Mapping[str, Any]) -> Iterator[str]:
    up = duration(telemetry.get("uptime_ms"))
    yield f"{telemetry.get('name', 'host')}: {telemetry.get('state', 'unknown')}, up {up}"
    totals = _object(telemetry.get("totals"))
    yield (
        f"  requests    {_number(totals, 'request_count')}: {_number(totals, 'success_count')} succeeded, "
        f"{_number(totals, 'error_count')} failed, {telemetry.get('in_flight', 0)} in flight"
    )
    yield (
        f"  failures    {_number(totals, 'response_error_count')} answered by the worker, "
        f"{_number(totals, 'recovery_error_count')} because it was lost"
    )
    yield (
        f"  recovery    {counted(_number(totals, 'recovery_fault_count'), 'worker')} lost, "
        f"{counted(_number(totals, 'retry_count'), 'request')} sent again, "
        f"{counted(telemetry.get('restart_count', 0), 'restart')}"
    )
    fault = _object(telemetry.get("last_fault"))
    if fault:
        words = " ".join(str(fault[name]) for name in ("class", "code") if fault.get(name))
        yield f"  last fault  {words}: {collapse_whitespace(str(fault.get('message') or ''))}"
    tracing = _object(telemetry.get("tracing"))
    if tracing:
        yield (
            f"  tracing     {counted(_number(tracing, 'spans'), 'span')}, "
            f"{_number(tracing, 'spans_exported')} exported, {_number(tracing, 'spans_dropped')} dropped"
        )


def _table(columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]], width: int) -> list[str]:
    return render_table(columns, rows, max_rows=_MOST_ROWS, max_width=width, max_cell=60, more="--json has all")


def _tool(row: Mapping[str, Any]) -> tuple[Any, ...]:
    latency = _object(row.get("latency_ms"))
    return (
        row.get("tool"),
        row.get("request_count"),
        row.get("error_count"),
        row.get("retry_count"),
        row.get("in_flight"),
        _time(latency.get("p50")),
        _time(latency.get("p95")),
        _time(latency.get("max")),
        _error(row.get("last_error")),
    )


def _method(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        row.get("method"),
        row.get("request_count"),
        row.get("error_count"),
        row.get("retry_count"),
        _time(row.get("avg_latency_ms")),
        _time(row.get("max_latency_ms")),
        _error(row.get("last_error")),
    )


def _time(milliseconds: Any) -> str:
    if not isinstance(milliseconds, int | float):
        return ""
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return (
        f"{milliseconds:.0f} ms"
        if milliseconds >= 10 or isinstance(milliseconds, int)
        else f"{milliseconds:.1f} ms"
    )


def _error(error: Any) -> str:
    told = _object(error)
    words = [str(told[name]) for name in ("code", "message") if told.get(name)]
    return collapse_whitespace(": ".join(words))


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(values: Mapping[str, Any], name: str) -> Any:
    return values.get(name, 0)
