"""Docstrings of the Google, NumPy and Sphinx styles: summary, parameters, result and errors."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.launch.facts.roles import LOST
from holdfast.launch.facts.rst_blocks import rst_blocks
from holdfast.launch.facts.rst_inline import rst_inline
from holdfast.launch.facts.sentences import split, tidy

__all__ = ["Docstring", "Documented", "read_docstring"]

_LONGEST_DOCUMENTATION = 7_500
_FEWEST_WORDS = 4
_ANNOUNCING = re.compile(
    r"\b(?:below|examples?|follow\w*|here|like|such as|this|these|usage)\b|"
    r"\b(?:are|as|be|by|for|from|gives?|in|is|of|on|or|produces?|returns?|to|with|yields?)$",
    re.IGNORECASE,
)
_GOOGLE = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Attributes|"
    r"Returns?|Yields?|"
    r"Raises|Except|Exceptions|Warns|Examples?|Notes?|Warnings?|See Also|References|Todo|Usage):\s*$"
)
_UNDERLINE = re.compile(r"-{3,}\s*$")
_FIELD = re.compile(r":(\w+)(?: ([^:]*))?:\s*(.*)$")
_GOOGLE_ITEM = re.compile(r"(\*{0,2}[\w.]+)(?:\s*\(([^)]*)\))?\s*:\s*(.*)$")
_NUMPY_ITEM = re.compile(r"(\*{0,2}[\w.]+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")
_SIGNATURE_LINE = re.compile(r"[\w.]+\([^)]*\)\s*(?:->\s*\S.*)?$")
_POWER = re.compile(r"<sup>\s*([\w+-]+)\s*</sup>", re.IGNORECASE)
# Code between fences is no text: its backticks are not those of a sentence.
_FENCED = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_DEPRECATED = re.compile(r"^\.\. deprecated::\s*(.*)$", re.MULTILINE)
_MEANINGS = {
    "arg": "parameters", "param": "parameters", "keyword": "parameters", "other": "parameters",
    "attribute": "attributes",
    "return": "returns", "yield": "returns", "raise": "raises", "except": "raises", "warn": "raises",
    "example": "examples", "usage": "examples", "see": "left_out", "reference": "left_out", "todo": "left_out",
    "note": "text", "warning": "text", "type": "left_out", "rtype": "left_out", "var": "attributes",
    "ivar": "attributes",
    "argument": "parameters", "parameter": "parameters", "exception": "raises", "raises": "raises",
    "returns": "returns",
}  # fmt: skip


class Documented(NamedTuple):
    """A parameter, a result or an error, and what is said about it."""

    name: str
    text: str


@dataclass(slots=True)
class Docstring:
    """A docstring, taken apart. `summary_lines` counts the lines of the docstring down to the summary's end."""

    summary: str = ""
    summary_lines: int = 1
    documentation: str = ""
    parameters: list[Documented] = field(default_factory=list)
    returns: str = ""
    raises: list[Documented] = field(default_factory=list)
    deprecated: str = ""


def read_docstring(text: str) -> Docstring:
    """Take a docstring apart. It is plain text for whatever is in none of the three styles."""
    found = Docstring()
    lines = text[:40_000].expandtabs(4).split("\n")
    deprecated = _DEPRECATED.search(text[:40_000])
    if deprecated:
        found.deprecated = tidy(rst_inline(deprecated[1]))[:500] or "deprecated"
    body = _parted(lines, found)
    start = 1 if lines and _SIGNATURE_LINE.fullmatch(lines[0].strip()) else 0
    body[:start] = [""] * start
    _summary(body, found)
    found.documentation = _cleaned(text)
    return found


def _parted(lines: list[str], found: Docstring) -> list[str]:
    """The lines that belong to no section, sections replaced by empty lines; what sections say goes to `found`."""
    body: list[str] = []
    at = 0
    while at < len(lines):
        meaning, start = _section(lines, at)
        if not meaning:
            body.append(lines[at])
            at += 1
            continue
        end = _section_end(lines, at, start)
        content = lines[start:end]
        if meaning in ("text", "examples"):
            body.extend([""] * (start - at) + _dedented(content))
        else:
            _take(meaning, lines[at], content, found)
            body.extend([""] * (end - at))
        at = end
    return body


def _section(lines: list[str], at: int) -> tuple[str, int]:
    """What kind of section begins on this line, and the first line of its content."""
    line = lines[at]
    google = _GOOGLE.fullmatch(line.strip()) if line[:1] != " " else None
    if google:
        return _meaning(google[1]), at + 1
    if at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].strip()) and line[:1].isalpha():
        return _meaning(line.strip()) or "text", at + 2
    field_ = _FIELD.match(line)
    if field_ and _meaning(field_[1]):
        return "field", at
    return "", at


