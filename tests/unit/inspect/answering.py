"""A server in memory whose answers are a table: method -> result, error, or a function of the parameters."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from holdfast.client.session import ClientSession
from holdfast.client.transports import Link, MemoryTransport

Answers = dict[str, Any]
HELLO: Answers = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "prompts": {"listChanged": True}, "resources": {}},
        "serverInfo": {"name": "table", "version": "1.0.0"},
    },
    "tools/list": {"tools": []},
    "prompts/list": {"prompts": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
}


class RefusedError(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str = "no") -> None:
        super().__init__(message)
        self.code = code


def asked(answers: Answers, scenario: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """Run a scenario against a server that gives these answers."""
    table = {**HELLO, **answers}

    def connect(send: Callable[[Any], None]) -> Link:
        def receive(frame: Any) -> None:
            message = json.loads(frame)
            if "id" not in message:
                return
            answer = table.get(message["method"], RefusedError(-32601))
            answer = answer(message["params"]) if callable(answer) else answer
            if isinstance(answer, RefusedError):
                told: dict[str, Any] = {"error": {"code": answer.code, "message": str(answer)}}
            else:
                told = {"result": answer}
            send({"jsonrpc": "2.0", "id": message["id"], **told})

        async def close() -> None:
            return None

        return Link(receive, close)

    async def main() -> Any:
        async with ClientSession(MemoryTransport(connect), request_timeout=5) as session:
            await session.connect()
            return await scenario(session)

    return asyncio.run(main())
