"""A page of the plan becomes blocks: by the template that the plan names, within the lines of a file."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.launch.writing.blocks import Block, Heading, Table, fitted, markdown, tidied, unrepeated
from holdfast.launch.writing.inline import anchor
from holdfast.launch.writing.known import Known
from holdfast.launch.writing.pages import answers, api, guides, landing
from holdfast.launch.writing.ways import Routes, Ways

__all__ = ["TEMPLATES", "compose", "routes_of"]

_FRONT_MATTER_LINES = 30
_BY_NAME = ("api_module", "limitations")
_WITHIN = re.compile(r"\[(`[^`]*`)\]\(#([^)]*+)\)")

Template = Callable[[Ways], list[Block]]

TEMPLATES: Mapping[str, Template] = {
    "overview": landing.overview,
    "announcement": landing.announcement,
    "contents": guides.contents,
    "installation": guides.installation,
    "getting_started": guides.getting_started,
    "workflow": guides.workflow,
    "feature": guides.feature,
    "developer_guide": guides.developer_guide,
    "api_overview": api.api_overview,
    "api_module": api.api_module,
    "faq": answers.faq,
    "limitations": answers.limitations,
}


def routes_of(pages: Iterable[Mapping[str, Any]], known: Known, most_lines: int) -> Routes:
    """The ways between these pages, as they are when no file has more lines than this."""

    def anchors_of(routes: Routes, page: Mapping[str, Any]) -> frozenset[str]:
        return _anchors(compose(page, routes, most_lines))

    return Routes(pages, known, anchors_of)


def compose(page: Mapping[str, Any], routes: Routes, most_lines: int) -> list[Block]:
    """The blocks of one page; what does not fit is told more shortly, and left out in the end."""
    ways = Ways(routes, page)
    room = max(most_lines - _FRONT_MATTER_LINES, 1)
    if page["template"] != "api_module":
        return fitted(_finished(TEMPLATES[page["template"]](ways), page), room)
    for detail in (api.FULL, api.SHORT, api.LISTED):
        blocks = _finished(api.api_module(ways, detail), page)
        if markdown(blocks).count("\n") <= room:
            break
    return _without_dead_ends(fitted(blocks, room))


def _anchors(blocks: Iterable[Block]) -> frozenset[str]:
    return frozenset(anchor(block.text) for block in blocks if isinstance(block, Heading))


def _without_dead_ends(blocks: list[Block]) -> list[Block]:
    """Tables whose links within the page lead to headings that are there."""
    there = _anchors(blocks)

    def mended(text: str) -> str:
        return _WITHIN.sub(lambda found: found[0] if found[2] in there else found[1], text)

    return [
        block._replace(rows=tuple(row._replace(cells=tuple(map(mended, row.cells))) for row in block.rows))
        if isinstance(block, Table)
        else block
        for block in blocks
    ]


def _finished(blocks: list[Block], page: Mapping[str, Any]) -> list[Block]:
    return tidied(unrepeated(blocks, page["title"], by_claim=page["template"] in _BY_NAME))
