"""Admission, the queue, deadlines and cancellation, on a clock that the test owns."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from holdfast.settings import Settings
from holdfast.testing import MockClock, ScriptedClient, connect
from holdfast.vocabulary import effects as effect
from holdfast.vocabulary.events import CallEnded, WorkAbandoned
from holdfast.worker.server import Server

QUIET = replace(Settings(), event_log=False)


@dataclass
class Done:
    """What a tool of these tests returns."""

    seconds: float


def make_server() -> Server:
    server = Server("waiting", version="1.0.0", dialect="poc", render="json", presentation="meta")

    @server.tool(effect=effect.replay_safe(), timeout=5.0)
    async def wait(seconds: float) -> Done:
        """Wait, then return."""
        await asyncio.sleep(seconds)
        return Done(seconds)

    @server.tool(timeout=1.0)
    async def stubborn(seconds: float) -> Done:
        """Wait and ignore being interrupted."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while loop.time() < until:
            try:
                await asyncio.sleep(until - loop.time())
            except asyncio.CancelledError:
                continue
        return Done(seconds)

    @server.tool(timeout=0)
    async def forever() -> Done:
        """Wait without a limit."""
        await asyncio.Event().wait()
        return Done(0)

    return server


def outcomes(client: ScriptedClient) -> list[tuple[str, str | None]]:
    return [(event.outcome, event.code) for event in client.events if isinstance(event, CallEnded)]


def run(test: Any) -> None:
    MockClock().run(test)


def test_a_call_that_takes_longer_than_its_timeout_ends_in_a_timeout() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            result = await client.call("wait", seconds=60)

            assert result.payload["code"] == "TOOL_TIMEOUT"
            assert result.payload["timeoutMs"] == 5000
            assert outcomes(client) == [("timeout", "TOOL_TIMEOUT")]

    run(test())


def test_a_tool_that_ignores_its_interruption_is_answered_for_and_recorded() -> None:
    async def test() -> None:
        clock_started = asyncio.get_running_loop().time()
        async with connect(make_server(), settings=QUIET) as client:
            result = await client.call("stubborn", seconds=100)
            waited = asyncio.get_running_loop().time() - clock_started

            assert result.payload["code"] == "TOOL_TIMEOUT"
            assert 3.0 < waited < 4.5  # its timeout, the grace time, and a margin
            assert any(isinstance(event, WorkAbandoned) for event in client.events)

    run(test())


def test_abandoned_work_gives_its_slot_back_but_cannot_pile_up_without_bound() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=replace(QUIET, concurrency=2)) as client:
            stuck = [client.start_call("stubborn", {"seconds": 100}) for _ in range(2)]
            for number in stuck:
                await client.answer_to(number)

            refused = await client.call("wait", seconds=0)

            assert refused.error is not None
            assert (refused.error["code"], refused.error["data"]["code"]) == (-32603, "INTERNAL")
            assert "isolate=True" in refused.error["message"]

    run(test())


@pytest.mark.requirement("OURS-12-no-limit")
def test_a_timeout_of_zero_is_no_limit() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            number = client.start_call("forever")
            await asyncio.sleep(100_000)

            assert client.messages[-1].get("id") != number

    run(test())


def test_a_full_queue_is_refused_with_its_sizes_and_what_was_admitted_still_runs() -> None:
    async def test() -> None:
        settings = replace(QUIET, concurrency=1, queue_max=2)
        async with connect(make_server(), settings=settings) as client:
            numbers = [client.start_call("wait", {"seconds": 1}) for _ in range(5)]
            answers = [await client.answer_to(number) for number in numbers]

            assert ["result" in answer for answer in answers] == [True, True, True, False, False]
            error = answers[-1]["error"]
            assert error["code"] == -32001
            assert error["data"]["code"] == "QUEUE_OVERLOADED"
            assert error["data"]["details"]["queue"] == {"max": 2, "size": 2}

    run(test())


@pytest.mark.parametrize("position", [0, 1], ids=["running", "queued"])
def test_a_cancel_request_is_answered_once_and_the_other_call_is_untouched(position: int) -> None:
    async def test() -> None:
        async with connect(make_server(), settings=replace(QUIET, concurrency=1)) as client:
            numbers = [client.start_call("wait", {"seconds": 1}) for _ in range(2)]
            await asyncio.sleep(0.1)
            client.notify("$/cancelRequest", id=str(numbers[position]))
            answers = [await client.answer_to(number) for number in numbers]
            await asyncio.sleep(10)

            assert answers[position]["result"]["isError"] is True
            assert '"CANCELLED"' in answers[position]["result"]["content"][0]["text"]
            assert answers[1 - position]["result"]["isError"] is False
            ids = [message["id"] for message in client.messages if "id" in message]
            assert len(ids) == len(set(ids))

    run(test())


def test_a_cancelled_notification_is_followed_by_silence() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            number = client.start_call("wait", {"seconds": 1}, meta={"progressToken": 1})
            client.notify("notifications/cancelled", requestId=number)
            await asyncio.sleep(10)

            assert all(message.get("id") != number for message in client.messages)
            assert outcomes(client) == [("cancelled", "CANCELLED")]

    run(test())


def test_a_cancellation_of_nothing_is_ignored() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            for wanted in (99, "99", None, True, 1.5, {"a": 1}):
                client.notify("$/cancelRequest", id=wanted)
            result = await client.call("wait", seconds=0)

            assert not result.is_error

    run(test())


def test_a_second_request_with_an_id_in_flight_is_refused_and_the_first_is_answered() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            params = {"name": "wait", "arguments": {"seconds": 1}}
            message = {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params}
            client.send(message)
            client.send(message)
            await asyncio.sleep(2)
            answers = [message for message in client.messages if message.get("id") == "same"]

            assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]

    run(test())
