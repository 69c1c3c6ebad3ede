"""The author's own lines of one tool, cut out section by section, ready to stand under canonical headings.

Lines are moved, not rewritten, with three exceptions: list items that served as sections lose their indent,
headings inside a section sink below it, and JSON with comments becomes JSON with the comments told after it.
"""

import json
import re
from dataclasses import dataclass

from holdfast.contract.documents.document import Document, Section, ToolSection
from holdfast.contract.documents.markdown import Block
from holdfast.contract.documents.sections import SectionKind

__all__ = ["ToolLines", "tool_lines"]

_ITEM_MARK = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_SECTION_LEVEL = 3


@dataclass(frozen=True, slots=True)
class ToolLines:
    """What the author wrote: per section, before the sections, under other headings, and the rule at the end."""

    bodies: dict[SectionKind, str]
    preamble: str
    others: tuple[tuple[str, str], ...]
    closing: str


def tool_lines(document: Document, tool: ToolSection) -> ToolLines:
    """The lines of one tool, told apart."""
    if tool.origin == "row":
        return ToolLines({SectionKind.PURPOSE: tool.sections[SectionKind.PURPOSE].text}, "", (), "")
    lines = _Lines(document, tool)
    bodies: dict[SectionKind, str] = {}
    others: list[tuple[str, str]] = []
    for section in tool.order:
        text = lines.body(section)
        if section.kind is None:
            others.append((section.heading, text))
        else:
            bodies[section.kind] = f"{bodies[section.kind]}\n\n{text}" if section.kind in bodies else text
    start = tool.line if tool.origin == "implied" else lines.after_heading(tool.line)
    end = tool.order[0].line - 1 if tool.order else lines.last
    return ToolLines(bodies, lines.text(start, end, 0), tuple(others), lines.closing)


class _Lines:
    """The lines of one tool with what has to be changed in them."""

    def __init__(self, document: Document, tool: ToolSection) -> None:
        self.source = document.source.lines
        blocks = document.blocks_between(tool.line, tool.end_line)
        self.headings = {block.line: block for block in blocks if block.kind == "heading"}
        self.last, self.closing = self._closing(tool.end_line)
        self.rules = {block.line for block in blocks if block.kind == "rule"}
        self.rewritten: dict[int, list[str]] = {}
        for block in blocks:
            if block.kind == "fence":
                self._plain_json(block, tool)

    def _closing(self, end: int) -> tuple[int, str]:
        """The last line before the rule that divides this tool from the next, and the rule."""
        last = end
        while last > 1 and not self.source[last - 1].strip():
            last -= 1
        if re.fullmatch(r" {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*", self.source[last - 1]):
            return last - 1, self.source[last - 1].strip()
        return last, ""

    def after_heading(self, line: int) -> int:
        """The first line below the heading that begins at `line`."""
        heading = self.headings.get(line)
        return heading.end_line + 1 if heading else line + 1

    def body(self, section: Section) -> str:
        """The content of a section below its heading, or after its label."""
        end = min(section.end_line, self.last)
        if not section.label:
            return self.text(self.after_heading(section.line), end, _SECTION_LEVEL - section.level)
        mark = _ITEM_MARK.match(self.source[section.line - 1])
        own = next((block for block in section.blocks[:1] if block.line == section.line), None)
        # On one line, so that nothing in it becomes a table or a heading outside of the list.
        rest = " ".join(own.text.split()) if own else ""
        start = own.end_line + 1 if own else section.line + 1
        following = self._changed(start, end, 0, len(mark.group().expandtabs(4)) if mark else 0)
        return "\n".join([rest, *following]).strip("\n")

    def text(self, first: int, last: int, shift: int) -> str:
        """The lines from `first` to `last`, changed where they have to be, without blank lines around them."""
        return "\n".join(self._changed(first, last, shift, 0)).strip("\n")

    def _changed(self, first: int, last: int, shift: int, indent: int) -> list[str]:
        result: list[str] = []
        skipped = 0
        for number in range(first, last + 1):
            if number <= skipped:
                continue
            if number in self.rules:  # without its list before it, a rule would underline the text above
                result.append("")
            heading = self.headings.get(number)
            if heading is not None and heading.line != first - 1:
                level = min(max(heading.level + shift, _SECTION_LEVEL + 1), 6)
                result.append(f"{'#' * level} {' '.join(heading.text.split())}")
                skipped = heading.end_line
            else:
                result += [
                    _dedented(line, indent) for line in self.rewritten.get(number, [self.source[number - 1]])
                ]
        return result

    def _plain_json(self, block: Block, tool: ToolSection) -> None:
        """Replace a fence with comments by one without, and tell the comments below it."""
        fence = next((one for one in tool.fences if one.line == block.line + 1), None)
        opening, closing = self.source[block.line - 1], self.source[block.end_line - 1]
        if fence is None or fence.json.error or fence.json.is_plain or not block.is_closed or ">" in opening:
            return
        indent = opening[: len(opening) - len(opening.lstrip())]
        if opening.lstrip()[:1] not in {"`", "~"}:  # the fence opens behind the mark of a list item
            indent = " " * (len(closing) - len(closing.lstrip()))
        dumped = json.dumps(fence.value, indent=2, ensure_ascii=False).split("\n")
        notes = [" ".join(comment.split()) for comment in fence.json.comments if comment.strip("/* \n")]
        told = ["", f"Notes on the JSON above: {'; '.join(notes)}"] if notes else []
        for number in range(block.line + 1, block.end_line + 1):
            self.rewritten[number] = []
        self.rewritten[block.line + 1] = [indent + line for line in dumped]
        self.rewritten[block.end_line] = [closing, *(indent + line if line else "" for line in told)]


def _dedented(line: str, indent: int) -> str:
    if not indent:
        return line
    spaced = line.expandtabs(4) if line.startswith("\t") else line
    return spaced[min(indent, len(spaced) - len(spaced.lstrip(" "))) :]
