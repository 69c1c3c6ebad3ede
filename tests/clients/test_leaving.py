"""A client that leaves while a call is in flight, with the settings that a server has by itself.

Every client here closes the server's input, waits two seconds and then sends a signal; by default a server gives
calls in flight longer than that to finish. The signal must end them in order too.
"""

import asyncio
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.clients.journeys import events, server_command, server_environment, survivors
from tests.clients.python_client import hold


async def leave_during_a_call(directory: Path, mode: str, *, hosted: bool) -> None:
    """Start a call that never ends by itself, and leave."""
    settings = server_environment(directory, mode)
    del settings["HOLDFAST_DRAIN"]
    command, *arguments = server_command(hosted=hosted)
    server = StdioServerParameters(command=command, args=arguments, env=settings)
    with (directory / "stderr").open("w") as errors:
        async with Client(stdio_client(server, errors), mode="legacy") as client:
            pid, answer = await hold(client, directory / "note")
            assert pid is not None
        await answer


@pytest.mark.parametrize(
    ("mode", "hosted"), [("native", False), ("sdk", False), ("native", True)], ids=["native", "sdk", "hosted"]
)
def test_the_signal_of_an_impatient_client_ends_the_call_in_order(tmp_path: Path, mode: str, hosted: bool) -> None:
    asyncio.run(leave_during_a_call(tmp_path, mode, hosted=hosted))
    assert survivors(tmp_path) == []
    assert (tmp_path / "note").read_text() == "interrupted\n"
    assert [call["outcome"] for call in events(tmp_path, "tool_call")] == ["cancelled"]
    assert len(events(tmp_path, "server_stopped")) == 1
