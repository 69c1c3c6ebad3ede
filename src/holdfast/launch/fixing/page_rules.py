"""Rules that mend more than a line of a page: its front matter, sections and blocks of code.

Each takes the text and the issue; what it cannot mend it gives back as it was.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.claim_marks import claims_of
from holdfast.launch.code_fences import Fence
from holdfast.launch.fixing.page_text import shown, without_lines
from holdfast.launch.front_matter import FrontMatterError, render, split
from holdfast.launch.gates.view import heading_of
from holdfast.launch.patching.front_matter_edit import updated
from holdfast.launch.patching.page_lines import blocks, code_lines, prose

__all__ = [
    "complete_frontmatter",
    "drop_snippet",
    "insert_required_heading",
    "lint_fix",
    "replace_frontmatter",
    "replace_install_command",
    "set_fence_language",
]

_FENCES = ("---", "+++")
_PROMPT = re.compile(r"\s*(?:[$>%]\s+)?")
_OPENING = re.compile(r"(.*?(?:`{3,}|~{3,}))\s*[\w+#.-]*\s*(.*)")


def complete_frontmatter(text: str, issue: Mapping[str, Any]) -> str:
    """The front matter gets a key that it lacks."""
    return _with_values(text, {issue["data"]["key"]: issue["data"]["value"]})


def replace_frontmatter(text: str, issue: Mapping[str, Any]) -> str:
    """A key of the front matter gets another value; or all of it is written anew, where nobody can read it."""
    data = issue["data"]
    if "values" not in data:
        return _with_values(text, {data["key"]: data["value"]})
    wanted = data.get("format", "yaml")
    try:
        there = split(text)
    except FrontMatterError:
        return render(data["values"], _body_of_broken(text), wanted)
    if there.format != wanted:
        return render(data["values"], there.body, wanted)
    return _with_values(text, data["values"])


def lint_fix(text: str, issue: Mapping[str, Any]) -> str:
    """What the Markdown linter itself can mend, of one of its rules."""
    from pymarkdown.api import PyMarkdownApiException

    from holdfast.launch.gates.markdown_lint import mended

    try:
        return mended(text, issue["data"]["rule_id"])
    except PyMarkdownApiException:  # there is nothing to lint, or the linter cannot read it
        return text


def insert_required_heading(text: str, issue: Mapping[str, Any]) -> str:
    """A section is made where it is missing, and gets the lines that belong into it."""
    data = issue["data"]
    lines = text.rstrip("\n").split("\n")
    found = _section(text, data["heading"])
    if found is not None:
        return _with_lines_in(text, lines, found[0], found[1], data["lines"])
    after = _section(text, data["after"]) if data.get("after") else None
    new = ["", f"{'#' * data['level']} {data['heading']}", *([""] if data["lines"] else []), *data["lines"]]
    return _with_block(lines, after[2] if after else len(lines), new)


def replace_install_command(text: str, issue: Mapping[str, Any]) -> str:
    """A command, in a block or a span of code, becomes the one that the product itself names."""
    found, expected = issue["data"]["found"].strip(), issue["data"]["expected"].strip()
    lines = text.split("\n")
    code = code_lines(text)
    for place, line in enumerate(lines):
        lead = _PROMPT.match(line)
        assert lead is not None
        if place + 1 not in code:
            lines[place] = line.replace(f"`{found}`", f"`{expected}`") if found else line
        elif found in (line.strip(), line[lead.end() :].strip()):
            lines[place] = lead[0] + expected
    return "\n".join(lines)


def drop_snippet(text: str, issue: Mapping[str, Any]) -> str:
    """A block of code goes."""
    block = _block(text, issue)
    if block is None:
        return text
    return "\n".join(without_lines(text.split("\n"), block.line - 1, block.end_line))


def set_fence_language(text: str, issue: Mapping[str, Any]) -> str:
    """A block of code says which language it is in."""
    block = _block(text, issue)
    lines = text.split("\n")
    opening = _OPENING.fullmatch(lines[block.line - 1].rstrip()) if block else None
    if block is None or opening is None:
        return text
    lines[block.line - 1] = f"{opening[1]}{issue['data']['language']} {opening[2]}".rstrip()
    return "\n".join(lines)


def _with_values(text: str, values: Mapping[str, Any]) -> str:
    try:
        if split(text).format == "none":
            return render(values, text if text.startswith("\n") else f"\n{text}", "yaml")
        return updated(text, values)
    except (FrontMatterError, KeyError):
        return text


def _body_of_broken(text: str) -> str:
    """What follows a front matter that cannot be read: after its end, or else after its first gap."""
    lines = text.lstrip("\ufeff \t\r\n").split("\n")
    fence = lines[0].strip()
    closing = fence if fence in _FENCES else "}"
    end = next((place + 1 for place, line in enumerate(lines) if place and line.strip() == closing), 0)
    gap = next(
        (place for place, line in enumerate(lines) if not line.strip() or line.startswith("# ")), len(lines)
    )
    return "\n".join(lines[end or gap :])


def _with_lines_in(text: str, lines: list[str], first: int, stop: int, wanted: list[str]) -> str:
    """A section (lines from 0) with the lines that it lacks; one that only lacks its mark gets that."""
    missing = []
    for line in wanted:
        same = [place for place in range(first, stop) if shown(lines[place]) == shown(line)]
        if not same:
            missing.append(line)
        elif not any(set(claims_of(line)) <= set(claims_of(lines[place])) for place in same):
            lines[same[0]] = line
    if missing:
        last = lines[_last_line(lines, stop)]
        return _with_block(lines, stop, missing if _is_item(last) and _is_item(missing[0]) else ["", *missing])
    return "\n".join(lines) + text[len(text.rstrip("\n")) :]


def _with_block(lines: list[str], place: int, new: list[str]) -> str:
    """The lines with more after the last one before a place that is not empty."""
    place = _last_line(lines, place) + 1
    below = lines[place:]
    gap = [""] if below and below[0].strip() else []
    return "\n".join([*lines[:place], *new, *gap, *below]) + "\n"


def _section(text: str, heading: str) -> tuple[int, int, int] | None:
    """A section: after its heading, the end of its own text, and the end of all below it (lines from 0)."""
    titles = [(number - 1, *found) for number, line in prose(text) if (found := heading_of(line)) is not None]
    end = len(text.rstrip("\n").split("\n"))
    for position, (place, rank, title) in enumerate(titles):
        if title.casefold() == heading.strip().casefold():
            later = titles[position + 1 :]
            own = later[0][0] if later else end
            return place + 1, own, next((other for other, its_rank, _ in later if its_rank <= rank), end)
    return None


def _last_line(lines: list[str], stop: int) -> int:
    """The last line before `stop` that is not empty."""
    return max((place for place in range(min(stop, len(lines))) if lines[place].strip()), default=-1)


def _is_item(line: str) -> bool:
    return re.match(r"\s*(?:[-*+]|\d+[.)])\s|\s*\|", line) is not None


def _block(text: str, issue: Mapping[str, Any]) -> Fence | None:
    wanted = issue["data"]["code_sha256"]
    near = issue["location"].get("line", 1)
    found = [block for block in blocks(text) if block.code_sha256 == wanted]
    return min(found, key=lambda block: (abs(block.line - near), block.line), default=None)
