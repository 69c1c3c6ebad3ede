"""What the readers of a repository have gathered so far; the builder turns it into the artifacts."""

from dataclasses import dataclass, field
from typing import Any

from holdfast.launch.facts.claims import Ledger
from holdfast.launch.facts.contradictions import Statement
from holdfast.launch.facts.reading import Repository

__all__ = ["GROUPS", "Gathered"]

GROUPS = (
    "key_features",
    "install_steps",
    "quickstart_steps",
    "workflow_claims",
    "limitations",
    "compatibility_notes",
)


@dataclass(slots=True)
class Gathered:
    """One product. `single` holds the facts of which there is one: version, license, homepage."""

    repository: Repository
    ledger: Ledger
    name: str
    platform: str
    groups: dict[str, list[str]] = field(default_factory=lambda: {group: [] for group in GROUPS})
    statements: list[Statement] = field(default_factory=list)
    single: dict[str, dict[str, Any]] = field(default_factory=dict)
    listed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    keywords: list[str] = field(default_factory=list)
    tagline: str = ""
    description: list[str] = field(default_factory=list)
    positioning: list[str] = field(default_factory=list)
    audience: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)

    def enter(self, into: str, /, **item: Any) -> None:
        """Add to one of the lists of facts, once."""
        items = self.listed.setdefault(into, [])
        if item not in items:
            items.append(item)

    def group(self, name: str, claim_id: str) -> None:
        """Add a claim to a group, once; the order is that of arrival."""
        if claim_id not in self.groups[name]:
            self.groups[name].append(claim_id)
