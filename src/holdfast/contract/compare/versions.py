"""How far versions must move for a set of changes, and what is wrong with those that were given.

A SemVer counts per tool and for the whole surface; before 1.0.0 the second number stands for the first. A tool's
whole number rises with every change that is more than words. A version once used stands for one contract.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.names import find_renames
from holdfast.contract.compare.view import SurfaceView, ToolView
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.model import semver
from holdfast.errors import ContractError

__all__ = [
    "VersionProblem",
    "first_violations",
    "floor_of",
    "is_before",
    "is_far_enough",
    "is_prerelease",
    "numbers_of",
    "version_notes",
    "version_violations",
]

_PRERELEASE = re.compile(r"-([0-9A-Za-z.-]+)")


@dataclass(frozen=True, slots=True)
class VersionProblem:
    """A version that cannot stay: what is wrong, what it was, and the least that it must become."""

    change: Change
    was: Any
    floor: Any


def numbers_of(version: Any) -> tuple[int, int, int] | None:
    """The three numbers of a SemVer, or None."""
    try:
        major, minor, patch = semver(version).split("+")[0].split("-")[0].split(".")
    except ContractError:
        return None
    return int(major), int(minor), int(patch)


def floor_of(version: str, bump: Bump) -> str:
    """The least version that follows `version` after a change of this weight."""
    numbers = numbers_of(version)
    if numbers is None:
        return "1.0.0"
    major, minor, patch = numbers
    if bump is Bump.NONE:
        return version
    if _prerelease(version):
        return f"{major}.{minor}.{patch}"  # what is not out yet may still change
    if major == 0:
        return f"0.{minor + 1}.0" if bump is Bump.MAJOR else f"0.{minor}.{patch + 1}"
    if bump is Bump.MAJOR:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if bump is Bump.MINOR else f"{major}.{minor}.{patch + 1}"


def is_far_enough(old: str, new: str, bump: Bump) -> bool:
    """Whether the step from one version to the other is as large as the change."""
    if bump is Bump.NONE:
        return _order(new) >= _order(old)
    least = numbers_of(floor_of(old, bump))
    reached = numbers_of(new)
    if least is None or reached is None or _order(new) <= _order(old):
        return False
    return bool(_prerelease(old)) or reached >= least


def version_notes(old: ToolView, new: ToolView, bump: Bump) -> Iterator[Change]:
    """That a version moved, further than it had to, or back; whether it moved far enough is another question."""
    before, after = old.version, new.version
    if before is not None and after is not None and before != after:
        rule = "version.decreased" if _order(after) < _order(before) else _step_rule(before, after, bump)
        yield change(rule, "/version", f"version {before} -> {after}")
    then, now = old.schema_version, new.schema_version
    if then is not None and now is not None and then != now:
        rule = "version.raised" if bump >= Bump.MINOR else "version.above_floor"
        rule = "version.decreased" if _is_less(now, then) else rule
        yield change(rule, "/schemaVersion", f"schemaVersion {then} -> {now}")


def _step_rule(old: str, new: str, bump: Bump) -> str:
    before, after = numbers_of(old), numbers_of(new)
    if before is None or after is None:
        return "version.raised"
    moved = next((at for at in range(3) if before[at] != after[at]), 2)
    reached = (Bump.MAJOR, Bump.MAJOR if before[0] == 0 else Bump.MINOR, Bump.PATCH)[moved]
    return "version.above_floor" if reached > bump else "version.raised"


def version_violations(
    old: SurfaceView, new: SurfaceView, bumps: Mapping[str, Bump], bump: Bump
) -> Iterator[VersionProblem]:
    """What is wrong with the versions of the new surface, tool by tool and as a whole."""
    renames = find_renames(old, new)
    for name, tool_bump in bumps.items():
        heir = new.owners.get(name, renames.get(name))
        if name not in old.tools or heir is None:
            yield from _new_tool(name, new)
            continue
        before, after = old.tools[name], new.tools[heir]
        yield from _checked(heir, "/version", before.version, after.version, tool_bump)
        yield from _integer(heir, before.schema_version, after.schema_version, tool_bump)
    yield from _surface(old, new, bump)


def first_violations(new: SurfaceView) -> Iterator[VersionProblem]:
    """What is wrong with the versions of a surface that has nothing before it."""
    for name in new.tools:
        yield from _new_tool(name, new)
    if new.version is not None and numbers_of(new.version) is None:
        yield _problem("version.malformed", "", "/schemaVersion", new.version, "1.0.0")


def _new_tool(name: str, new: SurfaceView) -> Iterator[VersionProblem]:
    """A tool that is new needs a version as soon as another tool of its server has one."""
    tool = new.tools.get(name)
    if tool is None:
        return
    if tool.version is not None and numbers_of(tool.version) is None:
        yield _problem("version.malformed", name, "/version", tool.version, "1.0.0")
    elif tool.version is None and any(one.version is not None for one in new.tools.values()):
        yield _problem("version.missing", name, "/version", None, "1.0.0")
    number = tool.schema_version
    if number is not None and (type(number) is not int or number < 1):
        yield _problem("version.malformed", name, "/schemaVersion", number, 1)
    elif number is None and any(one.schema_version is not None for one in new.tools.values()):
        yield _problem("version.missing", name, "/schemaVersion", None, 1)


def _surface(old: SurfaceView, new: SurfaceView, bump: Bump) -> Iterator[VersionProblem]:
    if old.version is not None or new.version is not None:
        yield from _checked("", "/schemaVersion", old.version, new.version, bump)
    elif numbers_of(new.server_version):
        # A server of strangers keeps no version of its surface; its own is the only one that can tell.
        yield from _checked("", "/server/version", old.server_version, new.server_version, bump)
    elif bump is not Bump.NONE:
        yield _problem("version.missing", "", "/server/version", None, "1.0.0")


def _checked(tool: str, path: str, old: Any, new: Any, bump: Bump) -> Iterator[VersionProblem]:
    if new is None:
        if old is not None:
            yield _problem("version.missing", tool, path, old, floor_of(str(old), bump))
    elif numbers_of(new) is None:
        yield _problem("version.malformed", tool, path, new, floor_of(str(old), bump))
    elif numbers_of(old) is None:
        return  # the first version that it states
    elif _order(new) < _order(old):
        yield _problem("version.decreased", tool, path, old, floor_of(old, bump))
    elif not is_far_enough(old, new, bump):
        rule = "version.reused" if new == old else "version.below_floor"
        yield _problem(rule, tool, path, old, floor_of(old, bump), now=new)


def _integer(tool: str, old: Any, new: Any, bump: Bump) -> Iterator[VersionProblem]:
    path = "/schemaVersion"
    if new is None and old is None:
        return
    least = old + (bump >= Bump.MINOR) if type(old) is int else 1
    if new is None:
        yield _problem("version.missing", tool, path, old, least)
    elif type(new) is not int or new < 1:
        yield _problem("version.malformed", tool, path, new, least)
    elif type(old) is int and new < old:
        yield _problem("version.decreased", tool, path, old, least)
    elif type(old) is int and new < least:
        yield _problem("version.reused", tool, path, old, least, now=new)


def _problem(rule: str, tool: str, path: str, was: Any, least: Any, *, now: Any = None) -> VersionProblem:
    key = path.rpartition("/")[2]
    is_text = f"{key} is {now if now is not None else was}" if was is not None or now is not None else f"no {key}"
    found = change(rule, path, f"{is_text}, must be at least {least}")
    return VersionProblem(found.of(tool), was, least)


def is_prerelease(version: Any) -> bool:
    """Whether a version is of something that is not out yet."""
    return numbers_of(version) is not None and bool(_prerelease(str(semver(version))))


def is_before(one: Any, other: Any) -> bool:
    """Whether a version comes before another; False where either is none."""
    if numbers_of(one) is None or numbers_of(other) is None:
        return False
    return _order(one) < _order(other)


def _prerelease(version: str) -> str:
    found = _PRERELEASE.search(version.split("+", maxsplit=1)[0])
    return found[1] if found else ""


def _order(version: Any) -> tuple[Any, ...]:
    """What SemVer sorts by: a pre-release stands before its release, numbers before words."""
    numbers = numbers_of(version)
    if numbers is None:
        return ((-1, -1, -1), False, ())
    parts = _prerelease(str(semver(version)))
    identifiers = tuple(
        (not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts.split(".")
    )
    return (numbers, not parts, identifiers if parts else ())


def _is_less(one: Any, other: Any) -> bool:
    return type(one) is int and type(other) is int and one < other
