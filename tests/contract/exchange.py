"""What an exchange is, and the words that exchanges are written with."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from tests.contract.patterns import ANY, Has, Id, Is, Json, PerMode, PerTopology, Text
from tests.contract.steps import Step

MODES = ("native", "sdk", "legacy")
TOPOLOGIES = ("standalone", "hosted")
META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
ENVELOPE = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
STAMP = {META + "serverInfo": {"name": "contract", "version": "1.2.3"}}
TIME = Text(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
INVALID = {"code": "INVALID_REQUEST"}
HOST_IDS = "A server behind the host logs a call under the number that the host gave it, not the client's own."

BLOCK = {"schemaVersion": "2.1.0", "toolVersion": "1.2.3", "capabilities": {"docs": {"pdf": False}}}
# A host says that the list of tools may change, since it may replace the server; a server alone says no.
CAPABILITIES = {
    "logging": {},
    "tools": {"listChanged": Is((bool,))},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": False},
    "completions": {},
    "experimental": {"contract": BLOCK},
}


@dataclass(frozen=True)
class Scene:
    """A server process that several exchanges share: its dialect, its settings, and how the session is opened.

    `differences` says why a mode or a topology opens it differently, as in an exchange.
    """

    dialect: str
    opening: tuple[Step, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    differences: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exchange:
    """A short dialogue with a server, and the requirements that it proves.

    It leaves the session as it was, or `ends` it and is the last of its scene. Where a mode or a topology rightly
    differs, the steps say how (`PerMode`, `PerTopology`) and `differences` says why.
    """

    name: str
    scene: str
    steps: tuple[Step | PerMode, ...]
    proves: tuple[str, ...] = ()
    ends: bool = False
    differences: Mapping[str, str] = field(default_factory=dict)


def parts_of(value: Any) -> list[Any]:
    """The value and everything inside it, for checks on the exchanges themselves."""
    found = [value]
    inner: list[Any] = []
    if is_dataclass(value):
        inner = [getattr(value, item.name) for item in fields(value)]
    elif isinstance(value, Mapping):
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    for item in inner:
        found += parts_of(item)
    return found


# --- messages ------------------------------------------------------------------------------------------------


def request(request_id: Any, method: str, params: Any = None) -> dict[str, Any]:
    """A request."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def note(method: str, params: Any = None) -> dict[str, Any]:
    """A notification."""
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def initialize(number: int, revision: Any, **capabilities: Any) -> dict[str, Any]:
    """The opening request of a handshake."""
    info = {"name": "suite", "version": "1"}
    params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info}
    return request(Id(number), "initialize", params)


def welcome(revision: str) -> dict[str, Any]:
    """The result of a handshake."""
    return {
        "protocolVersion": revision,
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "contract", "version": "1.2.3"},
        "instructions": "Tools for tests.",
    }


def call(request_id: Any, tool: str, arguments: Any = None, **meta: Any) -> dict[str, Any]:
    """A tool call."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
    return request(request_id, "tools/call", {**params, "_meta": meta} if meta else params)


def modern(number: int, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    """A request of the era without a handshake."""
    return request(Id(number), method, {**(params or {}), "_meta": {**ENVELOPE, **meta}})


def logged_id(number: int) -> PerTopology:
    """The id of a request as the event log of its server has it."""
    return PerTopology(Id(number), hosted=Is((int,)))


# --- answers -------------------------------------------------------------------------------------------------


def text(value: Any) -> list[Any]:
    """Content of exactly one text item."""
    return [{"type": "text", "text": value}]


def plain(payload: Any) -> dict[str, Any]:
    """A success without structured content."""
    return {"content": text(Json(payload)), "isError": False}


def structured(payload: Any) -> dict[str, Any]:
    """A success with structured content."""
    return {**plain(payload), "structuredContent": payload}


def failed(code: str, content: Any, **meta: Any) -> dict[str, Any]:
    """A tool error with this content, and its code once more for programs."""
    error = {"code": code, "category": Is((str,)), "retryable": Is((bool,))}
    return {"content": text(content), "isError": True, "_meta": {"io.holdfast/error": error, **meta}}


def poc_failed(code: str, **more: Any) -> dict[str, Any]:
    """A tool error in the dialect poc."""
    return failed(code, Json(poc_failure(code, **more)))


def poc_failure(code: str, **more: Any) -> Has:
    """The envelope of a failure in the dialect poc, in which the code and the message stand twice."""
    meta = {"schemaVersion": "2.1.0", "toolVersion": "1.2.3", "ts": TIME, "durationMs": Is((int, float))}
    inner = Has({"code": code, "message": Is((str,))})
    return Has({"ok": False, "code": code, "message": Is((str,)), "error": inner, "_meta": meta, **more})


def violation(place: str, keyword: str, **params: Any) -> dict[str, Any]:
    """One violation of a schema."""
    return {
        "instancePath": place,
        "schemaPath": Text(f"^#.*/{keyword}$"),
        "keyword": keyword,
        "params": params or ANY,
        "message": Is((str,)),
    }
