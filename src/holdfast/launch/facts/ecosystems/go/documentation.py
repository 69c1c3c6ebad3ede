"""The comments of Go: plain text in which an indented block is code; a paragraph may say `Deprecated:`."""

import re
import textwrap

from holdfast.launch.evidence import syntax_problem
from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.ecosystems.doc_text import escaped, read_text

__all__ = ["read_godoc"]

_HEADING = re.compile(r"#+ \S.*")
_LIST = re.compile(r"\s+(?:[-*+•]|\d+[.)])\s+\S")
_LINK = re.compile(r"\[([A-Za-z_][\w./*]*)\]")
_DEPRECATED = re.compile(r"Deprecated:\s*(.*)", re.DOTALL)
_LINK_TARGET = re.compile(r"\[[^\]]+\]:\s*\S+")
_NAME = re.compile(r"\b(?:\w*[a-z][A-Z]\w*|[A-Za-z_]\w*\.[A-Z]\w*)\b(?:\(\))?")
_NO_NAMES = frozenset(
    {"GitHub", "GitLab", "JavaScript", "TypeScript", "PostgreSQL", "MySQL", "OpenSSL", "macOS", "iOS"}
)


def read_godoc(text: str) -> Docstring:
    """Take a comment apart."""
    parts = [part for part in re.split(r"\n[ \t]*\n", text.expandtabs(4).strip("\n")) if part.strip()]
    deprecated = next((said[1] for part in parts if (said := _DEPRECATED.match(part))), "")
    kept = [part for part in parts if not _DEPRECATED.match(part)]
    found = read_text("\n\n".join(_markdown(part) for part in kept), "go")
    if deprecated:
        found.deprecated = " ".join(deprecated.split())[:500]
    return found


def _markdown(part: str) -> str:
    lines = part.split("\n")
    made: list[str] = []
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].startswith(" ") and not _LIST.match(lines[end]):
            end += 1
        if end > at and not (made and made[-1].startswith("- ")):
            made += ["", *_code(lines[at:end]), ""]
            at = end
            continue
        line = lines[at]
        if _LIST.match(line):
            made += ["- " + _words(re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", line))]
        elif not _HEADING.fullmatch(line) and not _LINK_TARGET.fullmatch(line):
            made.append(("  " if line.startswith(" ") else "") + _words(line.strip()))
        at += 1
    return "\n".join(made)


def _code(lines: list[str]) -> list[str]:
    code = textwrap.dedent("\n".join(lines)).rstrip()
    language = "go" if syntax_problem("go", code) == "" else "text"
    return [f"```{language}", *code.split("\n"), "```"]


def _words(line: str) -> str:
    """Text whose signs mean nothing; links and what can only be a name become code."""
    if "`" in line:
        return line
    text = escaped(_LINK.sub(r"\1", line))
    if "\\" in text:
        return text
    return _NAME.sub(lambda found: found[0] if found[0] in _NO_NAMES else f"`{found[0]}`", text)
