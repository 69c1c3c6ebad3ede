"""What a docstring says about a function: its description, and a sentence for each parameter.

Google, NumPy and reStructuredText field style are read. Sections on what is returned or raised are left out of
the description, because the contract states both by itself. Nothing here can fail: text that follows no style
is description.
"""

import inspect
import re
from dataclasses import dataclass, field

__all__ = ["Docstring", "parse_docstring"]

_PARAMETER_SECTIONS = frozenset(
    {"args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments"}
)
_LEFT_OUT = frozenset({"returns", "return", "yields", "yield", "raises", "raise", "receives", "warns"})
_SECTIONS = _PARAMETER_SECTIONS | _LEFT_OUT

_GOOGLE_HEADER = re.compile(r"^([A-Za-z ]+):\s*$")
_GOOGLE_ENTRY = re.compile(r"^\*{0,2}(\w+)(?:\s*\(.*?\))?\s*:\s*(.*)$")
_NUMPY_RULE = re.compile(r"^-{3,}\s*$")
_NUMPY_ENTRY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_REST_FIELD = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|yields?|ytype)"
    r"\b([^:]*):\s*(.*)$"
)
_REST_PARAMETER = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring taken apart."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def parse_docstring(text: str | None) -> Docstring:
    """The description and the parameter descriptions found in `text`."""
    lines = inspect.cleandoc(text or "").splitlines()
    described: dict[str, str] = {}
    prose: list[str] = []
    at = 0
    while at < len(lines):
        taken = _section(lines, at, described)
        if taken == 0:
            prose.append(lines[at])
            taken = 1
        at += taken
    return Docstring(re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip(), described)


def _section(lines: list[str], at: int, described: dict[str, str]) -> int:
    """The number of lines of the section or field that starts at `at`; 0 when there is none."""
    name = _numpy_header(lines, at)
    if name in _SECTIONS:
        end = next((i for i in range(at + 2, len(lines)) if _numpy_header(lines, i)), len(lines))
        if name in _PARAMETER_SECTIONS:
            _numpy_entries(lines[at + 2 : end], described)
        return end - at
    header = _GOOGLE_HEADER.match(lines[at])
    if header and header[1].strip().lower() in _SECTIONS:
        body = _indented(lines, at + 1)
        if header[1].strip().lower() in _PARAMETER_SECTIONS:
            _google_entries(body, described)
        return 1 + len(body)
    rest = _REST_FIELD.match(lines[at])
    return _rest_field(lines, at, rest, described) if rest else 0


def _numpy_header(lines: list[str], at: int) -> str:
    underlined = at + 1 < len(lines) and bool(_NUMPY_RULE.match(lines[at + 1]))
    return lines[at].strip().lower() if underlined else ""


def _indented(lines: list[str], start: int) -> list[str]:
    """The lines from `start` on that are blank or indented."""
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end][:1].isspace()):
        end += 1
    return lines[start:end]


def _google_entries(body: list[str], described: dict[str, str]) -> None:
    names: list[str] = []
    for line in inspect.cleandoc("\n" + "\n".join(body)).splitlines():
        entry = None if line[:1].isspace() else _GOOGLE_ENTRY.match(line)
        if entry:
            names = [entry[1]]
            described[entry[1]] = ""
        _continue(described, names, entry[2] if entry else line)


def _numpy_entries(body: list[str], described: dict[str, str]) -> None:
    names: list[str] = []
    for line in body:
        entry = None if line[:1].isspace() else _NUMPY_ENTRY.match(line)
        if entry:
            names = [name.strip(" *") for name in entry[1].split(",")]
            described.update(dict.fromkeys(names, ""))
        else:
            _continue(described, names, line)


def _rest_field(lines: list[str], at: int, match: re.Match[str], described: dict[str, str]) -> int:
    more = _indented(lines, at + 1)
    words = match[2].split()
    if match[1] in _REST_PARAMETER and words:
        name = words[-1].lstrip("*\\")
        described[name] = ""
        for line in [match[3], *more]:
            _continue(described, [name], line)
    return 1 + len(more)


def _continue(described: dict[str, str], names: list[str], line: str) -> None:
    for name in names:
        described[name] = f"{described[name]} {line.strip()}".strip()
