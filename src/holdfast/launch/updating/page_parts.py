"""A page in the parts that are merged: keys of its front matter, and sections of units. Nothing of it is lost.

A unit is what a person changes as one thing: a heading, a line of a paragraph, an item of a list, a row of a
table, a whole block of code. Blank lines belong to the unit below them. Whatever is read here can be written
again, byte for byte.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.code_fences import fences
from holdfast.launch.front_matter import split

__all__ = ["TOP", "WHOLE", "Entry", "Parts", "Section", "Unit", "digest", "parts_of"]

TOP = ""
"""The key of what stands above the first heading."""
WHOLE = "*"
"""The key of a front matter that is one piece."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_KEY = {
    "yaml": re.compile(r"""("[^"\n]+"|'[^'\n]+'|[^\s#:'"\-\[{&*!|>%@`][^:#\n]*?)\s*:(?:\s|$)"""),
    "toml": re.compile(r"""("[^"\n]+"|'[^'\n]+'|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+)\s*="""),
}
_DIGEST = 6


class Unit(NamedTuple):
    """One thing of the body: the blank lines above it, its lines, and the end of its last line."""

    gap: str
    text: str
    end: str
    kind: str  # heading, item, row, code or text

    @property
    def digest(self) -> str:
        """By what it is recognised; how lines end does not count."""
        return digest(self.text)


class Section(NamedTuple):
    """A heading and what stands below it, up to the next heading; `key` tells it from the others of its page."""

    key: str
    level: int
    units: tuple[Unit, ...]

    @property
    def title(self) -> str:
        """The heading as a reader sees it; "" for what stands above the first one."""
        return _title(self.units[0].text) if self.level else ""

    @property
    def digests(self) -> tuple[str, ...]:
        """Of its units, the heading first."""
        return tuple(unit.digest for unit in self.units)


class Entry(NamedTuple):
    """Lines of a front matter: a key with its value, or what stands between two keys (`key` is "" then)."""

    key: str
    text: str


class Parts(NamedTuple):
    """A page. `format` is that of the front matter; one in JSON is a single entry, with the key `WHOLE`."""

    format: str
    opening: str  # up to the first line that the front matter holds
    entries: tuple[Entry, ...]
    closing: str
    sections: tuple[Section, ...]
    tail: str  # the blank lines at the end

    @property
    def newline(self) -> str:
        """How lines end on this page."""
        text = self.opening + "".join(entry.text for entry in self.entries)
        text += "".join(unit.end for section in self.sections for unit in section.units)
        return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def digest(text: str) -> str:
    """Six characters, 36 bits, for a text, however its lines end."""
    plain = text.replace("\r\n", "\n").rstrip("\r\n")
    return base64.urlsafe_b64encode(hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest())[
        :_DIGEST
    ].decode()


def parts_of(text: str) -> Parts:
    """The page in its parts; FrontMatterError where its front matter cannot be read."""
    front = split(text)
    head = text[: len(text) - len(front.body)]
    sections, tail = _sections(front.body)
    if front.format not in _KEY:
        return Parts(front.format, "", (Entry(WHOLE, head),) if head else (), "", sections, tail)
    lines = _LINE.findall(head)
    fence = "---" if front.format == "yaml" else "+++"
    begin = next(number for number, line in enumerate(lines) if line.strip("\ufeff \t\r\n") == fence) + 1
    entries = _entries(lines[begin:-1], front.format)
    return Parts(front.format, "".join(lines[:begin]), entries, lines[-1], sections, tail)


def _entries(lines: Sequence[str], form: str) -> tuple[Entry, ...]:
    """A key has the lines of its value, which are indented or items; anything else stands by itself."""
    found: list[Entry] = []
    is_over = False
    for line in lines:
        key = None if is_over else _KEY[form].match(line)
        is_over = is_over or (form == "toml" and line.startswith("["))
        goes_on = form == "yaml" and re.match(r"[ \t]+\S|- |-\r?\n?$", line)
        if key:
            found.append(Entry(key[1].strip("\"'"), line))
        elif goes_on and found and found[-1].key:
            found[-1] = Entry(found[-1].key, found[-1].text + line)
        else:
            found.append(Entry("", line))
    return tuple(found)


def _sections(body: str) -> tuple[tuple[Section, ...], str]:
    units, tail = _units(body)
    groups: list[tuple[int, list[Unit]]] = [(0, [])]
    for unit in units:
        if unit.kind == "heading":
            groups.append((len(unit.text.lstrip()) - len(unit.text.lstrip().lstrip("#")), []))
        groups[-1][1].append(unit)
    keys = _keys([(level, _title(group[0].text) if level else "") for level, group in groups])
    made = zip(keys, groups, strict=True)
    return tuple(Section(key, level, tuple(group)) for key, (level, group) in made), tail


def _keys(headings: Iterable[tuple[int, str]]) -> list[str]:
    """A section is known by its heading and those above it; the second of the same name by its number."""
    seen: dict[str, int] = {}
    above: list[tuple[int, str]] = []
    keys = []
    for level, title in headings:
        if not level:
            keys.append(TOP)
            continue
        above = [*(one for one in above if one[0] < level), (level, title.casefold())]
        path = "\n".join(name for _, name in above)
        seen[path] = seen.get(path, 0) + 1
        keys.append(digest(f"{path}\n{seen[path]}"))
    return keys


def _title(line: str) -> str:
    found = _HEADING.match(without_marks(line).rstrip())
    return found[2].strip().rstrip("#").strip() if found else ""


def _units(body: str) -> tuple[list[Unit], str]:
    lines = _LINE.findall(body)
    blocks = {block.line - 1: block.end_line for block in fences(body)}
    units: list[Unit] = []
    gap, number = "", 0
    while number < len(lines):
        stop = min(blocks.get(number, number + 1), len(lines))
        if number not in blocks and not lines[number].strip():
            gap += lines[number]
        else:
            text = "".join(lines[number:stop])
            plain = text.rstrip("\r\n") if stop == number + 1 else _without_end(text)
            kind = "code" if number in blocks else _kind(plain)
            units.append(Unit(gap, plain, text[len(plain) :], kind))
            gap = ""
        number = stop
    return units, gap


def _without_end(text: str) -> str:
    """A block without the end of its last line; a blank line in an open block is part of it."""
    return text.removesuffix("\n").removesuffix("\r")


def _kind(line: str) -> str:
    if _HEADING.match(line):
        return "heading"
    if line.lstrip().startswith("|"):
        return "row"
    return "item" if _ITEM.match(line) else "text"
