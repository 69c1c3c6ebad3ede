"""What a server says of resources, prompts, completions and streams, against the schema of each revision."""

import asyncio
from typing import Any

import pytest
from tests.contract.official_schemas import assert_valid
from tests.contract.server_under_test import build

from holdfast import Annotations, Audio, EmbeddedResource, Icon, Image, ResourceLink, Server, Text, WithContent
from holdfast.present.profile import PROFILES
from holdfast.settings import Settings
from holdfast.testing import ScriptedClient, connect

REVISIONS = sorted({profile.revision for profile in PROFILES})
MODERN = "2026-07-28"
revisions = pytest.mark.parametrize("revision", REVISIONS)


def _server() -> Server:
    server = build()
    icon = Icon("data:image/png;base64,AA==", "image/png", ("any",), "light")
    annotations = Annotations(("user", "assistant"), 1.0, "2026-11-17T00:00:00Z")
    linked = ResourceLink("app://x", "x", "X", "An x.", "text/plain", 3, (icon,), annotations)

    @server.tool(icons=(icon,))
    async def parade() -> list[Text | Image | Audio | EmbeddedResource | ResourceLink]:
        """One of each."""
        embedded = EmbeddedResource("app://x", b"x", "x/y", annotations)
        return [Text("t", annotations), Image(b"i"), Audio(b"a"), embedded, linked]

    @server.tool()
    async def both() -> WithContent[int]:
        """A value and a link."""
        return WithContent(3, linked)

    @server.prompt(title="Parade", icons=(icon,))
    async def march() -> list[Image | Audio | EmbeddedResource | ResourceLink]:
        """One of each."""
        return [Image(b"i"), Audio(b"a", annotations=annotations), EmbeddedResource("app://x", "x"), linked]

    @server.resource("app://all", title="All", size=1, icons=(icon,), annotations=annotations)
    async def everything() -> str:
        """All of it."""
        return ""

    return server


async def _ask(
    client: ScriptedClient, revision: str, method: str, params: dict[str, Any], definition: str
) -> None:
    answer = await client.request(method, params)
    assert "result" in answer, answer
    assert_valid(revision, definition, answer["result"])


@revisions
def test_lists_reads_prompts_completions_and_content_are_valid(revision: str) -> None:
    async def scenario() -> None:
        async with connect(_server(), revision=revision) as client:
            opening = client.messages[0]["result"]
            assert_valid(revision, "DiscoverResult" if revision == MODERN else "InitializeResult", opening)
            for method, params, definition in (
                ("tools/list", {}, "ListToolsResult"),
                ("prompts/list", {}, "ListPromptsResult"),
                ("resources/list", {}, "ListResourcesResult"),
                ("resources/templates/list", {}, "ListResourceTemplatesResult"),
                ("resources/read", {"uri": "contract://notice"}, "ReadResourceResult"),
                ("resources/read", {"uri": "contract://pixel"}, "ReadResourceResult"),
                ("resources/read", {"uri": "contract://numbers/3"}, "ReadResourceResult"),
                ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}, "GetPromptResult"),
                ("prompts/get", {"name": "march"}, "GetPromptResult"),
                ("tools/call", {"name": "parade"}, "CallToolResult"),
                ("tools/call", {"name": "both"}, "CallToolResult"),
                (
                    "completion/complete",
                    {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": ""}},
                    "CompleteResult",
                ),
            ):
                await _ask(client, revision, method, params, definition)

    asyncio.run(scenario())


@revisions
@pytest.mark.requirement("MCP-features-pages")
def test_pages_are_valid(revision: str) -> None:
    async def scenario() -> None:
        settings = Settings(event_log=False, list_page=2)
        async with connect(_server(), revision=revision, settings=settings) as client:
            for method, definition in (
                ("tools/list", "ListToolsResult"),
                ("prompts/list", "ListPromptsResult"),
                ("resources/list", "ListResourcesResult"),
            ):
                first = (await client.request(method))["result"]
                assert_valid(revision, definition, first)
                if method != "prompts/list":
                    cursor = first["nextCursor"]
                    await _ask(client, revision, method, {"cursor": cursor}, definition)

    asyncio.run(scenario())


@revisions
def test_failures_are_valid(revision: str) -> None:
    async def scenario() -> None:
        async with connect(_server(), revision=revision) as client:
            for method, params in (
                ("resources/read", {"uri": "contract://numbers/500"}),
                ("resources/read", {"uri": "contract://none"}),
                ("prompts/get", {"name": "greet", "arguments": {"mood": "none"}}),
                ("completion/complete", {}),
                ("resources/list", {"cursor": "nowhere"}),
            ):
                answer = await client.request(method, params)
                definition = "JSONRPCErrorResponse" if revision >= "2025-11-25" else "JSONRPCError"
                assert_valid(revision, definition, answer)
                assert isinstance(answer["error"]["data"]["code"], str)

    asyncio.run(scenario())


@revisions
def test_what_is_told_unasked_is_valid(revision: str) -> None:
    async def scenario() -> None:
        async with connect(_server(), revision=revision) as client:
            if revision == MODERN:
                await client.listen(promptsListChanged=True, resourceSubscriptions=["contract://notice"])
            else:
                await client.request("resources/subscribe", {"uri": "contract://notice"})
            await client.call("renew")
            await client.call("add_prompt")
            await client.told("notifications/resources/updated")
            await client.told("notifications/prompts/list_changed")
        definitions = {
            "notifications/resources/updated": "ResourceUpdatedNotification",
            "notifications/prompts/list_changed": "PromptListChangedNotification",
            "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
        }
        notes = [message for message in client.messages if "method" in message]
        assert len(notes) == (3 if revision == MODERN else 2)
        for note in notes:
            assert_valid(revision, definitions[note["method"]], note)
        if revision == MODERN:
            assert_valid(revision, "SubscriptionsListenResult", client.messages[-1]["result"])

    asyncio.run(scenario())
