"""What a document states in single words: read-only or not, a time limit, versions, each with its line.

Read from lines such as "- **Time limit**: 5 s", whoever wrote them. What is not stated, or stated in words that
mean no value, is left out: it is prose, and prose is the owner's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from holdfast.contract.documents.document import Document, ToolSection
from holdfast.contract.documents.inline import without_marks
from holdfast.contract.documents.markdown import Block
from holdfast.contract.documents.sections import SectionKind, plain_words

__all__ = ["Statement", "document_versions", "fact_blocks", "limit_in_ms", "tool_statements", "yes_or_no"]

_LABELS = {
    "read only": "read-only",
    "readonly": "read-only",
    "time limit": "time limit",
    "timeout": "time limit",
    "schema version": "schema version",
}
_LINE = re.compile(r"[\s>*+-]*([A-Za-z][A-Za-z -]{3,20}?)[\s*_]*[:=][\s*_`]*(\S.{0,200})")
_AMOUNT = re.compile(r"(\d[\d,_]{0,14}(?:\.\d{1,6})?)\s*([a-z]*)", re.IGNORECASE)
_UNITS = {
    "ms": 1, "millisecond": 1, "milliseconds": 1, "s": 1000, "sec": 1000, "second": 1000, "seconds": 1000,
    "min": 60_000, "minute": 60_000, "minutes": 60_000, "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
}  # fmt: skip
_NO_LIMIT = frozenset({"none", "no limit", "unlimited"})
# A sentence that merely speaks of a version goes on behind it; a statement ends there.
_VERSION = re.compile(
    r"(?:^|[;,|])[\s>*_+-]{0,20}(server|surface) version[\s*_]{0,9}[:=|]?[\s*_`]{0,9}v?"
    r"(\d[\w.+-]{0,79}?)[`*_]*\.?[ \t]*(?=$|[;,|])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a document states: what it is about, the words, and their line."""

    about: str
    text: str
    line: int


def fact_blocks(tool: ToolSection) -> list[Block]:
    """Where facts on a tool may stand: before the sections, in the first two, in one of its own, among labels."""
    blocks = list(tool.preamble)
    for section in tool.order:
        if section.label or section.kind in {SectionKind.PURPOSE, SectionKind.NAME}:
            blocks += section.blocks
        elif section.kind is None and plain_words(section.heading) in {"version", "versioning", "metadata"}:
            blocks += [
                replace(block, text=f"version: {block.text}") if block.text[:1].isdigit() else block
                for block in section.blocks
            ]
    return blocks


def tool_statements(tool: ToolSection) -> Iterator[Statement]:
    """What a tool states on being read-only, on its time limit and on the version of its schema."""
    for line, label, words in _labelled(fact_blocks(tool)):
        about = _LABELS.get(plain_words(label))
        if about is not None:
            yield Statement(about, words, line)


def _labelled(blocks: Iterable[Block]) -> Iterator[tuple[int, str, str]]:
    """Each line that is a label and a value, and each row of a table that is."""
    for block in blocks:
        if block.kind == "table":
            yield from (
                (row.line, row.cells[0], without_marks(row.cells[1])) for row in block.rows if row.cells[1:]
            )
        elif block.kind in {"paragraph", "item"} and block.depth <= 1:
            for number, text in enumerate(block.text.split("\n")):
                match = _LINE.match(text[:400])
                if match is not None:
                    yield block.line + number, match[1], without_marks(match[2]).rstrip("*_` ")


def yes_or_no(words: str) -> bool | None:
    """Whether the words say yes, or None where they say neither yes nor no."""
    match = re.match(r"(yes|true|no|false)\b", words.strip("*_` "), re.IGNORECASE)
    return None if match is None else match[1].lower() in {"yes", "true"}


def limit_in_ms(words: str) -> frozenset[int]:
    """What a time limit may mean in milliseconds, 0 for none; a number without a unit may mean two things."""
    if plain_words(words) in _NO_LIMIT:
        return frozenset({0})
    match = _AMOUNT.match(words.strip("*_` "))
    if match is None:
        return frozenset()
    number = float(match[1].replace(",", "").replace("_", ""))
    unit = match[2].lower()
    factors = (_UNITS[unit],) if unit in _UNITS else (1, 1000)
    return frozenset(round(number * factor) for factor in factors)


def document_versions(document: Document) -> Iterator[Statement]:
    """The versions of the server and of its surface that a document states outside of its tools."""
    spans = [(tool.line, tool.end_line) for tool in document.tools]
    first = min((line for line, _ in spans), default=len(document.source.lines) + 1)
    last = max((line for _, line in spans), default=0)
    for block in document.blocks:
        if block.kind in {"paragraph", "item", "table"} and not first <= block.line <= last:
            for number, text in enumerate(block.text.split("\n")):
                for match in _VERSION.finditer(text):
                    yield Statement(f"{match[1].lower()} version", match[2].rstrip("."), block.line + number)
