"""One chunk and the rules: what is found becomes facts of the chunk."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from holdfast.search.model import Chunk
from holdfast.search.risk.flows import RiskFlow, find_flows
from holdfast.search.risk.matching import Findings, find
from holdfast.search.risk.rules import RuleSet

__all__ = ["analyse"]

_NO_IMPORTS: Mapping[str, str] = MappingProxyType({})
_LARGEST = 200_000  # bytes of a chunk whose flows are followed


def analyse(
    language: str, source: bytes, chunk: Chunk, rules: RuleSet, imports: Mapping[str, str] = _NO_IMPORTS
) -> list[RiskFlow]:
    """Fill the risk facts of the chunk, and give the details of its flows.

    `source` are the UTF-8 bytes of the file, `imports` what its names stand for (`sp`: `subprocess`). Pass the
    same objects for all chunks of a file: what concerns the file is looked up once.
    """
    concerned = rules.for_language(language)
    if not concerned.concerns(source, chunk, imports):
        return []
    found = find(language, source, chunk, concerned, imports)
    if not found.origins and not found.dangers:
        return []
    flows = find_flows(language, chunk, found) if len(found.text) <= _LARGEST else []
    _tell(chunk, found, flows)
    return flows


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
        "risk_flows": (f"{flow.source}->{flow.sink}" for flow in flows),
    }
    for name, values in facts.items():
        unique = list(dict.fromkeys(values))
        if unique:
            chunk.facts[name] = unique
