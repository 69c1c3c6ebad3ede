"""What results must look like in each revision, as far as clients rely on it. Pure: a value in, complaints out.

Written by hand from the schemas of the protocol: required members and the types of the known ones. Members that a
revision does not know are legal in it, so they are not looked at.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.present.profile import HANDSHAKE_REVISIONS, MODERN

__all__ = [
    "complaints_about_call",
    "complaints_about_discovery",
    "complaints_about_list",
    "complaints_about_welcome",
]

# The required text members of each kind of content.
CONTENT: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def complaints_about_welcome(result: Any) -> list[str]:
    """What is wrong with the result of `initialize`."""
    if not isinstance(result, dict):
        return ["it is not an object"]
    found = list(
        _members(result, {"protocolVersion": str, "capabilities": dict, "serverInfo": dict}, required=True)
    )
    found += _members(result, {"instructions": str})
    found += _implementation(result.get("serverInfo"))
    if isinstance(result.get("protocolVersion"), str) and result["protocolVersion"] not in HANDSHAKE_REVISIONS:
        found.append(f"protocolVersion {result['protocolVersion']!r} is no revision with a handshake")
    return found


def complaints_about_discovery(result: Any) -> list[str]:
    """What is wrong with the result of `server/discover`."""
    if not isinstance(result, dict):
        return ["it is not an object"]
    found = list(_members(result, {"supportedVersions": list, "capabilities": dict}, required=True))
    versions = result.get("supportedVersions")
    if isinstance(versions, list) and (not versions or not all(isinstance(item, str) for item in versions)):
        found.append("supportedVersions is not a list of revisions")
    return [*found, *_modern(result), *_cache_hints(result)]


def complaints_about_list(result: Any, revision: str) -> list[str]:
    """What is wrong with one page of `tools/list`."""
    if not isinstance(result, dict):
        return ["it is not an object"]
    found = list(_members(result, {"tools": list}, required=True))
    found += _members(result, {"nextCursor": str})
    for tool in result["tools"] if isinstance(result.get("tools"), list) else []:
        found += _tool(tool)
    if revision == MODERN:
        found += [*_modern(result), *_cache_hints(result)]
    return found


def complaints_about_call(result: Any, revision: str) -> list[str]:
    """What is wrong with the result of `tools/call`."""
    if not isinstance(result, dict):
        return ["it is not an object"]
    found = list(_members(result, {"content": list}, required=True))
    found += _members(result, {"isError": bool, "_meta": dict})
    for place, item in enumerate(result["content"] if isinstance(result.get("content"), list) else []):
        found += (f"content[{place}]: {complaint}" for complaint in _content(item))
    if "structuredContent" in result and "2025-06-18" <= revision < MODERN:
        found += _members(result, {"structuredContent": dict})
    if revision == MODERN:
        found += _modern(result)
    return found


def _tool(tool: Any) -> Iterator[str]:
    if not isinstance(tool, dict):
        yield "a tool is not an object"
        return
    words = f"tool {tool.get('name')!r}: "
    wanted = _members(tool, {"name": str, "inputSchema": dict}, required=True)
    known = _members(tool, {"title": str, "description": str, "outputSchema": dict, "annotations": dict})
    hints = tool.get("annotations")
    some = _members(hints, dict.fromkeys(HINTS, bool)) if isinstance(hints, dict) else ()
    for complaint in (*wanted, *known, *some):
        yield words + complaint


def _content(item: Any) -> Iterator[str]:
    if not isinstance(item, dict):
        yield "it is not an object"
        return
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in CONTENT:
        yield f"type {kind!r} is no kind of content"
        return
    yield from _members(item, dict.fromkeys(CONTENT[kind], str), required=True)
    if kind == "resource":
        yield from _members(item, {"resource": dict}, required=True)
        resource = item.get("resource")
        if isinstance(resource, dict) and not isinstance(resource.get("uri"), str):
            yield "resource.uri is not a string"


def _implementation(info: Any) -> Iterator[str]:
    if isinstance(info, dict):
        for complaint in _members(info, {"name": str, "version": str}, required=True):
            yield f"serverInfo: {complaint}"


def _modern(result: Mapping[str, Any]) -> Iterator[str]:
    if result.get("resultType") not in {"complete", "input_required"}:
        yield f"resultType is {result.get('resultType')!r}"


def _cache_hints(result: Mapping[str, Any]) -> Iterator[str]:
    ttl = result.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or ttl < 0:
        yield f"ttlMs is {ttl!r}"
    if result.get("cacheScope") not in {"public", "private"}:
        yield f"cacheScope is {result.get('cacheScope')!r}"


def _members(value: Mapping[str, Any], types: Mapping[str, type], *, required: bool = False) -> Iterator[str]:
    for name, kind in types.items():
        if name not in value:
            if required:
                yield f"{name} is missing"
        elif not isinstance(value[name], kind):
            yield f"{name} is not {_WORDS[kind]}"


_WORDS: dict[type, str] = {str: "a string", dict: "an object", list: "an array", bool: "true or false"}
