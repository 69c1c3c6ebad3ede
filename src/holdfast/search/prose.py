"""Documents as sections: Markdown, reStructuredText and AsciiDoc by their headings, other text by its paragraphs.

A section reaches from its heading to the next one of whatever level, and is called by the headings that lead to
it. Lines are told apart one by one, as the formats do for headings; inline markup is not understood, only taken
off the titles.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from holdfast.search.decode import BOM, LineTable
from holdfast.search.model import Chunk, Extraction

__all__ = ["extract_prose"]

_SECTION_LINES = 120
_PLAIN_LINES = 60
_DOC_LENGTH = 300
_TITLE_LENGTH = 160
_PATH_DEPTH = 8  # of headings in a name


@dataclass(slots=True)
class _Heading:
    """A heading: its lines, how deep it is, and its title without markup."""

    line: int
    body: int  # the first line behind it
    level: int
    title: str


@dataclass(slots=True)
class _Outline:
    """What is known of the lines of a document."""

    headings: list[_Heading] = field(default_factory=list)
    closed: set[int] = field(default_factory=set)  # lines in front matter, code, comments: not to be cut or quoted
    title: str = ""  # from the front matter


def extract_prose(language: str, path: str, source: bytes) -> Extraction:
    """One chunk of kind `section` per heading; every line with something in it is in one of them."""
    table = LineTable(source)
    lines = [line.decode("utf-8", "replace").rstrip() for line in table.lines]
    if lines and source.startswith(BOM):
        lines[0] = lines[0].removeprefix("\ufeff")
    outline_of = _OUTLINES.get(language.lower())
    outline = outline_of(lines) if outline_of else _Outline()
    max_lines = _SECTION_LINES if outline_of else _PLAIN_LINES
    chunks: list[Chunk] = []
    for name, level, first, body, last in _sections(outline.headings, PurePosixPath(path).name, len(lines)):
        doc = _first_paragraph(lines, body, last, outline.closed)
        if level == 0 and outline.title:
            doc = f"{outline.title}\n{doc}".strip()
        good = {line for line in range(first, last) if not lines[line] and line not in outline.closed}
        for span in table.cut(first, last, max_lines, good):
            chunks.append(Chunk("prose", "section", name, *span, doc=doc))
            doc = ""  # said once, by the first window of a long section
    return Extraction(chunks)


def _sections(headings: list[_Heading], file: str, count: int) -> Iterator[tuple[str, int, int, int, int]]:
    """Name, level, first line, first line of the body and end of each section; before all headings, the file's."""
    yield file, 0, 0, 0, headings[0].line if headings else count
    path: list[_Heading] = []
    for index, heading in enumerate(headings):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        name = " > ".join(part.title for part in path[-_PATH_DEPTH:])
        end = headings[index + 1].line if index + 1 < len(headings) else count
        yield name or file, heading.level, heading.line, heading.body, end


_NOT_PROSE = re.compile(r"\s*(?:\.\. |:\w[^:]*:|\[.*\]\s*$|\[?!\[|<|\||[-=~^*_+.]{3,}\s*$|//)|(?: {4}|\t)")


def _first_paragraph(lines: list[str], first: int, last: int, closed: set[int]) -> str:
    """The first lines of a section that read like text: not code, a picture, a directive or a table."""
    found: list[str] = []
    for line in range(first, last):
        if found and not lines[line]:
            break
        # Far down there is no introduction any more.
        if line - first > _SECTION_LINES or sum(map(len, found)) > _DOC_LENGTH:
            break
        if lines[line] and line not in closed and (found or not _NOT_PROSE.match(lines[line])):
            found.append(lines[line][:_DOC_LENGTH])
    return " ".join(" ".join(found).split())[:_DOC_LENGTH]


