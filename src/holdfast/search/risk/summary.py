"""What is stored of one function's risk: what was found in it, and what its callers and callees need to know.

Plain data, as small as it can be, and only where there is something to say. Reading it needs nothing of the side
that builds an index.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

__all__ = [
    "Called",
    "Condition",
    "Flow",
    "Gets",
    "Hands",
    "Passes",
    "Reaches",
    "Summary",
    "links_of",
    "read_summary",
]

_MOST_LINKS = 64  # names of one chunk that it can be found by


class Called(NamedTuple):
    """A function that is called: its names here, whether the same file defines it, and the line of the call."""

    names: list[str]
    is_own: bool
    line: int


class Condition(NamedTuple):
    """A call that has to hand on one of its arguments: its number in `calls`, the argument, its label."""

    call: int
    argument: int
    label: str


class Flow(NamedTuple):
    """Input that reaches a sink inside of the function, if all the calls on its way hand it on."""

    source: str
    sink: str
    category: str
    severity: str
    lines: list[int]
    through: list[Condition]


class Passes(NamedTuple):
    """Input that is given to another function."""

    source: str
    call: int
    argument: int
    label: str
    cleaned: list[str]
    lines: list[int]
    through: list[Condition]


class Gets(NamedTuple):
    """A sink that is given the result of another function."""

    call: int
    sink: str
    category: str
    severity: str
    tags: list[str]
    lines: list[int]
    through: list[Condition]


class Reaches(NamedTuple):
    """A parameter that reaches a sink."""

    parameter: int
    sink: str
    category: str
    severity: str
    tags: list[str]
    lines: list[int]


class Hands(NamedTuple):
    """What is given back: a source by its name, or a parameter by its number (source is empty then)."""

    source: str
    parameter: int
    tags: list[str]
    cleaned: list[str]
    lines: list[int]


class Summary(NamedTuple):
    """One function. `calls` is what the numbers in the others refer to."""

    sources: list[tuple[str, int]]  # name, line
    sinks: list[tuple[str, str, str, int]]  # name, category, severity, line
    flows: list[Flow]
    params: list[str]
    calls: list[Called]
    passes: list[Passes]
    gets: list[Gets]
    reaches: list[Reaches]
    hands: list[Hands]
    answers: bool  # whether `hands` is all that it gives back

    @property
    def is_open(self) -> bool:
        """Whether what is true of it depends on other functions."""
        return bool(self.passes or self.gets or any(flow.through for flow in self.flows))

    @property
    def is_asked(self) -> bool:
        """Whether callers have to know of it."""
        return bool(self.reaches or self.hands or self.answers)

    def packed(self) -> dict[str, Any]:
        """As it is stored: without what is empty."""
        return {name: _plain(value) for name, value in zip(self._fields, self, strict=True) if value}


def read_summary(stored: Mapping[str, Any]) -> Summary:
    """The summary again."""
    return Summary(
        sources=[(name, line) for name, line in stored.get("sources", ())],
        sinks=[(name, category, severity, line) for name, category, severity, line in stored.get("sinks", ())],
        flows=[Flow(*one)._replace(through=_conditions(one[-1])) for one in stored.get("flows", ())],
        params=list(stored.get("params", ())),
        calls=[Called(*called) for called in stored.get("calls", ())],
        passes=[Passes(*one)._replace(through=_conditions(one[-1])) for one in stored.get("passes", ())],
        gets=[Gets(*one)._replace(through=_conditions(one[-1])) for one in stored.get("gets", ())],
        reaches=[Reaches(*one) for one in stored.get("reaches", ())],
        hands=[Hands(*one) for one in stored.get("hands", ())],
        answers=bool(stored.get("answers", False)),
    )


def _plain(value: Any) -> Any:
    """Lists instead of tuples, all the way down."""
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _conditions(stored: Iterable[Any]) -> list[Condition]:
    return [Condition(*one) for one in stored]


def links_of(name: str, stored: Mapping[str, Any]) -> list[str]:
    """The terms by which a chunk with this name and summary is found when functions are linked.

    `through` where it has flows that others have a say in, `uses NAME` for each of them, `is NAME` where others
    depend on it.
    """
    summary = read_summary(stored)
    links = ["through"] if any(flow.through for flow in summary.flows) else []
    if summary.is_asked and name:
        links.append(f"is {name.rpartition('.')[2]}")
    if summary.is_open:
        # A name that was imported under another one is found by what it is, too.
        links += [f"uses {one.rpartition('.')[2]}" for called in summary.calls for one in called.names]
    return list(dict.fromkeys(links))[:_MOST_LINKS]
