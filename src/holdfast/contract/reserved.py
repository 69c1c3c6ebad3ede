"""Names that were removed and must not come back for something else: of tools, arguments and fields of answers."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.places import fields, followed
from holdfast.contract.compare.versions import is_before
from holdfast.contract.compare.view import SurfaceView, ToolView
from holdfast.contract.inclusion.bump import Bump
from holdfast.contract.inclusion.rules import RULES as SCHEMA_RULES

__all__ = ["Reserved", "next_reserved", "reserved_changes"]

Reserved = Mapping[str, Mapping[str, Any]]
_FIELD_RULE = "object.reserved_name_reused"


def next_reserved(reserved: Reserved, old: SurfaceView, new: SurfaceView) -> dict[str, dict[str, Any]]:
    """What is reserved after the step from one surface to the next; what came back is free again."""
    kept = {key: dict(row) for key, row in reserved.items() if not _is_back(row, new)}
    for name in old.owners.keys() - new.owners.keys():
        tool = old.tools[old.owners[name]]
        stated = {"digest": tool.digest, "version": tool.version, "schemaVersion": tool.schema_version}
        kept[name] = {"tool": name, "path": "", "since": new.version, **stated}
    for name in old.tools.keys() & new.owners.keys():
        before, after = _named(old.tools[name]), _named(new.tools[new.owners[name]])
        for path in before.keys() - after.keys():
            parent = path.rpartition("/")[0]
            if parent in after or parent.count("/") <= 1:  # what was inside of something removed went with it
                kept[name + path] = {"tool": name, "path": path, "since": new.version, "digest": before[path]}
    return kept


def reserved_changes(new: SurfaceView, reserved: Reserved, agreed: SurfaceView) -> Iterator[Change]:
    """Each reserved name that stands for something else now."""
    named: dict[str, dict[str, str]] = {}
    for row in reserved.values():
        name, path = row["tool"], row["path"]
        owner = new.owners.get(name)
        if owner is None:
            continue
        if not path:
            if name not in agreed.owners:
                yield from _returned(new.tools[owner], name, row)
            continue
        if name not in named:
            named[name] = _named(new.tools[owner])
        if named[name].get(path, row.get("digest")) != row.get("digest"):
            yield _field_change(name, path, row)


def _returned(tool: ToolView, name: str, row: Mapping[str, Any]) -> Iterator[Change]:
    if tool.digest != row.get("digest"):
        yield change("tool.reserved_name_reused", "", f"{name} was removed in {row.get('since')}").of(name)
    if is_before(tool.version, row.get("version")):
        what = f"version {row.get('version')} -> {tool.version}"
        yield change("version.decreased", "/version", what).of(name)
    then, now = row.get("schemaVersion"), tool.schema_version
    if type(then) is int and type(now) is int and now < then:
        yield change("version.decreased", "/schemaVersion", f"schemaVersion {then} -> {now}").of(name)


def _field_change(tool: str, path: str, row: Mapping[str, Any]) -> Change:
    rule = SCHEMA_RULES[_FIELD_RULE]
    direction = "input" if path.startswith("/arguments/") else "output"
    name = path.rpartition("/")[2]
    message = f"{name} was removed in {row.get('since')}: {rule.meaning}"
    return Change(
        _FIELD_RULE, path, direction, "incomparable", Bump.MAJOR, message, violation=True, tool=tool
    )  # fmt: skip


def _is_back(row: Mapping[str, Any], new: SurfaceView) -> bool:
    owner = new.owners.get(row["tool"])
    return owner is not None and (not row["path"] or row["path"] in _named(new.tools[owner]))


def _named(tool: ToolView) -> dict[str, str]:
    """Every field that callers of the tool can name, and the digest of what it holds."""
    facets = tool.facets
    output = facets.get("payload") if facets["output"] is None else facets["output"]
    return {
        f"/{side}{path}": fingerprint(followed(part, schema))
        for side, schema in (("arguments", facets["input"]), ("result", output))
        for path, part in fields(schema).items()
        if not path.endswith("/*")
    }
