"""Official clients over HTTP, in every era that they speak: one server for all of them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult
from tests.api.mcp_server import HARBOUR, McpServer, serving
from tests.clients.journeys import PACKAGES, node, package

BOUND = 60.0
MODERN = "2026-07-28"


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """The server that all clients of this module share."""
    with serving(tmp_path_factory.mktemp("harbour"), HARBOUR) as server:
        yield server


@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", MODERN), (MODERN, MODERN)])
def test_the_python_client_is_served(harbour: McpServer, mode: str, revision: str) -> None:
    async def journey() -> None:
        async with asyncio.timeout(BOUND), Client(f"{harbour.url}/mcp", mode=mode) as client:
            heard: list[float] = []
            opening: list[asyncio.Task[CallToolResult]] = []

            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                heard.append(progress)
                opening.append(asyncio.create_task(client.call_tool("open_gate", {"name": str(message)})))

            tools = await client.list_tools()
            counted = await client.call_tool("count", {"words": ["a", "b"]})
            walked = await client.call_tool("walk", {"steps": 2}, progress_callback=on_progress)
            await asyncio.gather(*opening)  # a client that leaves earlier fails over the answer that still comes

            assert client.protocol_version == revision
            assert [tool.name for tool in tools.tools][:2] == ["describe", "restock"]
            assert counted.structured_content == {"status": "success", "result": 2}
            assert walked.structured_content == {"status": "success", "steps": 2}
            assert heard[0] == 1.0  # later steps may find their gate open, and say nothing

    asyncio.run(journey())


@pytest.mark.parametrize(
    ("sdk", "agree", "revision"),
    [("v1", None, "2025-11-25"), ("v2", None, "2025-11-25"), ("v2", {"mode": {"pin": MODERN}}, MODERN)],
    ids=["v1", "v2", "v2 modern"],
)
def test_the_typescript_clients_are_served(
    harbour: McpServer, tmp_path: Path, sdk: str, agree: object, revision: str
) -> None:
    program = str(Path(__file__).with_name("http_journey.mjs"))
    package("@modelcontextprotocol/sdk" if sdk == "v1" else "@modelcontextprotocol/client")
    done = node(program, str(PACKAGES), sdk, json.dumps(agree), f"{harbour.url}/mcp", str(tmp_path / "note"))
    assert done.returncode == 0, done.stderr
    journal = json.loads(done.stdout)

    assert journal["revision"] == revision
    assert journal["tools"][:2] == ["describe", "restock"]
    assert (journal["counted"], journal["steps"], journal["heard"][0]) == (2, 2, 1)
    assert (journal["cancelled"], journal["interrupted"]) == ("cancelled", True)


def test_the_inspector_is_served(harbour: McpServer) -> None:
    program = package("@modelcontextprotocol/inspector") / "clients" / "launcher" / "build" / "index.js"
    words = ("--method", "tools/list", "--strict", "--transport", "http", "--format", "json")
    done = node(str(program), "--cli", f"{harbour.url}/mcp", *words)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["result"]["tools"][0]["name"] == "describe"
