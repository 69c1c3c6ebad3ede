"""The mark that ties a line of a page to what it rests on: a comment that readers of the site never see.

Reads and writes CSV files. <!-- claim:clm_0123456789abcdef -->
"""

import hashlib
import re
from collections.abc import Iterable

__all__ = ["MARK", "claim_id", "claims_of", "mark", "normalised", "without_marks"]

MARK = re.compile(r"\s?<!--\s{0,8}claim:([^<>]{0,4000})-->")  # bounded: a page may come from anybody
_SPACES = re.compile(r"\s+")


def mark(claim_ids: Iterable[str]) -> str:
    """The comment for these claims, with the space before it; nothing where there are none."""
    ids = ",".join(dict.fromkeys(claim_ids))
    return f" <!-- claim:{ids} -->" if ids else ""


def claims_of(line: str) -> list[str]:
    """The claims that a line is marked with, as they are written there."""
    found = [part.strip() for text in MARK.findall(line) for part in text.split(",")]
    return [part for part in found if part]


def without_marks(text: str) -> str:
    """The text as a reader sees it."""
    return MARK.sub("", text)


def normalised(text: str, product_name: str) -> str:
    """What makes two claims the same one: words, without case, spacing, or the product's own name."""
    words = _SPACES.sub(" ", text.strip()).lower()
    name = _SPACES.sub(" ", product_name.strip()).lower()
    return words.replace(name, "{product}") if name else words


def claim_id(text: str, kind: str, product_name: str) -> str:
    """The id of a claim: the same for the same words of the same kind, in every run."""
    return "clm_" + hashlib.sha256(f"{normalised(text, product_name)}|{kind}".encode()).hexdigest()[:16]
