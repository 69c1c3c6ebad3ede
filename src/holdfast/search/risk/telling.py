"""What is shown of the risk of a hit: its sources and sinks, and its flows with the lines that they go through."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.search.engine.interface import Engine
from holdfast.search.risk.linking import ToldFlow, functions_of, linked_flows, told_here
from holdfast.search.scoring import Ranked
from holdfast.search.store.reader import StoreReader

__all__ = ["tell_risk"]

_SEVERITIES = ("low", "medium", "high", "critical")
_LONGEST_LINE = 160


def tell_risk(shown: Sequence[Ranked], engine: Engine, store: StoreReader) -> None:
    """Add to the hits what is known of their risk."""
    functions = functions_of([one.row.id for one in shown if one.row.mode == "code"], store)
    if not functions:
        return
    linked = linked_flows(functions, engine, store)
    told: dict[int, dict[str, Any]] = {}
    lines = _Lines(store)
    for function in functions:
        summary = function.summary
        own = [told_here(flow, function) for flow in summary.flows if not flow.through]
        flows = [*own, *linked.get(function.chunk, [])]
        if summary.sources or summary.sinks or flows:
            told[function.chunk] = {
                "severity": _worst([*(sink[2] for sink in summary.sinks), *(flow.severity for flow in flows)]),
                "sources": [{"name": name, "line": line} for name, line in summary.sources],
                "sinks": [
                    {"name": name, "category": category, "severity": severity, "line": line}
                    for name, category, severity, line in summary.sinks
                ],
                "flows": [_shown(flow, lines) for flow in flows],
            }
    for one in shown:
        if one.row.id in told:
            one.more["risk"] = told[one.row.id]


def _worst(severities: Iterable[str]) -> str | None:
    known = [severity for severity in severities if severity in _SEVERITIES]
    return max(known, key=_SEVERITIES.index) if known else None


def _shown(flow: ToldFlow, lines: "_Lines") -> Mapping[str, Any]:
    return {
        "source": flow.source,
        "sink": flow.sink,
        "category": flow.category,
        "severity": flow.severity,
        "scope": flow.scope,
        "confidence": flow.confidence,
        "path": [
            {"file": lines.path(step.file), "line": step.line, "text": lines.text(step.file, step.line)}
            for step in flow.path
        ],
    }


class _Lines:
    """Lines of files as they were indexed, each file read once."""

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._files: dict[int, tuple[str, list[bytes]]] = {}

    def path(self, file: int) -> str:
        """The path of a file."""
        return self._of(file)[0]

    def text(self, file: int, line: int) -> str:
        """One line, without what stands around it."""
        lines = self._of(file)[1]
        text = lines[line - 1] if 0 < line <= len(lines) else b""
        return text.strip()[: 4 * _LONGEST_LINE].decode("utf-8", "replace")[:_LONGEST_LINE]

    def _of(self, file: int) -> tuple[str, list[bytes]]:
        if file not in self._files:
            path = self._store.paths([file]).get(file, "")
            self._files[file] = (path, self._store.text(file).split(b"\n"))
        return self._files[file]
