"""Each era of the protocol in the words of the other: which fields, methods and capabilities are made or removed.

In the older one a session begins with a handshake (`initialize`); in the newer one every request describes itself.
This is data, and pure functions on decoded messages; who is asked what and when is the business of the host. What
comes from a worker is not believed to have the right types: what cannot be kept is left out, never guessed.

Keys that a revision does not know are legal in it, so only what a revision would call wrong is changed.
"""

import json
from collections.abc import Mapping
from typing import Any

from holdfast.present.error_numbers import HANDSHAKE_NUMBERS
from holdfast.present.profile import (
    HANDSHAKE_REVISIONS,
    META_CAPABILITIES,
    META_REVISION,
    META_SERVER_INFO,
    MODERN,
    negotiate,
)

__all__ = [
    "CACHEABLE",
    "CALLBACKS",
    "CONTENT_SINCE",
    "LEVELS",
    "LISTENED",
    "META_CLIENT_INFO",
    "META_LOG_LEVEL",
    "MISSING_CAPABILITY",
    "ONLY_WITH_HANDSHAKE",
    "TRANSLATIONS",
    "UNSUPPORTED_REVISION",
    "acknowledged_filter",
    "client_description",
    "content_for_revision",
    "discover_from_initialize",
    "error_for_handshake",
    "error_for_modern",
    "initialize_from_discover",
    "initialize_params",
    "input_required",
    "is_discovery",
    "is_handshake",
    "modern_problem",
    "names_modern",
    "params_for_handshake",
    "params_for_modern",
    "result_for_handshake",
    "result_for_modern",
    "unanswerable",
]

META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_RESERVED = "io.modelcontextprotocol/"

INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25
MISSING_CAPABILITY = -32021  # of the client; since 2026-07-28
UNSUPPORTED_REVISION = -32022

# A server of the older era promised nothing about how long its answers hold, so nothing is promised for it.
NO_CACHE = {"ttlMs": 0, "cacheScope": "private"}
CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
_MODERN_RESULT_FIELDS = frozenset({"resultType", "ttlMs", "cacheScope"})

# Methods that a request which describes itself cannot use, though a worker of the other era knows them.
ONLY_WITH_HANDSHAKE = frozenset(
    {
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/cancel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
    }
)

# What can be listened for: the notification, its name in the filter of `subscriptions/listen`, and the capability.
LISTENED = {
    "notifications/tools/list_changed": ("toolsListChanged", "tools"),
    "notifications/prompts/list_changed": ("promptsListChanged", "prompts"),
    "notifications/resources/list_changed": ("resourcesListChanged", "resources"),
}

# What a server asks a client, with the capability that the client must have named.
CALLBACKS = {
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
    "elicitation/create": "elicitation",
}

MAX_QUESTIONS = 16  # that one result may put to a client
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

_CAPABILITIES = ("completions", "experimental", "logging", "prompts", "resources", "tools")
_SWITCHES = ("listChanged", "subscribe")

# Kinds of content that not every revision with a handshake can carry.
CONTENT_SINCE = {"audio": "2025-03-26", "resource_link": "2025-06-18"}

# For people: what becomes of what, in both directions. The documentation is made of these rows.
TRANSLATIONS = (
    ("server/discover", "made of the answer to `initialize`; a `ping` asks whether the worker lives",
     "asked by the host in place of `initialize`"),
    ("initialize, notifications/initialized", "said by the host, once per worker",
     "answered from `server/discover`; the notification goes no further"),
    ("ping", "refused with -32601, as 2026-07-28 has it", "asked as `server/discover`"),
    ("_meta of requests", "the keys of the protocol are removed; `progressToken`, `traceparent` and others stay",
     "revision, capabilities, client and log level are added"),
    ("resultType", "`complete` is added", "removed"),
    ("ttlMs, cacheScope", "added where they are required: `0` and `private`", "removed"),
    ("_meta of results", "the name of the server is added", "the name of the server is removed"),
    ("capabilities", "`tasks` and unknown ones are removed", "`extensions` and unknown ones are removed"),
    ("subscriptions/listen", "held by the host; resources are subscribed to, and what is told is tagged",
     "opened by the host for changed lists, and for each resource that is subscribed to"),
    ("logging/setLevel", "refused with -32601; a `logLevel` of a request becomes `logging/setLevel`",
     "answered by the host; the level is put into each request that follows"),
    ("notifications/message", "passed on while a request that asked for it is open", "passed on"),
    ("sampling, roots, elicitation", "put to the client as `input_required`; the call goes on with its answer",
     "`input_required` is put to the client, and the call repeated with its answers"),
    ("tools", "`execution` is removed", "an output schema that is no object is removed, with what it describes"),
    ("content", "as it is", "links and sound become text where the revision does not know them"),
    ("resource not found", "-32002 becomes -32602", "-32602 becomes -32002"),
)  # fmt: skip


