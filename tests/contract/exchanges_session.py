"""Exchanges about sessions: the handshake at each revision, the era without one, and the list of tools."""

import json
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
    failed,
    initialize,
    modern,
    note,
    request,
    structured,
    welcome,
)
from tests.contract.patterns import ANY, Has, Id, Is, Json, ListOf, PerMode, PerTopology, Save, Text, Var
from tests.contract.server_under_test import build
from tests.contract.steps import Error, Raw, Result, Send, Silent, Step


def _handshake(asked: str, answered: str, *before: Step) -> tuple[Step, ...]:
    return (
        *before,
        Send((initialize(1, asked),)),
        Result(Id(1), welcome(answered)),
        Send((note("notifications/initialized"),)),
    )


# Members of a tree that do not stop are killed soon, and several of its lines would be told before that.
IMPATIENT = {"HOLDFAST_KILL_GRACE": "0.2", "HOLDFAST_PROGRESS_INTERVAL": "0.05", "HOLDFAST_DRAIN": "0.1"}
NARROW = {**IMPATIENT, "HOLDFAST_CONCURRENCY": "1", "HOLDFAST_QUEUE_MAX": "2"}
PINNED = {**IMPATIENT, "HOLDFAST_PROTOCOL": "pinned"}

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
        differences={"legacy": "Blank lines before a header are one line end there."},
    ),
    # A handshake without a revision is refused, and can be repeated.
    "2025-06-18": Scene(
        "status",
        _handshake(
            "2025-06-18",
            "2025-06-18",
            Send((request(Id(6), "initialize", {}), initialize(7, 5))),
            Error(Id(6), -32602, INVALID),
            Error(Id(7), PerTopology(-32602, hosted=-32600), INVALID),
        ),
        {"HOLDFAST_DRAIN": "600"},
        {"hosted": "The host lets one handshake after the other through, and refuses a second one in between."},
    ),
    # The client begins in the era without a handshake, and then makes one.
    "2025-03-26": Scene(
        "poc",
        _handshake(
            "2025-03-26",
            "2025-03-26",
            Send((modern(6, "tools/call", {"name": "echo", "arguments": {"text": "x"}}),)),
            Result(Id(6), {**structured({"text": "x"}), "resultType": "complete", "_meta": STAMP}),
        ),
        IMPATIENT,
    ),
    "2024-11-05": Scene("launch", _handshake("2024-11-05", "2024-11-05")),
    "pinned": Scene("poc", _handshake("2025-06-18", "2024-11-05"), PINNED),
    "narrow": Scene("poc", _handshake("2025-11-25", "2025-11-25"), NARROW),
    "trees": Scene("poc", _handshake("2025-11-25", "2025-11-25"), IMPATIENT),
}


def _opening(scene: str, *proves: str, name: str = "") -> Exchange:
    """An exchange whose whole point is the opening of its scene."""
    return Exchange(name or f"a session of scene {scene} opens", scene, (Silent(),), proves)


CONTRACT = "io.holdfast/contract"
SCHEMA = Has({"type": "object", "properties": ANY, "additionalProperties": False})
VERSIONS = {"version": "1.4.0", "schemaVersion": 5, "toolingVersion": "1.2.3", "surfaceVersion": "2.1.0"}
HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
DEFINITIONS: list[dict[str, Any]] = json.loads(json.dumps(build("poc").tool_definitions()))
NAMES = [definition["name"] for definition in DEFINITIONS]
TOP_LEVEL = {"schemaVersion": 5, "toolingVersion": "1.2.3"}
LEGACY_TOOL = (
    "In legacy framing the contract's versions also stand at the top level of every tool, at each revision."
)


def _tool(**fields: Any) -> dict[str, Any]:
    meta = {CONTRACT: VERSIONS, "io.holdfast/effect": ANY, "io.holdfast/supervision": ANY}
    return {"name": "add", "description": "Add two numbers.", "inputSchema": SCHEMA, "_meta": meta, **fields}


def _list(scene: str, tool: Any, *proves: str, structured_fields: bool, **more: Any) -> Exchange:
    others: list[Any] = [Has({"name": name, "description": Is((str,)), "inputSchema": SCHEMA}) for name in NAMES]
    others[NAMES.index("add")] = tool
    without = () if structured_fields else ("title", "outputSchema")
    others[NAMES.index("echo")] = Has({"name": "echo"}, without)
    steps = (Send((request(Id(1), "tools/list"),)), Result(Id(1), {"tools": others}))
    return Exchange(f"the tools are listed in scene {scene}", scene, steps, proves, **more)


OUTPUT = Has({"type": "object", "properties": {"total": ANY}, "required": ["total"]})

REGISTERED = Exchange(
    "the list of tools is what the server has registered, all of it and nothing else",
    "latest",
    (
        Send((request(Id(1), "tools/list"),)),
        Result(
            Id(1),
            {
                "tools": PerMode(
                    [
                        {key: value for key, value in definition.items() if key not in TOP_LEVEL}
                        for definition in DEFINITIONS
                    ],
                    legacy=DEFINITIONS,
                )
            },
        ),
    ),
    ("S1-6.5.1-full-list", "S1-6.5.1-one-registry"),
    differences={"legacy": LEGACY_TOOL},
)

ONE_VERSION = Exchange(
    "the version of the surface is the same wherever it is published",
    "latest",
    (
        Send((modern(1, "server/discover"),)),
        Result(
            Id(1),
            Has(
                {
                    "capabilities": Has(
                        {"experimental": {"contract": Has({"schemaVersion": Save("surface", Text(r"^2\.1\.0$"))})}}
                    )
                }
            ),
        ),
        Send((request(Id(2), "tools/list"), call(Id(3), "refuse", {"code": "NOT_FOUND"}))),
        Result(
            Id(2),
            {
                "tools": ListOf(
                    Has({"_meta": Has({CONTRACT: Has({"surfaceVersion": Var("surface")})})}), len(NAMES)
                )
            },
        ),
        Result(Id(3), failed("NOT_FOUND", Json(Has({"_meta": Has({"schemaVersion": Var("surface")})})))),
    ),
    ("S1-3.4-single-source",),
)

LISTS = (
    REGISTERED,
    ONE_VERSION,
    _list(
        "latest",
        PerMode(
            _tool(annotations=HINTS, outputSchema=OUTPUT),
            legacy=_tool(annotations=HINTS, outputSchema=OUTPUT, **TOP_LEVEL),
        ),
        "S0-2.1-name",
        "S0-2.1-description",
        "S0-2.1-input-schema",
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
        "OURS-1-top-level",
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
        ("OURS-5-no-switch",),
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
    _opening("2025-06-18", name="a handshake without a revision is refused and can be repeated"),
    _opening("2025-03-26", name="a server serves the era without a handshake alone, and then a handshake"),
    _opening("2024-11-05", "S1-6.1-revision"),
    _opening("pinned", "S1-6.1-revision", "S1-6.1-other-revision"),
    *LISTS,
    *MODERN_ERA,
    Exchange(
        "a page of tools that does not exist is refused",
        "latest",
        (Send((request(Id(1), "tools/list", {"cursor": "2"}),)), Error(Id(1), -32602, INVALID)),
    ),
)
