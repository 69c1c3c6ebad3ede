"""A live surface held against its lock: everything that nobody agreed to, and what would make it right.

The same answer serves the check in CI, the writing of the next lock, a server that refuses to start and a host
that refuses to put a release into service.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.changes import Change, change, worst
from holdfast.contract.compare.diff import SurfaceDiff, diff_surfaces
from holdfast.contract.compare.rules import weight
from holdfast.contract.compare.versions import VersionProblem, floor_of, version_violations
from holdfast.contract.compare.view import SurfaceView, read_surface
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.lock import Lock, line_of
from holdfast.contract.waivers import Waiver, is_waived

__all__ = ["Problem", "edits", "gate_surface"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that the lock does not allow.

    `blocks` tells what no new lock can make right from what only waits for somebody to agree. `least` is the
    version that would do, where a version is what is wrong.
    """

    change: Change
    blocks: bool
    was: Any = None
    least: Any = None
    note: str = ""

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
    live: SurfaceView | dict[str, Any], lock: Lock, today: dt.date, waivers: Iterable[Waiver] = ()
) -> list[Problem]:
    """What the lock does not allow, the worst first; `waivers` count beside those of the lock."""
    new = live if isinstance(live, SurfaceView) else read_surface(live, "the live surface")
    every = (*lock.waivers, *waivers)
    diff = diff_surfaces(lock.view, new, today=today)
    open_changes = [item for item in diff.changes if not is_waived(item, every, today)]
    problems = [Problem(item, item.violation) for item in open_changes if item.rule != "version.decreased"]
    problems += [_version_problem(found) for found in _versions(diff, open_changes)]
    told = {item.address for item in open_changes}
    problems += _history(new, lock, every, today, told)
    problems += [Problem(item, blocks=True) for item in _reserved(new, lock)]
    left = [problem for problem in problems if not is_waived(problem.change, every, today)]
    return [_with_note(problem, every, today) for problem in sorted(left, key=_weight)]


def _weight(problem: Problem) -> tuple[bool, int, str, str]:
    return (not problem.blocks, -weight(problem.change.bump), problem.change.tool, problem.change.path)


def _versions(diff: SurfaceDiff, changes: list[Change]) -> Iterator[VersionProblem]:
    """What is wrong with the versions; what was accepted asks for none."""
    bumps = {name: worst([item for item in changes if item.tool == name]) for name in diff.tools}
    return version_violations(diff.old, diff.new, bumps, worst(changes))


def _version_problem(found: VersionProblem) -> Problem:
    return Problem(found.change, blocks=True, was=found.was, least=found.floor)


def _history(
    new: SurfaceView, lock: Lock, waivers: tuple[Waiver, ...], today: dt.date, told: set[str]
) -> Iterator[Problem]:
    """Clients keep a surface for as long as its major version lasts, so every one of them still counts."""
    for document in lock.history:
        old = read_surface(document, "the history of the lock")
        if line_of(old) != line_of(new) or line_of(new) is None:
            continue
        for item in diff_surfaces(old, new, today=today).changes:
            if not item.is_breaking or item.address in told or is_waived(item, waivers, today):
                continue
            told.add(item.address)
            version = old.version or old.server_version
            found = change("version.breaks_earlier", item.path, f"{item.rule} since {version}, {item.message}")
            least = floor_of(new.version or new.server_version, Bump.MAJOR)
            yield Problem(found.of(item.tool), blocks=True, was=new.version, least=least, note=item.address)


def _reserved(new: SurfaceView, lock: Lock) -> Iterator[Change]:
    agreed = lock.view
    for name, row in lock.reserved.items():
        tool, _, argument = name.partition("/")
        owner = new.owners.get(tool)
        if owner is None:
            continue
        if not argument and tool not in agreed.owners and new.tools[owner].digest != row.get("digest"):
            what = f"{name} was removed in {row.get('since')}"
            yield change("tool.reserved_name_reused", "", what).of(tool)
        properties = new.tools[owner].facets["input"]
        properties = properties.get("properties", {}) if isinstance(properties, dict) else {}
        if argument and argument in properties and fingerprint(properties[argument]) != row.get("digest"):
            what = f"{argument} was removed in {row.get('since')}"
            yield change("argument.reserved_name_reused", f"/arguments/{argument}", what).of(tool)


def _with_note(problem: Problem, waivers: tuple[Waiver, ...], today: dt.date) -> Problem:
    for waiver in waivers:
        if waiver.matches(problem.change) and not waiver.counts(today):
            note = f"it was accepted until {waiver.until}: {waiver.reason}"
            return Problem(problem.change, problem.blocks, problem.was, problem.least, note)
    return problem


def edits(problems: Iterable[Problem], name: str, place: str = "") -> list[str]:
    """The lines of code that would make the versions right; `place` is the file in which the server is written."""
    tools: dict[str, dict[str, Problem]] = {}
    for problem in problems:
        if problem.least is not None:
            key = "surface" if problem.change.rule == "version.breaks_earlier" else problem.change.path
            tool = "" if key == "surface" else problem.change.tool
            tools.setdefault(tool, {}).setdefault("/schemaVersion" if key == "surface" else key, problem)
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
