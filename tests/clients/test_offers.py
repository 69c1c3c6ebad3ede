"""The official Python client at the library example: resources, prompts, completion, content, what it hears.

Once by handshake and once in 2026-07-28, against a server that stands alone, in SDK mode, and behind the host.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import PromptReference, ResourceUpdatedNotification

LIBRARY = Path(__file__).parents[2] / "examples/library.py"
BOUND = 40.0
SERVERS = {
    "native": [str(LIBRARY)],
    "sdk": [str(LIBRARY)],
    "hosted": ["-m", "holdfast", "serve", str(LIBRARY)],
}
KINDS = [(server, mode) for server in SERVERS for mode in ("legacy", "auto")]
kinds = pytest.mark.parametrize(("server", "mode"), KINDS, ids=[f"{server}-{mode}" for server, mode in KINDS])


@asynccontextmanager
async def _client(server: str, mode: Any, state: Path, heard: list[Any] | None = None) -> AsyncIterator[Client]:
    environment = {
        **os.environ,
        "HOLDFAST_STATE_DIR": str(state),
        "HOLDFAST_MCP_MODE": "sdk" if server == "sdk" else "native",
        "HOLDFAST_LIST_PAGE": "2",
    }
    parameters = StdioServerParameters(command=sys.executable, args=SERVERS[server], env=environment)

    async def hear(message: Any) -> None:
        if heard is not None:
            heard.append(message)

    with (state / "stderr").open("w") as errors:
        transport = stdio_client(parameters, errors)
        async with Client(transport, mode=mode, read_timeout_seconds=BOUND, message_handler=hear) as client:
            yield client


async def _until(reached: Any) -> None:
    async with asyncio.timeout(BOUND):
        while not reached():  # noqa: ASYNC110 - the client has no event for what it was told
            await asyncio.sleep(0.01)


async def _read_everything(client: Client) -> None:
    assert client.server_info is not None
    assert client.server_info.title == "A small library"
    first = await client.list_tools()
    assert first.next_cursor is not None
    rest = await client.list_tools(cursor=first.next_cursor)
    assert [tool.name for tool in [*first.tools, *rest.tools]][:3] == ["lend", "taste", "open_reading_room"]
    assert [one.uri_template for one in (await client.list_resource_templates()).resource_templates] == [
        "library://books/{number}",
        "library://covers/{number}.png",
    ]
    read = (await client.read_resource("library://books/1")).contents[0]
    assert (read.mime_type, getattr(read, "text", "")) == (
        "text/markdown",
        "# The Hound of the Moor\n\nOn the shelf.\n",
    )
    cover = (await client.read_resource("library://covers/1.png")).contents[0]
    assert getattr(cover, "blob", "").startswith("iVBOR")
    with pytest.raises(MCPError, match="no book 99"):
        await client.read_resource("library://books/99")
    prompt = await client.get_prompt("review", {"book": "2", "tone": "strict"})
    assert [message.content.type for message in prompt.messages] == ["resource", "image", "text", "text"]
    completed = await client.complete(PromptReference(name="review"), {"name": "book", "value": "l"})
    assert completed.completion.values == ["3"]
    taste = await client.call_tool("taste", {"number": 1})
    assert [item.type for item in taste.content] == ["text", "image", "audio"]
    lent = await client.call_tool("lend", {"number": 1, "reader": "Ann"})
    assert [item.type for item in lent.content] == ["text", "resource_link"]
    assert lent.structured_content is not None
    assert lent.structured_content["reader"] == "Ann"


@kinds
def test_the_client_reads_all_that_is_offered(server: str, mode: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with _client(server, mode, tmp_path) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            await _read_everything(client)

    asyncio.run(scenario())


@pytest.mark.parametrize("server", SERVERS)
def test_a_client_with_a_handshake_hears_of_what_it_subscribed_to(server: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        heard: list[Any] = []
        async with _client(server, "legacy", tmp_path, heard) as client:
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource("library://books/2")
            await client.call_tool("lend", {"number": 2, "reader": "Bob"})
            await _until(lambda: any(isinstance(one, ResourceUpdatedNotification) for one in heard))
            await client.call_tool("open_reading_room", {})
            await _until(lambda: any("resources/list_changed" in str(getattr(one, "method", "")) for one in heard))

    asyncio.run(scenario())


@pytest.mark.parametrize("server", SERVERS)
def test_a_client_of_2026_hears_on_its_stream(server: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with _client(server, "auto", tmp_path) as client:
            listening = client.listen(resources_list_changed=True, resource_subscriptions=["library://books/2"])
            async with listening as stream, asyncio.timeout(BOUND):
                await client.call_tool("lend", {"number": 2, "reader": "Bob"})
                told = [await anext(stream)]
                await client.call_tool("open_reading_room", {})
                told.append(await anext(stream))
            assert "library://books/2" in str(told[0])
            assert "list" in str(told[1]).lower()

    asyncio.run(scenario())
