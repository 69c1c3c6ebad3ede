"""What may differ between protocol revisions and transports: one pure table, and the shaping that follows it.

Every other place in the package is the same for all of them. A profile is chosen per request: by the
handshake of the session, or by the revision that a request of the 2026-07-28 era carries in its `_meta`.

A server that is pinned to 2024-11-05 still sends annotations, output schemas and structured content there:
keys that a revision does not know are legal in it, and clients newer than the revision make use of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "HANDSHAKE_REVISIONS",
    "LATEST_HANDSHAKE",
    "LIST_TTL_MS",
    "META_CAPABILITIES",
    "META_REVISION",
    "META_SERVER_INFO",
    "META_SUBSCRIPTION",
    "MODERN",
    "PINNED",
    "PROFILES",
    "Profile",
    "negotiate",
    "profile_for",
    "shape_entry",
    "shape_list",
    "shape_result",
    "shape_tool",
]

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKE_REVISIONS[-1]
PINNED = "2024-11-05"
MODERN = "2026-07-28"

META_REVISION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

_BASE = frozenset({"name", "description", "inputSchema", "_meta"})
_STRUCTURED = frozenset({"title", "outputSchema"})
_VERSIONS = frozenset({"schemaVersion", "toolingVersion"})
_DECORATED = frozenset({"icons", "websiteUrl"})
_ENTRY = frozenset(
    {"uri", "uriTemplate", "name", "version", "description", "mimeType", "size", "annotations", "arguments"}
)

# How long a client may keep a list of tools. The list of one process never changes, but an upgrade may
# replace the process behind the session, so the time is short.
LIST_TTL_MS = 60_000


@dataclass(frozen=True, slots=True, eq=False)  # rows are compared by identity: there is one of each
class Profile:
    """One row: how a server speaks at one revision over one transport."""

    revision: str
    legacy_framing: bool
    pinned: bool
    tool_fields: frozenset[str]  # keys of a tool definition that are sent
    entry_fields: frozenset[str]  # keys that are sent of prompts, resources and of the server itself
    structured_content: bool  # results carry `structuredContent` where an output schema is published
    invalid_arguments_are_tool_errors: bool  # instead of JSON-RPC error -32602
    overload_code: int
    resource_not_found_code: int
    accepts_batches: bool
    progress_needs_token: bool
    self_describing: bool  # no handshake: requests carry their revision, results say that they are complete
    elicits_forms: bool  # a person can be asked to fill in a form; where the client says so, as all that is asked
    elicits_urls: bool  # and to open an address
    names_elicitations: bool  # such an address has an id of its own
    form_choices: bool  # fields of a form may have titled choices, several of them, and defaults
    sampling_tools: bool  # the model of the client may be given tools

    @property
    def name(self) -> str:
        """A short name for documents and test ids."""
        words = [self.revision, "pinned" if self.pinned else "", "legacy" if self.legacy_framing else ""]
        return " ".join(word for word in words if word)


def _row(revision: str, *, legacy: bool, pinned: bool = False) -> Profile:
    fields = set(_BASE)
    if revision >= "2025-03-26" or pinned:
        fields |= {"annotations"}
    if revision >= "2025-06-18" or pinned:
        fields |= _STRUCTURED
    if revision >= "2025-11-25" or pinned:
        fields |= {"icons"}
    if revision < "2025-06-18" or legacy:
        fields |= _VERSIONS
    entry = _ENTRY | ({"title", "_meta"} if "title" in fields else set())
    entry |= _DECORATED if "icons" in fields else set()
    return Profile(
        revision=revision,
        legacy_framing=legacy,
        pinned=pinned,
        tool_fields=frozenset(fields),
        entry_fields=frozenset(entry),
        structured_content="outputSchema" in fields,
        invalid_arguments_are_tool_errors=revision >= "2025-11-25",
        overload_code=1001 if revision == MODERN else -32001,
        resource_not_found_code=-32602 if revision == MODERN else -32002,
        accepts_batches=revision == "2025-03-26",
        progress_needs_token=not legacy,
        self_describing=revision == MODERN,
        # A client that is pinned to the oldest revision is newer than it, and says itself what it can be asked.
        elicits_forms=revision >= "2025-06-18" or pinned,
        elicits_urls=revision >= "2025-11-25" or pinned,
        names_elicitations=revision == "2025-11-25" or pinned,
        form_choices=revision >= "2025-11-25" or pinned,
        sampling_tools=revision >= "2025-11-25" or pinned,
    )


PROFILES: tuple[Profile, ...] = tuple(
    _row(revision, legacy=legacy, pinned=pinned)
    for legacy in (False, True)
    for revision, pinned in (
        *((revision, False) for revision in HANDSHAKE_REVISIONS),
        (PINNED, True),
        (MODERN, False),
    )
)

_BY_KEY = {(row.revision, row.legacy_framing, row.pinned): row for row in PROFILES}


def profile_for(revision: str, *, legacy_framing: bool = False, pinned: bool = False) -> Profile:
    """The row of a revision that this package speaks."""
    return _BY_KEY[revision, legacy_framing, pinned and revision == PINNED]


def negotiate(requested: object, *, pinned: bool) -> str:
    """The revision that a handshake settles on: the client's where known, else the latest with a handshake."""
    if pinned:
        return PINNED
    return requested if isinstance(requested, str) and requested in HANDSHAKE_REVISIONS else LATEST_HANDSHAKE


def shape_tool(definition: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """A tool definition with just the keys that the profile sends."""
    return {key: value for key, value in definition.items() if key in profile.tool_fields}


def shape_entry(definition: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """A prompt, a resource or the server itself, with just the keys that the profile sends."""
    return {key: value for key, value in definition.items() if key in profile.entry_fields}


def shape_list(
    result: dict[str, Any],
    profile: Profile,
    server_info: Mapping[str, Any],
    *,
    ttl_ms: int = LIST_TTL_MS,
    scope: str = "public",
) -> dict[str, Any]:
    """A result that may be kept, with the cache hints that self-describing ones must carry."""
    if profile.self_describing:
        result = {**result, "ttlMs": ttl_ms, "cacheScope": scope}
    return shape_result(result, profile, server_info)


def shape_result(result: dict[str, Any], profile: Profile, server_info: Mapping[str, Any]) -> dict[str, Any]:
    """A result, stamped as complete and with its server where there was no handshake to say so."""
    if not profile.self_describing:
        return result
    meta = {**result.get("_meta", {}), META_SERVER_INFO: dict(server_info)}
    return {"resultType": "complete", **result, "_meta": meta}
