"""The journey with the official Python client: what it does with one server, kept as a journal for the tests.

The same steps, in the same words, as `journey.mjs` takes with the TypeScript clients. Nothing is judged here: a
step that fails becomes an entry of the journal like any other.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

__all__ = ["hold", "journey"]

BOUND = 15.0
ARTICLE = {"sku": "C-3", "kind": "kit", "price": 2, "arrived": "2026-01-02", "shelves": [], "stock": {}}
RESTOCK = {"key": "k", "article": ARTICLE, "shelf": {"row": 3}, "priority": "soon", "due": "2026-03-04T05:06:07Z"}

Entry = dict[str, Any]


async def journey(server: StdioServerParameters, mode: str, directory: Path) -> Entry:
    """Take the journey and return its journal; `mode` is the client's way to agree on a revision."""
    with tempfile.TemporaryFile("w+") as errors:
        try:
            return await _journey(
                Client(stdio_client(server, errors), mode=mode, read_timeout_seconds=BOUND), directory
            )
        except Exception as error:
            errors.seek(0)
            error.add_note(f"the server said: {errors.read()}")
            raise


async def _journey(stranger: Client, directory: Path) -> Entry:
    async with stranger as client:
        journal = await _introduction(client)
        journal |= await _plain_calls(client)
        journal |= await _calls_at_once(client, directory / "cancelled")
        journal["afterCrash"] = await _call(client, "fragile", crash=False)
        journal["process"] = await _call(client, "identify")
        pid, answer = await hold(client, directory / "left")
    journal["left"] = {**await answer, "pid": pid}
    return journal


async def _introduction(client: Client) -> Entry:
    info = client.server_info
    tools = (await client.list_tools()).tools
    return {
        "revision": client.protocol_version,
        "server": info and info.model_dump(exclude_none=True),
        "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
    }


async def _plain_calls(client: Client) -> Entry:
    return {
        "success": await _call(client, "describe", sku="A-1"),
        "json": await _call(client, "describe", sku="A-1", limit=1, render="json"),
        "nested": await _call(client, "restock", **RESTOCK),
        "scalar": await _call(client, "count", words=["a", "b"]),
        "tampered": await _tampered(client),
        "refused": await _call(client, "describe", sku="B-2"),
        "invalid": await _call(client, "describe", limit=99, colour="red"),
        "unknown": await _call(client, "no_such_tool"),
    }


async def _calls_at_once(client: Client, note: Path) -> Entry:
    names = ("walk", "cancelled", "timeout", "crashed")
    steps = (_walk(client), _cancel(client, note), _call(client, "stall"), _call(client, "fragile", crash=True))
    return dict(zip(names, await asyncio.gather(*steps), strict=True))


async def _tampered(client: Client) -> Entry:
    """What the client says of a result whose structured content was changed on the way."""

    async def call() -> CallToolResult:
        result = await client.call_tool("describe", {"sku": "A-1"})
        content = {**(result.structured_content or {}), "sku": 7}
        changed = result.model_copy(update={"structured_content": content})
        await client.session.validate_tool_result("describe", changed)
        return changed

    return await _attempt(call())


async def _walk(client: Client) -> Entry:
    heard: list[Entry] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append({"progress": progress, "total": total, "message": message})
        await _call(client, "open_gate", name=message)

    return {
        **await _attempt(client.call_tool("walk", {"steps": 3}, progress_callback=on_progress)),
        "heard": heard,
    }


async def _cancel(client: Client, note: Path) -> Entry:
    pids: list[int] = []
    with anyio.CancelScope() as scope:

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            pids.append(int(message or 0))
            scope.cancel()

        answer = await _attempt(client.call_tool("hold", {"note": str(note)}, progress_callback=on_progress))
        return {**answer, "pid": None, "ended": False}
    ended = await _happens(lambda: note.exists() and not psutil.pid_exists(pids[0]))
    return {"error": {"message": "cancelled"}, "pid": pids[0], "ended": ended}


async def hold(client: Client, note: Path) -> tuple[int | None, "asyncio.Task[Entry]"]:
    """Start the tool that never ends by itself; return once the program that it runs has told its process id."""
    told: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.set_result(int(message or 0))

    call = client.call_tool("hold", {"note": str(note)}, progress_callback=on_progress)
    answer = asyncio.create_task(_attempt(call))
    await asyncio.wait({told}, timeout=BOUND)
    return told.result() if told.done() else None, answer


async def _call(client: Client, tool: str, **arguments: Any) -> Entry:
    return await _attempt(client.call_tool(tool, arguments))


async def _attempt(call: Awaitable[CallToolResult]) -> Entry:
    try:
        result = await call
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message, "data": error.data}}
    except RuntimeError as error:  # the client's own refusal of a result
        return {"error": {"message": str(error)}}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}


async def _happens(condition: Callable[[], bool]) -> bool:
    with anyio.move_on_after(BOUND):
        while not condition():  # noqa: ASYNC110 - a process in another tree sets no event of ours
            await anyio.sleep(0.01)
    return condition()
