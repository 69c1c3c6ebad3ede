"""The memory transport on its own, and what a process transport keeps of a server's stderr."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.client.session import ClientSession
from holdfast.client.transports import MAX_LINE, Link, MemoryTransport, ProcessTransport
from holdfast.errors import SessionError
from holdfast.wire.codec import decode
from holdfast.wire.envelope import result_message


class Recorder:
    """A server in memory that answers every request with what it was asked, and knows when it was closed."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self.closed = 0

    def connect(self, send: Callable[[Any], None]) -> Link:
        def receive(frame: Any) -> None:
            message = decode(frame)
            self.received.append(message)
            if "id" in message and "method" in message:
                send(result_message(message["id"], {"protocolVersion": "2025-11-25", "asked": message["method"]}))

        async def close() -> None:
            self.closed += 1

        return Link(receive, close)


def test_a_server_in_memory_is_spoken_to_like_any_other() -> None:
    recorder = Recorder()

    async def main() -> Any:
        async with ClientSession(MemoryTransport(recorder.connect)) as session:
            await session.connect()
            return await session.request("anything")

    assert asyncio.run(main())["asked"] == "anything"
    assert [message["method"] for message in recorder.received] == [
        "initialize", "notifications/initialized", "anything",
    ]  # fmt: skip


def test_a_memory_link_is_closed_once() -> None:
    recorder = Recorder()

    async def main() -> None:
        async with ClientSession(MemoryTransport(recorder.connect)) as session:
            await session.connect()
            await session.close()

    asyncio.run(main())
    assert recorder.closed == 1


def test_what_json_cannot_say_does_not_cross_a_memory_link() -> None:
    async def main() -> None:
        async with ClientSession(MemoryTransport(Recorder().connect)) as session:
            await session.connect()
            await session.request("anything", {"value": object()})

    with pytest.raises(TypeError):
        asyncio.run(main())


def test_a_request_on_a_closed_session_fails() -> None:
    async def main() -> None:
        session = ClientSession(MemoryTransport(Recorder().connect))
        await session.connect()
        await session.close()
        await session.request("anything")

    with pytest.raises(SessionError, match="closed"):
        asyncio.run(main())


def test_sending_before_the_server_was_started_is_an_error() -> None:
    with pytest.raises(SessionError, match="not been started"):
        ProcessTransport(["true"]).send({})


def test_stderr_without_newlines_is_delivered_in_bounded_pieces() -> None:
    lines: list[str] = []

    async def main() -> None:
        script = "import sys; sys.stderr.write('x' * 100_000); sys.stderr.write('\\nlast words')"
        transport = ProcessTransport([sys.executable, "-c", script], on_stderr=lines.append)
        async with ClientSession(transport) as session:
            await session.connect()

    with pytest.raises(SessionError, match=r"exit code 0.*last words$"):
        asyncio.run(main())
    assert "".join(lines) == "x" * 100_000 + "last words"
    assert max(map(len, lines)) <= MAX_LINE


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = ("jsonrpc", "id", "method", "params", "result", "error")
LIKELY = st.sampled_from(["2.0", 1, "1", None, "notifications/progress", {"progressToken": 1}, {"code": 1}])


@given(st.lists(st.dictionaries(st.sampled_from(MEMBERS), LIKELY | JSON) | JSON, max_size=8))
def test_nothing_that_a_server_sends_breaks_the_session(messages: list[Any]) -> None:
    def hostile(send: Callable[[Any], None]) -> Link:
        honest = Recorder().connect(send)

        def receive(frame: Any) -> None:
            honest.receive(frame)  # the true answer is first, so that everything else is strange
            if decode(frame).get("method") == "initialize":
                for message in messages:
                    send(message)

        return Link(receive, honest.close)

    problems: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        async with ClientSession(MemoryTransport(hostile), request_timeout=10) as session:
            await session.connect()
            with contextlib.suppress(SessionError):  # a forged answer to our own request is told as what it is
                await session.request("anything")

    asyncio.run(main())
    assert problems == []
