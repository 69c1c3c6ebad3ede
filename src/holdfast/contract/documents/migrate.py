"""From a loosely written specification to the canonical form, and a list of what only a person can fill in.

Nothing that the author wrote is lost: lines move under the canonical headings, what fits under none of them is
kept under Further Notes. What can be derived is derived (a schema from a table, a table from a schema); what
cannot is asked for, never made up.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from holdfast.contract.documents.document import Document, ToolSection
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.inline import code_span
from holdfast.contract.documents.lint import lint_document
from holdfast.contract.documents.markdown import Source
from holdfast.contract.documents.migrate_lines import tool_lines
from holdfast.contract.documents.migrate_sections import completed
from holdfast.contract.documents.parse import parse_document
from holdfast.contract.documents.regions import split_regions
from holdfast.contract.documents.sections import FURTHER_NOTES, SectionKind
from holdfast.contract.documents.template import UNNAMED

__all__ = ["Migration", "migrate_document"]

_TOOL_LEVEL = 2
# What a rewritten tool no longer has; a tool without any of it is left as it is.
_MENDED = frozenset(
    f"spec.{word}"
    for word in (
        "section-missing", "section-order", "section-empty", "section-duplicate", "unknown-section",
        "name-differs", "version-missing", "table-missing", "json-with-comments", "idempotency-unexplained",
    )
)  # fmt: skip
# Where one of these is found, what was read is not what the author meant; it has to be mended first.
_UNREADABLE = frozenset(
    f"spec.{word}" for word in ("document-too-large", "fence-unclosed", "comment-unclosed", "nested-too-deep")
)


@dataclass(frozen=True, slots=True)
class Migration:
    """The new text, and what is left for a person to do, in the order of its lines."""

    text: str
    todo: tuple[str, ...]


def migrate_document(text: str) -> Migration:
    """Bring a specification into the canonical form."""
    document = parse_document(text)
    found = lint_document(document)
    is_readable = not any(one.rule in _UNREADABLE for one in found)
    is_generated = is_readable and any(piece.id is not None for piece in split_regions(text))
    new = _rewritten(document, found) if is_readable and not is_generated else None
    result = text if new is None else _as_written(new, document.source)
    after = document if new is None else parse_document(result)
    todo = [_todo(one, after) for one in lint_document(after)]
    for before, tool in zip(document.tools, after.tools, strict=False):
        if before.version is None and tool.version is not None:
            todo.append(f"line {tool.version.line}: {tool.name}: confirm the version {tool.version.text}")
    return Migration(result, tuple(dict.fromkeys(todo)))


def _todo(one: Finding, document: Document) -> str:
    owner = f"{one.tool}: " if one.tool else ""
    if one.rule == "spec.placeholder":
        return f"line {one.line}: {owner}{document.source.lines[one.line - 1].strip()[:160]}"
    return f"line {one.line}: {owner}{one.message}. {one.remedy} ({one.rule})"


def _as_written(text: str, source: Source) -> str:
    """The text with the byte order mark and the line breaks of the file that it came from."""
    return ("\ufeff" if source.has_mark else "") + text.replace("\n", source.newline)


def _rewritten(document: Document, found: list[Finding]) -> str | None:
    """The document with every tool that needs it rewritten, or None where none does."""
    wanting = sorted({one.line for one in found if one.rule in _MENDED})
    parts: list[str] = []
    place, level = 1, _TOOL_LEVEL
    added: list[str] = []
    is_changed = False
    for tool in document.tools:
        if tool.origin == "row":
            added.append(_canonical(document, tool))
        elif _is_canonical(tool) and bisect_left(wanting, tool.line) == bisect_right(wanting, tool.end_line):
            continue
        else:
            parts += [_between(document, place, tool.line - 1, level), _canonical(document, tool)]
            place, level = tool.end_line + 1, tool.level
        is_changed = True
    if not is_changed:
        return None
    parts += [_between(document, place, len(document.source.lines), level), *added]
    return "\n\n".join(part for part in parts if part) + "\n"


def _between(document: Document, first: int, last: int, level: int) -> str:
    """The lines around tools; headings that stood beside a tool of this level stand beside it again."""
    lines = list(document.source.lines[first - 1 : last])
    for block in document.blocks_between(first, last):
        if block.kind != "heading" or level <= _TOOL_LEVEL:
            continue
        if block.level <= _TOOL_LEVEL:
            break
        mark = "#" * max(block.level + _TOOL_LEVEL - level, _TOOL_LEVEL)
        lines[block.line - first] = f"{mark} {block.text}"
    return "\n".join(lines).strip("\n")


def _is_canonical(tool: ToolSection) -> bool:
    """Whether the headings of a tool are written as in the template."""
    return (
        tool.origin == "heading"
        and tool.level == _TOOL_LEVEL
        and tool.heading.startswith("Tool:")
        and all(
            f"{'#' * section.level} {section.heading}" == section.kind.heading
            for section in tool.order
            if section.kind is not None
        )
    )


def _canonical(document: Document, tool: ToolSection) -> str:
    """One tool in the canonical form."""
    written = tool_lines(document, tool)
    parts = [f"## Tool: {code_span(tool.name or UNNAMED)}"]
    for kind in SectionKind:
        parts += [kind.heading, completed(kind, tool, written)]
    if written.others:
        parts.append(f"### {FURTHER_NOTES}")
        for heading, text in written.others:
            is_plain = heading.strip().lower() == FURTHER_NOTES.lower()
            parts += [] if is_plain else [f"#### {' '.join(heading.split())}"]
            parts.append(text)
    return "\n\n".join([part for part in parts if part] + ([written.closing] if written.closing else []))
