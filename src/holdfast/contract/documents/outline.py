"""Where the tools of a document begin and end, and which of their lines belong to which section.

Five ways of writing are understood: `## Tool: name` with headings per section; a heading that is only a code
span, with labelled list items; a heading that is a bare name; eight sections without any tool heading; a table
that lists tools. What stands inside the sections is read in `reading.py`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast.contract.documents.document import Origin, Section
from holdfast.contract.documents.fields import table_columns
from holdfast.contract.documents.inline import first_code, without_marks
from holdfast.contract.documents.markdown import Block
from holdfast.contract.documents.sections import SectionKind, is_canonical, kind_of, plain_words

__all__ = ["ToolSpan", "split_sections", "tool_spans"]

_TOOL_PREFIX = re.compile(
    r"(?:\d[\d.]*[.)]?\s+)?(?:mcp\s+)?tool(?:\s+\d+)?\s*(?::|[-–—]\s)\s*(.*)", re.IGNORECASE | re.DOTALL
)
_CODE_HEADING = re.compile(r"(?:\d[\d.]*[.)]?\s+)?`([^`]+)`(?:\s*(?:[-–—:(].*)?)", re.DOTALL)
_BARE_NAME = re.compile(r"(?:\d[\d.]*[.)]?\s+)?([A-Za-z_][A-Za-z0-9_.-]{0,127})(?:\(.*\))?")
_LABEL = re.compile(
    r"(?:\*\*|__)?([A-Za-z][\w ()/-]{1,50}?)\s*(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:|:|(?:\*\*|__)$)\s*(.*)",
    re.DOTALL,
)
_TOOL_WORD = re.compile(r"\btools?\b", re.IGNORECASE)
_LIST_HEADS = frozenset({"tool", "tools", "tool name", "mcp tool", "invocation name", "function", "function name"})
_IMPLIED_KINDS = 3


@dataclass(slots=True)
class ToolSpan:
    """The blocks of one tool, before they are read."""

    heading: str
    name: str
    line: int
    level: int
    origin: Origin = "heading"
    end_line: int = 0
    blocks: list[Block] = field(default_factory=list)

    @property
    def has_deeper_sections(self) -> bool:
        """Whether a section of this tool stands below its heading, as it should."""
        return any(_is_section(block) and block.level > self.level for block in self.blocks)

    def has_kind(self, kind: SectionKind | None) -> bool:
        """Whether a heading of this kind was met already."""
        return any(block.kind == "heading" and kind_of(block.text) is kind for block in self.blocks)


def _is_section(block: Block) -> bool:
    return block.kind == "heading" and kind_of(block.text) is not None


def tool_spans(blocks: Sequence[Block], last_line: int) -> list[ToolSpan]:
    """The tools of a document in the order of their lines."""
    return _headed(blocks, last_line) or _implied(blocks, last_line) or _listed(blocks)


def _headed(blocks: Sequence[Block], last_line: int) -> list[ToolSpan]:
    spans: list[ToolSpan] = []
    current: ToolSpan | None = None
    around: list[Block] = []  # the headings that enclose the present line
    for number, block in enumerate(blocks):
        if block.kind != "heading":
            if current is not None:
                current.blocks.append(block)
            continue
        around = [heading for heading in around if heading.level < block.level]
        if current is not None and _belongs(block, current):
            current.blocks.append(block)
            continue
        if current is not None:
            current.end_line = block.line - 1
        name = _tool_name(blocks, number, around[-1].text if around else "")
        around.append(block)
        current = None if name is None else ToolSpan(block.text, name, block.line, block.level)
        if current is not None:
            spans.append(current)
    if current is not None:
        current.end_line = last_line
    return spans


def _belongs(block: Block, tool: ToolSpan) -> bool:
    """Whether a heading is part of the open tool."""
    if _TOOL_PREFIX.fullmatch(block.text):
        return False
    if block.level > tool.level:
        return True
    kind = kind_of(block.text)
    # Sections on the level of their tool are its own only where nothing speaks for a section of the document.
    return kind is not None and block.level > 1 and not tool.has_deeper_sections and not tool.has_kind(kind)


def _tool_name(blocks: Sequence[Block], number: int, above: str) -> str | None:
    """The name of the tool that a heading opens, or None where it opens none; `above` is the heading around it."""
    text = blocks[number].text.strip()
    prefixed = _TOOL_PREFIX.fullmatch(text)
    if prefixed is not None:
        return _name(first_code(prefixed[1]) or without_marks(prefixed[1]))
    if kind_of(text) is not None or blocks[number].level == 1:
        return None
    code = _CODE_HEADING.fullmatch(text)
    if code is not None:
        is_listed = _TOOL_WORD.search(above) is not None
        return _name(first_code(text) or code[1]) if is_listed or _has_evidence(blocks, number) else None
    bare = _BARE_NAME.fullmatch(without_marks(text))
    is_name = bare is not None and (bare[1][0].islower() or "_" in bare[1])
    return bare[1] if bare is not None and is_name and _has_evidence(blocks, number) else None


def _name(text: str) -> str:
    """A name without the brackets of a signature."""
    return re.split(r"[(\n]", text, maxsplit=1)[0].strip()


def _has_evidence(blocks: Sequence[Block], number: int) -> bool:
    """Whether sections or labels of a tool stand below a heading: many headings are code or single words."""
    level = blocks[number].level
    for place in range(number + 1, len(blocks)):
        block = blocks[place]
        if block.kind == "heading":
            return block.level > level and kind_of(block.text) is not None
        if _labelled(block) is not None:
            return True
    return False


def _implied(blocks: Sequence[Block], last_line: int) -> list[ToolSpan]:
    headings = [block for block in blocks if _is_section(block)]
    kinds = {kind_of(block.text) for block in headings}
    if len(kinds) < _IMPLIED_KINDS or not kinds & {SectionKind.NAME, SectionKind.INPUT, SectionKind.EXAMPLES}:
        return []
    first = headings[0]
    title = next((block.text for block in blocks if block.kind == "heading" and block.line < first.line), "")
    level = min(block.level for block in headings)
    span = ToolSpan(title, "", first.line, level - 1, "implied", last_line)
    for block in blocks:
        if block.line < first.line:
            continue
        if block.kind == "heading" and block.level < level:
            span.end_line = block.line - 1
            break
        span.blocks.append(block)
    return [span]


def _listed(blocks: Sequence[Block]) -> list[ToolSpan]:
    spans: list[ToolSpan] = []
    for block in blocks:
        if block.kind != "table" or plain_words(block.rows[0].cells[0]) not in _LIST_HEADS:
            continue
        columns = table_columns(block)
        place = columns.index("description") if "description" in columns else 1
        for row in block.rows[1:]:
            name = _name(first_code(row.cells[0]) or without_marks(row.cells[0]))
            if any(character.isalnum() for character in name):
                words = row.cells[place] if place < len(row.cells) else ""
                prose = Block("paragraph", words, row.line, row.line)
                spans.append(ToolSpan(row.cells[0], name, row.line, 2, "row", row.line, [prose]))
    return spans


def split_sections(span: ToolSpan) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    """The blocks before the first section of a tool, and its sections in their order."""
    if span.origin == "row":
        prose = tuple(span.blocks)
        return (), (Section(SectionKind.PURPOSE, span.heading, span.line, span.line, 3, prose, label=True),)
    if any(_is_section(block) for block in span.blocks):
        opened = list(_by_heading(span.blocks))
    else:
        opened = list(_by_label(span.blocks))
    preamble = tuple(opened[0][1]) if opened and opened[0][0] is None else ()
    started = [(section, blocks) for section, blocks in opened if section is not None]
    ends = [*(section.line - 1 for section, _ in started[1:]), span.end_line][: len(started)]
    return preamble, tuple(
        replace(section, end_line=max(end, section.line), blocks=tuple(blocks))
        for (section, blocks), end in zip(started, ends, strict=True)
    )


def _by_heading(blocks: Sequence[Block]) -> Iterator[tuple[Section | None, list[Block]]]:
    level = min(block.level for block in blocks if _is_section(block))
    seen = {kind_of(block.text) for block in blocks if _is_section(block) and block.level == level}
    section: Section | None = None
    inside: list[Block] = []
    for block in blocks:
        kind = kind_of(block.text) if block.kind == "heading" else None
        # A deeper heading opens a section only where nobody would take it for a part of another one.
        is_deep = kind is not None and block.level > level and is_canonical(block.text) and kind not in seen
        if block.kind == "heading" and (block.level <= level or is_deep):
            yield section, inside
            section, inside = Section(kind, block.text, block.line, block.line, block.level), []
            seen.add(kind)
        else:
            inside.append(block)
    yield section, inside


def _by_label(blocks: Sequence[Block]) -> Iterator[tuple[Section | None, list[Block]]]:
    section: Section | None = None
    inside: list[Block] = []
    for block in blocks:
        label = _labelled(block)
        if label is None:
            inside.append(block)
            continue
        yield section, inside
        heading, rest = label
        section = Section(kind_of(heading), heading, block.line, block.line, 7, label=True)
        kept = replace(block, kind="paragraph", text=rest)
        inside = [kept] if rest.strip() else []
    yield section, inside


def _labelled(block: Block) -> tuple[str, str] | None:
    """The label of a section and the words after it, where a block begins with one."""
    if block.kind not in {"paragraph", "item"} or block.depth > 1:
        return None
    match = _LABEL.fullmatch(block.text)
    return (match[1], match[2]) if match is not None and kind_of(match[1]) is not None else None
