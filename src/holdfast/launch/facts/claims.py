"""The ledger of claims: each statement once, with everything in the repository that it rests on.

Two statements with the same words are one claim with two citations. How much a source is worth is one table, from
the manifest, which tools enforce, down to the praise in a README.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.launch.claim_marks import claim_id

__all__ = ["PRIORITIES", "Citation", "Claim", "Ledger"]

PRIORITIES = {
    "manifest": 1,
    "code_constant": 2,
    "test": 3,
    "implementation_doc": 4,
    "docstring": 5,
    "readme_technical": 6,
    "readme_marketing": 7,
}
_NOT_WORDS = re.compile(r"[^\w]+")


class Citation(NamedTuple):
    """Lines of a file, both ends included, and what kind of source they are."""

    path: str
    start_line: int
    end_line: int
    source_type: str


@dataclass(slots=True)
class Claim:
    """One statement about the product."""

    claim_id: str
    text: str
    kind: str
    topic: str
    confidence: str
    goes_on: bool = False  # it stands behind sentences of its section that are not told
    citations: list[Citation] = field(default_factory=list)

    @property
    def priority(self) -> int:
        """The level of its best source; 1 is the best."""
        return min(PRIORITIES[citation.source_type] for citation in self.citations)

    def as_fact(self) -> dict[str, Any]:
        """As `product_facts` lists it."""
        fact = {
            "claim_id": self.claim_id,
            "claim_text": self.text,
            "claim_kind": self.kind,
            "truth_status": "fact",
            "confidence": self.confidence,
        }
        fact |= {"topic": self.topic[:200]} if self.topic else {}
        return fact | ({"goes_on": True} if self.goes_on else {})

    def as_evidence(self) -> dict[str, Any]:
        """As `evidence_map` lists it."""
        return {
            "claim_id": self.claim_id,
            "claim_text": self.text,
            "claim_kind": self.kind,
            "truth_status": "fact",
            "confidence": self.confidence,
            "source_priority": self.priority,
            "citations": [citation._asdict() for citation in sorted(set(self.citations), key=_weight)],
        }


class Ledger:
    """All claims of a run by id; the first who says something decides its words, kind and topic."""

    def __init__(self, product: str) -> None:
        self.product = product
        self.claims: dict[str, Claim] = {}
        self._by_words: dict[str, str] = {}

    def add(
        self,
        text: str,
        kind: str,
        *citations: Citation,
        topic: str = "",
        confidence: str = "high",
        goes_on: bool = False,
    ) -> str:
        """Enter a claim, or further citations of one that is known. Its id."""
        assert citations, "a claim without a citation is no claim"
        words = _NOT_WORDS.sub(" ", text.lower()).strip()
        known = self._by_words.get(words)
        if known is None:
            known = self._by_words[words] = claim_id(text, kind, self.product)
            # Two texts may differ in signs alone or in the name of the product: then they are one claim as well.
            self.claims.setdefault(known, Claim(known, text, kind, topic, confidence, goes_on))
        self.claims[known].citations.extend(citations)
        return known

    def known(self, text: str) -> str:
        """The id of the claim that says this, or nothing."""
        return self._by_words.get(_NOT_WORDS.sub(" ", text.lower()).strip(), "")

    def without(self, lost: Iterable[str]) -> list[Claim]:
        """The claims except these, by id."""
        left_out = set(lost)
        return [self.claims[key] for key in sorted(self.claims) if key not in left_out]


def _weight(citation: Citation) -> tuple[int, str, int, int]:
    return PRIORITIES[citation.source_type], citation.path, citation.start_line, citation.end_line
