"""Flows through one call: what functions do with what they give each other, put together when somebody asks.

It is done anew for every generation of an index, from the summaries that are stored with the functions, so that a
change of one file changes what is told of its callers in others. Everything is bounded, and in a fixed order.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.search.engine.interface import Engine, Facts
from holdfast.search.engine.vocabulary import Vocabulary
from holdfast.search.risk.resolving import GUESS, Function, Resolver, family
from holdfast.search.risk.summary import Condition, Flow, Hands, Summary, read_summary
from holdfast.search.store.reader import StoreReader

__all__ = ["LinkedRisk", "Step", "ToldFlow", "functions_of", "linked_flows", "linked_risk", "told_here"]

_MOST_CALLERS = 20_000
_MOST_FUNCTIONS = 20_000
_MOST_FLOWS = 50  # of one chunk
_MOST_GUESSES = 500
_IS, _USES, _THROUGH = "is ", "uses ", "through"
_LOCAL, _ACROSS = "local", "cross-function"


class Step(NamedTuple):
    """One line on the way of a flow."""

    file: int
    line: int


class ToldFlow(NamedTuple):
    """A flow as it is shown and asked for."""

    source: str
    sink: str
    category: str
    severity: str
    scope: str  # local, or cross-function
    confidence: str  # high inside of a function, medium across functions, low where a callee is a guess
    path: list[Step]
    tags: list[str]

    @property
    def name(self) -> str:
        """As a filter asks for it."""
        return f"{self.source}->{self.sink}"


class LinkedRisk:
    """All flows of a generation that the functions on their way had to be asked for."""

    def __init__(self, flows: Mapping[int, list[ToldFlow]]) -> None:
        self.flows = flows
        by_fact: dict[str, dict[str, set[int]]] = {
            name: {} for name in ("risk_flows", "risk_sources", "risk_sinks", "risk_categories", "risk_tags")
        }
        for chunk, told in flows.items():
            for flow in told:
                by_fact["risk_flows"].setdefault(flow.name, set()).add(chunk)
                if flow.scope == _ACROSS:  # what a function has itself, its own facts say
                    by_fact["risk_sources"].setdefault(flow.source, set()).add(chunk)
                    by_fact["risk_sinks"].setdefault(flow.sink, set()).add(chunk)
                    by_fact["risk_categories"].setdefault(flow.category, set()).add(chunk)
                    for tag in flow.tags:
                        by_fact["risk_tags"].setdefault(tag, set()).add(chunk)
        self._by_fact = by_fact
        self._vocabularies = {name: Vocabulary(values) for name, values in by_fact.items()}

    def vocabulary(self, fact: str) -> Vocabulary:
        """The values that a fact has by these flows."""
        return self._vocabularies[fact]

    def chunks(self, fact: str, values: Iterable[str]) -> frozenset[int]:
        """The chunks that have one of these values by these flows."""
        return frozenset(chunk for value in values for chunk in self._by_fact[fact][value])


def linked_risk(engine: Engine, store: StoreReader) -> LinkedRisk:
    """The linked flows of the whole index, remembered for its generation."""
    return store.remembered("risk links", lambda: _link_everything(engine, store))


def _link_everything(engine: Engine, store: StoreReader) -> LinkedRisk:
    terms = engine.vocabulary("risk_links").values
    if not terms:
        return LinkedRisk({})
    defined = {term.removeprefix(_IS) for term in terms if term.startswith(_IS)}
    wanted = [term for term in terms if term == _THROUGH or term.removeprefix(_USES) in defined]
    numbers = engine.candidates("code", Facts("risk_links", tuple(wanted)), _MOST_CALLERS).chunks if wanted else []
    callers = functions_of(numbers, store)
    return LinkedRisk(linked_flows(callers, engine, store))


def linked_flows(callers: Iterable[Function], engine: Engine, store: StoreReader) -> dict[int, list[ToldFlow]]:
    """The flows of these functions that depend on others, by the number of the chunk."""
    open_ones = [one for one in callers if one.summary.is_open]
    names = {
        f"{_IS}{name.rpartition('.')[2]}" for one in open_ones for call in one.summary.calls for name in call.names
    }
    wanted = tuple(sorted(names.intersection(engine.vocabulary("risk_links").values)))
    found = engine.candidates("code", Facts("risk_links", wanted), _MOST_FUNCTIONS).chunks if wanted else []
    resolver = Resolver(functions_of(found, store), _Definitions(engine, store).is_only)
    flows = {}
    for one in open_ones:
        store.check_stop()
        told = list(_Linker(one, resolver).flows())[:_MOST_FLOWS]
        if told:
            flows[one.chunk] = told
    return flows


def functions_of(numbers: Iterable[int], store: StoreReader) -> list[Function]:
    """These chunks as functions with their summaries, in order; those without one are left out."""
    wanted = sorted(numbers)
    rows, details = store.chunks(wanted), store.details(wanted)
    files = store.file_rows({row.file for row in rows.values()})
    return [
        _function(number, rows[number].name, files[rows[number].file], details[number])
        for number in wanted
        if number in rows and rows[number].file in files and "risk" in details.get(number, {})
    ]


def _function(number: int, name: str, file: Any, details: Mapping[str, Any]) -> Function:
    language = details.get("language") or file.language
    return Function(number, file.id, file.path, language, name, read_summary(details["risk"]))


class _Definitions:
    """How often names are defined, as far as a guess has to know."""

    def __init__(self, engine: Engine, store: StoreReader) -> None:
        self._engine = engine
        self._store = store
        self._known: dict[tuple[str, str], bool] = {}

    def is_only(self, name: str, wanted: str) -> bool:
        """Whether one thing alone has this name in a family of languages."""
        key = (name, wanted)
        if key not in self._known:
            if len(self._known) >= _MOST_GUESSES:
                return False
            self._known[key] = self._count(name, wanted) == 1
        return self._known[key]

    def _count(self, name: str, wanted: str) -> int:
        values = tuple(self._store.remembered("symbols by last name", self._by_last_name).get(name, ()))
        numbers = self._engine.candidates("code", Facts("symbol", values), 16).chunks if values else []
        rows = self._store.chunks(numbers).values()
        files = self._store.file_rows({row.file for row in rows})
        return sum(row.file in files and family(files[row.file].language) == wanted for row in rows)

    def _by_last_name(self) -> dict[str, list[str]]:
        values: dict[str, list[str]] = {}
        for value in self._engine.vocabulary("symbol").values:
            values.setdefault(value.rpartition(".")[2], []).append(value)
        return values


class _Linker:
    """One function, and what those that it calls make of it."""

    def __init__(self, caller: Function, resolver: Resolver) -> None:
        self._caller = caller
        self._summary = caller.summary
        self._resolved = [resolver.resolve(called, caller) for called in caller.summary.calls]

    def flows(self) -> Iterator[ToldFlow]:
        """Every flow once, the most certain first."""
        told: dict[tuple[str, str, tuple[Step, ...]], ToldFlow] = {}
        for flow in (*self._own(), *self._given(), *self._taken()):
            told.setdefault((flow.source, flow.sink, (flow.path[0], flow.path[-1])), flow)
        order = {"high": 0, "medium": 1, "low": 2}
        yield from sorted(told.values(), key=lambda flow: (order[flow.confidence], flow.path, flow.name))

    def _own(self) -> Iterator[ToldFlow]:
        """Flows inside of the function that go through calls."""
        for flow in self._summary.flows:
            if flow.through and self._is_handed_on(flow.through, flow.category):
                yield told_here(flow, self._caller)

    def _given(self) -> Iterator[ToldFlow]:
        """Input that it gives to a function in which it reaches a sink."""
        for one in self._summary.passes:
            resolved = self._resolved[one.call]
            if resolved is None:
                continue
            callee, how = resolved
            number = _parameter(callee.summary, one.argument, one.label)
            for reached in callee.summary.reaches:
                is_harmless = bool({"*", reached.category}.intersection(one.cleaned))
                if (
                    reached.parameter == number
                    and not is_harmless
                    and self._is_handed_on(one.through, reached.category)
                ):
                    path = [*self._steps(self._caller, one.lines), *self._steps(callee, reached.lines)]
                    yield _across(one.source, reached, how, path, reached.tags)

    def _taken(self) -> Iterator[ToldFlow]:
        """A sink that is given what another function got from outside."""
        for one in self._summary.gets:
            resolved = self._resolved[one.call]
            if resolved is None:
                continue
            callee, how = resolved
            for handed in callee.summary.hands:
                if (
                    handed.source
                    and one.category not in handed.cleaned
                    and self._is_handed_on(one.through, one.category)
                ):
                    path = [*self._steps(callee, handed.lines), *self._steps(self._caller, one.lines)]
                    yield _across(handed.source, one, how, path, [*handed.tags, *one.tags])

    def _is_handed_on(self, through: Iterable[Condition], category: str) -> bool:
        """Whether all of these calls give back what they are given, as harmful as it was.

        Those that are not known, or only guessed, do: a guess never hides a flow.
        """
        for one in through:
            resolved = self._resolved[one.call]
            if resolved is None or not resolved[0].summary.answers:
                continue
            callee, how = resolved
            if how == GUESS and "." in self._summary.calls[one.call].names[0]:
                continue
            number = _parameter(callee.summary, one.argument, one.label)
            if not any(_carries(handed, number, category) for handed in callee.summary.hands):
                return False
        return True

    @staticmethod
    def _steps(function: Function, lines: Iterable[int]) -> list[Step]:
        return [Step(function.file, line) for line in lines]


def told_here(flow: Flow, function: Function) -> ToldFlow:
    """A flow inside of one function."""
    path = [Step(function.file, line) for line in flow.lines]
    return ToldFlow(flow.source, flow.sink, flow.category, flow.severity, _LOCAL, "high", path, [])


def _across(source: str, sink: Any, how: str, path: list[Step], tags: list[str]) -> ToldFlow:
    confidence = "low" if how == GUESS else "medium"
    return ToldFlow(source, sink.sink, sink.category, sink.severity, _ACROSS, confidence, path, tags)


def _parameter(summary: Summary, argument: int, label: str) -> int:
    """The number of the parameter that an argument fills; what is behind the last one belongs to it."""
    bare = [name.lstrip("$@&*") for name in summary.params]
    if label and label in bare:
        return bare.index(label)
    return min(argument, len(bare) - 1)


def _carries(handed: Hands, parameter: int, category: str) -> bool:
    return not handed.source and handed.parameter == parameter and not {"*", category}.intersection(handed.cleaned)
