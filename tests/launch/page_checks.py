"""Checks of pages that share no code with the gates: which lines state something, where they lead, dead links."""

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["Line", "broken_links", "stating_lines", "unfounded"]

_STATING = re.compile(
    r"\d|`[^`]+`|\b(?:Windows|Linux|macOS|POSIX|Unix|JSON|TOML|CSV|YAML|XML|HTML|SQLite)\b|"
    r"\b(?:supports|reads|writes|provides|requires|returns|raises|installs|runs|converts|parses|accepts|depends)\b"
)
_MARK = re.compile(r"<!--\s*claim:([^>]*?)-->")
_LINK = re.compile(r"!?\[[^\]]*\]\([^)]*\)")
_WORD = re.compile(r"\d+(?:\.\d+)+|[a-z0-9]{2,}")


class Line(NamedTuple):
    """A line that states something, and the claims that it names."""

    page: str
    number: int
    text: str
    claims: tuple[str, ...]


def stating_lines(page: Path) -> Iterator[Line]:
    """The lines of a page outside of front matter, code and comments that hold something to prove."""
    fence = ""
    lines = page.read_text(encoding="utf-8").split("\n")
    body = lines.index("---", 1) + 1 if lines[0] == "---" else 0
    for number, line in enumerate(lines[body:], body + 1):
        ticks = re.match(r"\s*(`{3,}|~{3,})", line)
        if ticks and (not fence or line.strip() == fence):
            fence = "" if fence else ticks[1]
        elif not fence:
            ids = tuple(one.strip() for found in _MARK.findall(line) for one in found.split(","))
            text = re.sub(r"<!--.*?-->", "", line)
            # A link is a name and a way; it states something only by what stands beside it, or by code in a table.
            if _STATING.search(text if text.startswith("|") else _LINK.sub("", text)):
                yield Line(f"{page.parent.name}/{page.name}", number, text.strip(), ids)


def unfounded(lines: Iterator[Line], evidence: Mapping[str, Any], product: Path) -> list[tuple[Line, str]]:
    """The lines that name no claim, or one that does not lead to lines of the product which speak of it."""
    known = {claim["claim_id"]: claim for claim in evidence["claims"]}
    found = []
    for line in lines:
        if not line.claims:
            found.append((line, "names no claim"))
        reasons = [_wrong(line, known.get(one), product) for one in line.claims]
        found += [(line, reason) for reason in reasons if reason]
    return found


def _wrong(line: Line, claim: Mapping[str, Any] | None, product: Path) -> str:
    if claim is None:
        return "names a claim that is nowhere"
    quoted = ""
    for at in claim["citations"]:
        path = product / at["path"]
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.is_file() else []
        if not 1 <= at["start_line"] <= at["end_line"] <= len(lines):
            return f"cites lines {at['start_line']} to {at['end_line']} of {at['path']}, which are not there"
        quoted += f"{at['path']} " + "\n".join(lines[at["start_line"] - 1 : at["end_line"]]) + "\n"
    if not _stems(claim["claim_text"]) & _stems(quoted):
        return f"cites lines that do not speak of it: {json.dumps(claim['claim_text'])} in {quoted!r}"
    if not _stems(line.text) & (_stems(quoted) | _stems(claim["claim_text"])):
        return f"says something else than its claim: {claim['claim_text']}"
    return ""


def _stems(text: str) -> set[str]:
    return {word[:4] for word in _WORD.findall(text.lower())}


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")


def broken_links(public: Path, slug: str, base: str) -> list[tuple[str, str]]:
    """The links on the built pages of a product that lead to no page or to no heading, with their page."""
    read: dict[Path, _Anchors] = {}

    def parsed(page: Path) -> _Anchors:
        if page not in read:
            read[page] = _Anchors()
            read[page].feed(page.read_text(encoding="utf-8"))
        return read[page]

    found = []
    for page in sorted(public.glob(f"*/{slug}/**/index.html")):
        here = f"{base}/{page.parent.relative_to(public).as_posix()}/"
        for link in parsed(page).links:
            way = urlsplit(urljoin(here, link))
            if f"{way.scheme}://{way.netloc}" != base:
                continue
            there = public / unquote(way.path).lstrip("/")
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file() or (way.fragment and unquote(way.fragment) not in parsed(there).ids):
                found.append((here, link))
    return found
