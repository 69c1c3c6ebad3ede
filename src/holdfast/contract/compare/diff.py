"""Two surfaces compared as a whole: what became of each tool and of everything beside the tools."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from holdfast.contract.compare.behaviour import behaviour_changes
from holdfast.contract.compare.changes import Change, change, worst
from holdfast.contract.compare.envelope import envelope_changes
from holdfast.contract.compare.names import find_renames, is_replaced, sample_call
from holdfast.contract.compare.places import escaped
from holdfast.contract.compare.rules import weight
from holdfast.contract.compare.schema_changes import schema_changes
from holdfast.contract.compare.surroundings import surrounding_changes
from holdfast.contract.compare.versions import numbers_of, version_notes, version_violations
from holdfast.contract.compare.view import SurfaceView, ToolView
from holdfast.contract.compare.words import is_sunset, life_changes, sunset_of, word_changes
from holdfast.contract.inclusion.bump import Bump

__all__ = ["SurfaceDiff", "diff_surfaces", "diff_tools"]


@dataclass(frozen=True)
class SurfaceDiff:
    """Every change between two surfaces; `violations` tells what is wrong with the versions given for them."""

    old: SurfaceView
    new: SurfaceView
    tools: dict[str, tuple[Change, ...]]
    surface: tuple[Change, ...]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All changes, of the surface first and then tool by tool."""
        return (*self.surface, *(item for changes in self.tools.values() for item in changes))

    @cached_property
    def bump(self) -> Bump:
        """How far the version of the surface must move."""
        return worst(self.changes)

    @property
    def breaking(self) -> bool:
        """Whether somebody who relies on the old surface may fail on the new one."""
        return any(item.is_breaking for item in self.changes)

    @cached_property
    def violations(self) -> tuple[Change, ...]:
        """What is wrong whatever a person accepts: versions that did not move, promises of time not kept."""
        bumps = {name: worst(changes) for name, changes in self.tools.items()}
        found = [problem.change for problem in version_violations(self.old, self.new, bumps, self.bump)]
        told = {item.address: item for item in (*found, *(item for item in self.changes if item.violation))}
        return tuple(told.values())

    def to_json(self) -> dict[str, Any]:
        """The comparison as programs read it."""
        return {
            "breaking": self.breaking,
            "bump": self.bump.value,
            "tools": {
                name: {"bump": worst(changes).value, "changes": [item.to_json() for item in changes]}
                for name, changes in self.tools.items()
            },
            "surface": {"bump": worst(self.surface).value, "changes": [item.to_json() for item in self.surface]},
            "violations": [{"tool": item.tool, **item.to_json()} for item in self.violations],
            "acknowledge": sorted({item.address for item in self.changes if item.acknowledge}),
        }


def diff_surfaces(
    old: SurfaceView, new: SurfaceView, *, strict: bool = False, today: dt.date | None = None
) -> SurfaceDiff:
    """Compare two surfaces; `today` decides whether an announced end has come."""
    day = today or dt.datetime.now(dt.UTC).date()
    renames = find_renames(old, new)
    tools: dict[str, tuple[Change, ...]] = {}
    for name in sorted({*old.tools, *new.tools}):
        if name in old.tools:
            found = list(_fate(name, old, new, renames, day, strict=strict))
        else:
            found = list(_arrival(name, old, new, renames, strict=strict))
        if found:
            tools[name] = _in_order(item.of(name) for item in found)
    surface = list(surrounding_changes(old, new, strict=strict))
    if old.version is not None and new.version is not None:
        bump = worst([*surface, *(item for changes in tools.values() for item in changes)])
        before, after = ToolView("", {"version": old.version}), ToolView("", {"version": new.version})
        surface += [replace(note, path="/schemaVersion") for note in version_notes(before, after, bump)]
    return SurfaceDiff(old, new, tools, _in_order(surface))


def diff_tools(
    name: str, old: ToolView, new: ToolView, *, strict: bool = False, whole: bool = False
) -> tuple[Change, ...]:
    """What changed in one tool, its names aside; `whole`: what one side does not state was left out by it."""
    if old.facets == new.facets:
        return ()
    if whole:
        every = dict.fromkeys(old.facets.keys() | new.facets.keys())
        old, new = (replace(tool, facets=every | tool.facets) for tool in (old, new))
    found = list(_content(name, old, new, strict=strict))
    found += version_notes(old, new, worst(found))
    return tuple(found)


