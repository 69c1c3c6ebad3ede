"""What the host offers a client by itself: tools and resources that tell how it is, shaped for each revision.

Only words and shapes stand here; who is answered when is the business of `surface`.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.host.output_store import OUTPUT_SCHEME
from holdfast.present.compact import compact_json
from holdfast.present.profile import (
    HANDSHAKE_REVISIONS,
    LATEST_HANDSHAKE,
    MODERN,
    Profile,
    profile_for,
    shape_result,
    shape_tool,
)
from holdfast.version import __version__
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.envelope import INVALID_PARAMS, error_message, result_message

__all__ = [
    "OWN_RESOURCES",
    "OWN_TOOLS",
    "document_contents",
    "invalid_call",
    "list_answer",
    "not_found",
    "profile_of",
    "read_result",
    "resource_entry",
    "template_entry",
    "tool_entry",
    "tool_result",
]

_INFO = {"name": "holdfast", "version": __version__}
_ANNOTATIONS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_HEALTH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {"type": "string", "description": "cold, starting, ready, recovering or degraded."},
        "generation": {"type": "integer", "description": "Which worker serves, counted from 1."},
        "degraded": {"type": "boolean", "description": "Workers keep failing; they are tried at a low rate."},
        "restart_count": {"type": "integer"},
        "pending": {"type": "integer", "description": "Requests in flight or waiting."},
        "last_fault": {"type": ["object", "null"]},
        "counters": {"type": "object"},
    },
    "required": ["state", "generation", "degraded", "restart_count", "pending", "counters"],
}

# By the name of a document: the tool that tells it, in the order in which they are listed.
OWN_TOOLS: dict[str, dict[str, Any]] = {
    "health": {
        "name": "holdfast_health",
        "title": "Health of this server",
        "description": "How the host in front of this server is: whether its worker serves, restarts, last fault, "
        "requests in flight. Answered at once, also while the server itself hangs or restarts.",
        "inputSchema": _NO_ARGUMENTS,
        "outputSchema": _HEALTH_SCHEMA,
        "annotations": {"title": "Health of this server", **_ANNOTATIONS},
    },
    "telemetry": {
        "name": "holdfast_telemetry",
        "title": "Telemetry of this server",
        "description": "What the host in front of this server has counted and timed, per method and per tool. "
        "Answered at once, also while the server itself hangs or restarts.",
        "inputSchema": _NO_ARGUMENTS,
        "outputSchema": {"type": "object"},
        "annotations": {"title": "Telemetry of this server", **_ANNOTATIONS},
    },
}
OWN_RESOURCES = {f"holdfast://{name}": name for name in OWN_TOOLS}
_TEMPLATE = {
    "uriTemplate": f"{OUTPUT_SCHEME}{{id}}",
    "name": "holdfast-output",
    "title": "Whole output",
    "description": "The whole of a result that was cut, under the name that stands in it.",
}


def profile_of(revision: str) -> Profile:
    """How to speak at a revision; one that is not known is taken for the latest with a handshake."""
    known = revision in HANDSHAKE_REVISIONS or revision == MODERN
    return profile_for(revision if known else LATEST_HANDSHAKE)


def tool_entry(name: str, profile: Profile) -> dict[str, Any]:
    """The definition of the tool that tells a document."""
    return shape_tool(OWN_TOOLS[name], profile)


def resource_entry(name: str, profile: Profile) -> dict[str, Any]:
    """The same as a resource."""
    tool = OWN_TOOLS[name]
    entry = {
        "uri": f"holdfast://{name}",
        "name": tool["name"],
        "title": tool["title"],
        "description": tool["description"],
        "mimeType": "application/json",
    }
    return _titled(entry, profile)


def template_entry(profile: Profile) -> dict[str, Any]:
    """How the names of whole outputs are made."""
    return _titled(_TEMPLATE, profile)


def _titled(entry: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "title" or "title" in profile.tool_fields}


def tool_result(request_id: RequestId, document: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The answer to a call of one of the tools."""
    result: dict[str, Any] = {
        "content": [{"type": "text", "text": compact_json(document)}],
        "isError": False,
    }
    if profile.structured_content:
        result["structuredContent"] = dict(document)
    return result_message(request_id, shape_result(result, profile, _INFO))


def invalid_call(request_id: RequestId, tool: str, profile: Profile) -> dict[str, Any]:
    """The answer to a call with arguments, which none of the tools takes."""
    message = f"{tool} takes no arguments"
    if not profile.invalid_arguments_are_tool_errors:
        return error_message(request_id, INVALID_PARAMS, message, {"code": "INVALID_REQUEST"})
    result = {"content": [{"type": "text", "text": f"error INVALID_REQUEST: {message}"}], "isError": True}
    return result_message(request_id, shape_result(result, profile, _INFO))


def list_answer(
    request_id: RequestId, key: str, entries: list[dict[str, Any]], profile: Profile
) -> dict[str, Any]:
    """A list of nothing but the host's own."""
    return result_message(request_id, _private({key: entries}, profile))


def document_contents(uri: str, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A document as the contents of its resource."""
    return [{"uri": uri, "mimeType": "application/json", "text": compact_json(document)}]


def read_result(contents: list[dict[str, Any]], profile: Profile) -> dict[str, Any]:
    """The result of reading a resource of the host's own; nobody should keep it."""
    return _private({"contents": contents}, profile)


def _private(result: dict[str, Any], profile: Profile) -> dict[str, Any]:
    if profile.self_describing:
        result = {**result, "ttlMs": 0, "cacheScope": "private"}
    return shape_result(result, profile, _INFO)


def not_found(request_id: RequestId, uri: str, message: str, profile: Profile) -> dict[str, Any]:
    """The era's answer to a request for a resource that is not there."""
    data = {"code": "NOT_FOUND", **({"uri": uri[:200]} if uri else {})}
    return error_message(request_id, profile.resource_not_found_code, message, data)
