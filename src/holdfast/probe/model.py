"""What a check is, what it finds, and how findings add up to a score. Data and arithmetic only."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.errors import UsageError

__all__ = [
    "ANY_TRANSPORT",
    "Check",
    "FailedError",
    "Finding",
    "Line",
    "Options",
    "Report",
    "Score",
    "SkippedError",
    "Status",
    "ToolUse",
    "UnreachableError",
    "check",
    "score",
]

Status = Literal["pass", "fail", "skip"]
Carry = Callable[[Any], Awaitable[None]]  # is given a bench, which is made of what stands here
ANY_TRANSPORT = ("stdio", "http")
SETTLE = 0.5  # seconds in which an answer that is due must have come once a later request was answered


class FailedError(Exception):
    """A check found the server wanting; the message says what it did, or did not do."""


class SkippedError(Exception):
    """A check cannot be made here; why, and what would make it possible."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


class UnreachableError(UsageError):
    """There is no MCP server at the target; nothing can be judged."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that may be called, and with what."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """What the person at the keyboard allows and expects.

    `tool` may be called freely; `slow` is a call that takes a second or more; `hang` one that never ends by
    itself. `supervised` says that the server is expected to outlive its own workers.
    """

    timeout: float = 5.0
    start_timeout: float = 30.0
    deadline: float = 15.0
    tool: ToolUse | None = None
    slow: ToolUse | None = None
    hang: ToolUse | None = None
    supervised: bool = False

    @property
    def settle(self) -> float:
        """How long to go on listening after a later request was answered."""
        return min(SETTLE, self.timeout / 4)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that crossed the wire: sent (`>`), received (`<`), or what happened around it (`*`)."""

    mark: Literal[">", "<", "*"]
    text: str
    at: float  # seconds since the check began


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `run` raises FailedError or SkippedError; if it returns, the server passed."""

    id: str
    title: str
    why: str
    how: str
    weight: int
    run: Carry = field(repr=False)
    transports: tuple[str, ...] = ANY_TRANSPORT

    @property
    def group(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one check."""

    check: Check
    status: Status
    message: str = ""
    remedy: str = ""
    exchange: tuple[Line, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """Weights passed, of the weights that were judged; skipped checks count on neither side."""

    passed: int
    judged: int
    skipped: int  # checks, not weights

    @property
    def percent(self) -> float | None:
        """From 0 to 100, to one place; None where nothing was judged."""
        # Rounded down, so that 100 means that nothing failed.
        return None if not self.judged else self.passed * 1000 // self.judged / 10


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run: what was probed, what it said of itself, and every finding in the order of the table."""

    target: str
    transport: str
    server: Mapping[str, Any]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(finding.status != "fail" for finding in self.findings)

    def groups(self) -> dict[str, Score]:
        """The score of each group, in the order of the table."""
        names = dict.fromkeys(finding.check.group for finding in self.findings)
        return {name: score([item for item in self.findings if item.check.group == name]) for name in names}


def score(findings: Sequence[Finding]) -> Score:
    """The score of these findings."""
    passed = sum(item.check.weight for item in findings if item.status == "pass")
    judged = sum(item.check.weight for item in findings if item.status != "skip")
    return Score(passed, judged, sum(item.status == "skip" for item in findings))


def check(
    check_id: str,
    title: str,
    *,
    why: str,
    how: str,
    weight: int,
    transports: tuple[str, ...] = ANY_TRANSPORT,
) -> Callable[[Carry], Check]:
    """Makes a check of the function that carries it out."""

    def declare(run: Carry) -> Check:
        return Check(check_id, title, why, how, weight, run, transports)

    return declare
