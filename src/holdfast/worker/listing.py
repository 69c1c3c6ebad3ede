"""The lists of a server, as a session is given them: shaped for its revision, and in pages.

A cursor names the entry behind which the next page begins, so it stays good while other entries come and go, and
in another process that serves the same session.
"""

import base64
import binascii
import hashlib
from typing import Any

from holdfast.errors import WireError
from holdfast.present.profile import Profile, shape_entry, shape_list, shape_tool
from holdfast.settings import Settings
from holdfast.wire.envelope import INVALID_PARAMS, Request
from holdfast.worker.registry import Registry

__all__ = ["LISTS", "Listing"]

# By method: the member of the result, and what names an entry.
LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
_DIGEST = 9  # bytes; twelve characters of a cursor


class Listing:
    """What one session is told when it asks for a list."""

    def __init__(self, server: Registry, settings: Settings) -> None:
        self._server = server
        self._page_size = settings.list_page
        self._shaped: dict[tuple[str, Profile], tuple[list[Any], list[dict[str, Any]]]] = {}

    def page(self, request: Request, profile: Profile) -> dict[str, Any]:
        """The result of a list request; WireError for a cursor that leads nowhere."""
        member, identity = LISTS[request.method]
        entries = self._entries(member, profile)
        first = self._first(request, member, identity, entries)
        last = len(entries) if not self._page_size else first + self._page_size
        result: dict[str, Any] = {member: entries[first:last]}
        if last < len(entries):
            result["nextCursor"] = _cursor(member, entries[last - 1][identity])
        return shape_list(result, profile, self._server.server_info, ttl_ms=self._server.list_ttl_ms)

    def _entries(self, member: str, profile: Profile) -> list[dict[str, Any]]:
        source = self._server.listed(member)
        kept = self._shaped.get((member, profile))
        if kept is not None and kept[0] is source:
            return kept[1]
        shape = shape_tool if member == "tools" else shape_entry
        shaped = [shape(definition, profile) for definition in source]
        self._shaped[member, profile] = (source, shaped)
        return shaped

    def _first(self, request: Request, member: str, identity: str, entries: list[dict[str, Any]]) -> int:
        cursor = request.params.get("cursor")
        if cursor is None:
            return 0
        if isinstance(cursor, str) and _is_cursor(cursor):
            for number, entry in enumerate(entries, 1):
                if _cursor(member, entry[identity]) == cursor:
                    return number
        raise WireError(
            INVALID_PARAMS,
            "the cursor leads nowhere: it is none, or what it names is gone; ask for the list without one",
            request_id=request.id,
        )


def _cursor(member: str, name: str) -> str:
    digest = hashlib.sha256(f"{member}\0{name}".encode()).digest()[:_DIGEST]
    return base64.urlsafe_b64encode(digest).decode()


def _is_cursor(text: str) -> bool:
    try:
        return len(text) < 64 and len(base64.b64decode(text, altchars=b"-_", validate=True)) == _DIGEST
    except (binascii.Error, ValueError):
        return False
