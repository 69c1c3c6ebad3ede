"""What the official Python client does with a worker of the other era behind the host, kept as a journal."""

import asyncio
import os
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CreateMessageResult, ElicitResult, TextContent
from tests.host.conftest import QUICK

__all__ = ["BOUND", "Entry", "host_command", "journey", "record_of"]

HERE = Path(__file__).parent
BOUND = 30.0
Entry = dict[str, Any]


def record_of(folder: Path) -> Path:
    """Where the worker writes down what it hears and says."""
    return folder / "record"


def host_command(worker: str, folder: Path, variant: str = "") -> Entry:
    """How a host in front of a worker is started, in the words of both SDKs."""
    arguments = [str(HERE / f"{worker}.py"), str(record_of(folder)), *([variant] if variant else [])]
    state = {"HOLDFAST_STATE_DIR": str(folder / "state"), "XDG_RUNTIME_DIR": str(folder), **QUICK}
    measured = {name: os.environ[name] for name in ("COVERAGE_PROCESS_START",) if name in os.environ}
    command = ["-m", "holdfast", "run", "--name", "eras", "--", sys.executable, *arguments]
    return {"command": sys.executable, "args": command, "env": {**state, **measured}}


async def journey(mode: str, worker: str, folder: Path) -> Entry:
    """Take the journey; `mode` is the client's way to agree on a revision."""
    heard: list[Any] = []

    async def on_message(message: Any) -> None:
        heard.append(getattr(message, "method", type(message).__name__))

    async def on_question(context: Any, params: Any) -> Any:
        return ElicitResult(action="accept", content={"a": "blue"})

    async def on_sample(context: Any, params: Any) -> Any:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="blue"), model="m")

    server = StdioServerParameters(**host_command(worker, folder))
    client = Client(
        stdio_client(server),
        mode=mode,
        message_handler=on_message,
        elicitation_callback=on_question,
        sampling_callback=on_sample,
        log_level="error" if mode != "legacy" else None,
    )
    async with asyncio.timeout(BOUND), client:
        journal = await _plain(client)
        journal["changes"] = await (_followed(client) if mode == "legacy" else _listened(client))
        journal["log"] = await _text(client.call_tool("log", {}))
        journal["asked"] = await _text(client.call_tool("ask", {}))
        journal["died"] = await _text(client.call_tool("die_once", {}))
        journal["after"] = await _text(client.call_tool("echo", {"text": "after"}))
    return {**journal, "heard": heard}


async def _plain(client: Client) -> Entry:
    heard: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))
        if progress == total:
            await client.call_tool("go", {})

    journal: Entry = {
        "revision": client.protocol_version,
        "server": client.server_info and client.server_info.name,
        "instructions": client.instructions,
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "echo": await _text(client.call_tool("echo", {"text": "hi"})),
        "steps": await _text(client.call_tool("steps", {}, progress_callback=on_progress)),
        "refused": (await client.call_tool("refuse", {})).is_error,
        "unknown": await _text(client.call_tool("nope", {})),
        "resources": [str(one.uri) for one in (await client.list_resources()).resources],
        "read": (await client.read_resource("memo://a")).contents[0].text,  # type: ignore[union-attr]
        "prompts": [one.name for one in (await client.list_prompts()).prompts],
        "prompt": (await client.get_prompt("greet")).messages[0].content.type,
    }
    try:
        await asyncio.wait_for(client.call_tool("hold", {}), 0.2)
    except TimeoutError:
        journal["held"] = "cancelled"
    return {**journal, "progress": heard}


async def _listened(client: Client) -> list[str]:
    changes: list[str] = []
    async with client.listen(tools_list_changed=True, resource_subscriptions=["memo://a"]) as stream:
        await client.call_tool("grow", {})
        await client.call_tool("touch", {})
        async for event in stream:
            changes.append(type(event).__name__)
            if len(changes) == 2:
                break
    return changes


async def _followed(client: Client) -> list[str]:
    await client.subscribe_resource("memo://a")
    await client.set_logging_level("error")
    await client.call_tool("grow", {})
    await client.call_tool("touch", {})
    await client.unsubscribe_resource("memo://a")
    return []


async def _text(call: Awaitable[Any]) -> Any:
    try:
        return (await call).content[0].text
    except MCPError as error:
        return error.code, error.message
