"""The model of a robust server, and its faults: each is named after the check that must notice it.

Those that are called weird are answers of a shape that nobody expects.

It knows no pipes: bytes in, answers out, so that the programs for stdio and HTTP share it. It imports little,
since tests start it hundreds of times.
"""

import json
import os
from typing import Any

Json = dict[str, Any]

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
PARSE, INVALID, UNKNOWN, PARAMS = -32700, -32600, -32601, -32602
INFO = {"name": "model", "version": "1.0.0"}
MAX_DEPTH = 200
# Ids that are passed over in silence, each by the fault that loses messages there.
DROPPED = {
    "piece-1": "malformed.pieces",
    "flood-7": "overload.requests",
    "last-19": "ending.answers-first",
}


class RefusedError(Exception):
    """A message that is answered with an error."""

    def __init__(self, code: int, message: str, request_id: Any = None, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.request_id, self.data = code, request_id, data


class Later:
    """An answer that takes its time; `forever` never comes unless a deadline ends it."""

    def __init__(self, seconds: float, result: Json | None, token: Any) -> None:
        self.seconds, self.result, self.token = seconds, result, token


class Core:
    """One session with the model."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.opened = False
        self.asked = 0
        self.lists = 0
        self.in_flight: set[str] = set()

    def has(self, fault: str) -> bool:
        """Whether this is the fault that was asked for."""
        return self.fault == fault

    # --- bytes to a message ----------------------------------------------------------------------------------

    def read(self, line: bytes) -> Any:
        """The value of a line; None for what is to be passed over in silence."""
        if self.has("malformed.not-json") and line.startswith(b"{bad"):
            return None
        if self.has("malformed.half-message") and line.endswith(b'"ping"'):
            return None
        if self.has("malformed.huge-line") and len(line) > 5_000_000:
            return None
        if self.has("malformed.binary") and b"\0" in line:
            os._exit(3)
        if self.has("malformed.invalid-utf8") and b"\xc3\x28" in line and b"\0" not in line:
            return None
        if line.count(b"[") > MAX_DEPTH:
            if self.has("malformed.deep-nesting"):
                os._exit(3)
            raise RefusedError(INVALID, "nested too deep")
        try:
            return json.loads(line.decode(), object_pairs_hook=self._once, parse_constant=self._constant)
        except (ValueError, RecursionError) as error:
            raise RefusedError(PARSE, str(error)[:100]) from error

    def _once(self, pairs: list[tuple[str, Any]]) -> Json:
        value = dict(pairs)
        if len(value) < len(pairs) and not self.has("malformed.duplicate-keys"):
            raise ValueError("a key occurs twice")
        return value

    def _constant(self, text: str) -> float:
        if self.has("malformed.nan"):
            return 0.0
        raise ValueError(f"{text} is not JSON")

    # --- a message to an answer ------------------------------------------------------------------------------

    def checked(self, value: Any) -> Json | None:
        """The message, if it is one to be answered or heeded."""
        if not isinstance(value, dict):
            name = "envelopes.batch" if isinstance(value, list) else "envelopes.not-an-object"
            if self.has(name):
                return None
            raise RefusedError(INVALID, "a message is an object")
        request_id = value.get("id")
        good_id = isinstance(request_id, str) or (isinstance(request_id, int) and not isinstance(request_id, bool))
        if value.get("jsonrpc") != "2.0":
            if self.has("envelopes.no-jsonrpc"):
                return None
            raise RefusedError(INVALID, "no version", request_id if good_id else None)
        if "method" not in value:
            if self.has("envelopes.stray-answer"):
                raise RefusedError(INVALID, "nobody asked")
            return None
        if "id" in value and not good_id:
            return self._wrong_id(value, request_id)
        if not isinstance(value.get("params", {}), dict):
            if self.has("envelopes.params-type"):
                return {**value, "params": {}}
            raise RefusedError(INVALID, "params is not an object", request_id)
        return value

    def _wrong_id(self, value: Json, request_id: Any) -> Json | None:
        if (self.has("envelopes.id-null") and request_id is None) or (
            self.has("envelopes.id-object") and isinstance(request_id, dict)
        ):
            return None
        if self.has("envelopes.id-boolean") and request_id is True:
            return value
        if self.has("envelopes.id-fraction") and request_id == 1.5:
            return None
        raise RefusedError(INVALID, "no id")

    def answer(self, message: Json) -> "Json | Later | None":
        """The result of a request; None for silence."""
        method, request_id = message["method"], message.get("id")
        params: Json = message.get("params", {})
        if "id" not in message:
            self._note(method)
            return None
        self.asked += 1
        if isinstance(request_id, str) and request_id in DROPPED and self.has(DROPPED[request_id]):
            return None
        meta = params.get("_meta", {})
        if META + "protocolVersion" in meta:
            return self._modern(method, params, meta)
        if method == "server/discover":
            raise RefusedError(PARAMS, "no revision", request_id)
        return self._serve(method, params, request_id)

    def _note(self, method: str) -> None:
        if self.has("envelopes.unknown-notification") and method == "notifications/probe/unheard-of":
            raise RefusedError(UNKNOWN, "unknown notification")

    def _modern(self, method: str, params: Json, meta: Json) -> "Json | Later | None":
        known = meta[META + "protocolVersion"] == MODERN or self.has("handshake.modern-unknown-revision")
        if not known:
            supported: Any = 5 if self.has("weird.supported") else [MODERN, *REVISIONS]
            raise RefusedError(-32022, "unknown revision", ..., {"supported": supported})
        if META + "clientCapabilities" not in meta and not self.has("handshake.bare-modern"):
            raise RefusedError(PARAMS, "no capabilities", ...)
        if method in {"initialize", "ping"}:
            raise RefusedError(UNKNOWN, "not in this era", ...)
        hints: Json = {"ttlMs": 1000, "cacheScope": "public"}
        if method == "server/discover":
            if self.has("handshake.discover"):
                del hints["ttlMs"]
            self.opened = True
            result: Json = {"supportedVersions": [MODERN, *REVISIONS], "capabilities": {"tools": {}}, **hints}
            return {"resultType": "complete", **result, "_meta": {META + "serverInfo": INFO}}
        answer = self._serve(method, params, ...)
        if isinstance(answer, dict):
            if self.has("handshake.self-describing") and self.asked == 1:
                return answer
            kind: Any = ["complete"] if self.has("weird.result-type") else "complete"
            return {"resultType": kind, **answer, **(hints if method == "tools/list" else {})}
        return answer

    def _serve(self, method: str, params: Json, request_id: Any) -> "Json | Later | None":
        if method == "initialize":
            return self._initialize(params, request_id)
        if method == "ping":
            return {}
        if method == "tools/list":
            if self.has("handshake.request-before") and request_id == "early":
                return None
            return self._list()
        if method == "tools/call":
            return self._call(params, request_id)
        code = INVALID if self.has("envelopes.unknown-method") else UNKNOWN
        raise RefusedError(code, f"there is no {method[:50]}", request_id)

    def _initialize(self, params: Json, request_id: Any) -> Json:
        if self.opened and self.has("handshake.second"):
            os._exit(3)
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str) and not self.has("handshake.malformed"):
            raise RefusedError(PARAMS, "no revision", request_id)
        self.opened = True
        settled = wanted if wanted in REVISIONS or self.has("handshake.unknown-revision") else REVISIONS[-1]
        result: Json = {"protocolVersion": settled, "capabilities": {"tools": {}}, "serverInfo": INFO}
        if self.has("handshake.every-revision") and settled == REVISIONS[0]:
            del result["serverInfo"]
        return result

    # --- tools -----------------------------------------------------------------------------------------------

    def _list(self) -> Json:
        tools = [dict(tool) for tool in TOOLS]
        self.lists += 1
        if self.has("catalog.shape"):
            tools[0]["title"] = 5
        if self.has("catalog.schemas"):
            tools.append({"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "none"}}}})
        if self.has("catalog.names"):
            tools.append(dict(tools[0]))
        if self.has("catalog.order") and self.lists % 2 == 0:
            tools.reverse()
        return {"tools": tools}

    def _call(self, params: Json, request_id: Any) -> "Json | Later":
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str):
            return self._unless("calls.no-name", "no name", request_id)
        if name not in {"read", "slow", "hang"}:
            return self._unless("calls.unknown-tool", "no such tool", request_id)
        if not isinstance(arguments, dict):
            return self._unless("calls.arguments-type", "no arguments", request_id)
        if name == "slow":
            return Later(0.7, DONE, params.get("_meta", {}).get("progressToken"))
        if name == "hang":
            return Later(0.4, None, None)
        return self._read(arguments, request_id)

    def _read(self, arguments: Json, request_id: Any) -> Json:
        key = arguments.get("key")
        if "key" not in arguments:
            return self._unless("calls.missing-argument", "no key", request_id)
        if not isinstance(key, str):
            return self._unless("calls.wrong-type", "the key is no text", request_id)
        if set(arguments) != {"key"}:
            return self._unless("calls.unknown-argument", "unknown argument", request_id)
        if len(key) > 1_000_000 and self.has("calls.large-argument"):
            os._exit(3)
        content: Any = [{"type": "text", "text": key[:100]}]
        if self.has("calls.result-shape"):
            content = [{"text": key}]
        value: Any = 5 if self.has("calls.output-schema") else key
        return {"content": content, "structuredContent": {"value": value}, "isError": False}

    def _unless(self, fault: str, message: str, request_id: Any) -> Json:
        if self.has(fault):
            return DONE
        raise RefusedError(PARAMS, message, request_id)


DONE: Json = {
    "content": [{"type": "text", "text": "done"}],
    "structuredContent": {"value": "done"},
    "isError": False,
}
READ_ONLY = {"readOnlyHint": True}
VALUE = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
KEY = {
    "type": "object",
    "properties": {"key": {"type": "string"}},
    "required": ["key"],
    "additionalProperties": False,
}
NOTHING: Json = {"type": "object", "properties": {}}
TOOLS: list[Json] = [
    {"name": "read", "title": "Read", "inputSchema": KEY, "outputSchema": VALUE, "annotations": READ_ONLY},
    {"name": "slow", "inputSchema": NOTHING},
    {"name": "hang", "inputSchema": NOTHING},
]


def error_of(refused: RefusedError, request_id: Any) -> Json:
    """The error answer for a message that was refused; `...` stands for the id of the request itself."""
    error: Json = {"code": refused.code, "message": str(refused)}
    if refused.data is not None:
        error["data"] = refused.data
    return {
        "jsonrpc": "2.0",
        "id": request_id if refused.request_id is ... else refused.request_id,
        "error": error,
    }
