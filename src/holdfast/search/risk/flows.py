"""From what was tracked in a function to what is told of it: its flows, and the summary that is stored."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.search.model import Chunk
from holdfast.search.risk.callees import Callee
from holdfast.search.risk.matching import Findings
from holdfast.search.risk.summary import Called, Condition, Flow, Gets, Hands, Passes, Reaches, Summary
from holdfast.search.risk.taint import CALL, PARAMETER, SOURCE, Reached, Tracked, Via

__all__ = ["RiskFlow", "risk_flows", "summarized"]

_MOST_FLOWS = 50
_LONGEST_LINE = 120
_LONGEST_PATH = 12
_LINE_END = re.compile(rb"\n")

Step = tuple[int, str]


@dataclass(frozen=True, slots=True)
class RiskFlow:
    """Input that reaches a sink: the names of the rules, and the lines on its way.

    `through` are the names of functions that may be of the same repository, and that have to hand it on.
    """

    source: str
    sink: str
    category: str
    severity: str
    path: list[Step]
    through: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As a filter asks for it."""
        return f"{self.source}->{self.sink}"


class _Lines:
    """Offsets in a chunk as lines of its file."""

    def __init__(self, chunk: Chunk, text: bytes) -> None:
        self._first = chunk.start_line
        self._text = text
        self._ends = [found.start() for found in _LINE_END.finditer(text)]

    def at(self, position: int) -> int:
        return self._first + bisect_left(self._ends, position)

    def of(self, path: Sequence[int]) -> list[int]:
        """The lines of a path, each once in a row; a long path loses its middle."""
        lines = [self.at(position) for position in path]
        lines = [line for n, line in enumerate(lines) if not n or line != lines[n - 1]]
        half = _LONGEST_PATH // 2
        return lines if len(lines) <= _LONGEST_PATH else [*lines[:half], *lines[-half:]]

    def text(self, line: int) -> str:
        number = line - self._first
        start = self._ends[number - 1] + 1 if number > 0 else 0
        end = self._ends[number] if number < len(self._ends) else len(self._text)
        return self._text[start:end].decode("utf-8", "replace").strip()[:_LONGEST_LINE]


def risk_flows(chunk: Chunk, found: Findings, tracked: Tracked, callees: Mapping[int, Callee]) -> list[RiskFlow]:
    """The flows of a chunk, in the order of their sinks."""
    lines = _Lines(chunk, found.text)
    flows: dict[tuple[str, str, tuple[int, ...]], RiskFlow] = {}
    for one in _from_sources(tracked):
        rule, source = one.danger.rule, found.origins[one.taint.root.number].rule
        steps = lines.of(one.taint.path)
        path = [(line, lines.text(line)) for line in steps]
        through = [callees[via.call].names[0] for via in one.taint.via]
        key = (source.name, rule.name, tuple(steps))  # `eval(compile(x))` is one flow, though both are sinks
        if key not in flows or (flows[key].through and not through):
            flows[key] = RiskFlow(source.name, rule.name, rule.category, rule.severity, path, through)
    return list(flows.values())[:_MOST_FLOWS]


def _from_sources(tracked: Tracked) -> list[Reached]:
    return [one for one in tracked.reached if one.taint.root.kind == SOURCE]


def summarized(
    chunk: Chunk, found: Findings, tracked: Tracked, callees: Mapping[int, Callee], parameters: Sequence[str]
) -> Summary:
    """What is stored of the chunk."""
    return _Summarizing(chunk, found, tracked, callees, parameters).done()