# Markdown

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)$")
_HTML_HEADING = re.compile(r" {0,3}<h([1-6])\b[^>]{0,500}>(.*)", re.IGNORECASE)
_HTML_BLOCK = re.compile(r" {0,3}<(!--|(?:pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_NOT_A_PARAGRAPH = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,9}[.)])(?:\s|$)|[>|<]|(?:[-*_][ \t]*){3,}$)|(?: {4}|\t)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"<[^<>]*>")
_ATTRIBUTES = re.compile(r"\{[#.:][^{}]*\}$")


def _markdown(lines: list[str]) -> _Outline:
    outline = _Outline()
    line = _front_matter(lines, outline)
    paragraph: int | None = None  # where the text above began that an underline would make a heading
    blocked = False  # inside of a list, a quote or the like, whose last lines may look like a paragraph
    while line < len(lines):
        text = lines[line]
        end = _markdown_block_end(lines, line)
        heading = None
        if end is not None:
            outline.closed.update(range(line, end))
        elif paragraph is not None and _SETEXT.match(text):
            level = 1 if text.lstrip().startswith("=") else 2
            heading = _Heading(paragraph, line + 1, level, _title(" ".join(lines[paragraph:line])))
        else:
            heading = _markdown_heading(line, text)
        if heading is not None and heading.title:
            outline.headings.append(heading)
        if end is not None or heading is not None or not text:
            paragraph, blocked = None, False
        elif paragraph is None and not blocked:
            blocked = bool(_NOT_A_PARAGRAPH.match(text))
            paragraph = None if blocked else line
        line = end if end is not None else line + 1
    return outline


def _markdown_heading(line: int, text: str) -> _Heading | None:
    found = _ATX.match(text)
    if found:
        return _Heading(line, line + 1, len(found[1]), _title(_without_closing_hashes(found[2] or "")))
    found = _HTML_HEADING.match(text)
    if found:
        return _Heading(line, line + 1, int(found[1]), _title(found[2]))
    return None


def _without_closing_hashes(title: str) -> str:
    shorter = title.rstrip("#")
    return shorter if not shorter or shorter[-1:] in " \t" else title


def _markdown_block_end(lines: list[str], line: int) -> int | None:
    """The line behind the code, comment or raw HTML that begins in a line."""
    fence = _FENCE.match(lines[line])
    if fence:
        mark, least = fence[1][0], len(fence[1])
        for end in range(line + 1, len(lines)):
            closing = lines[end].strip()
            if len(closing) >= least and not closing.strip(mark):
                return end + 1
        return len(lines)
    block = _HTML_BLOCK.match(lines[line])
    if not block:
        return None
    closing = "-->" if block[1] == "!--" else f"</{block[1].lower()}>"
    for end in range(line, len(lines)):
        if closing in lines[end].lower():
            return end + 1
    return len(lines)


def _front_matter(lines: list[str], outline: _Outline) -> int:
    """The line behind the front matter, which stands between two lines of `---` or `+++` at the very top."""
    if not lines or lines[0] not in {"---", "+++"}:
        return 0
    for end in range(1, min(len(lines), 500)):
        if lines[end] == lines[0] or (lines[0] == "---" and lines[end] == "..."):
            outline.closed.update(range(end + 1))
            return end + 1
        key, _, value = lines[end].partition(":" if lines[0] == "---" else "=")
        if key.strip() == "title":
            outline.title = value.strip().strip("\"'")[:_TITLE_LENGTH]
    outline.title = ""
    return 0


def _title(raw: str) -> str:
    """A title without links, tags, emphasis and code marks."""
    text = raw[:2000]
    text = _TAG.sub("", _LINK.sub(r"\1", _LINK.sub(r"\1", text)))
    text = _ATTRIBUTES.sub("", text.rstrip()).replace("`", "").replace("**", "").replace("__", "")
    return " ".join(text.strip(" \t#*_").split())[:_TITLE_LENGTH] or _plain(raw)


def _plain(raw: str) -> str:
    # A title of marks alone, such as `__`, is still a title; one of pictures and tags alone is none.
    return "" if _TAG.search(raw) or _LINK.search(raw) else " ".join(raw.split())[:_TITLE_LENGTH]


# reStructuredText

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
_ROLE = re.compile(r":[\w:+-]+:(?=`)|[`*|]+|<[^<>]*>(?=`)")


def _restructured(lines: list[str]) -> _Outline:
    outline = _Outline()
    styles: list[str] = []  # of adornment; the order of their first use makes the levels
    line = 0
    below = True  # below a blank line or another title, where alone a title may stand
    while line < len(lines):
        heading = _restructured_heading(lines, line, styles) if below else None
        if heading is not None:
            outline.headings.append(heading)
            line = heading.body
        else:
            below = not lines[line]
            line += 1
    return outline


def _restructured_heading(lines: list[str], line: int, styles: list[str]) -> _Heading | None:
    below = lines[line + 1] if line + 1 < len(lines) else ""
    if not lines[line] or not below:
        return None
    over = _ADORNMENT.match(lines[line])
    if over and line + 2 < len(lines):
        if lines[line + 2] == lines[line] and not _ADORNMENT.match(below) and len(over[0]) > 2:
            return _Heading(line, line + 3, _level(styles, over[1] * 2), _restructured_title(below))
        return None
    under = _ADORNMENT.match(below)
    if under and not over and not lines[line][0].isspace() and len(under[0]) >= min(len(lines[line]), 4):
        return _Heading(line, line + 2, _level(styles, under[1]), _restructured_title(lines[line]))
    return None


def _level(styles: list[str], style: str) -> int:
    if style not in styles:
        styles.append(style)
    return styles.index(style) + 1


def _restructured_title(raw: str) -> str:
    return " ".join(_ROLE.sub("", raw[:2000]).split())[:_TITLE_LENGTH] or raw.strip()[:_TITLE_LENGTH]


# AsciiDoc

_ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$")
_ASCIIDOC_BLOCK = re.compile(r"(?:([-.+/=*_])\1{3,}|--|```\w*|\|===)$")
_ASCIIDOC_UNDERLINES = "=-~^+"


def _asciidoc(lines: list[str]) -> _Outline:
    outline = _Outline()
    line = 0
    while line < len(lines):
        heading = _asciidoc_heading(lines, line)
        if heading is not None:
            outline.headings.append(heading)
            line = heading.body
        elif _ASCIIDOC_BLOCK.match(lines[line]):
            end = _asciidoc_block_end(lines, line)
            outline.closed.update(range(line, end))
            line = end
        else:
            line += 1
    return outline


def _asciidoc_heading(lines: list[str], line: int) -> _Heading | None:
    found = _ASCIIDOC_HEADING.match(lines[line])
    if found:
        return _Heading(line, line + 1, len(found[1]), _title(found[2].rstrip("= ")))
    below = lines[line + 1] if line + 1 < len(lines) else ""
    under = below[:1]
    if not under or under not in _ASCIIDOC_UNDERLINES or below.strip(under) or (line and lines[line - 1]):
        return None
    # The old two-line titles; what differs more in length opens a block instead.
    if abs(len(below) - len(lines[line])) > 1 or len(below) < 3 or not any(map(str.isalnum, lines[line])):
        return None
    return _Heading(line, line + 2, _ASCIIDOC_UNDERLINES.index(under) + 1, _title(lines[line]))


def _asciidoc_block_end(lines: list[str], line: int) -> int:
    closing = "```" if lines[line].startswith("```") else lines[line]
    try:
        return lines.index(closing, line + 1) + 1
    except ValueError:
        return line + 1  # never closed: taken for a rule, so that the headings below are not lost


_OUTLINES = {
    "markdown": _markdown,
    "md": _markdown,
    "mdx": _markdown,
    "restructuredtext": _restructured,
    "rst": _restructured,
    "asciidoc": _asciidoc,
    "adoc": _asciidoc,
}
