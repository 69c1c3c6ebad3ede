"""One finding of the document tools: which rule, where, what is wrong and what to write instead.

A finding is data. How it is printed is decided in `reports.py`, which rules exist in `rules.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Severity", "in_order"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule has to say about one place; `line` 0 means the place has no line, such as a live server."""

    rule: str
    severity: Severity
    message: str
    line: int
    column: int = 1
    tool: str | None = None
    file: str = ""
    remedy: str = ""


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings as a reader meets them: by file, line, column; each said once."""
    return sorted(set(findings), key=_place)


def _place(finding: Finding) -> tuple[str, int, int, str, str, str]:
    return (finding.file, finding.line, finding.column, finding.tool or "", finding.rule, finding.message)
