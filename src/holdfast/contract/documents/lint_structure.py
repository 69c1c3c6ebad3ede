"""Rules on the structure and the words of one tool: sections, placeholders, name, version, description."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from holdfast.contract.documents.document import Document, Section, ToolSection
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.inline import without_marks
from holdfast.contract.documents.principles import (
    Problem,
    description_problems,
    name_problems,
    placeholders,
    version_problems,
)
from holdfast.contract.documents.rules import finding
from holdfast.contract.documents.sections import SectionKind, is_optional_heading

__all__ = ["NOT_DECLARED", "at", "is_empty", "placeholder_findings", "structure_findings"]

# A line such as "**Version**: 1.0.0" is a fact, not a description.
_LABELLED = re.compile(r"(?m)^\*\*[^*\n]{1,40}\*\*\s*:.*$")
# What the generator writes where the code declares nothing; for the rules it says nothing.
NOT_DECLARED = "Not declared in the code."


def structure_findings(document: Document, tool: ToolSection) -> Iterator[Finding]:
    """What the rules on structure and words say about one tool."""
    yield from _sections(document, tool)
    yield from _order(document, tool)
    yield from _words(document, tool)


def at(document: Document, tool: ToolSection, problem: Problem, line: int, column: int = 1) -> Finding:
    """A problem as a finding on a line of the document."""
    rule, name = f"spec.{problem.rule}", tool.name or None
    return finding(rule, problem.message, line=line, column=column, tool=name, file=document.name)


def placeholder_findings(document: Document) -> Iterator[Finding]:
    """The placeholders that were left in a document, outside of comments."""
    starts = [tool.line for tool in document.tools]
    for block in document.blocks:
        if block.kind == "html":
            continue
        first = block.line + 1 if block.kind == "fence" else block.line
        owner = (
            document.tools[bisect_right(starts, block.line) - 1] if starts and starts[0] <= block.line else None
        )
        name = owner.name or None if owner is not None and block.line <= owner.end_line else None
        for number, text in enumerate(block.text.split("\n")):
            for match in placeholders(text):
                line = first + number
                message = f"the placeholder {match.group()[:60]!r} was left unfilled"
                column = _column(document.source.lines[line - 1], text, match.start())
                yield finding("spec.placeholder", message, line=line, column=column, tool=name, file=document.name)


def _column(line: str, text: str, start: int) -> int:
    """The column of a place in a text that stands somewhere in a line, behind an indent or a mark."""
    offset = line.find(text[:start] + text[start : start + 20])
    return max(offset, 0) + start + 1


def is_empty(section: Section) -> bool:
    """Whether a section says nothing: no words, no table, no fence."""
    if any(block.kind in {"table", "fence"} for block in section.blocks):
        return False
    words = [without_marks(block.text) for block in section.blocks if block.kind in {"paragraph", "item"}]
    return all(not text.strip(" .-–—*_") or text.strip() == NOT_DECLARED for text in words)


def _sections(document: Document, tool: ToolSection) -> Iterator[Finding]:
    for kind in SectionKind:
        section = tool.sections.get(kind)
        if section is None:
            missing = Problem("section-missing", f"the section {kind.title!r} is missing")
            remedy = f"Add the heading {kind.heading!r} and its text."
            yield replace(at(document, tool, missing, tool.line), remedy=remedy)
        elif is_empty(section):
            problem = Problem("section-empty", f"the section {kind.title!r} says nothing")
            yield at(document, tool, problem, section.line)


def _order(document: Document, tool: ToolSection) -> Iterator[Finding]:
    highest: SectionKind | None = None
    seen: set[SectionKind] = set()
    for section in tool.order:
        kind = section.kind
        if kind is None:
            if not is_optional_heading(section.heading):
                problem = Problem("unknown-section", f"{section.heading[:80]!r} is none of the eight sections")
                yield at(document, tool, problem, section.line)
            continue
        if kind in seen:
            problem = Problem("section-duplicate", f"the section {kind.title!r} stands here again")
            yield at(document, tool, problem, section.line)
        elif highest is not None and kind.number < highest.number:
            problem = Problem("section-order", f"{kind.title!r} belongs before {highest.title!r}")
            yield at(document, tool, problem, section.line)
        else:
            highest = kind
        seen.add(kind)


def _words(document: Document, tool: ToolSection) -> Iterator[Finding]:
    named = tool.sections.get(SectionKind.NAME)
    for problem in name_problems(tool.name):
        yield at(document, tool, problem, named.line if named else tool.line)
    if named and tool.origin == "heading" and tool.heading_name and tool.heading_name != tool.name:
        message = f"the heading says {tool.heading_name[:60]!r}, the invocation name is {tool.name[:60]!r}"
        yield at(document, tool, Problem("name-differs", message), tool.line)
    version = tool.version
    for problem in version_problems(version.text if version else None):
        yield at(document, tool, problem, version.line if version else tool.line)
    purpose = tool.sections.get(SectionKind.PURPOSE)
    if purpose is not None and not is_empty(purpose):
        for problem in description_problems(_LABELLED.sub("", purpose.text)):
            yield at(document, tool, problem, purpose.line)
