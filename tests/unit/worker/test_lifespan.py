"""The lifespan of a server: entered before the first message, left after the last, typed for whoever uses it."""

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worker.offering import Notes, make_server

from holdfast import Context, ContractError, Server, SyncContext, UsageError
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.vocabulary.events import FaultRecorded


def test_every_call_reaches_the_same_state_and_it_is_closed_at_the_end() -> None:
    seen: list[Notes] = []

    async def scenario() -> None:
        server = make_server()

        @server.tool()
        async def remember(ctx: Context[Notes]) -> int:
            """Keep the state, for the test."""
            seen.append(ctx.state)
            return len(ctx.state.texts)

        @server.tool()
        def remember_in_thread(ctx: SyncContext[Notes]) -> int:
            """The same in a thread."""
            seen.append(ctx.state)
            return len(ctx.state.texts)

        async with connect(server) as client:
            await client.call("remember")
            await client.call("remember_in_thread")
            assert seen[0].log == ["opened for notes"]

    asyncio.run(scenario())
    assert seen[0] is seen[1]
    assert seen[0].log == ["opened for notes", "closed"]


@asynccontextmanager
async def _failing(_: Server) -> AsyncIterator[int]:
    raise ConnectionError("no database at db:5432")
    yield 1


@asynccontextmanager
async def _number(_: Server) -> AsyncIterator[int]:
    yield 1


@asynccontextmanager
async def _failing_at_the_end(_: Server) -> AsyncIterator[Notes]:
    yield Notes()
    raise ConnectionError("the database went away")


async def _undecorated(_: Server) -> AsyncIterator[Notes]:
    yield Notes()


async def _coroutine(_: Server) -> Notes:
    return Notes()


@pytest.mark.parametrize(
    ("lifespan", "words"),
    [
        (_failing, "no database"),
        (_number, "wants a state of Notes"),
        (None, "has no lifespan"),
        (_undecorated, "no async context manager but async_generator"),
        (_coroutine, "no async context manager but coroutine"),
        (3, "no async context manager but int"),
    ],
)
def test_a_server_that_cannot_begin_says_why_in_one_line(lifespan: Any, words: str) -> None:
    async def scenario() -> None:
        async with connect(make_server(lifespan=lifespan)):
            raise AssertionError("it began")

    with pytest.raises(UsageError, match=words) as refused:
        asyncio.run(scenario())
    assert refused.value.remedy
    assert "\n" not in str(refused.value)


def test_a_lifespan_that_never_begins_ends_the_start_within_its_bound() -> None:
    ended: list[str] = []

    @asynccontextmanager
    async def waiting(_: Server) -> AsyncIterator[Notes]:
        try:
            await asyncio.Event().wait()
            yield Notes()
        finally:
            ended.append("left")

    async def scenario() -> None:
        async with connect(make_server(lifespan=waiting), settings=Settings(start_timeout=0.05)):
            raise AssertionError("it began")

    with pytest.raises(UsageError, match=r"did not begin within 0\.05 s") as refused:
        asyncio.run(asyncio.wait_for(scenario(), 30))
    assert "HOLDFAST_START_TIMEOUT" in (refused.value.remedy or "")
    assert ended == ["left"]


def test_a_timeout_inside_of_a_lifespan_is_its_own_failure() -> None:
    @asynccontextmanager
    async def impatient(_: Server) -> AsyncIterator[Notes]:
        raise TimeoutError("no database within 3 s")
        yield Notes()

    async def scenario() -> None:
        async with connect(make_server(lifespan=impatient)):
            raise AssertionError("it began")

    with pytest.raises(UsageError, match="failed before the first message: TimeoutError: no database"):
        asyncio.run(scenario())


def test_a_lifespan_that_fails_at_the_end_is_on_record(capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> list[Any]:
        async with connect(make_server(lifespan=_failing_at_the_end)) as client:
            assert (await client.read_resource("notes://one/a")).error is None
        return client.events

    recorded = [event for event in asyncio.run(scenario()) if isinstance(event, FaultRecorded)]
    assert [event.cause_class for event in recorded] == ["ConnectionError"]
    assert "did not end well" in capsys.readouterr().err


def test_state_that_is_not_there_is_told_to_whoever_asks() -> None:
    server = Server("s", version="1.0.0")

    @server.tool()
    async def ask(ctx: Context) -> str:
        """Ask for state."""
        return str(ctx.state)

    async def scenario() -> list[Any]:
        async with connect(server) as client:
            assert (await client.call("ask")).code == "INTERNAL"
        return client.events

    recorded = [event for event in asyncio.run(scenario()) if isinstance(event, FaultRecorded)]
    assert "lifespan" in recorded[0].message


async def _far(ctx: Context[Notes]) -> int:
    """Wants what another process cannot have."""
    return len(ctx.state.texts)


def test_an_isolated_tool_cannot_ask_for_state() -> None:
    with pytest.raises(ContractError, match="no state"):
        Server("s", version="1.0.0").tool(isolate=True)(_far)


PROGRAM = """
    import sys
    from contextlib import asynccontextmanager
    from holdfast import Context, Server

    @asynccontextmanager
    async def opened(server):
        print("opened", flush=True)
        {begin}
        yield "state"
        print("closed", flush=True)

    server = Server("s", version="1.0.0", lifespan=opened)

    @server.resource("s://state")
    async def state(ctx: Context[str]) -> str:
        "The state."
        return ctx.state

    server.run()
"""


@pytest.mark.parametrize("mode", ["native", "legacy", "sdk"])
def test_a_process_opens_before_it_reads_and_closes_before_it_ends(mode: str, tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(textwrap.dedent(PROGRAM).format(begin=""))
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    framed = f"Content-Length: {len(message)}\r\n\r\n{message}" if mode == "legacy" else message + "\n"
    environment = {"HOLDFAST_MCP_MODE": mode, "HOLDFAST_EVENT_LOG": "off", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, str(program)], input=framed, capture_output=True, text=True, timeout=60, env=environment,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"result":{}' in done.stdout
    assert "opened" not in done.stdout  # what a lifespan prints never gets between messages
    assert done.stderr.index("opened") < done.stderr.index("closed")


def test_a_process_whose_lifespan_fails_ends_with_a_line_and_a_code(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(textwrap.dedent(PROGRAM).format(begin='raise OSError("no disk")'))
    done = subprocess.run(
        [sys.executable, str(program)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={"HOLDFAST_EVENT_LOG": "off", "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == 2
    assert "the lifespan of s failed before the first message: OSError: no disk" in done.stderr
    assert "Traceback" not in done.stderr
