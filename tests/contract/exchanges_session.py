"""Exchanges about sessions: the handshake at each revision, the era without one, and the list of tools."""

from typing import Any

from tests.contract.exchange import (
    CAPABILITIES,
    ENVELOPE,
    INVALID,
    META,
    MODERN,
    STAMP,
    Exchange,
    Scene,
    call,
    initialize,
    modern,
    note,
    request,
    structured,
    welcome,
)
from tests.contract.patterns import ANY, Has, Id, Is, ListOf, PerMode, Text
from tests.contract.steps import Error, Raw, Result, Send, Silent, Step


def _handshake(asked: str, answered: str) -> tuple[Step, ...]:
    return (
        Send((initialize(1, asked),)),
        Result(Id(1), welcome(answered)),
        Send((note("notifications/initialized"),)),
    )


NARROW = {"HOLDFAST_CONCURRENCY": "1", "HOLDFAST_QUEUE_MAX": "2"}

SCENES: dict[str, Scene] = {
    # The very first bytes are a byte order mark and blank lines, and the client asks before it introduces itself.
    "latest": Scene(
        "poc",
        (
            Raw(PerMode(b"\xef\xbb\xbf\r\n  \n", legacy=b"\xef\xbb\xbf\r\n")),
            Send((request(Id(2), "ping"), request(Id(3), "tools/list"), call(Id(4), "echo", {"text": "x"}))),
            Result(Id(2), {}),
            Error(Id(3), -32600, INVALID, Text("before the handshake")),
            Error(Id(4), -32600, INVALID, Text("before the handshake")),
            *_handshake("1999-01-01", "2025-11-25"),
            Send((initialize(5, "2025-11-25"),)),
            Error(Id(5), -32600, INVALID, Text("already initialized")),
        ),
    ),
    "2025-06-18": Scene("status", _handshake("2025-06-18", "2025-06-18")),
    "2025-03-26": Scene("poc", _handshake("2025-03-26", "2025-03-26")),
    "2024-11-05": Scene("launch", _handshake("2024-11-05", "2024-11-05")),
    "pinned": Scene("poc", _handshake("2025-06-18", "2024-11-05"), {"HOLDFAST_PROTOCOL": "pinned"}),
    "narrow": Scene("poc", _handshake("2025-11-25", "2025-11-25"), NARROW),
}


def _opening(scene: str, *proves: str, **more: Any) -> Exchange:
    """An exchange whose whole point is the opening of its scene."""
    return Exchange(f"a session of scene {scene} opens", scene, (Silent(),), proves, **more)


CONTRACT = "io.holdfast/contract"
SCHEMA = Has({"type": "object", "properties": ANY, "additionalProperties": False})
VERSIONS = {"version": "1.4.0", "schemaVersion": 5, "toolingVersion": "1.2.3", "surfaceVersion": "2.1.0"}
HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
NAMES = [
    "echo",
    "say",
    "add",
    "count",
    "refuse",
    "crash",
    "wait_for_gate",
    "open_gate",
    "hang",
    "tree",
    "report",
    "noise",
    "in_thread",
    "isolated",
    "large",
    "wrong_output",
    "hang_briefly",
    "tree_briefly",
]
TOP_LEVEL = {"schemaVersion": 5, "toolingVersion": "1.2.3"}
LEGACY_TOOL = (
    "In legacy framing the contract's versions also stand at the top level of every tool, at each revision."
)


def _tool(**fields: Any) -> dict[str, Any]:
    meta = {CONTRACT: VERSIONS, "io.holdfast/effect": ANY}
    return {"name": "add", "description": "Add two numbers.", "inputSchema": SCHEMA, "_meta": meta, **fields}


def _list(scene: str, tool: Any, *proves: str, structured_fields: bool, **more: Any) -> Exchange:
    others: list[Any] = [Has({"name": name, "description": Is((str,)), "inputSchema": SCHEMA}) for name in NAMES]
    others[NAMES.index("add")] = tool
    without = () if structured_fields else ("title", "outputSchema")
    others[NAMES.index("echo")] = Has({"name": "echo"}, without)
    steps = (Send((request(Id(1), "tools/list"),)), Result(Id(1), {"tools": others}))
    return Exchange(f"the tools are listed in scene {scene}", scene, steps, proves, **more)


OUTPUT = Has({"type": "object", "properties": {"total": ANY}, "required": ["total"]})

