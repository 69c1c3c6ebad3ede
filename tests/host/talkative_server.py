"""A foreign server without resources that says as much as it is asked for, in every revision."""

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}}
HINT = {"readOnlyHint": True}
TOOLS = ("lines", "document", "structured", "picture", "failure", "holdfast_telemetry")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/protocolVersion"


def call(name: str, count: int) -> dict[str, Any]:
    """The result of one call."""
    rows = [f"row {number}" for number in range(count)]
    if name in {"document", "structured"}:
        result: dict[str, Any] = {"content": [{"type": "text", "text": json.dumps(rows)}]}
        return {**result, "structuredContent": {"rows": rows}} if name == "structured" else result
    if name == "picture":
        return {"content": [{"type": "image", "data": "QUJD" * count, "mimeType": "image/png"}]}
    if name == "failure":
        return {"content": [{"type": "text", "text": "\n".join(["first", *rows, "last"])}], "isError": True}
    return {"content": [{"type": "text", "text": "\n".join(rows)}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of one request; None for a method that is not known."""
    if method in {"initialize", "server/discover"}:
        return {
            "protocolVersion": params.get("protocolVersion"),
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "talkative", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": SCHEMA, "annotations": HINT} for name in TOOLS]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}).get("count", 1))
    return {} if method == "ping" else None


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        params = message.get("params", {})
        result = answer(message["method"], params)
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "unknown method"}
        elif META in params.get("_meta", {}):
            reply["result"] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", **result}
        else:
            reply["result"] = result
        sys.stdout.write(json.dumps(reply, separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
