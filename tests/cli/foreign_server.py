"""A small MCP server on the bare standard library, as strangers write them; its first argument is its temper.

good, noisy, legacy, flood, huge, dies, dies-in-call, silent, silent-call, refuses, modern, paged, endless, asks,
stubborn, odd, halves, nan
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

TEMPER = sys.argv[1] if len(sys.argv) > 1 else "good"
MODERN = "2026-07-28"
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "required": ["text"],
}
ECHO = {"name": "echo", "title": "Echo", "description": "Say it back.\nMore words.", "inputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True}}  # fmt: skip


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def error(code: int, message: str, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **({"data": data} if data is not None else {})}}


def initialize() -> dict[str, Any]:
    if TEMPER in {"modern", "refuses"}:
        return error(-32022, "no handshake here", {"supported": [MODERN]})
    version = "1999-01-01" if TEMPER == "odd" else "2025-06-18"
    return {
        "result": {
            "protocolVersion": version,
            "capabilities": {"tools": {}} if TEMPER == "halves" else {},
            "serverInfo": {"name": "foreign", "version": "7"},
        }
    }


def list_tools(params: dict[str, Any]) -> dict[str, Any]:
    if TEMPER == "endless":
        return {"result": {"tools": [ECHO], "nextCursor": "again"}}
    if TEMPER == "halves":  # what a JavaScript program makes of a text that it cuts in the middle of an emoji
        return {"result": {"tools": [{**ECHO, "description": "Say it back \ud83d"}]}}
    if TEMPER != "paged":
        return {"result": {"tools": [ECHO]}}
    page = int(params.get("cursor", "0"))
    tools = [{**ECHO, "name": f"echo{page}"}]
    return {"result": {"tools": tools, **({"nextCursor": str(page + 1)} if page < 2 else {})}}


def call(params: dict[str, Any]) -> dict[str, Any]:
    arguments = params["arguments"]
    if TEMPER == "dies-in-call":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    if "text" not in arguments:
        place = {"instancePath": "/text", "message": "is missing"}
        return error(-32602, "invalid arguments", {"code": "INVALID_REQUEST", "details": [place]})
    if arguments["text"] == "fail":
        return {"result": {"content": [{"type": "text", "text": "it failed"}], "isError": True}}
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2}})
    text = arguments["text"] * arguments.get("times", 1) + ("\ud83d" if TEMPER == "halves" else "")
    structured = {"share": float("nan")} if TEMPER == "nan" else {"arguments": arguments}
    return {"result": {"content": [{"type": "text", "text": text}], "structuredContent": structured}}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    method, params = message["method"], message.get("params", {})
    if TEMPER == "modern" and method != "initialize":
        assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN
    if method == "initialize":
        return initialize()
    if method == "server/discover" and TEMPER == "modern":
        info = {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "8"}}
        return {
            "result": {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {}, "_meta": info}
        }
    if method == "tools/list":
        return list_tools(params)
    if method == "tools/call":
        return None if TEMPER == "silent-call" else call(params)
    return error(-32601, f"no {method}")


def make_noise() -> None:
    if TEMPER == "noisy":
        print("Welcome to my server!\n{not json}\n[1, 2]", flush=True)
    if TEMPER == "flood":
        print("noise\n" * 3000, flush=True)
    if TEMPER == "huge":
        print("x" * (9 * 1024 * 1024), flush=True)
    if TEMPER == "asks":
        send({"id": "q1", "method": "ping"})
        send({"id": "q2", "method": "roots/list"})


def main() -> None:
    if TEMPER == "dies":
        print("no module", file=sys.stderr, flush=True)
        sys.exit(1)
    if TEMPER == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(
            [sys.executable, "-c", "import signal, time; signal.signal(15, 1); time.sleep(600)"]
        )
        print(f"child {child.pid}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        print(f"got {line.strip()}", file=sys.stderr, flush=True)
        if "method" not in message or "id" not in message or TEMPER == "silent":
            continue
        make_noise()
        reply = answer(message)
        if TEMPER == "legacy":
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **(reply or {})})
            sys.stdout.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
            sys.stdout.flush()
            continue
        if reply is not None:
            send({"id": message["id"], **reply})
    while TEMPER == "stubborn":
        signal.pause()


if __name__ == "__main__":
    main()
