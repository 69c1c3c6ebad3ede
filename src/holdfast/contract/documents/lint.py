"""The linter for specifications: every rule over every tool of a document, in the order of its lines.

What each rule means stands in `rules.py`; the checks stand beside this module by their subject.
"""

from collections.abc import Collection, Iterator

from holdfast.contract.documents.document import Document
from holdfast.contract.documents.findings import Finding, in_order
from holdfast.contract.documents.lint_behaviour import behaviour_findings
from holdfast.contract.documents.lint_schemas import schema_findings
from holdfast.contract.documents.lint_structure import placeholder_findings, structure_findings
from holdfast.contract.documents.regions import region_faults
from holdfast.contract.documents.rules import RULES, finding
from holdfast.errors import UsageError

__all__ = ["lint_document", "selected"]


def lint_document(document: Document, *, rules: Collection[str] | None = None) -> list[Finding]:
    """What is wrong with a document; `rules` limits it to some rules."""
    return selected(_all(document), rules)


def selected(findings: Iterator[Finding], rules: Collection[str] | None) -> list[Finding]:
    """The findings of the chosen rules, in order."""
    unknown = sorted(set(rules or ()) - set(RULES))
    if unknown:
        raise UsageError(f"there is no rule {unknown[0]!r}", remedy="use an id such as spec.section-missing")
    return in_order(one for one in findings if rules is None or one.rule in rules)


def _all(document: Document) -> Iterator[Finding]:
    yield from document.findings
    if any(one.rule == "spec.document-too-large" for one in document.findings):
        return
    for line, message in region_faults(document.source, document.blocks):
        yield finding("spec.marker-broken", message, line=line, file=document.name)
    if not document.tools and not document.says_no_tools:
        message = "there is no tool in this file, and nothing says that there is none"
        yield finding("spec.no-tools-found", message, line=1, file=document.name)
    yield from placeholder_findings(document)
    yield from _duplicates(document)
    for tool in document.tools:
        yield from structure_findings(document, tool)
        yield from schema_findings(document, tool)
        yield from behaviour_findings(document, tool)


def _duplicates(document: Document) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for tool in document.tools:
        if tool.name in first:
            message = f"the tool {tool.name[:60]!r} is also described at line {first[tool.name]}"
            yield finding("spec.name-duplicate", message, line=tool.line, tool=tool.name, file=document.name)
        elif tool.name:
            first[tool.name] = tool.line
