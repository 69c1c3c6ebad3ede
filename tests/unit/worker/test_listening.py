"""What a client hears of unasked: changed lists and changed resources, in both eras."""

import asyncio
import threading
from typing import Any

import pytest
from tests.unit.worker.offering import make_server

from holdfast import Server
from holdfast.errors import ContractError, UsageError
from holdfast.testing import ScriptedClient, connect
from holdfast.worker.listening import MAX_STREAMS, MAX_WATCHED

STREAM = "io.modelcontextprotocol/subscriptionId"
UPDATED = "notifications/resources/updated"


async def _something() -> str:
    """Something new."""
    return "new"


def _change(server: Server, kind: str) -> None:
    if kind == "tools":
        server.tool(name="new")(_something)
    elif kind == "prompts":
        server.prompt(name="new")(_something)
    else:
        server.resource("new://one")(_something)


def _take_back(server: Server, kind: str) -> None:
    if kind == "tools":
        server.remove_tool("new")
    elif kind == "prompts":
        server.remove_prompt("new")
    else:
        server.remove_resource("new://one")


def _notes(client: ScriptedClient) -> list[Any]:
    return [message for message in client.messages if "method" in message]


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_a_change_is_told_and_the_list_has_changed_by_then(kind: str, revision: str) -> None:
    async def scenario() -> None:
        server = make_server(list_changed=(kind,))
        async with connect(server, revision=revision) as client:
            stream = await client.listen(**{f"{kind}ListChanged": True}) if revision == "2026-07-28" else None
            before = await client.listed(f"{kind}/list")
            _change(server, kind)
            _change_seen = await client.told(f"notifications/{kind}/list_changed")
            assert _change_seen.get("_meta", {}).get(STREAM) == stream
            assert len(await client.listed(f"{kind}/list")) == len(before) + 1
            _take_back(server, kind)
            await client.wait_for(
                lambda _: len(_notes(client)) == (2 if stream is None else 3), what="both changes"
            )
            assert await client.listed(f"{kind}/list") == before

    asyncio.run(scenario())


def test_many_changes_at_once_are_told_once() -> None:
    async def scenario() -> None:
        server = make_server(list_changed=True)
        async with connect(server) as client:
            for number in range(50):
                server.prompt(name=f"p{number}")(_something)
            await client.told("notifications/prompts/list_changed")
            await client.request("ping")
            assert len(_notes(client)) == 1

    asyncio.run(scenario())


def test_a_change_from_a_thread_is_told() -> None:
    async def scenario() -> None:
        server = make_server(list_changed=("tools",))
        async with connect(server) as client:
            worker = threading.Thread(target=lambda: _change(server, "tools"))
            worker.start()
            await client.told("notifications/tools/list_changed")
            worker.join()

    asyncio.run(scenario())


def test_what_was_said_not_to_change_cannot_change_while_somebody_is_there() -> None:
    async def scenario() -> None:
        server = make_server()
        _change(server, "prompts")
        async with connect(server) as client:
            capabilities = client.messages[0]["result"]["capabilities"]
            assert capabilities["prompts"] == {"listChanged": False}
            for change in (_take_back, _change):
                with pytest.raises(ContractError, match="list_changed="):
                    change(server, "prompts" if change is _take_back else "resources")
        _take_back(server, "prompts")

    asyncio.run(scenario())


def test_a_tool_that_another_one_needs_stays() -> None:
    from holdfast import effect

    server = Server("s", version="1.0.0")
    server.tool(name="look")(_something)
    server.tool(name="act", effect=effect.probe_required("look"))(_something)
    with pytest.raises(UsageError, match="act"):
        server.remove_tool("look")
    server.remove_tool("act")
    server.remove_tool("look")
    assert server.surface.tools == ()
    with pytest.raises(UsageError):
        server.remove_tool("look")


# --- subscriptions -----------------------------------------------------------------------------------------------


