"""A small server of a version: its tools, and how it fails, are said on its command line.

    python versioned_server.py VERSION TOOL[:ARGUMENT,...] ... [--crash-when-called] [--crash-at-start]

An argument with `!` is required. A tool answers with the version; `slow` waits for the file that it is given.
"""

import json
import os
import sys
import threading
import time
from typing import Any

VERSION = sys.argv[1]
FLAGS = [word for word in sys.argv[2:] if word.startswith("--")]
TOOLS = [word for word in sys.argv[2:] if not word.startswith("--")]


def definition(word: str) -> dict[str, Any]:
    name, _, arguments = word.partition(":")
    names = [one for one in arguments.split(",") if one]
    schema = {
        "type": "object",
        "properties": {one.strip("!"): {"type": "string"} for one in names},
        "required": [one.strip("!") for one in names if one.endswith("!")],
    }
    hints = {"readOnlyHint": name == "read"}
    return {"name": name, "description": name, "inputSchema": schema, "annotations": hints}


def result(request: dict[str, Any]) -> Any:
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        info = {"name": "versioned", "version": VERSION}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [definition(word) for word in TOOLS]}
    if method == "tools/call":
        if "--crash-when-called" in FLAGS:
            os._exit(3)
        wait_for = params.get("arguments", {}).get("until")
        while wait_for and not os.path.exists(wait_for):
            time.sleep(0.01)  # noqa: TID251
        return {"content": [{"type": "text", "text": VERSION}]}
    return {}


def answer(request: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result(request)})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if "--crash-at-start" in FLAGS:
    sys.exit("this version does not start")
for text in sys.stdin:
    message = json.loads(text)
    if "id" in message:
        threading.Thread(target=answer, args=(message,), daemon=True).start()
