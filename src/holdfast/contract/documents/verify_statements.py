"""Where single statements of a document differ from its server: each with its line and the edit that mends it.

Compared by meaning, so that it works on any document: a fact in other words is the same fact, a fact that is not
stated is no difference. Prose is the owner's; where nothing watches over it, it is only noted.
"""

import re
from collections.abc import Iterator

from holdfast.contract.documents.document import Document, ErrorCode, ToolSection
from holdfast.contract.documents.facts import ErrorFacts, SurfaceFacts, ToolFacts
from holdfast.contract.documents.inline import cell, without_marks
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.statements import (
    Statement,
    document_versions,
    limit_in_ms,
    tool_statements,
    yes_or_no,
)

__all__ = ["Difference", "error_differences", "fact_differences", "prose_differences", "version_differences"]

# What differs, the line, the edit.
Difference = tuple[str, int, str]
_MAX_SHOWN = 80
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


def fact_differences(section: ToolSection, facts: ToolFacts) -> Iterator[Difference]:
    """Read-only, time limit and schema version, where a tool states them and the server declares them."""
    for stated in tool_statements(section):
        declared = _declared(stated, facts)
        if declared is not None:
            message = f"the file says {stated.about} is {stated.text[:_MAX_SHOWN]}, the server {declared}"
            yield message, stated.line, f"Write {declared}."


def _declared(stated: Statement, facts: ToolFacts) -> str | None:
    """What the server declares instead, or None where the statement agrees or states no value."""
    if stated.about == "read-only":
        answer = yes_or_no(stated.text)
        is_same = facts.read_only is None or answer is None or answer is facts.read_only
        return None if is_same else "Yes" if facts.read_only else "No"
    if stated.about == "time limit":
        limits = limit_in_ms(stated.text)
        is_same = facts.timeout_ms is None or not limits or facts.timeout_ms in limits
        return None if is_same else f"{facts.timeout_ms} ms" if facts.timeout_ms else "none"
    number = re.match(r"v?(\d{1,18})(?![\w.])", stated.text)
    is_same = facts.schema_version is None or number is None or int(number[1]) == facts.schema_version
    return None if is_same else str(facts.schema_version)


def version_differences(document: Document, surface: SurfaceFacts) -> Iterator[Difference]:
    """The versions of the server and of its surface, where a document states them."""
    versions = {"server version": surface.version, "surface version": surface.schema_version}
    for stated in document_versions(document):
        declared = versions[stated.about]
        if declared and stated.text != declared:
            message = f"the file says {stated.about} {stated.text}, the server {declared}"
            yield message, stated.line, f"Write {declared}."


def error_differences(section: ToolSection, facts: ToolFacts) -> Iterator[Difference]:
    """What is said about the error codes that both the document and the server have."""
    declared = {error.code: error for error in facts.errors or ()}
    for error in section.errors:
        if error.code in declared:
            for message in _of_error(error, declared[error.code]):
                yield message, error.line, "Say what the server declares; more may follow."


def _of_error(stated: ErrorCode, declared: ErrorFacts) -> Iterator[str]:
    if not _says(stated.meaning, declared.meaning):
        yield f"the file says {stated.code} means {_shown(stated.meaning)}, the server {_shown(declared.meaning)}"
    if not _says(stated.remedy, declared.remedy):
        here, there = _shown(stated.remedy), _shown(declared.remedy)
        yield f"the file says the remedy of {stated.code} is {here}, the server {there}"
    if stated.retryable is not None and stated.retryable is not declared.retryable:
        here, there = ("Yes" if one else "No" for one in (stated.retryable, declared.retryable))
        yield f"the file says {stated.code} is retryable: {here}, the server {there}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "...")


def _says(stated: str, declared: str) -> bool:
    """Whether the words say what is declared, and perhaps more; no words say nothing wrong."""
    here, there = _plain(stated), _plain(declared)
    return not here or not there or there in here


def _plain(text: str) -> str:
    """The words as they read: no marks, no case, no line breaks, no end of a sentence."""
    return without_marks(cell(text).replace("\\|", "|")).casefold().strip(" .!–—-")


def prose_differences(section: ToolSection, facts: ToolFacts) -> Iterator[Difference]:
    """The sections on purpose and security in which no sentence of the code is left."""
    for kind, declared in ((SectionKind.PURPOSE, facts.description), (SectionKind.SECURITY, facts.security or "")):
        place = section.sections.get(kind)
        sentences = [words for words in map(_plain, _SENTENCE_END.split(declared)) if words]
        if place is None or not sentences:
            continue
        written = _plain("\n".join(block.text for block in place.blocks))
        if written and not any(words in written for words in sentences):
            message = f"nothing that the code says about {kind.value} stands here: {_shown(declared)}"
            yield message, place.line, ""