def _in_order(changes: Iterator[Change] | list[Change]) -> tuple[Change, ...]:
    """The worst first, each said once."""
    kept: dict[Any, Change] = {}
    for item in changes:
        kept.setdefault((item.address, item.direction, item.message), item)
    return tuple(
        sorted(kept.values(), key=lambda item: (-weight(item.bump), not item.violation, item.path, item.rule))
    )


def _content(name: str, old: ToolView, new: ToolView, *, strict: bool) -> Iterator[Change]:
    before, after = old.facets, new.facets
    if is_replaced(old, new):
        yield change("tool.replaced", "", f"tool {name}", strict=strict)
    yield from schema_changes(name, before, after, strict=strict)
    yield from behaviour_changes(before, after, strict=strict)
    if "errorSchema" in before and "errorSchema" in after:
        yield from envelope_changes(before["errorSchema"], after["errorSchema"], strict=strict)
    yield from word_changes(before, after, strict=strict)
    yield from life_changes(before, after, strict=strict)


def _is_whole(old: SurfaceView, new: SurfaceView) -> bool:
    """Whether both describe tools in the same form, so that both could state the same."""
    return (old.kind == "snapshot") == (new.kind == "snapshot")


def _fate(
    name: str, old: SurfaceView, new: SurfaceView, renames: dict[str, str], day: dt.date, *, strict: bool
) -> Iterator[Change]:
    """What became of a tool of the old surface."""
    tool = old.tools[name]
    owner = new.owners.get(name)
    if owner is None:
        yield from _loss(tool, new, renames.get(name), day, strict=strict)
        return
    if owner != name:
        yield change("tool.renamed_with_alias", "", f"{name} -> {owner}", strict=strict)
    yield from diff_tools(name, tool, new.tools[owner], strict=strict, whole=_is_whole(old, new))
    yield from _aliases(tool, old, new, new.tools[owner], strict=strict)


def _arrival(
    name: str, old: SurfaceView, new: SurfaceView, renames: dict[str, str], *, strict: bool
) -> Iterator[Change]:
    """A tool that the old surface did not have under this name as its own."""
    former = old.owners.get(name)
    if name in renames.values() or (former is not None and new.owners.get(former) == name):
        return  # told at the name that it had before
    yield change("tool.added", "", f"tool {name}", strict=strict)
    if former is not None:  # it was an older name of another tool, which callers still expect behind it
        yield from diff_tools(name, old.tools[former], new.tools[name], strict=strict, whole=_is_whole(old, new))


def _loss(tool: ToolView, new: SurfaceView, heir: str | None, day: dt.date, *, strict: bool) -> Iterator[Change]:
    witness = sample_call(tool)
    if heir is not None:
        yield change("tool.renamed", "", f"{tool.name} -> {heir}", strict=strict, witness=witness)
    else:
        yield change("tool.removed", "", "the tool is gone", strict=strict, witness=witness)
    deprecated = tool.facets.get("deprecated")
    if deprecated and not is_sunset(deprecated, day, numbers_of(new.version)):
        what = f"announced for {sunset_of(deprecated)}"
        yield change("lifecycle.removed_before_sunset", "/deprecated", what, strict=strict)


def _aliases(
    tool: ToolView, old: SurfaceView, new: SurfaceView, heir: ToolView, *, strict: bool
) -> Iterator[Change]:
    before, after = tool.facets.get("aliases", ()), heir.facets.get("aliases", ())
    for alias in sorted(set(before) - new.owners.keys()):
        yield change("tool.alias_removed", f"/aliases/{escaped(alias)}", f"alias {alias}", strict=strict)
    for alias in sorted(set(before) & new.owners.keys() - new.tools.keys()):
        if new.owners[alias] != heir.name:  # it leads elsewhere now
            whole = _is_whole(old, new)
            yield from diff_tools(alias, tool, new.tools[new.owners[alias]], strict=strict, whole=whole)
    for alias in sorted(set(after) - old.owners.keys()):
        yield change("tool.alias_added", f"/aliases/{escaped(alias)}", f"alias {alias}", strict=strict)
