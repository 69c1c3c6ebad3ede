"""The test kit itself: what it tells when a promise does not hold, and what its faults do."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from holdfast.errors import ToolError
from holdfast.settings import Settings
from holdfast.testing import FaultPlan, MockClock, ScriptedClient, accept, assert_tool_contract, connect
from holdfast.vocabulary import effects as effect
from holdfast.worker.context import Context
from holdfast.worker.server import Server

QUIET = replace(Settings(), event_log=False)


class Item(BaseModel):
    """One article."""

    sku: str


def make_server(*, honest: bool = True) -> Server:
    server = Server("kit", version="1.0.0")

    @server.tool(effect=effect.replay_safe(), errors=("NOT_FOUND",), examples=({"sku": "A"}, {"sku": "none"}))
    async def lookup(sku: str) -> Item:
        """Find one article."""
        if sku == "none":
            raise ToolError("NOT_FOUND" if honest else "FORBIDDEN", "no such article")
        return Item(sku=sku)

    return server


def talk(conversation: Any, **options: Any) -> Any:
    async def main() -> Any:
        async with connect(make_server(), settings=QUIET, **options) as client:
            return await conversation(client)

    return asyncio.run(main())


def test_a_server_that_keeps_its_promises_passes() -> None:
    asyncio.run(assert_tool_contract(make_server()))


def test_a_tool_that_ends_with_another_code_than_declared_is_named() -> None:
    with pytest.raises(AssertionError, match=r"lookup.*INTERNAL"):
        asyncio.run(assert_tool_contract(make_server(honest=False)))


def test_a_result_knows_its_payload_code_and_text() -> None:
    async def conversation(client: ScriptedClient) -> None:
        good, bad, unknown = await client.call("lookup", sku="A"), await client.call("lookup", sku="none"), None
        unknown = await client.call("nothing")

        assert (good.payload, good.code) == ({"status": "success", "sku": "A"}, None)
        assert (bad.code, bad.is_error) == ("NOT_FOUND", True)
        assert (unknown.code, unknown.text) == ("NOT_FOUND", "unknown tool 'nothing'")
        with pytest.raises(AssertionError, match="no such article"):
            _ = bad.payload

    talk(conversation)


def test_the_messages_and_bytes_of_a_plan_count_from_after_the_handshake() -> None:
    async def conversation(client: ScriptedClient) -> None:
        dropped = client.start_call("lookup", {"sku": "A"})
        assert (await client.call("lookup", sku="B")).code is None
        with pytest.raises(AssertionError, match=f"request {dropped} did not come"):
            await client.wait_for(lambda message: message.get("id") == dropped, 0.05, f"request {dropped}")

    talk(conversation, plan=FaultPlan(drop=frozenset({0}), split_every=3))


def test_a_pipe_that_is_cut_ends_the_input_in_the_middle_of_a_message() -> None:
    async def conversation(client: ScriptedClient) -> None:
        client.start_call("lookup", {"sku": "A"})
        answer = await client.answer_to(None)

        assert answer["error"]["code"] in {-32600, -32700}

    talk(conversation, plan=FaultPlan(cut_after=20))


def test_garbage_in_front_of_a_message_is_answered_and_the_message_too() -> None:
    async def conversation(client: ScriptedClient) -> None:
        answer = await client.call("lookup", sku="A")

        assert answer.code is None
        assert (await client.answer_to(None))["error"]["code"] == -32700

    talk(conversation, plan=FaultPlan(garbage={0: b"not json\n"}, duplicate=frozenset({1})))


def test_the_mock_clock_jumps_over_what_everybody_waits_for() -> None:
    async def main() -> float:
        await clock.advance(3600)
        return asyncio.get_running_loop().time()

    clock = MockClock()
    assert clock.run(main()) == 3600


def test_the_end_of_a_long_deadline_comes_at_once_on_a_clock_of_the_test() -> None:
    server = Server("patient", version="1.0.0")

    @server.tool(timeout=7200)
    async def wait(ctx: Context) -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()

    async def main() -> str:
        async with connect(server) as client:
            return (await client.call("wait")).text

    assert MockClock().run(main()).startswith("error TOOL_TIMEOUT")


def test_what_never_comes_is_told_on_a_clock_of_the_test_too() -> None:
    async def main() -> None:
        async with connect(make_server()) as client:
            await client.wait_for(lambda message: False)

    with pytest.raises(AssertionError, match="did not come within 86400 s"):
        MockClock().run(main())


def test_tools_that_ask_are_held_to_their_contract_with_the_answers_of_the_test() -> None:
    server = Server("asking", version="1.0.0")

    @server.tool(effect=effect.replay_safe(), examples=({},))
    async def greet(ctx: Context) -> str:
        """Greet whoever has a name."""
        answer = await ctx.elicit("Who?", Item)
        return answer.value.sku if answer.value else answer.action

    asyncio.run(assert_tool_contract(server, elicit=accept(sku="A")))
    with pytest.raises(AssertionError, match="CAPABILITY_MISSING"):
        asyncio.run(assert_tool_contract(server))


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_an_answer_may_be_a_function_of_the_question(revision: str) -> None:
    server = Server("asking", version="1.0.0")

    @server.tool()
    async def where(ctx: Context) -> str:
        """Tell the roots."""
        return ", ".join(root.uri for root in await ctx.roots(key="roots"))

    async def scenario() -> str:
        async with connect(
            server, settings=QUIET, revision=revision, roots=lambda params: ["file:///a"]
        ) as client:
            text = (await client.call("where")).text
            assert client.questions[0][0] == "roots/list"
            return text

    assert asyncio.run(scenario()) == "file:///a"
