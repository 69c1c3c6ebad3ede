"""One chunk and the rules: what is found becomes facts of the chunk, and a summary for those who call it."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from holdfast.search.model import Chunk
from holdfast.search.risk.callees import Callee, Surroundings, callee_of
from holdfast.search.risk.flows import RiskFlow, risk_flows, summarized
from holdfast.search.risk.matching import Findings, find
from holdfast.search.risk.rules import RuleSet
from holdfast.search.risk.summary import links_of
from holdfast.search.risk.taint import Tracked
from holdfast.search.risk.tracking import track

__all__ = ["analyse"]

_NO_IMPORTS: Mapping[str, str] = MappingProxyType({})
_LARGEST = 200_000  # bytes of a chunk whose flows are followed
_FUNCTIONS = frozenset({"function", "method", "constructor"})
_RECEIVERS = frozenset({"self", "cls", "this"})
_RECEIVER = re.compile(r"func \((\w+) ")
_SHELL_PARAMETERS = [str(number) for number in range(1, 10)]


def analyse(
    language: str,
    source: bytes,
    chunk: Chunk,
    rules: RuleSet,
    imports: Mapping[str, str] = _NO_IMPORTS,
    around: Surroundings | None = None,
) -> list[RiskFlow]:
    """Fill the risk facts of the chunk, and give the details of its flows.

    `source` are the UTF-8 bytes of the file, `imports` what its names stand for (`sp`: `subprocess`), `around`
    what its chunks say together. Pass the same objects for all chunks of a file: what concerns the file is looked
    up once.
    """
    concerned = rules.for_language(language)
    if not concerned.concerns(source, chunk, imports):
        return []
    around = around or Surroundings(language)
    found = find(language, source, chunk, concerned, imports, around)
    if not found.origins and not found.dangers and not found.cleanings:
        return []
    callees = _callees(chunk, found, around)
    parameters = _parameters(language, chunk)
    is_followed = len(found.text) <= _LARGEST and _is_worth_following(found, callees, parameters)
    tracked = track(language, chunk, found, callees, parameters) if is_followed else Tracked(is_whole=False)
    flows = risk_flows(chunk, found, tracked, callees)
    summary = summarized(chunk, found, tracked, callees, parameters)
    if found.origins or found.dangers:
        _tell(chunk, found, flows)
    if found.origins or found.dangers or summary.is_asked:
        chunk.risk = summary.packed()
        links = links_of(chunk.name, chunk.risk)
        if links:
            chunk.risk["links"] = links
    return flows


def _is_worth_following(found: Findings, callees: Mapping[int, Callee], parameters: list[str]) -> bool:
    """Whether anything that comes in, by whatever way, could get anywhere."""
    goes_out = any(danger.ranges for danger in found.dangers)
    return (
        bool(found.origins) or (goes_out and bool(callees or parameters)) or bool(found.cleanings and parameters)
    )


def _parameters(language: str, chunk: Chunk) -> list[str]:
    """The names of the parameters that a caller fills, in order."""
    if chunk.kind not in _FUNCTIONS:
        return []
    if language == "shell":
        return _SHELL_PARAMETERS
    names = chunk.facts.get("params", [])
    return names[1:] if names and names[0].lstrip("&*$") in _RECEIVERS else names


def _callees(chunk: Chunk, found: Findings, around: Surroundings) -> dict[int, Callee]:
    """The calls that may lead to functions of the repository, by their number."""
    types = [*chunk.facts.get("inferred_types", ()), *chunk.facts.get("param_types", ())]
    made = {name.strip(): kind.strip(" *&?") for name, colon, kind in (t.partition(":") for t in types) if colon}
    receiver = _RECEIVER.match(chunk.signature) if around.language == "go" else None
    if receiver is not None:
        made[receiver.group(1)] = chunk.name.rpartition(".")[0]
    callees = {}
    for number, call in enumerate(found.calls):
        callee = None if call.is_known else callee_of(call.names, chunk, around, made)
        if callee is not None:
            callees[number] = callee
    return callees


def _tell(chunk: Chunk, found: Findings, flows: list[RiskFlow]) -> None:
    origins = [origin.rule for origin in found.origins]
    dangers = [danger.rule for danger in found.dangers]
    tags_of = [rule.tags for rule in origins] + [rule.tags for rule in dangers]
    facts: dict[str, Iterable[str]] = {
        "risk_tags": (tag for tags in tags_of for tag in tags),
        "risk_sources": (rule.name for rule in origins),
        "risk_sinks": (rule.name for rule in dangers),
        "risk_sanitizers": (cleaning.rule.name for cleaning in found.cleanings),
        "risk_categories": (rule.category for rule in dangers),
        # Flows that other functions have a say in are told when these are known.
        "risk_flows": (flow.name for flow in flows if not flow.through),
    }
    for name, values in facts.items():
        unique = list(dict.fromkeys(values))
        if unique:
            chunk.facts[name] = unique
