"""The eight sections of a tool specification: their order, their headings, and the headings that mean the same.

Only words; what stands inside a section is read elsewhere.
"""

import re
from enum import Enum

__all__ = ["FURTHER_NOTES", "SectionKind", "is_canonical", "is_optional_heading", "kind_of", "plain_words"]


class SectionKind(Enum):
    """The eight required sections, in their order; the value is the word that machines use for one."""

    PURPOSE = "purpose"
    NAME = "name"
    INPUT = "input"
    OUTPUT = "output"
    ERRORS = "errors"
    IDEMPOTENCY = "idempotency"
    EXAMPLES = "examples"
    SECURITY = "security"

    @property
    def number(self) -> int:
        """The place of the section in a tool, from 1 to 8."""
        return _ORDER.index(self) + 1

    @property
    def title(self) -> str:
        """The canonical words of the heading."""
        return _TITLES[self]

    @property
    def heading(self) -> str:
        """The canonical heading as it is written into a file."""
        return f"### {self.number}. {self.title}"


_ORDER = tuple(SectionKind)
_TITLES = {
    SectionKind.PURPOSE: "Tool Purpose and Description",
    SectionKind.NAME: "Invocation Name",
    SectionKind.INPUT: "Input Schema (Parameters)",
    SectionKind.OUTPUT: "Output Schema (Return Value)",
    SectionKind.ERRORS: "Error Handling",
    SectionKind.IDEMPOTENCY: "Idempotency",
    SectionKind.EXAMPLES: "Usage Examples (for MCP context)",
    SectionKind.SECURITY: "Security Considerations",
}
# The ninth heading, for what an author wants to say beyond the eight.
FURTHER_NOTES = "Further Notes"

# What people write for the same thing, without numbers, punctuation and case.
_SYNONYMS = {
    SectionKind.PURPOSE: (
        "tool purpose and description|purpose and description|tool purpose|tool description|purpose|description|"
        "overview|summary|what it does"
    ),
    SectionKind.NAME: "invocation name|tool name|invocation|name|call name",
    SectionKind.INPUT: (
        "input schema parameters|input schema|input parameters|inputs|input|parameters|params|arguments|args|"
        "parameter|request|request schema"
    ),
    SectionKind.OUTPUT: (
        "output schema return value|output schema|return value|return values|returns|return|outputs|output|"
        "response|response schema|result|results"
    ),
    SectionKind.ERRORS: (
        "error handling|errors|error codes|error conditions|error cases|failure modes|exceptions|raises|failures"
    ),
    SectionKind.IDEMPOTENCY: "idempotency|idempotence|idempotent|idempotency considerations|repeated calls",
    SectionKind.EXAMPLES: (
        "usage examples for mcp context|usage example for mcp context|usage examples|usage example|examples|"
        "example|usage|example call|example calls|mcp usage|example usage|mcp example"
    ),
    SectionKind.SECURITY: (
        "security considerations|security|security notes|security consideration|security and permissions|"
        "permissions|safety|safety considerations"
    ),
}
_KINDS = {words: kind for kind, synonyms in _SYNONYMS.items() for words in synonyms.split("|")}
_OPTIONAL = frozenset({"further notes", "notes", "version", "versioning", "metadata", "deprecation", "see also"})
_NUMBERING = re.compile(
    r"(?:section\s+)?(?:\d{1,4}(?:\.\d{1,4})*[.):]?|[ivx]{1,5}[.)]|[a-h][.)])\s+", re.IGNORECASE
)
_TRAILING_NUMBER = re.compile(r" \d{1,3}$")
_NOT_WORDS = re.compile(r"[^\w\s]+")


def plain_words(text: str) -> str:
    """The words of a heading or label: no numbering, no punctuation, lower case."""
    unnumbered = _NUMBERING.sub("", text[:400].strip().strip("*_`# ").strip(), count=1)
    return " ".join(_NOT_WORDS.sub(" ", unnumbered[:200]).lower().replace("_", " ").split())


def is_canonical(text: str) -> bool:
    """Whether a heading has the canonical words of a section, whatever its number."""
    return plain_words(text) in _CANONICAL


def kind_of(text: str) -> SectionKind | None:
    """The section that a heading or label opens, or None."""
    return _KINDS.get(_TRAILING_NUMBER.sub("", plain_words(text)))


def is_optional_heading(text: str) -> bool:
    """Whether a heading may stand in a tool beside the eight sections."""
    return plain_words(text) in _OPTIONAL


_CANONICAL = frozenset(plain_words(title) for title in _TITLES.values())
