"""The floor: an asyncio loop that parses a line, answers it, and checks nothing."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import orjson

ECHO = {"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        info = {"name": "bare", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [ECHO]}
    if method != "tools/call":
        return {}
    text = params["arguments"]["text"]
    if text.startswith("die once: ") and not Path(text.removeprefix("die once: ")).exists():
        Path(text.removeprefix("die once: ")).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"content": [{"type": "text", "text": text}], "isError": False}


async def main() -> None:
    """Answer every line until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    while line := await reader.readline():
        message = orjson.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params", {}))
            transport.write(orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + b"\n")


asyncio.run(main())
