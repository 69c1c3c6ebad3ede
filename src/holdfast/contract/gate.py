"""A live surface held against its lock: everything that nobody agreed to, and what would make it right.

The same answer serves the check in CI, the writing of the next lock, a server that refuses to start and a host
that refuses to put a release into service.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from holdfast.contract.compare.changes import Change, change, worst
from holdfast.contract.compare.contents import content_digest
from holdfast.contract.compare.diff import SurfaceDiff, diff_surfaces
from holdfast.contract.compare.rewritten import rewritten
from holdfast.contract.compare.rules import APPROVALS, weight
from holdfast.contract.compare.versions import (
    VersionProblem,
    first_violations,
    floor_of,
    is_prerelease,
    numbers_of,
    version_violations,
)
from holdfast.contract.compare.view import SurfaceView, read_surface
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.lock import Lock, line_of, line_of_numbers
from holdfast.contract.reserved import reserved_changes
from holdfast.contract.waivers import Waiver

__all__ = ["Problem", "acceptable_changes", "edits", "first_problems", "gate_surface"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that the lock does not allow.

    `blocks` tells what no new lock can make right from what only waits for somebody to agree. `least` is the
    version that would do, where a version is what is wrong, and `field` is where it stands.
    """

    change: Change
    blocks: bool
    was: Any = None
    least: Any = None
    note: str = ""
    field: str = ""

    @property
    def text(self) -> str:
        """The problem in one line."""
        where = self.change.tool or "surface"
        return f"{where}: {self.change.message}{f' ({self.note})' if self.note else ''}"

    def to_json(self) -> dict[str, Any]:
        """The problem as programs read it."""
        return {
            "tool": self.change.tool,
            **self.change.to_json(),
            "address": self.change.address,
            "blocks": self.blocks,
            "was": self.was,
            "least": self.least,
            "note": self.note,
        }


def gate_surface(
    live: SurfaceView | dict[str, Any],
    lock: Lock,
    today: dt.date,
    waivers: Iterable[Waiver] = (),
    *,
    strict: bool = False,
) -> list[Problem]:
    """What the lock does not allow, the worst first; `waivers` count beside those of the lock."""
    new = live if isinstance(live, SurfaceView) else read_surface(live, "the live surface")
    accepted = _Accepted((*lock.waivers, *waivers), today, new)
    diff = diff_surfaces(lock.view, new, strict=strict, today=today)
    open_changes = [item for item in diff.changes if item not in accepted]
    problems = [
        Problem(item, item.violation or item.rule in APPROVALS)
        for item in open_changes
        if item.rule != "version.decreased"
    ]
    versions = [_version_problem(found) for found in _versions(diff, open_changes)]
    problems += versions
    if not any(_leaves_line(problem, new) for problem in versions):
        problems += [problem for _, problem in _history(new, lock, accepted, strict=strict)]
    problems += [Problem(item, blocks=True) for item in reserved_changes(new, lock.reserved, lock.view)]
    problems += [Problem(item, blocks=False) for item in rewritten(diff) if item not in accepted]
    left = [problem for problem in problems if problem.change not in accepted]
    return [accepted.with_note(problem) for problem in sorted(left, key=_weight)]


def acceptable_changes(new: SurfaceView, lock: Lock, today: dt.date, *, strict: bool = False) -> list[Change]:
    """Everything that somebody could accept, what was accepted before included."""
    bare = replace(lock, waivers=())
    nothing = _Accepted((), today, new)
    found = [problem.change for problem in gate_surface(new, bare, today, strict=strict)]
    for item, problem in _history(new, lock, nothing, strict=strict):
        found += [item, problem.change]
    return found


def first_problems(new: SurfaceView) -> list[Problem]:
    """What is wrong with the versions of a surface that has no lock yet."""
    return [_version_problem(found) for found in first_violations(new)]


