"""The list on a section's own page, where a site keeps one by hand: the line that names a new page in it.

Most sites list their pages by themselves; then there is nothing to do. Only a page that already lists its
children, as links, is missing one when a child comes.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.patching.operations import as_text
from holdfast.launch.patching.page_lines import prose

__all__ = ["index_of", "with_link"]

_ITEM = re.compile(r"\s{0,3}[-*+] \[[^\]]*\]\(([^()\s]+)\)\s*")


def index_of(page: Mapping[str, Any]) -> str:
    """The path of the page of the section that holds a page."""
    folder, _, name = page["output_path"].rpartition("/")
    stem = name.split(".")[0]
    if stem in ("_index", "index"):
        folder = folder.rpartition("/")[0]
    # A page in another language is listed by the section's page in that language.
    language = name.split(".")[1:-1]
    return "/".join(filter(None, (folder, ".".join(["_index", *language, "md"]))))


def with_link(content: bytes, page: Mapping[str, Any]) -> bytes:
    """The page of a section with a link to one more page, after the last one of its kind; else unchanged."""
    text = as_text(content)
    url = page["url_path"]
    parent = url.rstrip("/").rpartition("/")[0] + "/"
    place, item = 0, ""
    for number, line in prose(text):
        found = _ITEM.fullmatch(line)
        target = found[1].partition("#")[0] if found else ""
        if target.rstrip("/") == url.rstrip("/"):
            return content
        if found and target.startswith(parent) and target.rstrip("/").count("/") == url.rstrip("/").count("/"):
            place, item = number, line
    if not place:
        return content
    lines = text.split("\n")
    lead = item[: item.index("[")]
    ending = "\r" if lines[place - 1].endswith("\r") else ""
    label = page["title"].replace("[", "\\[").replace("]", "\\]")
    lines.insert(place, f"{lead}[{label}]({url}){ending}")
    return "\n".join(lines).encode()
