"""The pipe to the host, with a host of a few lines at its other end."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from holdfast.api.answers import Answer
from holdfast.api.link import HostCall, HostLink
from holdfast.stdio.streams import StandardStreams
from holdfast.vocabulary.faults import Fault

BOUND = 5.0


class Host:
    """The far end: what the front sent, one message at a time, and a way to answer."""

    def __init__(self, link: HostLink, reader: int, writer: int, lost: asyncio.Queue[str]) -> None:
        self.link = link
        self.reader = reader
        self.writer = writer
        self.lost = lost
        self._buffer = b""

    async def next(self) -> dict[str, Any]:
        """The next message of the front."""
        loop = asyncio.get_running_loop()
        while b"\n" not in self._buffer:
            readable = asyncio.Event()
            loop.add_reader(self.reader, readable.set)
            await asyncio.wait_for(readable.wait(), BOUND)
            loop.remove_reader(self.reader)
            self._buffer += os.read(self.reader, 1_000_000)
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def say(self, message: dict[str, Any] | bytes) -> None:
        """Send a message, or a line as it is."""
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        os.write(self.writer, line + b"\n")

    async def answer(self, call: HostCall[Answer]) -> Any:
        """What the call ends with."""
        return await asyncio.wait_for(call.answer, BOUND)


@asynccontextmanager
async def linked() -> AsyncIterator[Host]:
    from_host, to_front = os.pipe()
    from_front, to_host = os.pipe()
    lost: asyncio.Queue[str] = asyncio.Queue()
    link = HostLink("p-", on_lost=lost.put_nowait)
    await link.open(StandardStreams(from_host, to_host))
    try:
        yield Host(link, from_front, to_front, lost)
    finally:
        await link.close(1.0)
        for descriptor in (from_front, to_front):
            os.close(descriptor)
        await asyncio.sleep(0)


def run(scenario: Callable[[Host], Coroutine[Any, Any, None]]) -> None:
    async def inside() -> None:
        async with linked() as host:
            await scenario(host)

    asyncio.run(inside())


def test_answers_find_their_calls_in_any_order() -> None:
    async def scenario(host: Host) -> None:
        first, second = host.link.call("a"), host.link.call_tool("t", {"x": 1})
        sent = [await host.next(), await host.next()]
        host.say({"id": sent[1]["id"], "result": {"structuredContent": {"n": 2}}})
        host.say({"id": sent[0]["id"], "result": {"n": 1}})

        assert (await host.answer(first), await host.answer(second)) == ({"n": 1}, {"n": 2})
        assert [one["id"] for one in sent] == ["p-1", "p-2"]
        assert sent[1]["params"]["name"] == "t"

    run(scenario)


def test_progress_reaches_its_call_and_no_other() -> None:
    async def scenario(host: Host) -> None:
        seen: list[Any] = []
        call = host.link.call_tool("t", {}, on_progress=seen.append)
        token = (await host.next())["params"]["_meta"]["progressToken"]
        for told in (token, "p-99", 1, None):
            host.say({"method": "notifications/progress", "params": {"progressToken": told, "progress": 1}})
        host.say({"id": call.id, "result": {"structuredContent": {}}})
        await host.answer(call)

        assert token == call.id
        assert [one["progressToken"] for one in seen] == [call.id]
        assert host.link.noise == 3

    run(scenario)


def test_a_cancelled_call_is_told_to_the_host_once_and_its_late_answer_is_noise() -> None:
    async def scenario(host: Host) -> None:
        call = host.link.call("a")
        await host.next()
        host.link.cancel(call)
        host.link.cancel(call)
        after = host.link.call("b")

        assert (await host.next())["params"] == {"requestId": call.id}
        assert (await host.next())["method"] == "b"
        host.say({"id": call.id, "result": {}})
        host.say({"id": after.id, "result": {}})
        await host.answer(after)
        assert (host.link.noise, host.link.pending) == (1, 0)

    run(scenario)


def test_when_the_link_fails_every_call_ends_now_and_later_ones_at_once() -> None:
    async def scenario(host: Host) -> None:
        waiting = host.link.call("a")
        host.link.fail_all("gone")
        later = host.link.call("b")

        for call in (waiting, later):
            answer = await host.answer(call)
            assert isinstance(answer, Fault)
            assert (answer.code, answer.message) == ("NOT_READY", "gone")

    run(scenario)


def test_an_answer_that_cannot_be_read_still_ends_its_call() -> None:
    async def scenario(host: Host) -> None:
        call = host.link.call("a")
        host.say(b'{"jsonrpc":"2.0","id":"p-1","result":{"a":1,"a":2}}')
        answer = await host.answer(call)

        assert isinstance(answer, Fault)
        assert answer.code == "INTERNAL"

    run(scenario)


def test_rubbish_is_noise_and_a_request_of_the_host_is_declined() -> None:
    async def scenario(host: Host) -> None:
        for line in (
            b"rubbish",
            b"{}",
            b'{"jsonrpc":"2.0","method":"x"}',
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
        ):
            host.say(line)
        host.say({"id": 5, "method": "ping"})

        assert (await host.next())["error"]["code"] == -32601
        assert host.link.noise == 4

    run(scenario)


def test_a_host_that_does_not_read_is_not_sent_more() -> None:
    async def scenario(host: Host) -> None:
        calls = [host.link.call_tool("t", {"x": "y" * 100_000}) for _ in range(40)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        refused = await host.answer(host.link.call("more"))

        assert isinstance(refused, Fault)
        assert refused.code == "QUEUE_OVERLOADED"
        assert host.link.pending == len(calls)

    run(scenario)


def test_the_end_of_the_input_is_told() -> None:
    async def scenario(host: Host) -> None:
        os.close(host.writer)
        host.writer = os.open(os.devnull, os.O_WRONLY)

        assert await asyncio.wait_for(host.lost.get(), BOUND) == "eof"

    run(scenario)
