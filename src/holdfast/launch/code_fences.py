"""The fenced code blocks of a Markdown text: where they are, which language they name, and what is inside.

Indented code and the `highlight` shortcode of Hugo are not looked for: what we write uses fences.
"""

import re
from typing import NamedTuple

from holdfast.launch.documents import sha256

__all__ = ["Fence", "fences"]

_OPEN = re.compile(r"(?P<lead>(?:\s*>)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?)(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_LANGUAGE = re.compile(r"[\w+#.-]+")


class Fence(NamedTuple):
    """A block. `line` and `end_line` are those of its fences, from 1; one without an end ends with the text."""

    line: int
    end_line: int
    indent: int
    language: str
    info: str
    code: str

    @property
    def code_sha256(self) -> str:
        """By what an issue names the block, wherever it has moved to."""
        return sha256(self.code.encode("utf-8", "surrogatepass"))


def fences(text: str) -> list[Fence]:
    """Every block, in order. The code has the indentation of its fence taken off, and ends without a line feed."""
    found: list[Fence] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opened = _opening(lines[number])
        if opened is None:
            number += 1
            continue
        mark, lead, info = opened
        end = number + 1
        while end < len(lines) and not _closes(lines[end], mark):
            end += 1
        code = "\n".join(_unindented(line, lead) for line in lines[number + 1 : end])
        language = _LANGUAGE.match(info)
        last = min(end, len(lines) - 1)
        found.append(Fence(number + 1, last + 1, len(lead), language[0].lower() if language else "", info, code))
        number = end + 1
    return found


def _opening(line: str) -> tuple[str, str, str] | None:
    found = _OPEN.match(line.rstrip("\r"))
    if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
        return None
    return found["mark"], found["lead"], found["info"].strip()


def _closes(line: str, mark: str) -> bool:
    rest = line.strip().lstrip("> ").strip()
    return len(rest) >= len(mark) and set(rest) == {mark[0]}


def _unindented(line: str, lead: str) -> str:
    """A line inside a block as its author wrote it, without what stands in front of the whole block."""
    line = line.rstrip("\r")
    if ">" in lead:
        return re.sub(r"^(?:\s*>)+ ?", "", line)
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, len(lead)) :]
