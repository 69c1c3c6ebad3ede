"""Which files calls are about: a bounded account of paths, and the snapshot of it that the log gets now and then.

When it is full, the half that was asked for least is forgotten, so what is hot stays, and an event costs next to
nothing on average, whatever paths a client makes up.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.observe.series import Series
from holdfast.vocabulary.events import CallEnded, HotPaths

__all__ = ["HotPathWatch"]

EVERY = 500  # calls between two snapshots; one takes a good part of a millisecond
MAX_PATHS = 512
SHOWN = 12


class _Heat:
    """The figures of one path."""

    __slots__ = ("calls", "errors", "longest", "total")

    def __init__(self) -> None:
        self.calls = 0
        self.errors = 0
        self.total = 0.0
        self.longest = 0.0


class HotPathWatch:
    """Counts the calls of tools and their paths."""

    def __init__(self, every: int = EVERY, max_paths: int = MAX_PATHS) -> None:
        self._every = every
        self._max_paths = max_paths
        self._paths: dict[str, _Heat] = {}
        self._calls = 0

    def take(self, event: CallEnded, tools: Mapping[str, Series]) -> HotPaths | None:
        """Count one call; the snapshot when one is due, with what `tools` says about them."""
        if event.path is not None:
            self._add(event.path, event)
        if event.method != "tools/call":
            return None
        self._calls += 1
        return self._snapshot(tools) if self._calls % self._every == 0 else None

    def _add(self, path: str, event: CallEnded) -> None:
        heat = self._paths.get(path)
        if heat is None:
            if len(self._paths) >= self._max_paths:
                self._forget()
            heat = self._paths[path] = _Heat()
        heat.calls += 1
        heat.errors += event.outcome != "ok"
        heat.total += event.duration_ms
        heat.longest = max(heat.longest, event.duration_ms)

    def _forget(self) -> None:
        kept = sorted(self._paths.items(), key=lambda one: (-one[1].calls, one[0]))[: self._max_paths // 2]
        self._paths = dict(kept)

    def _snapshot(self, tools: Mapping[str, Series]) -> HotPaths:
        of_tools = [_row(name, _of_series(series)) for name, series in tools.items()]
        of_paths = [_row(path, heat) for path, heat in self._paths.items()]
        return HotPaths(
            self._calls, _top(of_tools, "calls"), _top(of_tools, "max_ms"), _top(of_paths, "calls"),
            _top(of_paths, "max_ms"),
        )  # fmt: skip


def _of_series(series: Series) -> _Heat:
    heat = _Heat()
    heat.calls = sum(series.outcomes.values())
    heat.errors = series.errors
    heat.total = series.times.total * 1000
    heat.longest = series.times.longest * 1000
    return heat


def _row(name: str, heat: _Heat) -> dict[str, Any]:
    return {
        "name": name,
        "calls": heat.calls,
        "errors": heat.errors,
        "avg_ms": round(heat.total / heat.calls, 3) if heat.calls else 0.0,
        "max_ms": round(heat.longest, 3),
    }


def _top(rows: Iterable[Mapping[str, Any]], figure: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(sorted(rows, key=lambda row: (-row[figure], row["name"]))[:SHOWN])
