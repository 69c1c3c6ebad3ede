"""The lines of a page by what they are: front matter, code, headings, prose. They count from 1, in the file."""

import re

from holdfast.launch.code_fences import Fence, fences
from holdfast.launch.front_matter import FrontMatterError, split

__all__ = ["HEADING", "blocks", "body_line", "code_lines", "headings", "prose"]

HEADING = re.compile(r"(#{1,6})(\s|$)")


def body_line(text: str) -> int:
    """The line on which the body begins; the first one where the front matter cannot be read."""
    try:
        return split(text).body_line
    except FrontMatterError:
        return 1


def blocks(text: str) -> list[Fence]:
    """The fenced blocks of code of the body."""
    above = body_line(text) - 1
    body = "\n".join(text.split("\n")[above:])
    return [block._replace(line=block.line + above, end_line=block.end_line + above) for block in fences(body)]


def code_lines(text: str) -> set[int]:
    """The lines of these blocks, with their fences."""
    return {line for block in blocks(text) for line in range(block.line, block.end_line + 1)}


def prose(text: str) -> list[tuple[int, str]]:
    """The lines of the body outside of such blocks, with their numbers."""
    first, code = body_line(text), code_lines(text)
    numbered = enumerate(text.split("\n"), 1)
    return [(number, line) for number, line in numbered if number >= first and number not in code]


def headings(text: str) -> list[int]:
    """The lines of the headings of a page."""
    return [number for number, line in prose(text) if HEADING.match(line)]
