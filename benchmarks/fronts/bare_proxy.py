"""The least that a proxy can do: start a server, put other ids on requests, put the old ones back on answers."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from typing import Any

import orjson


async def main() -> None:
    """Pass lines through in both directions until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    server = await asyncio.create_subprocess_exec(*sys.argv[1:], stdin=PIPE, stdout=PIPE, limit=1 << 24)
    assert server.stdin is not None
    assert server.stdout is not None
    ids: dict[int, Any] = {}

    async def back(answers: asyncio.StreamReader) -> None:
        while line := await answers.readline():
            message = orjson.loads(line)
            message["id"] = ids.pop(message["id"], None)
            out.write(orjson.dumps(message) + b"\n")

    task = asyncio.create_task(back(server.stdout))
    number = 0
    while line := await reader.readline():
        message = orjson.loads(line)
        if "id" in message:
            number += 1
            ids[number], message["id"] = message["id"], number
        server.stdin.write(orjson.dumps(message) + b"\n")
    server.stdin.close()
    await task


asyncio.run(main())