class _Summarizing:
    def __init__(
        self,
        chunk: Chunk,
        found: Findings,
        tracked: Tracked,
        callees: Mapping[int, Callee],
        parameters: Sequence[str],
    ) -> None:
        self._found = found
        self._tracked = tracked
        self._callees = callees
        self._parameters = parameters
        self._lines = _Lines(chunk, found.text)
        self._calls: dict[int, int] = {}  # number in the findings: number in the summary

    def done(self) -> Summary:
        """The whole of it; calls are numbered as they are needed."""
        flows, passes, gets = self._flows(), self._passes(), self._gets()
        reaches, hands = self._reaches(), self._hands()
        answers = self._answers(hands)
        at, found = self._lines.at, self._found
        return Summary(
            sources=list(dict.fromkeys((o.rule.name, at(o.position)) for o in found.origins))[:_MOST_FLOWS],
            sinks=list(
                dict.fromkeys((d.rule.name, d.rule.category, d.rule.severity, at(d.start)) for d in found.dangers)
            )[:_MOST_FLOWS],
            flows=flows,
            params=list(self._parameters) if reaches or hands or answers else [],
            calls=[self._called(number) for number in self._calls],
            passes=passes,
            gets=gets,
            reaches=reaches,
            hands=hands,
            answers=answers,
        )

    def _called(self, number: int) -> Called:
        callee = self._callees[number]
        return Called(list(callee.names), callee.is_own, self._lines.at(self._found.calls[number].start))

    def _number(self, call: int) -> int:
        return self._calls.setdefault(call, len(self._calls))

    def _through(self, via: Sequence[Via]) -> list[Condition]:
        return [Condition(self._number(one.call), one.argument, one.label) for one in via]

    def _flows(self) -> list[Flow]:
        flows = []
        seen: set[tuple[str, str, tuple[int, ...], tuple[Via, ...]]] = set()
        for one in _from_sources(self._tracked):
            rule, source = one.danger.rule, self._found.origins[one.taint.root.number].rule
            lines = self._lines.of(one.taint.path)
            key = (source.name, rule.name, tuple(lines), one.taint.via)
            if key not in seen:
                seen.add(key)
                through = self._through(one.taint.via)
                flows.append(Flow(source.name, rule.name, rule.category, rule.severity, lines, through))
        return flows[:_MOST_FLOWS]

    def _passes(self) -> list[Passes]:
        return [
            Passes(
                self._found.origins[one.taint.root.number].rule.name,
                self._number(one.call),
                one.argument,
                one.label,
                sorted(one.taint.cleaned),
                self._lines.of(one.taint.path),
                self._through(one.taint.via),
            )
            for one in self._tracked.passed
        ]

    def _gets(self) -> list[Gets]:
        gets: dict[tuple[int, str, int, tuple[Via, ...]], Gets] = {}
        for one in self._tracked.reached:
            if one.taint.root.kind == CALL:
                rule, number = one.danger.rule, self._number(one.taint.root.number)
                lines, through = self._lines.of(one.taint.path), self._through(one.taint.via)
                got = Gets(number, rule.name, rule.category, rule.severity, list(rule.tags), lines, through)
                gets.setdefault((number, rule.name, one.danger.position, one.taint.via), got)
        return list(gets.values())[:_MOST_FLOWS]

    def _reaches(self) -> list[Reaches]:
        reaches: dict[tuple[int, str], Reaches] = {}
        for one in self._tracked.reached:
            # What has to go through further functions first is more than one call away.
            if one.taint.root.kind == PARAMETER and not self._is_in_doubt(one.taint.via):
                rule, number = one.danger.rule, one.taint.root.number
                lines = self._lines.of(one.taint.path)
                reached = Reaches(number, rule.name, rule.category, rule.severity, list(rule.tags), lines)
                reaches.setdefault((number, rule.name), reached)
        return list(reaches.values())[:_MOST_FLOWS]

    def _hands(self) -> list[Hands]:
        hands: dict[tuple[str, int, frozenset[str]], Hands] = {}
        for one in self._tracked.returned:
            root, cleaned = one.taint.root, one.taint.cleaned
            is_source = root.kind == SOURCE
            if is_source and ("*" in cleaned or self._is_in_doubt(one.taint.via)):
                continue
            rule = self._found.origins[root.number].rule if is_source else None
            source, number = (rule.name, -1) if rule else ("", root.number)
            lines = self._lines.of(one.taint.path) if is_source else []
            tags = list(rule.tags) if rule else []
            handed = Hands(source, number, tags, sorted(cleaned), lines)
            hands.setdefault((source, number, cleaned), handed)
        return list(hands.values())[:_MOST_FLOWS]

    def _answers(self, hands: Sequence[Hands]) -> bool:
        """Whether it is known, and worth telling, what becomes of the parameters in the result."""
        if not self._parameters or not self._tracked.is_whole:
            return False
        plain = {one.parameter for one in hands if not one.source and not one.cleaned}
        return bool(self._found.cleanings) and len(plain) < len(self._parameters)

    def _is_in_doubt(self, via: Sequence[Via]) -> bool:
        return any(self._callees[one.call].is_own for one in via)