# --- who is it? --------------------------------------------------------------------------------------------------


def is_discovery(result: object) -> bool:
    """Whether an answer to `server/discover` is one, by a server that speaks 2026-07-28."""
    return (
        isinstance(result, dict)
        and names_modern(result.get("supportedVersions"))
        and isinstance(result.get("capabilities"), dict)
    )


def is_handshake(result: object) -> bool:
    """Whether an answer to `initialize` settles on a revision that has a handshake."""
    return isinstance(result, dict) and result.get("protocolVersion") in HANDSHAKE_REVISIONS


def names_modern(revisions: object) -> bool:
    """Whether a list of revisions holds 2026-07-28."""
    return isinstance(revisions, list) and MODERN in revisions


# --- a client that describes itself, a worker with a handshake -------------------------------------------------


def modern_problem(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """The error for a request that does not describe itself as 2026-07-28 wants it; None if it does."""
    meta = _dict(params.get("_meta"))
    if meta.get(META_REVISION) != MODERN:
        requested = str(meta.get(META_REVISION))[:80]
        text = f"the revision {requested!r} is not supported"
        data = {"code": "INVALID_REQUEST", "supported": [MODERN], "requested": requested}
        return {"code": UNSUPPORTED_REVISION, "message": text, "data": data}
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        text = f"_meta has no object {META_CAPABILITIES!r}"
        return {"code": INVALID_PARAMS, "message": text, "data": {"code": "INVALID_REQUEST"}}
    return None


def initialize_params(meta: Mapping[str, Any], revision: str, host: Mapping[str, str]) -> dict[str, Any]:
    """The handshake in the name of a client that described itself; the host's own name where it told none."""
    info = _dict(meta.get(META_CLIENT_INFO))
    known = isinstance(info.get("name"), str) and isinstance(info.get("version"), str)
    named = _dict(meta.get(META_CAPABILITIES))
    can = {name: named[name] for name in CALLBACKS.values() if isinstance(named.get(name), dict)}
    return {"protocolVersion": revision, "capabilities": can, "clientInfo": info if known else dict(host)}


def params_for_handshake(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a request without what describes the client."""
    meta = {key: value for key, value in _dict(params.get("_meta")).items() if not key.startswith(_RESERVED)}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": meta} if meta else rest


def discover_from_initialize(initialized: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to `server/discover` that a worker would give whose answer to the handshake is known."""
    told: dict[str, Any] = {
        "supportedVersions": [MODERN],
        "capabilities": _capabilities(initialized.get("capabilities")),
    }
    if isinstance(initialized.get("instructions"), str):
        told["instructions"] = initialized["instructions"]
    return result_for_modern("server/discover", told, _server_info(initialized.get("serverInfo")))


def result_for_modern(method: str, result: Any, server_info: object) -> dict[str, Any]:
    """A result with everything that 2026-07-28 wants of it."""
    told = dict(_dict(result))
    if method == "tools/list":
        told["tools"] = [_without(tool, "execution") for tool in _list(told.get("tools"))]
    hints = {key: value for key, value in NO_CACHE.items() if not _is_hint(key, told.get(key))}
    meta = {**_dict(told.get("_meta")), META_SERVER_INFO: _server_info(server_info)}
    return {**told, **(hints if method in CACHEABLE else {}), "resultType": "complete", "_meta": meta}


def input_required(requests: Mapping[str, Any], state: str, server_info: object) -> dict[str, Any]:
    """The result that asks the client for something before the call can go on."""
    told = {"inputRequests": dict(requests), "requestState": state}
    return {**result_for_modern("", told, server_info), "resultType": "input_required"}


def error_for_modern(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error with the code that 2026-07-28 has for it."""
    gone = error.get("code") == RESOURCE_NOT_FOUND
    return {**error, "code": INVALID_PARAMS} if gone else dict(error)


def acknowledged_filter(wanted: object, capabilities: object) -> dict[str, Any]:
    """What of a filter of `subscriptions/listen` a worker with these capabilities can tell."""
    asked, can = _dict(wanted), _dict(capabilities)
    told: dict[str, Any] = {
        name: True
        for name, capability in LISTENED.values()
        if asked.get(name) is True and _dict(can.get(capability)).get("listChanged") is True
    }
    uris = [uri for uri in _list(asked.get("resourceSubscriptions")) if isinstance(uri, str)]
    if uris and _dict(can.get("resources")).get("subscribe") is True:
        told["resourceSubscriptions"] = list(dict.fromkeys(uris))
    return told


# --- a client with a handshake, a worker that wants requests to describe themselves ----------------------------


def client_description(params: Mapping[str, Any]) -> dict[str, Any]:
    """What every request of a client says about it, made of the parameters of its `initialize`."""
    named = _dict(params.get("capabilities"))
    can = {name: dict(_dict(named.get(name))) for name in CALLBACKS.values() if isinstance(named.get(name), dict)}
    can.get("roots", {}).pop("listChanged", None)
    description = {META_REVISION: MODERN, META_CAPABILITIES: can}
    info = params.get("clientInfo")
    return {**description, META_CLIENT_INFO: info} if isinstance(info, dict) else description


def params_for_modern(
    params: Mapping[str, Any], description: Mapping[str, Any], level: str | None
) -> dict[str, Any]:
    """The parameters of a request that describes itself."""
    meta = {**_dict(params.get("_meta")), **description}
    return {**params, "_meta": {**meta, META_LOG_LEVEL: level} if level else meta}


def initialize_from_discover(
    discovered: Mapping[str, Any], requested: object, *, pinned: bool = False
) -> dict[str, Any]:
    """The answer to `initialize` of a worker that told this about itself."""
    told: dict[str, Any] = {
        "protocolVersion": negotiate(requested, pinned=pinned),
        "capabilities": _capabilities(discovered.get("capabilities")),
        "serverInfo": _server_info(_dict(discovered.get("_meta")).get(META_SERVER_INFO)),
    }
    if isinstance(discovered.get("instructions"), str):
        told["instructions"] = discovered["instructions"]
    return told


def result_for_handshake(method: str, result: Any, revision: str) -> Any:
    """A result without what a revision with a handshake does not have."""
    if not isinstance(result, dict):
        return result
    told = {key: value for key, value in result.items() if key not in _MODERN_RESULT_FIELDS}
    meta = _without(told.pop("_meta", None), META_SERVER_INFO)
    if isinstance(meta, dict) and meta:
        told["_meta"] = meta
    if method == "tools/list":
        told["tools"] = [_tool_for_handshake(tool) for tool in _list(told.get("tools"))]
    elif method == "tools/call":
        _call_for_handshake(told, revision)
    elif method == "prompts/get":
        told["messages"] = [_message_for_handshake(item, revision) for item in _list(told.get("messages"))]
    return told


def error_for_handshake(method: str, error: Mapping[str, Any]) -> dict[str, Any]:
    """An error with the code that revisions with a handshake have for it."""
    code, data = error.get("code"), _dict(error.get("data"))
    # Only where a resource is missing its address is told; a server of ours tells it always, and a code.
    is_gone = method == "resources/read" and "uri" in data and data.get("code", "NOT_FOUND") == "NOT_FOUND"
    if code == INVALID_PARAMS and is_gone:
        return {**error, "code": RESOURCE_NOT_FOUND}
    return {**error, "code": HANDSHAKE_NUMBERS.get(code, code)}  # type: ignore[arg-type]


def unanswerable(requests: object, description: Mapping[str, Any], revision: str) -> str:
    """Why a client cannot be asked what a worker wants to know; empty when it can."""
    if not isinstance(requests, dict) or not all(isinstance(one, dict) for one in requests.values()):
        return "the server asks for input in a form that nobody can read"
    if len(requests) > MAX_QUESTIONS:
        return f"the server asks {len(requests)} questions at once, and {MAX_QUESTIONS} are the most"
    can = _dict(description.get(META_CAPABILITIES))
    for asked in requests.values():
        capability = CALLBACKS.get(str(asked.get("method")))
        if capability is None:
            return f"the server asks for {str(asked.get('method'))[:80]!r}, which no client knows"
        if capability not in can:
            return f"the server needs the capability {capability!r}, which this client has not"
        if capability == "elicitation" and revision < "2025-06-18":
            return f"the server asks for {asked['method']!r}, which revision {revision} does not have"
    return ""


# --- pieces ------------------------------------------------------------------------------------------------------


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _without(value: Any, name: str) -> Any:
    return {key: item for key, item in value.items() if key != name} if isinstance(value, dict) else value


def _is_hint(name: str, value: object) -> bool:
    if name == "ttlMs":
        return type(value) is int and value >= 0
    return value in ("public", "private")


def _server_info(value: object) -> dict[str, Any]:
    info = _dict(value)
    known = {name: info[name] for name in ("name", "version") if isinstance(info.get(name), str)}
    return {"name": "unknown", "version": "unknown"} | (info if len(known) == len(("name", "version")) else known)


def _capabilities(value: object) -> dict[str, Any]:
    """The capabilities that both eras know, as far as they have the form that both want."""
    told = {name: dict(item) for name in _CAPABILITIES if isinstance(item := _dict(value).get(name), dict)}
    for name, item in told.items():
        if name == "experimental":
            told[name] = {key: inner for key, inner in item.items() if isinstance(inner, dict)}
        else:
            told[name] = {
                key: inner for key, inner in item.items() if key not in _SWITCHES or isinstance(inner, bool)
            }
    return told


def _tool_for_handshake(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    told = {**tool}
    if "inputSchema" in told:
        told["inputSchema"] = _spelled_out(told["inputSchema"])
    if "outputSchema" in told:
        schema = told.pop("outputSchema")
        if isinstance(schema, dict) and schema.get("type") == "object":
            told["outputSchema"] = _spelled_out(schema)
    return told


def _spelled_out(schema: Any) -> Any:
    """A schema whose properties are objects: older revisions do not take `true` and `false` there."""
    properties = _dict(schema).get("properties")
    if not isinstance(properties, dict):
        return schema
    written: dict[bool, dict[str, Any]] = {True: {}, False: {"not": {}}}
    told = {name: written[item] if isinstance(item, bool) else item for name, item in properties.items()}
    return {**schema, "properties": told}


def _call_for_handshake(told: dict[str, Any], revision: str) -> None:
    content = [content_for_revision(item, revision) for item in _list(told.get("content"))]
    if "structuredContent" in told and not isinstance(told["structuredContent"], dict):
        value = told.pop("structuredContent")
        content = content or [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}]
    told["content"] = content


def _message_for_handshake(message: Any, revision: str) -> Any:
    if not isinstance(message, dict):
        return message
    return {**message, "content": content_for_revision(message.get("content"), revision)}


def content_for_revision(item: Any, revision: str) -> Any:
    """An item of content, in words where a revision does not know its kind."""
    kind = str(_dict(item).get("type"))
    if revision >= CONTENT_SINCE.get(kind, ""):
        return item
    if kind == "audio":
        text = f"[{item.get('mimeType', 'audio')}: not possible in revision {revision}]"
    else:
        text = " ".join(str(item[name]) for name in ("title", "uri", "description") if item.get(name))
    return {"type": "text", "text": text}
