"""Of a failure nothing is written down that its call was given in confidence, however long it is."""

import asyncio
from typing import Annotated

import pytest

from holdfast import Server, marks
from holdfast.testing import connect
from holdfast.vocabulary.events import FaultRecorded
from holdfast.worker.faults import MAX_TRACE

WORD = "hunter2-hunter2"
server = Server("cutting", version="1.0.0")


@server.tool()
async def stumble(password: Annotated[str, marks.secret()], behind: int) -> str:
    """Fail with the secret so far before the end."""
    raise ValueError(password + "x" * behind)


@server.tool(isolate=True)
async def stumble_apart(password: Annotated[str, marks.secret()], behind: int) -> str:
    """The same in a process of its own."""
    raise ValueError(password + "x" * behind)


@pytest.mark.parametrize(
    ("tool", "kept"), [("stumble", 0), ("stumble", 4), ("stumble", 9), ("stumble_apart", 4), ("stumble_apart", 9)]
)
def test_a_trace_is_cut_when_the_secret_is_out_of_it(tool: str, kept: int) -> None:
    async def scenario() -> FaultRecorded:
        async with connect(server) as client:
            await client.call(tool, password=WORD, behind=MAX_TRACE - kept - 1)
            (recorded,) = [event for event in client.events if isinstance(event, FaultRecorded)]
            return recorded

    recorded = asyncio.run(scenario())
    assert len(recorded.traceback) == MAX_TRACE
    assert recorded.traceback.strip("x\n") == "[redacted]"[10 - kept :]
    assert "hunter" not in recorded.message
