"""The official Python client in front of a host whose workers keep dying: it notices nothing."""

import asyncio
import sys
import uuid
from collections import Counter
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.chaos.host_chaos import IN_A_HURRY

from holdfast.testing import Fault, Traces, marked_processes, script
from holdfast.testing.marked import MARK

CALLS = 40


def server(folder: Path, mark: str) -> StdioServerParameters:
    deaths = (
        Fault.on_tool("read", "kill_before_answer", nth=5),
        Fault.on_tool("write", "kill_after_effect", nth=2),
        Fault.on_method("initialize", "kill_mid_answer", generations=(3, 3)),
    )
    worker = script(*deaths, page_size=5).command(folder / "worker")
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "run", "--", *worker],
        env={**IN_A_HURRY, MARK: mark, "HOLDFAST_STATE_DIR": str(folder / "state"), "HOLDFAST_CONFIG": "none"},
    )


async def written(client: Client, token: str) -> str:
    try:
        result = await client.call_tool("write", {"token": token})
    except MCPError as error:
        return str(error.error.code)
    return "failed" if result.is_error else "done"


async def talk(parameters: StdioServerParameters, mode: str) -> tuple[list[object], Counter[str]]:
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=20) as client:
        assert len((await client.list_tools()).tools) > 4
        values: list[object] = []
        for number in range(CALLS):
            result = await client.call_tool("read", {"value": number})
            values.append((result.structured_content or {}).get("value"))
        outcomes = Counter([await written(client, f"t{number}") for number in range(10)])
    return values, outcomes


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_gets_every_answer_although_workers_die(tmp_path: Path, mode: str) -> None:
    mark = uuid.uuid4().hex
    values, outcomes = asyncio.run(talk(server(tmp_path, mark), mode))
    traces = Traces(tmp_path / "worker")

    assert values == list(range(CALLS))
    assert outcomes["done"] >= 5
    assert outcomes.total() - outcomes["done"] >= 4
    assert max(Counter(note["token"] for note in traces.effects("write")).values()) == 1
    assert traces.generations() > 10
    assert marked_processes(mark) == []
