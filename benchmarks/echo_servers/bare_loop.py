"""The floor: an asyncio loop that parses a line, answers it, and checks nothing."""

import asyncio
import sys
from typing import Any

import orjson


async def main() -> None:
    """Answer every line until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    while line := await reader.readline():
        message = orjson.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "initialize":
            info = {"name": "bare", "version": "1"}
            result: dict[str, Any] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        else:
            text = message["params"]["arguments"]["text"]
            result = {"content": [{"type": "text", "text": text}], "isError": False}
        transport.write(orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + b"\n")


asyncio.run(main())