def test_a_subscriber_is_told_until_it_wants_no_more() -> None:
    async def scenario() -> None:
        server = make_server()
        async with connect(server) as client:
            assert (await client.request("resources/subscribe", {"uri": "notes://one/a"}))["result"] == {}
            await client.call("touch", name="b")
            await client.call("touch", name="a")
            assert await client.told(UPDATED) == {"uri": "notes://one/a"}
            await client.request("resources/unsubscribe", {"uri": "notes://one/a"})
            await client.call("touch", name="a")
            await client.request("ping")
            assert len(_notes(client)) == 1

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("uri", "code", "word"),
    [
        ("notes://none", -32002, "NOT_FOUND"),
        ("notes://all", -32602, "INVALID_REQUEST"),
        ("notes://one/..", -32602, "INVALID_REQUEST"),
        (None, -32602, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_watched_cannot_be_subscribed_to(uri: Any, code: int, word: str) -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            error = (await client.request("resources/subscribe", {"uri": uri}))["error"]
            assert (error["code"], error["data"]["code"]) == (code, word)

    asyncio.run(scenario())


def test_one_session_watches_so_many_resources_and_no_more() -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            for number in range(MAX_WATCHED):
                client.start("resources/subscribe", {"uri": f"notes://one/{number}"})
            refused = await client.request("resources/subscribe", {"uri": "notes://one/more"})
            assert refused["error"]["data"]["code"] == "QUEUE_OVERLOADED"

    asyncio.run(scenario())


def test_only_what_can_be_watched_is_said_to_have_changed() -> None:
    with pytest.raises(UsageError, match="subscribable"):
        make_server().resource_updated("notes://all")
    with pytest.raises(UsageError, match="subscribable"):
        make_server().resource_updated("notes://one/a..b")


# --- streams -----------------------------------------------------------------------------------------------------


def test_a_stream_is_acknowledged_with_what_it_will_tell_and_ends_with_an_answer() -> None:
    async def scenario() -> None:
        server = make_server(list_changed=("tools",))
        async with connect(server, revision="2026-07-28") as client:
            uris = ["notes://one/a", "notes://all", "nobody://x", "notes://one/.."]
            stream = await client.listen(
                toolsListChanged=True, promptsListChanged=True, resourceSubscriptions=[*uris, "notes://one/a"]
            )
            acknowledged = client.messages[-1]["params"]
            assert acknowledged["notifications"] == {
                "toolsListChanged": True,
                "resourceSubscriptions": ["notes://one/a"],
            }
            await client.call("touch", name="a")
            assert await client.told(UPDATED) == {"uri": "notes://one/a", "_meta": {STREAM: stream}}
        ended = client.messages[-1]
        assert (ended["id"], ended["result"]["resultType"]) == (stream, "complete")
        assert ended["result"]["_meta"][STREAM] == stream

    asyncio.run(scenario())


def test_each_stream_hears_only_what_it_asked_for() -> None:
    async def scenario() -> None:
        server = make_server(list_changed=True)
        async with connect(server, revision="2026-07-28") as client:
            tools = await client.listen(toolsListChanged=True)
            prompts = await client.listen(promptsListChanged=True)
            _change(server, "tools")
            _change(server, "prompts")
            _change(server, "resources")
            await client.told("notifications/prompts/list_changed")
            told = [(note["method"], note["params"]["_meta"][STREAM]) for note in _notes(client)[2:]]
            assert sorted(told) == [
                ("notifications/prompts/list_changed", prompts),
                ("notifications/tools/list_changed", tools),
            ]

    asyncio.run(scenario())


def test_a_cancelled_stream_is_silent_and_its_id_is_free_again() -> None:
    async def scenario() -> None:
        server = make_server(list_changed=True)
        async with connect(server, revision="2026-07-28") as client:
            silent = await client.listen(toolsListChanged=True)
            spoken = await client.listen(toolsListChanged=True)
            client.send({"jsonrpc": "2.0", "id": silent, "method": "server/discover", "params": {}})
            refused = await client.answer_to(silent)
            assert refused["error"]["code"] == -32600
            client.messages.clear()
            client.notify("notifications/cancelled", requestId=silent)
            client.notify("$/cancelRequest", id=spoken)
            assert (await client.answer_to(spoken))["result"]["_meta"][STREAM] == spoken
            _change(server, "tools")
            await client.request("tools/list")
            assert _notes(client) == []
            assert not [message for message in client.messages if message.get("id") == silent]

    asyncio.run(scenario())


@pytest.mark.parametrize("params", [{}, {"notifications": []}, {"notifications": None}])
def test_a_stream_must_say_what_for(params: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with connect(make_server(list_changed=True), revision="2026-07-28") as client:
            assert (await client.request("subscriptions/listen", params))["error"]["code"] == -32602

    asyncio.run(scenario())


def test_a_session_holds_so_many_streams_and_no_more() -> None:
    async def scenario() -> None:
        async with connect(make_server(list_changed=True), revision="2026-07-28") as client:
            for _ in range(MAX_STREAMS):
                await client.listen(toolsListChanged=True)
            error = (await client.request("subscriptions/listen", {"notifications": {}}))["error"]
            assert (error["code"], error["data"]["code"]) == (1001, "QUEUE_OVERLOADED")

    asyncio.run(scenario())


def test_where_nothing_can_change_there_is_nothing_to_listen_for() -> None:
    async def scenario() -> None:
        async with connect(Server("s", version="1.0.0"), revision="2026-07-28") as client:
            params = {"notifications": {"toolsListChanged": True}}
            assert (await client.request("subscriptions/listen", params))["error"]["code"] == -32601

    asyncio.run(scenario())


def test_the_words_of_list_changed_are_checked() -> None:
    with pytest.raises(ContractError, match="roots"):
        Server("s", version="1.0.0", list_changed=("roots",))
