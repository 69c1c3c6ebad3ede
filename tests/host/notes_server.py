"""A small server that keeps its notes in memory, like many do, and ends at once when it is asked for a bad one."""

import json
import os
import sys
from typing import Any

NOTES: dict[str, str] = {}
TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name != "put"}}
    for name in ("put", "get", "pid")
]


def called(name: str, arguments: dict[str, str]) -> dict[str, Any]:
    """What a tool returns."""
    if name == "put":
        NOTES[arguments["name"]] = arguments["text"]
    if arguments.get("name") == "bad":
        os._exit(7)
    return {"text": NOTES.get(arguments.get("name", "")), "pid": os.getpid()}


def answer_to(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        able: dict[str, Any] = {"tools": {}, "logging": {}}
        info = {"name": "notes", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": able, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        told = called(params["name"], params.get("arguments") or {})
        return {"content": [{"type": "text", "text": json.dumps(told)}], "structuredContent": told}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "server/discover":  # of an era that this server does not know
            error = {"code": -32601, "message": "Method not found"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        elif "id" in message:
            result = answer_to(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