LISTS = (
    _list(
        "latest",
        PerMode(
            _tool(annotations=HINTS, outputSchema=OUTPUT),
            legacy=_tool(annotations=HINTS, outputSchema=OUTPUT, **TOP_LEVEL),
        ),
        "S0-2.1-name",
        "S0-2.1-description",
        "S0-2.1-input-schema",
        "S1-6.5.1-full-list",
        "S1-6.5.1-one-registry",
        structured_fields=True,
        differences={"legacy": LEGACY_TOOL},
    ),
    _list(
        "2025-06-18",
        PerMode(
            _tool(annotations=HINTS, outputSchema=Has({"type": "object"})),
            legacy=_tool(annotations=HINTS, outputSchema=Has({"type": "object"}), **TOP_LEVEL),
        ),
        structured_fields=True,
        differences={"legacy": LEGACY_TOOL},
    ),
    _list(
        "2025-03-26",
        _tool(annotations=HINTS, **TOP_LEVEL),
        "S0-2.1-schema-version",
        "S0-2.1-tooling-version",
        structured_fields=False,
    ),
    _list("2024-11-05", _tool(**TOP_LEVEL), "S0-1-all-transports", structured_fields=False),
    _list(
        "pinned",
        _tool(annotations=HINTS, outputSchema=OUTPUT, **TOP_LEVEL),
        "S0-2.1-schema-version",
        structured_fields=True,
    ),
)

CACHED = {"resultType": "complete", "ttlMs": Is((int,)), "cacheScope": "public", "_meta": STAMP}

MODERN_ERA = (
    Exchange(
        "a server without a handshake describes itself",
        "latest",
        (
            Send((modern(1, "server/discover"),)),
            Result(
                Id(1),
                {
                    "supportedVersions": [MODERN],
                    "capabilities": CAPABILITIES,
                    "instructions": "Tools for tests.",
                    **CACHED,
                },
            ),
        ),
        ("S1-6.4-capability-block", "S1-6.4-versions"),
    ),
    Exchange(
        "requests that describe themselves are served beside a handshake",
        "2025-03-26",
        (
            Send(
                (
                    modern(1, "tools/list"),
                    modern(2, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
                    call(Id(3), "add", {"a": 1, "b": 2}),
                )
            ),
            Result(Id(1), {"tools": ListOf(Has({"name": Is((str,))}), len(NAMES)), **CACHED}),
            Result(Id(2), {**structured({"total": 3}), "resultType": "complete", "_meta": STAMP}),
            Result(Id(3), Has({"isError": False}, without=("resultType", "_meta", "structuredContent"))),
        ),
    ),
    Exchange(
        "a server serves the era without a handshake alone, and then a handshake",
        "latest",
        (
            Send((modern(11, "tools/call", {"name": "echo", "arguments": {"text": "x"}}),)),
            Result(Id(11), {**structured({"text": "x"}), "resultType": "complete", "_meta": STAMP}),
            Send((initialize(12, "2025-06-18"),)),
            Result(Id(12), welcome("2025-06-18")),
            Send((request(Id(13), "ping"), modern(14, "server/discover"))),
            Result(Id(13), {}),
            Result(Id(14), Has({"supportedVersions": [MODERN]})),
        ),
        opened=False,
    ),
    Exchange(
        "a request that describes itself badly is refused",
        "latest",
        (
            Send(
                (
                    request(Id(1), "server/discover"),
                    request(Id(2), "server/discover", {"_meta": {META + "protocolVersion": MODERN}}),
                    request(Id(3), "tools/list", {"_meta": {**ENVELOPE, META + "clientCapabilities": 1}}),
                    modern(4, "tools/list", None, **{META + "protocolVersion": "1999-01-01"}),
                    modern(5, "ping"),
                )
            ),
            Error(Id(1), -32602, INVALID),
            Error(Id(2), -32602, INVALID),
            Error(Id(3), -32602, INVALID),
            Error(Id(4), -32022, {**INVALID, "supported": [MODERN], "requested": "1999-01-01"}),
            Error(Id(5), -32601, INVALID),
        ),
        ("S1-5.2-protocol-error-code",),
    ),
)

EXCHANGES = (
    _opening(
        "latest",
        "S1-6.1-json-rpc",
        "S1-6.4-capability-block",
        "S1-6.4-versions",
        "S1-3.2-tool-version",
        "S1-3.2-schema-version",
    ),
    _opening("2025-06-18"),
    _opening("2025-03-26"),
    _opening("2024-11-05", "S1-6.1-revision"),
    _opening("pinned", "S1-6.1-revision", "S1-6.1-other-revision"),
    *LISTS,
    *MODERN_ERA,
    Exchange(
        "a handshake without a revision is refused and can be repeated",
        "latest",
        (
            Send((request(Id(1), "initialize", {}), initialize(2, 5), initialize(3, "2025-11-25"))),
            Error(Id(1), -32602, INVALID),
            Error(Id(2), -32602, INVALID),
            Result(Id(3), welcome("2025-11-25")),
        ),
        opened=False,
    ),
    Exchange(
        "a page of tools that does not exist is refused",
        "latest",
        (Send((request(Id(1), "tools/list", {"cursor": "2"}),)), Error(Id(1), -32602, INVALID)),
    ),
)
