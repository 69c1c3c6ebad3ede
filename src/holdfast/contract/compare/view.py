"""One view of a surface, whichever document describes it.

A snapshot of ours says almost everything; what a server tells on the wire is less; a plain `tools/list` result is
less still. So a facet of a tool is either stated or missing. Between two kinds of documents only what both can
state is compared; between two of the same kind, what is missing in one of them was left out, and that is a change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.facets import (
    contract_meta,
    facets_of_definition,
    facets_of_snapshot,
    supervision_meta,
)
from holdfast.contract.compare.reading import UnreadableError

__all__ = ["SurfaceView", "ToolView", "read_surface"]

_FORMS = "use a file from `holdfast contract snapshot`, a lock, or a saved tools/list result"


@dataclass(frozen=True)
class ToolView:
    """One tool: its name and what is stated about it; `definition` is how its document says it."""

    name: str
    facets: dict[str, Any]
    definition: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def version(self) -> str | None:
        """The SemVer of the tool, where it states one."""
        return self.facets.get("version")

    @property
    def schema_version(self) -> int | None:
        """The whole number of the tool, where it states one."""
        return self.facets.get("schemaVersion")

    @cached_property
    def digest(self) -> str:
        """The fingerprint of everything that the tool promises; its versions are not part of it."""
        content = {key: value for key, value in self.facets.items() if key not in {"version", "schemaVersion"}}
        return fingerprint(content)


@dataclass(frozen=True)
class SurfaceView:
    """A whole server. What is None was not stated; `protocol_is_whole` tells a list from one settled revision."""

    kind: str
    tools: dict[str, ToolView]
    name: str = ""
    server_version: str = ""
    version: str | None = None
    instructions: str | None = None
    dialect: str | None = None
    protocol: tuple[str, ...] | None = None
    protocol_is_whole: bool = True
    capabilities: dict[str, Any] | None = None
    error_schema: Any = None
    prompts: dict[str, dict[str, Any]] | None = None
    resources: dict[str, dict[str, Any]] | None = None
    templates: dict[str, dict[str, Any]] | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def owners(self) -> dict[str, str]:
        """Each name that can be called, aliases too, and the tool that answers."""
        named = {alias: tool.name for tool in self.tools.values() for alias in tool.facets.get("aliases", ())}
        return named | {name: name for name in self.tools}


def read_surface(document: Any, source: str = "the document") -> SurfaceView:
    """The view of a snapshot, a lock, a `tools/list` result, a JSON-RPC answer with one, or a list of tools."""
    whole = _unwrapped(document, source)
    listed = whole.get("tools")
    if not isinstance(listed, list):
        raise UnreadableError(f"{source} describes no tools", remedy=_FORMS)
    is_snapshot = "snapshotVersion" in whole
    if is_snapshot and whole["snapshotVersion"] != 1:
        raise UnreadableError(
            f"{source} is a snapshot of version {whole['snapshotVersion']!r}; this program reads version 1",
            remedy="write it again with this version of holdfast, or update holdfast",
        )
    is_ours = is_snapshot and whole.get("source") != "wire"
    tools = _tools(listed, whole, source, is_ours=is_ours)
    if not is_ours:
        tools = _without_aliases(tools)
    server = whole.get("server") if isinstance(whole.get("server"), dict) else {}
    assert isinstance(server, dict)
    protocol = whole.get("protocolVersions")
    return SurfaceView(
        kind="snapshot" if is_ours else "wire" if is_snapshot else "tools",
        tools=tools,
        name=_text(server.get("name")),
        server_version=_text(server.get("version")),
        version=_surface_version(whole, listed),
        instructions=server.get("instructions") if isinstance(server.get("instructions"), str) else None,
        dialect=_dialect(whole, listed),
        protocol=tuple(map(str, protocol)) if isinstance(protocol, list) and protocol else None,
        protocol_is_whole=whole.get("protocolVersionsComplete") is not False,
        capabilities=whole.get("capabilities") if isinstance(whole.get("capabilities"), dict) else None,
        error_schema=whole.get("errorSchema"),
        prompts=_keyed(whole, "prompts", "name", source),
        resources=_keyed(whole, "resources", "uri", source),
        templates=_keyed(whole, "resourceTemplates", "uriTemplate", source),
        document=whole,
    )


def _unwrapped(document: Any, source: str) -> dict[str, Any]:
    if isinstance(document, list):
        return {"tools": document}
    if not isinstance(document, dict):
        raise UnreadableError(f"{source} is JSON, but not an object", remedy=_FORMS)
    if "lockVersion" in document:
        return _unwrapped(document.get("snapshot"), f"the snapshot in {source}")
    if "jsonrpc" in document and "tools" not in document:
        if "error" in document:
            raise UnreadableError(f"{source} is an error answer", remedy=_FORMS)
        return _unwrapped(document.get("result"), f"the result in {source}")
    return document


def _tools(listed: list[Any], whole: Mapping[str, Any], source: str, *, is_ours: bool) -> dict[str, ToolView]:
    tools: dict[str, ToolView] = {}
    for number, tool in enumerate(listed, 1):
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"]:
            raise UnreadableError(f"{source}: tool number {number} has no name", remedy=_FORMS)
        name = tool["name"]
        if name in tools:
            raise UnreadableError(f"{source} lists the tool {name!r} twice", remedy="a name stands for one tool")
        for key in ("inputSchema", "outputSchema"):
            if not isinstance(tool.get(key), dict | bool | None):
                raise UnreadableError(f"{source}: the {key} of {name!r} is no schema", remedy=_FORMS)
        facets = facets_of_snapshot(tool, whole) if is_ours else facets_of_definition(tool)
        tools[name] = ToolView(name, facets, tool)
    return tools


def _without_aliases(tools: dict[str, ToolView]) -> dict[str, ToolView]:
    """The wire lists a tool again under each older name; here an older name belongs to its tool.

    Only what is the same tool in everything else: a definition that merely says so is compared as its own.
    """
    aliases: dict[str, list[str]] = {}
    for name, tool in tools.items():
        owner = tools.get(_alias_of(tool))
        if owner is not None and owner.name != name and not _alias_of(owner) and _said(owner) == _said(tool):
            aliases.setdefault(owner.name, []).append(name)
    folded = {name for names in aliases.values() for name in names}
    return {
        name: replace(tool, facets={**tool.facets, "aliases": sorted(aliases.get(name, ()))})
        for name, tool in tools.items()
        if name not in folded
    }


def _said(tool: ToolView) -> dict[str, Any]:
    return {key: value for key, value in tool.facets.items() if key not in {"deprecated", "aliases"}}


def _alias_of(tool: ToolView) -> str:
    stated = tool.facets.get("deprecated")
    deprecated = stated if isinstance(stated, dict) else {}
    replacement = _text(deprecated.get("replacement"))
    return replacement if deprecated.get("reason") == f"Another name of `{replacement}`" else ""


def _surface_version(whole: Mapping[str, Any], listed: list[dict[str, Any]]) -> str | None:
    stated = whole.get("schemaVersion")
    if isinstance(stated, str):
        return stated
    found = (contract_meta(tool).get("surfaceVersion") for tool in listed)
    return next((version for version in found if isinstance(version, str)), None)


def _dialect(whole: Mapping[str, Any], listed: list[dict[str, Any]]) -> str | None:
    found = (whole.get("dialect"), *(supervision_meta(tool).get("dialect") for tool in listed))
    return next((dialect for dialect in found if isinstance(dialect, str)), None)


def _keyed(whole: Mapping[str, Any], field_name: str, key: str, source: str) -> dict[str, dict[str, Any]] | None:
    items = whole.get(field_name)
    if items is None:
        return None
    if not isinstance(items, list):
        raise UnreadableError(f"{source}: {field_name} is no list", remedy=_FORMS)
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise UnreadableError(f"{source}: one of the {field_name} has no {key}", remedy=_FORMS)
        found[item[key]] = item
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
