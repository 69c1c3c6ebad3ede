"""What to believe when the repository says two things: the better source, if it is better by enough.

Two or more levels apart: the better one wins. One level: it wins for now, and a person should look. The same
level: what tools enforce wins over what is only said; where both are enforced, or neither is, nobody wins, and
neither is told to a reader.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast.launch.facts.claims import PRIORITIES

__all__ = ["Statement", "Verdict", "judged"]

_CLEAR = 2


class Statement(NamedTuple):
    """A claim that gives a value for a topic of which there can be only one."""

    topic: str
    value: str
    claim_id: str
    source_type: str
    is_enforced: bool = False  # whether a package manager or a compiler refuses what is against it


class Verdict(NamedTuple):
    """The contradictions for the evidence map, and the claims that must not be told."""

    contradictions: list[dict[str, Any]]
    lost: frozenset[str]


def judged(statements: Iterable[Statement]) -> Verdict:
    """Compare all statements of each topic with the best one of it."""
    by_topic: dict[str, list[Statement]] = {}
    for statement in statements:
        by_topic.setdefault(statement.topic, []).append(statement)
    found: list[dict[str, Any]] = []
    lost: set[str] = set()
    for topic in sorted(by_topic):
        best, *others = sorted(by_topic[topic], key=_worth)
        seen = {best.claim_id}
        for other in others:
            if other.value == best.value or other.claim_id in seen:
                continue
            seen.add(other.claim_id)
            found.append(_contradiction(topic, best, other))
            lost.add(other.claim_id)
            if found[-1]["winning_claim_id"] is None:
                lost.add(best.claim_id)
    return Verdict(found, frozenset(lost))


def _contradiction(topic: str, best: Statement, other: Statement) -> dict[str, Any]:
    distance = PRIORITIES[other.source_type] - PRIORITIES[best.source_type]
    wins = distance > 0 or best.is_enforced > other.is_enforced
    if not wins:
        resolution, reason = "unresolved", "both sources are of the same kind"
    elif distance == 0:
        resolution, reason = "prefer_a", "both sources are of the same kind, and tools enforce the first"
    elif distance < _CLEAR:
        resolution, reason = "manual_review", "the sources are one level apart; the better one is used for now"
    else:
        resolution, reason = "prefer_a", f"the sources are {distance} levels apart"
    return {
        "claim_a_id": best.claim_id,
        "claim_b_id": other.claim_id,
        "resolution": resolution,
        "winning_claim_id": best.claim_id if wins else None,
        "topic": topic,
        "reasoning": (
            f"{best.source_type} says {best.value[:200]}, {other.source_type} says {other.value[:200]}: {reason}."
        ),
    }


def _worth(statement: Statement) -> tuple[int, bool, str]:
    return PRIORITIES[statement.source_type], not statement.is_enforced, statement.claim_id
