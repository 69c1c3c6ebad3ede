"""What a gate is: a name, what it needs, how bad its findings are in each profile, how long it takes, and a check.

A check only looks and tells; it never changes the site. How grave a finding is, is not its business either: that
is declared beside it, per profile, so that one table shows the whole policy.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.launch.issues import issue

if TYPE_CHECKING:
    from holdfast.launch.gates.view import View

__all__ = ["PROFILES", "Checked", "Finding", "Gate", "everywhere", "seconds"]

PROFILES = ("local", "ci", "prod")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `anchor` is what it is about, on whatever line; `code` decides its severity."""

    code: str
    message: str
    path: str = ""
    line: int = 0
    anchor: str = ""
    files: tuple[str, ...] = ()
    suggested_fix: str = ""
    fix_rule: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """As JSON, to leave the process in which it was found."""
        return asdict(self)

    @classmethod
    def from_told(cls, told: Mapping[str, Any]) -> "Finding":
        """The finding that was told."""
        return cls(**{**told, "files": tuple(told["files"])})


@dataclass(slots=True)
class Checked:
    """What a check found; `notes` go to its log, `documents` are artifacts; `skipped` says why it did not look."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    documents: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate. `uses` are the artifacts without which it cannot look, `needs` the tools."""

    id: str
    name: str
    check: Callable[["View"], Checked]
    severities: Mapping[str, Mapping[str, str]]
    timeout: Mapping[str, float]
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    def issue(self, finding: Finding, profile: str) -> dict[str, Any]:
        """The finding as an issue, as bad as this profile has it."""
        return issue(
            self.name,
            finding.code,
            self.severities[profile][finding.code],
            finding.message,
            path=finding.path,
            line=finding.line,
            anchor=finding.anchor,
            files=finding.files,
            suggested_fix=finding.suggested_fix[:1000],
            fix_rule=finding.fix_rule,
            data=finding.data,
        )


def everywhere(**codes: str) -> dict[str, dict[str, str]]:
    """Severities per profile: `CODE="error"` for all, `CODE="warn error blocker"` for local, ci and prod."""
    table: dict[str, dict[str, str]] = {profile: {} for profile in PROFILES}
    for code, told in codes.items():
        words = told.split() if " " in told else [told] * len(PROFILES)
        for profile, severity in zip(PROFILES, words, strict=True):
            table[profile][code] = severity
    return table


def seconds(local: float, otherwise: float) -> dict[str, float]:
    """How long a gate may take on somebody's machine, and elsewhere."""
    return {"local": local, "ci": otherwise, "prod": otherwise}
