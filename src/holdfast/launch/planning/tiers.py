"""How much a launch writes: the volume of evidence, the tier that it carries, the pages of a section."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.launch.writing.known import Known

__all__ = ["Volume", "chosen_tier", "most_pages", "quota", "snippets_shown", "volume"]

_SCALE = {"minimal": 0.3, "standard": 0.7, "rich": 1.0}
# The most pages that a section may have in each tier, and how much evidence one further page needs.
_MOST = {
    "products": {"minimal": 1, "standard": 1, "rich": 1},
    "docs": {"minimal": 6, "standard": 14, "rich": 30},
    "reference": {"minimal": 6, "standard": 30, "rich": 120},
    "kb": {"minimal": 2, "standard": 2, "rich": 2},
    "blog": {"minimal": 1, "standard": 1, "rich": 1},
}
_EVIDENCE_PER_PAGE = {"docs": 20, "reference": 8}
_SHOWN = {"minimal": 2, "standard": 4, "rich": 6}
_LEAST = {"standard": 30, "rich": 150}


class Volume(NamedTuple):
    """How much is known of a product."""

    claims: int
    snippets: int
    api_symbols: int

    @property
    def score(self) -> int:
        """A claim counts twice, a snippet three times as much as a name of the interface."""
        return 2 * self.claims + 3 * self.snippets + self.api_symbols


def volume(known: Known) -> Volume:
    """What there is to write about."""
    return Volume(len(known.claims()), len(known.snippets), len(known.symbols))


def chosen_tier(asked: str, known: Known) -> tuple[str, list[dict[str, Any]]]:
    """The tier that the evidence carries, and why it is not the one that was asked for."""
    tier, told = asked, list[dict[str, Any]]()
    score = volume(known).score
    for lower in ("standard", "minimal"):
        if score < _LEAST.get(tier, 0) and _SCALE[lower] < _SCALE[tier]:
            told.append(
                {
                    "adjustment": "lower_tier", "from_tier": tier, "to_tier": lower, "signal": "evidence_volume",
                    "reason": f"the evidence scores {score}, and {tier} needs {_LEAST[tier]}",
                }
            )  # fmt: skip
            tier = lower
    return tier, told


def most_pages(section: str, tier: str, least: int, known: Known) -> int:
    """How many pages a section may have: as many as the evidence carries, between `least` and the tier's most."""
    target = least
    if section in _EVIDENCE_PER_PAGE:
        target += int(volume(known).score * _SCALE[tier] / _EVIDENCE_PER_PAGE[section])
    return max(least, min(target, _MOST[section][tier]))


def snippets_shown(tier: str) -> int:
    """How many examples the first steps show."""
    return _SHOWN[tier]


def quota(least: int, most: int, planned: int) -> Mapping[str, int]:
    """The quota of a section as the plan records it."""
    return {"min": least, "max": most, "planned": planned}
