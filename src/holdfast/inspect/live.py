"""The surface of any MCP server as it is on the wire, in one document.

Everything is read with distrust: a list may be paged, endless, or no list; a server may offer no prompts, or claim
to and refuse. What a server does not offer is an empty list, never a failure.
"""

from typing import Any

from holdfast.client.peer import PeerError
from holdfast.client.session import ClientSession
from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.facets import contract_meta
from holdfast.contract.snapshot import SNAPSHOT_VERSION
from holdfast.errors import SessionError
from holdfast.present.profile import MODERN
from holdfast.wire.envelope import METHOD_NOT_FOUND

__all__ = ["MAX_ITEMS", "live_list", "live_snapshot"]

MAX_PAGES = 1000
MAX_ITEMS = 100_000
# List in the document -> the method that tells it, its key in the answer, and what names one item.
_LISTS = {
    "prompts": ("prompts/list", "prompts", "name"),
    "resources": ("resources/list", "resources", "uri"),
    "resourceTemplates": ("resources/templates/list", "resourceTemplates", "uriTemplate"),
}
# What a server says about one session only.
_VOLATILE = frozenset({"_meta", "ttlMs", "cacheScope"})


async def live_snapshot(session: ClientSession, *, timeout: float | None = None) -> dict[str, Any]:
    """The snapshot of the server at the other end of an open session."""
    peer = session.peer
    tools = await session.list_tools(timeout=timeout)
    document: dict[str, Any] = {
        "snapshotVersion": SNAPSHOT_VERSION,
        "source": "wire",
        "server": {"name": peer.name, "version": peer.version, "instructions": peer.instructions},
        "capabilities": _shallow(peer.capabilities),
        "tools": sorted(tools, key=lambda tool: str(tool["name"])),
        **await _protocol(session, timeout),
    }
    for name, (_, _, identity) in _LISTS.items():
        items = await live_list(session, name, timeout=timeout)
        document[name] = sorted(items, key=lambda item, by=identity: str(item[by]))  # type: ignore[misc]
    if version := next((found for tool in tools if (found := contract_meta(tool).get("surfaceVersion"))), None):
        document["schemaVersion"] = version
    return {**document, "fingerprint": fingerprint(document)}


async def live_list(session: ClientSession, name: str, *, timeout: float | None = None) -> list[dict[str, Any]]:
    """The prompts, resources or resourceTemplates of the server, from all pages; none where it offers none."""
    method, key, identity = _LISTS[name]
    offered = "resources" if name == "resourceTemplates" else name
    if offered not in session.peer.capabilities:
        return []
    return await _listed(session, method, key, identity, timeout)


def _shallow(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Which capabilities there are; `experimental` and `extensions` are maps of more of them."""
    return {name: sorted(value) if isinstance(value, dict) else [] for name, value in capabilities.items()}


async def _protocol(session: ClientSession, timeout: float | None) -> dict[str, Any]:
    """The revisions that the server speaks; a handshake settles on one and does not tell the others."""
    if session.peer.revision == MODERN:
        told = (await session.request("server/discover", {}, timeout=timeout)).get("supportedVersions")
        if isinstance(told, list):
            return {"protocolVersions": sorted(map(str, told)), "protocolVersionsComplete": True}
    return {"protocolVersions": [session.peer.revision], "protocolVersionsComplete": False}


async def _listed(
    session: ClientSession, method: str, key: str, identity: str, timeout: float | None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(MAX_PAGES):
        try:
            page = await session.request(method, params, timeout=timeout)
        except PeerError as error:
            if error.code == METHOD_NOT_FOUND and not found:
                return []  # offered as a capability, but not there
            raise
        found += _checked(page, method, key, identity)
        cursor = page.get("nextCursor")
        if cursor is None:
            return found
        if not isinstance(cursor, str) or cursor in seen or len(found) > MAX_ITEMS:
            break
        seen.add(cursor)
        params = {"cursor": cursor}
    raise SessionError(f"the server's answer to {method} has no end")


def _checked(page: dict[str, Any], method: str, key: str, identity: str) -> list[dict[str, Any]]:
    items = page.get(key)
    if not isinstance(items, list):
        raise SessionError(f"the server answered {method} without a list of {key}")
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(identity), str):
            raise SessionError(f"the server lists one of its {key} without {identity}")
    return [{name: value for name, value in item.items() if name not in _VOLATILE} for item in items]
