"""The messages of the scripted worker: what it was sent, and the lines that it sends."""

import json
from typing import Any

__all__ = ["SERVER_INFO", "Call", "encoded", "is_modern", "tool_result"]

Json = dict[str, Any]

META_REVISION = "io.modelcontextprotocol/protocolVersion"
SERVER_INFO = {"name": "scripted-worker", "version": "1.0.0"}


class Call:
    """One message from the client and, if it is a request, what becomes of it."""

    def __init__(self, message: Json, line: bytes) -> None:
        params = message.get("params")
        self.params: Json = params if isinstance(params, dict) else {}
        self.id = message.get("id")
        self.key = json.dumps(self.id)  # 1, 1.0, "1" and true are four different ids
        self.is_request = "id" in message
        self.method: str = message["method"]
        self.line = line
        self.tool = self.params.get("name") if self.method == "tools/call" else None
        arguments = self.params.get("arguments")
        self.arguments: Json = arguments if isinstance(arguments, dict) else {}
        meta = self.params.get("_meta")
        self.meta: Json = meta if isinstance(meta, dict) else {}
        self.number = 0  # of the request, in the life of the process
        self.lines: list[bytes] = []  # what is written as the answer
        self.cut: int | None = None  # the byte of the answer at which the process dies
        self.exit_code: int | None = None
        self.is_open = True
        self.heeds_cancel = True
        self.answers_cancel = False


def encoded(message: Json) -> bytes:
    """One message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def tool_result(payload: Json | str) -> Json:
    """The result of a tool call."""
    if isinstance(payload, str):
        return {"content": [{"type": "text", "text": payload}]}
    return {"content": [{"type": "text", "text": json.dumps(payload)}], "structuredContent": payload}


def is_modern(call: Call) -> bool:
    """Whether the request describes itself instead of relying on a handshake."""
    return call.method == "server/discover" or META_REVISION in call.meta
