"""What a check is, and how many of them run at once.

A check is a function that yields findings. Each runs in a thread of its own and is bounded: one that raises or
hangs is a finding like any other, and never holds up the rest.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from holdfast.errors import HoldfastError, UsageError
from holdfast.settings import Settings

__all__ = ["SECONDS", "Check", "Finding", "run_checks"]

SECONDS = 1.5  # that all of them may take together
Status = Literal["ok", "off", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `off` is something that is not there and need not be."""

    check: str
    status: Status
    message: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        """The finding for a program."""
        return asdict(self)


Check = Callable[[Settings], Iterable[Finding]]


def run_checks(checks: Mapping[str, Check], settings: Settings, *, seconds: float = SECONDS) -> list[Finding]:
    """The findings of all checks, in their order; those of one that is not done in time are one about that."""
    found: dict[str, list[Finding]] = {}

    def look(name: str, check: Check) -> None:
        found[name] = _isolated(name, check, settings)

    # Daemons, because a check that hangs for ever, on a dead network disk, must not keep us from ending.
    threads = [threading.Thread(target=look, args=item, daemon=True) for item in checks.items()]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = f"this could not be found out within {seconds:g} s"
    slow = "look at what it depends on: a disk or a program that does not answer"
    return [finding for name in checks for finding in found.get(name) or [Finding(name, "warn", late, slow)]]


def _isolated(name: str, check: Check, settings: Settings) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check(settings))
    except UsageError as error:
        findings.append(Finding(name, "fail", error.message, error.remedy))
    except (HoldfastError, OSError) as error:
        findings.append(Finding(name, "fail", str(error)))
    except Exception as error:  # noqa: BLE001 - a doctor does not die of what it finds
        findings.append(Finding(name, "fail", f"this check failed: {type(error).__name__}: {error}", "report it"))
    return findings or [Finding(name, "ok", "nothing to say")]
