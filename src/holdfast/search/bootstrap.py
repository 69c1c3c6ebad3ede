"""`bootstrap`: everything that a repository needs to be searched, step by step, in one call.

The order is fixed; what each step does is given by the caller. A step that fails ends the call with its error,
which then says what became of every step; only dictionaries may be missing, since searches need none. Nothing is
installed into the repository, and no index in it is believed, unless that is asked for.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.repository import Repository

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["BootstrapSteps", "bootstrap"]

_NOT_WANTED = "left out, as asked"
_MOST_TOLD = 3  # findings in the line about a step


@dataclass(frozen=True, slots=True)
class BootstrapSteps:
    """What the steps do. Texts are one line about what was done; `restore` says whether there was anything.

    `index` is told whether to build everything anew.
    """

    dictionaries: Callable[[], str]
    tooling: Callable[[], Sequence[Mapping[str, Any]]]
    restore: Callable[[], bool]
    index: Callable[[bool], str]
    sqlite: Callable[[], str]


@dataclass(slots=True)
class _Step:
    name: str
    act: Callable[[], str]
    is_wanted: bool
    may_fail: bool = False
    status: str = "skipped"
    detail: str = _NOT_WANTED
    duration_ms: int = 0

    def told(self) -> dict[str, Any]:
        return {"name": self.name, "status": self.status, "detail": self.detail, "durationMs": self.duration_ms}


class _NothingToDoError(Exception):
    """A step found nothing to do; the text says what it looked for."""


def bootstrap(
    repository: Repository,
    cache_dir: Path,
    *,
    steps: BootstrapSteps,
    progress: "Progress",
    stop: "Stop",
    skip_install: bool = True,
    skip_dicts: bool = False,
    skip_index: bool = False,
    skip_artifacts: bool = True,
    skip_tooling: bool = False,
    with_sqlite: bool = False,
    incremental: bool = False,
) -> dict[str, Any]:
    """Install, dictionaries, tooling, artifacts, index, sqlite: whichever are wanted, in this order.

    With `incremental`, or where an index was restored from artifacts, the index is brought up to date; else it is
    built anew. A failure is the ToolError of the step that failed, with all steps in its `details`; dictionaries
    that cannot be had are told in their step, and the rest is done.
    """
    restored = False

    def restore() -> str:
        nonlocal restored
        restored = steps.restore()
        if not restored:
            raise _NothingToDoError("there are no artifacts to restore")
        return "an index was restored from artifacts"

    planned = [
        _Step("install", lambda: _install(repository, progress, stop), not skip_install),
        _Step("dictionaries", steps.dictionaries, not skip_dicts, may_fail=True),
        _Step("tooling", lambda: _findings_told(steps.tooling()), not skip_tooling),
        _Step("artifacts", restore, not skip_artifacts),
        _Step("index", lambda: steps.index(not (incremental or restored)), not skip_index),
        _Step("sqlite", steps.sqlite, with_sqlite),
    ]
    _run(planned, progress, stop)
    return {
        "repoPath": repository.shown,
        "cacheRoot": str(cache_dir),
        "steps": [step.told() for step in planned],
        "output": "\n".join(_lines(planned)),
    }


def _run(planned: list[_Step], progress: "Progress", stop: "Stop") -> None:
    wanted = [step for step in planned if step.is_wanted]
    for done, step in enumerate(wanted):
        if stop():
            raise _cancelled(planned, done)
        progress(step.name, done, len(wanted), "")
        started = time.monotonic()
        try:
            step.status, step.detail = "done", step.act()
        except _NothingToDoError as nothing:
            step.status, step.detail = "skipped", str(nothing)
        except ToolError as error:
            step.status, step.detail = "failed", error.message
            if not step.may_fail or error.code == "CANCELLED":
                step.duration_ms = _milliseconds_since(started)
                _skip(wanted[done + 1 :], f"{step.name} failed before it")
                raise _of_step(error, planned) from error
        step.duration_ms = _milliseconds_since(started)
    progress("done", len(wanted), len(wanted), "")


def _skip(steps: list[_Step], why: str) -> None:
    for step in steps:
        step.detail = why


def _cancelled(planned: list[_Step], done: int) -> ToolError:
    _skip([step for step in planned if step.is_wanted][done:], "the call was stopped before it")
    details = {"steps": [step.told() for step in planned]}
    return ToolError("CANCELLED", "bootstrap was stopped between two steps; what was done stays", details=details)


def _of_step(error: ToolError, planned: list[_Step]) -> ToolError:
    """The same error, with the steps; a copy, since the first one may be of a class with a meaning of its own."""
    details = {**error.details, "steps": [step.told() for step in planned]}
    return ToolError(error.code, error.message, details=details, hint=error.hint, retryable=error.retryable)


def _install(repository: Repository, progress: "Progress", stop: "Stop") -> str:
    from holdfast.search.installing import install

    said = install(repository, progress=progress, stop=stop)
    if said is None:
        raise _NothingToDoError("there is no lock file of a package manager")
    return said


def _findings_told(findings: Sequence[Mapping[str, Any]]) -> str:
    told = [str(finding.get("message", "")) for finding in findings]
    if not told:
        return "nothing is missing"
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return "; ".join(told[:_MOST_TOLD]) + more


def _lines(planned: list[_Step]) -> Iterator[str]:
    for step in planned:
        yield f"{step.name}: {step.status}, {step.detail}"


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