class _Accepted:
    """The changes that somebody accepted: `change in accepted` holds until the day and for that content only."""

    def __init__(self, waivers: tuple[Waiver, ...], today: dt.date, new: SurfaceView) -> None:
        self.today = today
        self._waivers = waivers
        self._new = new

    def __contains__(self, item: Change) -> bool:
        named = [waiver for waiver in self._waivers if waiver.names(item) and waiver.counts(self.today)]
        return bool(named) and content_digest(item, self._new) in {waiver.digest for waiver in named}

    def with_note(self, problem: Problem) -> Problem:
        """The problem, with what became of the waiver that was once given for it."""
        for waiver in self._waivers:
            if not waiver.names(problem.change) and f"{waiver.rule}@{waiver.path}" != problem.note:
                continue
            over = not waiver.counts(self.today)
            note = f"accepted until {waiver.until}" if over else "something else was accepted there"
            return replace(problem, note=f"it was {note}: {waiver.reason}" if over else f"{note}: {waiver.reason}")
        return problem


def _weight(problem: Problem) -> tuple[bool, int, str, str]:
    return (not problem.blocks, -weight(problem.change.bump), problem.change.tool, problem.change.path)


def _versions(diff: SurfaceDiff, changes: list[Change]) -> Iterator[VersionProblem]:
    """What is wrong with the versions; what was accepted asks for none."""
    bumps = {name: worst([item for item in changes if item.tool == name]) for name in diff.tools}
    return version_violations(diff.old, diff.new, bumps, worst(changes))


def _version_problem(found: VersionProblem) -> Problem:
    return Problem(found.change, blocks=True, was=found.was, least=found.floor)


def _leaves_line(problem: Problem, new: SurfaceView) -> bool:
    """Whether the version that is asked for starts a new line, in which no earlier surface counts."""
    numbers = numbers_of(problem.least)
    return not problem.change.tool and numbers is not None and line_of_numbers(numbers) != line_of(new)


def _history(
    new: SurfaceView, lock: Lock, accepted: _Accepted, *, strict: bool
) -> Iterator[tuple[Change, Problem]]:
    """Clients keep a surface for as long as its major version lasts, so every one of them still counts."""
    told: set[str] = set()
    version_now = new.version or new.server_version
    field = "/schemaVersion" if new.version else "/server/version"
    for document in lock.history:
        old = read_surface(document, "the history of the lock")
        version = old.version or old.server_version
        # What was never out as a release was promised to nobody.
        if line_of(old) != line_of(new) or line_of(new) is None or is_prerelease(version):
            continue
        for item in diff_surfaces(old, new, strict=strict, today=accepted.today).changes:
            if not item.is_breaking or item.address in told or item in accepted:
                continue
            told.add(item.address)
            found = change("version.breaks_earlier", item.path, f"{item.rule} since {version}, {item.message}")
            least = floor_of(version_now.split("-")[0], Bump.MAJOR)
            problem = Problem(found.of(item.tool), True, version_now, least, item.address, field)  # noqa: FBT003
            yield item, problem


def edits(problems: Iterable[Problem], name: str, place: str = "") -> list[str]:
    """The lines of code that would make the versions right; `place` is the file in which the server is written."""
    tools: dict[str, dict[str, Problem]] = {}
    for problem in problems:
        if problem.least is not None:
            tool = "" if problem.field else problem.change.tool  # a field is one of the whole surface
            tools.setdefault(tool, {}).setdefault(problem.field or problem.change.path, problem)
    where = f"{place}: " if place else ""
    return [
        where + (_tool_edit(tool, found) if tool else _surface_edit(name, found)) for tool, found in tools.items()
    ]


def _tool_edit(tool: str, found: dict[str, Problem]) -> str:
    words = {"/version": 'version="{}"', "/schemaVersion": "schema_version={}"}
    values = ", ".join(words[path].format(found[path].least) for path in words if path in found)
    was = ", ".join(str(found[path].was) for path in words if path in found)
    return f"@server.tool({values})  # {tool}: was {was}"


def _surface_edit(name: str, found: dict[str, Problem]) -> str:
    if "/server/version" in found:
        problem = found["/server/version"]
        return f'version "{problem.least}" in the serverInfo of {name}  # was {problem.was}'
    problem = found["/schemaVersion"]
    return f'Server("{name}", surface_version="{problem.least}")  # was {problem.was}'
