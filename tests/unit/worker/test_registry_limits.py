"""A time limit that whoever runs a server gives a tool, beside the one that its contract declares."""

import asyncio
from typing import Any

import pytest

from holdfast.errors import ContractError
from holdfast.testing import connect
from holdfast.worker.context import Context
from holdfast.worker.server import Server


def make_server() -> Server:
    server = Server("limited", version="1.0.0", dialect="poc", render="json")

    @server.tool(timeout=60.0, aliases=("old_wait",))
    async def wait(ctx: Context) -> None:
        """Wait until somebody stops it."""
        await asyncio.Event().wait()

    return server


def test_another_limit_is_published_and_the_contract_stays_as_it_was() -> None:
    server = make_server()
    declared = server.surface

    server.limit("wait", 1.5)

    told = [tool["_meta"]["io.holdfast/supervision"]["timeoutMs"] for tool in server.tool_definitions()]
    assert told == [1500, 1500]
    assert server.surface.tools[0].timeout == declared.tools[0].timeout == 60.0


def test_a_call_ends_at_the_limit_that_was_given() -> None:
    server = make_server()
    server.limit("wait", 0.05)

    async def scenario() -> Any:
        async with connect(server) as client:
            return await client.call("wait")

    answer = asyncio.run(scenario())
    assert "TOOL_TIMEOUT" in str(answer)
    assert "50" in str(answer)


@pytest.mark.parametrize("renderer", ["text", len, lambda: ""])
def test_a_renderer_that_cannot_be_called_is_refused_when_the_tool_is_registered(renderer: Any) -> None:
    server = Server("shown", version="1.0.0")

    with pytest.raises(ContractError, match="porcelain cannot be called with a payload and a presentation"):

        @server.tool(porcelain=renderer)
        def show() -> str:
            """Show something."""
            return ""
