"""Tool specification documents: read them, judge them, generate them, compare them with a server, mend them.

A specification is the file MCP_TOOL_SPECIFICATION.md: eight sections per tool. This package works on text and
on snapshots that are handed to it and does no input or output of its own. Names are bound here for callers
outside; inside, import from the module that has them.
"""

from holdfast.contract.documents.document import Document, IdempotencyWord, Section, ToolSection
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.generate import generate_document
from holdfast.contract.documents.lint import lint_document
from holdfast.contract.documents.lint_surface import lint_surface
from holdfast.contract.documents.migrate import Migration, migrate_document
from holdfast.contract.documents.parse import parse_document
from holdfast.contract.documents.reports import to_json, to_junit, to_sarif, to_text
from holdfast.contract.documents.rules import RULES, Rule
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.template import TEMPLATE
from holdfast.contract.documents.verify import verify_document

__all__ = [
    "RULES",
    "TEMPLATE",
    "Document",
    "Finding",
    "IdempotencyWord",
    "Migration",
    "Rule",
    "Section",
    "SectionKind",
    "ToolSection",
    "generate_document",
    "lint_document",
    "lint_surface",
    "migrate_document",
    "parse_document",
    "to_json",
    "to_junit",
    "to_sarif",
    "to_text",
    "verify_document",
]
