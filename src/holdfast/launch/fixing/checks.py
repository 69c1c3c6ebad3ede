"""What a fix must not do: empty a page, break its front matter, leave more facts without a claim, or touch a line
that was on the site before the run: it may be somebody's.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.launch.claim_marks import claims_of, without_marks
from holdfast.launch.factual import factual_lines, identifiers_of, names_of
from holdfast.launch.fixing.page_text import is_shell
from holdfast.launch.front_matter import FrontMatterError, split

__all__ = ["Known", "harm", "takes_from_site"]


@dataclass(frozen=True, slots=True)
class Known:
    """What the run knows of the product: the claims that there are, and the names that make a line a fact."""

    claim_ids: Collection[str]
    identifiers: Collection[str]
    names: Collection[str]

    @classmethod
    def of(cls, evidence: Mapping[str, Any], facts: Mapping[str, Any]) -> "Known":
        """From the two artifacts of the run."""
        claims = frozenset(claim["claim_id"] for claim in evidence["claims"])
        return cls(claims, identifiers_of(facts), names_of(facts))


def harm(before: str, after: str, known: Known) -> str:
    """Why a mended page is worse than it was; "" where it is not."""
    old, new = _body(before), _body(after)
    if new is None:
        return "" if old is None else "the front matter could no longer be read"
    if _has_content(before if old is None else old) and not _has_content(new):
        return "nothing would be left of the page"
    if len(_uncited(new, known)) > len(_uncited(before if old is None else old, known)):
        return "it would add a statement that no claim supports"
    return ""


def takes_from_site(on_site: str, before: str, after: str) -> bool:
    """Whether a mended page lacks a line that the site had before the run, and that the run had left there."""
    site, old, new = (
        Counter(line.rstrip("\r") for line in text.split("\n") if line.strip())
        for text in (on_site, before, after)
    )
    return bool((site & old) - new)


def _body(text: str) -> str | None:
    try:
        return split(text).body
    except FrontMatterError:
        return None


def _has_content(body: str) -> bool:
    """Whether there is more than headings and empty lines."""
    return any(not is_shell(line) and not line.lstrip().startswith("#") for line in body.split("\n"))


def _uncited(body: str, known: Known) -> list[str]:
    lines = body.split("\n")
    found = factual_lines(body, identifiers=known.identifiers, names=known.names)
    return [
        without_marks(line.text)
        for line in found
        if not any(claim in known.claim_ids for claim in claims_of(lines[line.line - 1]))
    ]
