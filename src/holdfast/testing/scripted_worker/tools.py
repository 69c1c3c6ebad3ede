"""The methods and tools of the scripted worker; each tool declares its effect, and does what it declares.

A tool returns its payload, or None when it will answer later by itself.
"""

import os
from typing import Any

from .messages import SERVER_INFO, Call, is_modern
from .worker import FAILED, INVALID_PARAMS, Method, Tool, Worker

__all__ = ["METHODS", "TOOLS"]

Json = dict[str, Any]

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
META_EFFECT = "io.holdfast/effect"


def _capabilities(worker: Worker) -> Json:
    """What the server says that it can do."""
    can: Json = {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}}
    if worker.traits.get("no_tools"):
        del can["tools"]
    return can


def _initialize(worker: Worker, call: Call) -> None:
    """Open the session."""
    wanted = call.params.get("protocolVersion")
    worker.revision = worker.traits.get("revision") or (wanted if wanted in REVISIONS else REVISIONS[-1])
    result = {"protocolVersion": worker.revision, "capabilities": _capabilities(worker), "serverInfo": SERVER_INFO}
    worker.answer(call, {"result": result})


def _discover(worker: Worker, call: Call) -> None:
    """Describe the server to a client that needs no handshake."""
    versions = [MODERN, *REVISIONS]
    hints = {"ttlMs": 1000, "cacheScope": "public"}
    worker.answer(
        call, {"result": {"supportedVersions": versions, "capabilities": _capabilities(worker), **hints}}
    )


def _list_tools(worker: Worker, call: Call) -> None:
    """One page of the tools."""
    if worker.traits.get("list_error"):
        worker.refuse(call, FAILED, "the list of tools cannot be read")
        return
    names: list[str] = worker.traits["tools"]
    if worker.traits.get("endless_pages"):
        worker.answer(call, {"result": {"tools": [_definition(names[0])], "nextCursor": "again"}})
        return
    cursor = call.params.get("cursor") or "0"
    if not str(cursor).isdigit():
        worker.refuse(call, INVALID_PARAMS, f"unknown cursor {cursor}")
        return
    start, end = int(cursor), int(cursor) + (worker.page_size or len(names))
    result: Json = {"tools": [_definition(name) for name in names[start:end]]}
    if end < len(names):
        result["nextCursor"] = str(end)
    if is_modern(call):
        result = {**result, "ttlMs": 1000, "cacheScope": "public"}
    worker.answer(call, {"result": result})


def _set_level(worker: Worker, call: Call) -> None:
    """Remember the level of logging."""
    worker.level = call.params.get("level")
    worker.answer(call, {"result": {}})


def _subscribe(worker: Worker, call: Call) -> None:
    """Remember a subscription."""
    worker.subscriptions.append(str(call.params.get("uri")))
    worker.answer(call, {"result": {}})


def _unsubscribe(worker: Worker, call: Call) -> None:
    """Forget a subscription."""
    worker.subscriptions = [uri for uri in worker.subscriptions if uri != call.params.get("uri")]
    worker.answer(call, {"result": {}})


METHODS: dict[str, Method] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": lambda worker, call: worker.answer(call, {"result": {}}),
    "tools/list": _list_tools,
    "tools/call": Worker.call_tool,
    "logging/setLevel": _set_level,
    "resources/list": lambda worker, call: worker.answer(call, {"result": {"resources": []}}),
    "resources/subscribe": _subscribe,
    "resources/unsubscribe": _unsubscribe,
}


# --- tools ---------------------------------------------------------------------------------------------------


def _read(worker: Worker, call: Call) -> Json:
    """Tell what was asked for, and by which generation."""
    return {"value": call.arguments.get("value"), "generation": worker.state.generation}


def _write(worker: Worker, call: Call) -> Json:
    """Take effect, as often as it is called."""
    worker.state.note("effects", tool=call.tool, token=call.arguments.get("token"))
    return {"token": call.arguments.get("token"), "generation": worker.state.generation}


