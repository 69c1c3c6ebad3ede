"""What the official Python client notices when the server behind the host is killed: nothing but a late answer."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.clients.journeys import events, node_program, package, server_command, server_environment, survivors

BOUND = 20.0
HOST = ("-m", "holdfast", "run", "--name", "host", "--")


@asynccontextmanager
async def session(directory: Path, mode: str, *arguments: str) -> AsyncIterator[Client]:
    """A session of the official client with a host that has its state in `directory`."""
    environment = server_environment(directory, "native")
    server = StdioServerParameters(command=sys.executable, args=[*HOST, *arguments], env=environment)
    with (directory / "stderr").open("w") as errors:
        async with asyncio.timeout(BOUND), Client(stdio_client(server, errors), mode=mode) as client:
            yield client


def workers(directory: Path) -> list[int]:
    """The process ids of the workers that were started so far."""
    return [event["pid"] for event in events(directory, "worker_started", "host")]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_read_that_was_under_way_when_its_worker_was_killed_is_answered_all_the_same(
    tmp_path: Path, mode: str
) -> None:
    note = tmp_path / "note"

    async def scenario() -> Any:
        async with session(tmp_path, mode, *server_command(hosted=False)) as client:
            answer = asyncio.create_task(client.call_tool("attend", {"note": str(note)}))
            while not (note.exists() and note.read_text()):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
            os.kill(int(note.read_text()), signal.SIGKILL)
            return await answer

    result = asyncio.run(scenario())
    first, second = map(int, note.read_text().split())
    assert workers(tmp_path) == [first, second]
    assert result.is_error is False
    assert result.structured_content == {"status": "success", "pid": second}
    assert survivors(tmp_path) == []


@pytest.mark.requirement("S3-topologies-worker-server")
def test_a_foreign_server_survives_the_end_of_its_process(tmp_path: Path) -> None:
    program = package("@modelcontextprotocol/server-everything") / "dist" / "index.js"
    heard: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        if not heard:
            os.kill(workers(tmp_path)[-1], signal.SIGKILL)
        heard.append(progress)

    async def scenario() -> tuple[list[str], list[str]]:
        async with session(tmp_path, "legacy", node_program(), str(program), "stdio") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            long = ("trigger-long-running-operation", {"duration": 0.4, "steps": 4})
            calls = [
                await client.call_tool("echo", {"message": "before"}),
                await client.call_tool(*long, progress_callback=on_progress),
                await client.call_tool("echo", {"message": "after"}),
            ]
        return names, [call.content[0].text for call in calls]  # type: ignore[union-attr]

    names, texts = asyncio.run(scenario())
    assert {"echo", "get-sum", "trigger-long-running-operation"} <= set(names)
    assert (texts[0], texts[2]) == ("Echo: before", "Echo: after")
    assert "completed" in texts[1]
    assert heard == [1, 2, 3, 4]
    assert len(workers(tmp_path)) == 2
    assert survivors(tmp_path) == []
