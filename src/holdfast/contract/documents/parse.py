"""From the text of a specification to a `Document`. Never raises, whatever the text.

The order of work: lines and blocks (`markdown.py`), tools and sections (`outline.py`), then the meaning of each
section (`reading.py`, `fields.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from holdfast.contract.documents import reading
from holdfast.contract.documents.document import CallExample, Document, JsonFence, Section, ToolSection
from holdfast.contract.documents.fields import field_table
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.markdown import Block, Source, excess, read_blocks, read_source
from holdfast.contract.documents.outline import ToolSpan, split_sections, tool_spans
from holdfast.contract.documents.rules import finding
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.statements import fact_blocks

__all__ = ["parse_document"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
_NO_TOOLS = re.compile(
    r"\b(?:no|not|doesn't|don't|without)\b[^.\n]{0,60}\btools?\b|\btools?\b[^.\n]{0,40}\b(?:none|n/a)\b",
    re.IGNORECASE,
)
_SCHEMA_SECTIONS = frozenset({SectionKind.INPUT, SectionKind.OUTPUT})
_RESULT_LABEL = re.compile(r"\b(?:response|result|returns?|output|answer)\b")


def parse_document(text: str, *, name: str = "") -> Document:
    """Read a specification. `name` is the file name that its findings carry."""
    too_large = excess(text)
    if too_large:
        odd = finding("spec.document-too-large", too_large, line=1, file=name)
        return Document(name, Source((), 0, has_mark=False, newline="\n"), findings=(odd,))
    source = read_source(text)
    blocks = read_blocks(source)
    tools = tuple(_tool(span) for span in tool_spans(blocks, len(source.lines)))
    return Document(
        name=name,
        source=source,
        blocks=tuple(blocks),
        title=next((block.text for block in blocks if block.kind == "heading" and block.level == 1), ""),
        tools=tools,
        findings=tuple(_oddities(text, blocks, name)),
        says_no_tools=not tools and _says_no_tools(blocks),
    )


def _oddities(text: str, blocks: Sequence[Block], name: str) -> list[Finding]:
    found = []
    control = _CONTROL.search(text)
    if control is not None:
        before = text[: control.start()].replace("\r\n", "\n").replace("\r", "\n")
        line, column = before.count("\n") + 1, control.start() - max(text.rfind("\n", 0, control.start()), -1)
        message = f"the character U+{ord(control.group()):04X} is not text"
        found.append(finding("spec.not-text", message, line=line, column=column, file=name))
    for block in blocks:
        if block.kind == "fence" and not block.is_closed:
            message = "the code fence that begins here is not closed"
            found.append(finding("spec.fence-unclosed", message, line=block.line, file=name))
        elif block.kind == "html" and not block.is_closed:
            message = "the comment that begins here is not closed"
            found.append(finding("spec.comment-unclosed", message, line=block.line, file=name))
    deep = next((block for block in blocks if block.kind == "deep"), None)
    if deep is not None:
        message = "lists or quotes are nested too deep here; what follows was not read"
        found.append(finding("spec.nested-too-deep", message, line=deep.line, file=name))
    return found


def _says_no_tools(blocks: Sequence[Block]) -> bool:
    return any(
        _NO_TOOLS.search(block.text[:2000]) is not None
        for block in blocks
        if block.kind in {"paragraph", "item", "heading"}
    )


def _tool(span: ToolSpan) -> ToolSection:
    preamble, order = split_sections(span)
    sections: dict[SectionKind, Section] = {}
    for section in order:
        if section.kind is None:
            continue
        earlier = sections.get(section.kind)
        sections[section.kind] = (
            section if earlier is None else replace(earlier, blocks=earlier.blocks + section.blocks)
        )
    named = sections.get(SectionKind.NAME)
    tool = ToolSection(
        heading=span.heading,
        name=(reading.invocation_name(named) if named else "") or span.name,
        heading_name=span.name,
        line=span.line,
        end_line=span.end_line,
        level=span.level,
        origin=span.origin,
        preamble=preamble,
        sections=sections,
        order=order,
    )
    return _with_words(_with_json(tool))


def _with_json(tool: ToolSection) -> ToolSection:
    """The tool with its schemas, calls and other JSON told apart."""
    schemas: dict[SectionKind, JsonFence] = {}
    examples: list[CallExample] = []
    results: list[JsonFence] = []
    fences: list[JsonFence] = []
    before = Section(None, tool.heading, tool.line, tool.end_line, tool.level, tool.preamble)
    for section in (before, *tool.sections.values(), *(one for one in tool.order if one.kind is None)):
        for label, fence in reading.json_fences(section):
            fences.append(fence)
            kind = section.kind
            call = reading.call_of(fence) if kind is SectionKind.EXAMPLES else None
            if kind in _SCHEMA_SECTIONS and kind not in schemas and _is_schema(fence, label):
                schemas[kind] = fence
            elif call is not None:
                examples.append(call)
            elif kind is not SectionKind.EXAMPLES or _RESULT_LABEL.search(label):
                results.append(fence)
    return replace(
        tool,
        input_schema=schemas.get(SectionKind.INPUT),
        output_schema=schemas.get(SectionKind.OUTPUT),
        examples=tuple(examples),
        results=tuple(results),
        fences=tuple(fences),
    )


def _is_schema(fence: JsonFence, label: str) -> bool:
    return not fence.json.error and reading.is_schema(fence.value, label)


def _with_words(tool: ToolSection) -> ToolSection:
    """The tool with what its tables and prose say."""
    given, returned = tool.sections.get(SectionKind.INPUT), tool.sections.get(SectionKind.OUTPUT)
    errors, repeated = tool.sections.get(SectionKind.ERRORS), tool.sections.get(SectionKind.IDEMPOTENCY)
    security = tool.sections.get(SectionKind.SECURITY)
    return replace(
        tool,
        input_table=field_table(given) if given else None,
        input_none=given is not None and reading.says_none(given),
        output_table=field_table(returned) if returned else None,
        output_none=returned is not None and reading.says_none(returned),
        errors=reading.error_codes(errors) if errors else (),
        errors_none=errors is not None and reading.says_none(errors),
        idempotency=reading.idempotency_of(repeated) if repeated else None,
        security=security.text if security else "",
        version=reading.version_of(fact_blocks(tool)),
    )