def _add_once(worker: Worker, call: Call) -> Json:
    """Take effect once per key."""
    key = str(call.arguments.get("key"))
    stored, is_new = worker.state.commit(key, {"key": key, "amount": call.arguments.get("amount")})
    if is_new:
        worker.state.note("effects", tool="add_once", key=key)
    return stored


def _guarded_probe(worker: Worker, call: Call) -> Json:
    """Tell what became of a guarded call."""
    token = call.arguments.get("token")
    notes = worker.state.notes("effects", containing=str(token))
    done = [note for note in notes if note["tool"] == "guarded" and note["token"] == token]
    if "probe" in worker.traits:
        return {"outcome": worker.traits["probe"]}
    if not done:
        return {"outcome": "safe_to_retry"}
    payload = {"token": token, "generation": done[0]["generation"]}
    return {"outcome": "completed", "result": payload}


def _whoami(worker: Worker, _call: Call) -> Json:
    """Tell which process this is, and what it was told about the session."""
    return {
        "pid": os.getpid(),
        "generation": worker.state.generation,
        "revision": worker.revision,
        "level": worker.level,
        "subscriptions": worker.subscriptions,
    }


def _progress(worker: Worker, call: Call) -> None:
    """Tell progress, step by step."""
    worker.step(call, 1, call.arguments.get("steps", 3), call.arguments.get("pause", 0.0))


def _ask(worker: Worker, call: Call) -> None:
    """Ask the client something and return what it says."""
    worker.ask(call, call.arguments.get("method", "roots/list"), call.arguments.get("params", {}))


def _effect(kind: str, **fields: str) -> Json:
    """The declaration of an effect, as a supervisor reads it."""
    return {"_meta": {META_EFFECT: {"recovery": {"kind": kind, **fields}, "state": {"kind": "stateless"}}}}


READ_ONLY: Json = {"annotations": {"readOnlyHint": True}}

TOOLS: dict[str, tuple[Json, Tool]] = {
    "read": (READ_ONLY, _read),
    "write": ({}, _write),
    "add_once": (_effect("deduplicated", key="/arguments/key"), _add_once),
    "guarded": (_effect("probe_required", probe="guarded_probe"), _write),
    "guarded_probe": (READ_ONLY, _guarded_probe),
    "idempotent": ({"annotations": {"idempotentHint": True}}, _write),
    "slow": (READ_ONLY, _read),
    "progress": (READ_ONLY, _progress),
    "big": (READ_ONLY, lambda _, call: "x" * call.arguments.get("bytes", 1_000_000)),
    "ask": (READ_ONLY, _ask),
    "pid": (READ_ONLY, _whoami),
    "echo": (READ_ONLY, lambda _, call: {"arguments": call.arguments, "line": call.line.decode()}),
}


_ARGUMENTS: dict[str, Json] = {
    "amount": {"type": "integer"},
    "bytes": {"type": "integer"},
    "key": {"type": "string"},
    "method": {"type": "string"},
    "params": {"type": "object"},
    "pause": {"type": "number"},
    "seconds": {"type": "number", "description": "How long to wait between the effect and the answer."},
    "steps": {"type": "integer"},
    "token": {"type": "string", "description": "What the effect is noted with."},
    "value": {},
}

# Which of them a tool takes, beside `seconds`; all are optional, and others are ignored.
_TAKEN: dict[str, tuple[str, ...]] = {
    "add_once": ("key", "amount"),
    "ask": ("method", "params"),
    "big": ("bytes",),
    "guarded": ("token",),
    "guarded_probe": ("token",),
    "idempotent": ("token",),
    "progress": ("steps", "pause"),
    "read": ("value",),
    "slow": ("value",),
    "write": ("token",),
}


def _definition(name: str) -> Json:
    """A tool as it is listed."""
    declared = TOOLS[name][0] if name in TOOLS else {}
    named = {argument: _ARGUMENTS[argument] for argument in ("seconds", *_TAKEN.get(name, ()))}
    schema = {"type": "object", "properties": named}
    return {"name": name, "description": f"Scripted: {name}.", "inputSchema": schema, **declared}