def _meaning(name: str) -> str:
    first = name.lower().split()[0].removesuffix("s") if name.split() else ""
    return _MEANINGS.get(first, _MEANINGS.get(name.lower(), ""))


def _section_end(lines: list[str], at: int, start: int) -> int:
    end = start if start > at else at + 1
    numpy = start == at + 2
    while end < len(lines):
        line = lines[end]
        if start == at:  # one field
            if line.strip() and line[:1] != " ":
                break
        elif line.strip() and ((line[:1] != " " and not numpy) or _section(lines, end)[0] not in ("", "field")):
            break
        end += 1
    return end


def _dedented(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def _take(meaning: str, heading: str, content: list[str], found: Docstring) -> None:
    if meaning == "field":
        field_ = _FIELD.match(content[0])
        assert field_, "a field section begins with its field"
        text = _plain([field_[3], *content[1:]])
        name = (field_[2] or "").split()[-1] if (field_[2] or "").split() else ""
        _keep(_meaning(field_[1]), name, text, found)
    elif meaning == "returns":
        found.returns = _result(content, numpy=not heading.rstrip().endswith(":"))
    else:
        for name, text in _named_items(_dedented(content), numpy=not heading.rstrip().endswith(":")):
            _keep(meaning, name, text, found)


def _keep(meaning: str, name: str, text: str, found: Docstring) -> None:
    if meaning == "parameters" and name:
        found.parameters.append(Documented(name.lstrip("*\\"), text))
    elif meaning == "raises" and name:
        found.raises.append(Documented(name, text))
    elif meaning == "returns" and text:
        found.returns = text


def _result(content: list[str], *, numpy: bool) -> str:
    lines = _dedented(content)
    if numpy:
        indented = [line for line in lines if line[:1] == " "]
        return _plain(indented or lines)
    text = _plain(lines)
    typed = re.match(r"[\w.\[\], |]+:\s+(?=\S)", text)
    return text[typed.end() :] if typed else text


def _named_items(lines: list[str], *, numpy: bool) -> list[tuple[str, str]]:
    pattern = _NUMPY_ITEM if numpy else _GOOGLE_ITEM
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        item = pattern.match(line) if line[:1] != " " else None
        if item:
            items.append((item[1], [] if numpy else [item[3]]))
        elif items:
            items[-1][1].append(line)
    return [(name.strip(), _plain(text)) for names, text in items for name in names.split(",")]


def _plain(lines: list[str]) -> str:
    """The first paragraph on one line, without markup."""
    text = "\n".join(line.strip() for line in lines).strip().split("\n\n", 1)[0]
    return tidy(rst_inline(_POWER.sub(r"^\1", re.sub(r"::$", ":", text))))[:1_000]


def _summary(body: list[str], found: Docstring) -> None:
    blocks = [block for block in rst_blocks("\n".join(body)) if block.text.strip()]
    if not blocks:
        return
    first = blocks[0]
    if first.kind == "paragraph":
        sentences = split(first.text)
        text = sentences[0].text if sentences else ""
        if text.endswith(":"):
            is_shown = len(sentences) == 1 and len(blocks) > 1 and blocks[1].kind == "code"
            text = text[:-1] + "." if is_shown and _stands_alone(text[:-1]) else ""
        found.summary = (text if not text or text.endswith((".", "!", "?")) else text.rstrip(" ,;") + ".")[:1_000]
        found.summary_lines = first.lines_of(0, sentences[0].last if sentences else 0)[1]


def _stands_alone(text: str) -> bool:
    """`Break a list into parts of one length:` says what a name does; `Use it like this:` only leads to code."""
    return len(text.split()) >= _FEWEST_WORDS and not _ANNOUNCING.search(text)


def _cleaned(text: str) -> str:
    """The docstring without inline markup; a paragraph whose words are lost goes as a whole."""
    shown: list[str] = []

    def keep(found: re.Match[str]) -> str:
        shown.append(found[0])
        return f"\1{len(shown) - 1}\1"

    kept = _FENCED.sub(keep, _POWER.sub(r"^\1", text[:_LONGEST_DOCUMENTATION].replace("\1", "")))
    text = re.sub("\1(\\d+)\1", lambda found: shown[int(found[1])], rst_inline(kept))
    paragraphs = text.split("\n\n")
    return "\n\n".join(paragraph for paragraph in paragraphs if LOST not in paragraph).strip()
