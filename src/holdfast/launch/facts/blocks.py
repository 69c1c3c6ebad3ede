"""A document as blocks: headings, paragraphs, list items and code, each with its lines; its markup is gone.

Inline markup is taken off already, except that code stands in backticks. Line n of a block's text is line
`start_line + n` of the file where the two have the same number of lines; otherwise the block is cited as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Block", "Section", "sections"]


class Block(NamedTuple):
    """One block. `lead` is the bold beginning of a list item; `language` is that of code."""

    kind: str  # heading, paragraph, item, code
    text: str
    start_line: int
    end_line: int
    level: int = 0
    language: str = ""
    lead: str = ""

    def lines_of(self, first: int, last: int) -> tuple[int, int]:
        """The lines of the file that these lines of the text (from 0) stand on."""
        if self.text.count("\n") == self.end_line - self.start_line:
            return self.start_line + first, self.start_line + last
        return self.start_line, self.end_line


@dataclass(slots=True)
class Section:
    """What stands below a heading, up to the next one. `trail` holds the titles that lead to it, its own last."""

    title: str
    level: int
    line: int
    trail: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)


def sections(blocks: Sequence[Block]) -> list[Section]:
    """The sections of a document; the first has no title and holds what stands before any heading."""
    found = [Section("", 0, 1, ())]
    open_titles: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind != "heading":
            found[-1].blocks.append(block)
            continue
        while open_titles and open_titles[-1][0] >= block.level:
            open_titles.pop()
        title = " ".join(block.text.split())
        open_titles.append((block.level, title))
        trail = tuple(title for _, title in open_titles)
        found.append(Section(title, block.level, block.start_line, trail))
    return found
