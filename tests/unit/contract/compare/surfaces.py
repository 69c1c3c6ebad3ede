"""Surfaces to compare: a snapshot with one tool, and ways to change one thing of it."""

import copy
from collections.abc import Callable
from typing import Any

from holdfast.contract.compare.diff import SurfaceDiff, diff_surfaces
from holdfast.contract.compare.view import read_surface

Edit = Callable[[dict[str, Any]], None]

LOOKUP: dict[str, Any] = {
    "name": "lookup",
    "title": "Look up",
    "description": "Return the stock of one article.",
    "version": "1.0.0",
    "schemaVersion": 1,
    "toolingVersion": "1.0.0",
    "inputSchema": {
        "type": "object",
        "properties": {
            "sku": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "unit": {"enum": ["piece", "box"]},
        },
        "required": ["sku"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["count"],
    },
    "payloadSchema": None,
    "outputExample": None,
    "errors": [{"code": "NOT_FOUND", "meaning": "There is none.", "remedy": "Look again.", "retryable": False}],
    "effect": {"kind": "deduplicated", "key": "/arguments/sku"},
    "sessionState": "stateless",
    "timeoutMs": 5000,
    "readOnly": False,
    "isolate": False,
    "examples": [{"sku": "A-1"}],
    "security": "Reads the stock table.",
    "deprecated": None,
    "aliases": ["find"],
    "normalization": {"aliases": {}, "rules": {}},
    "reserved": [],
    "limits": {"ratePerMinute": 60},
    "requires": ["scope:stock"],
    "content": ["text", "image"],
    "render": {"default": "porcelain"},
    "icons": [],
}
SNAPSHOT: dict[str, Any] = {
    "snapshotVersion": 1,
    "schemaVersion": "1.0.0",
    "server": {"name": "shop", "version": "1.0.0", "instructions": "Look before you leap."},
    "dialect": "status",
    "protocolVersions": ["2025-06-18", "2025-11-25"],
    "outputSchemaPublished": True,
    "presentationArguments": True,
    "capabilities": {"tools": []},
    "errorSchema": {
        "type": "object",
        "properties": {"status": {"const": "failure"}, "code": {"type": "string"}},
        "required": ["status", "code"],
    },
    "tools": [LOOKUP],
    "prompts": [{"name": "count", "description": "Count.", "arguments": [{"name": "sku", "required": True},
                                                                         {"name": "unit"}]}],
    "resources": [{"uri": "stock://all", "name": "all", "mimeType": "text/plain"}],
    "resourceTemplates": [{"uriTemplate": "stock://{sku}", "name": "one", "mimeType": "text/plain"}],
}  # fmt: skip


def snapshot(edit: Edit | None = None) -> dict[str, Any]:
    """The snapshot, with something changed."""
    document = copy.deepcopy(SNAPSHOT)
    if edit is not None:
        edit(document)
    return document


def tool_edit(**values: Any) -> Edit:
    """Put these values into the tool; None as a key's value of ... removes it."""

    def edit(document: dict[str, Any]) -> None:
        for key, value in values.items():
            if value is ...:
                document["tools"][0].pop(key)
            else:
                document["tools"][0][key] = value

    return edit


def deep(path: str, value: Any) -> Edit:
    """Set, or with ... remove, what a dotted path into the document leads to; numbers index lists."""

    def edit(document: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        place: Any = document
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if value is ...:
            del place[int(last) if isinstance(place, list) else last]
        else:
            place[int(last) if isinstance(place, list) else last] = value

    return edit


def compared(new: Edit | None = None, old: Edit | None = None, **options: Any) -> SurfaceDiff:
    """What becomes of the surface when it changes from the one form to the other."""
    return diff_surfaces(read_surface(snapshot(old)), read_surface(snapshot(new)), **options)
