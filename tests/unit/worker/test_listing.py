"""Lists: in pages, shaped for each revision, and with icons and titles where a revision knows them."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.worker.offering import make_server

from holdfast import Icon, Server
from holdfast.errors import ContractError
from holdfast.settings import Settings
from holdfast.testing import connect

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
ICON = Icon("https://example.org/i.png", "image/png", ("48x48",), "dark")


def _many() -> Server:
    server = make_server(list_changed=True, title="Notes", website="https://example.org", icons=(ICON,))
    for number in range(5):

        async def function() -> str:
            """Something."""
            return ""

        async def valued(name: str) -> str:
            """Something."""
            return name

        server.tool(name=f"tool-{number}", title="Tool", icons=(ICON,))(function)
        server.prompt(name=f"prompt-{number}", title="Prompt", icons=(ICON,))(function)
        server.resource(f"many://{number}", name=f"r{number}", title="Resource", icons=(ICON,))(function)
        server.resource(f"many://{number}/{{name}}", name=f"t{number}", title="Template", icons=(ICON,))(valued)
    return server


@pytest.mark.parametrize("method", LISTS)
def test_a_list_in_pages_is_the_whole_list_in_the_same_order(method: str) -> None:
    async def entries(size: int) -> list[dict[str, Any]]:
        settings = replace(Settings(), event_log=False, list_page=size)
        async with connect(_many(), settings=settings) as client:
            found = [dict(entry) for entry in await client.listed(method)]
            pages = [message for message in client.messages if "nextCursor" in message.get("result", {})]
            assert len(pages) == ((len(found) - 1) // size if size else 0)
            return found

    whole = asyncio.run(entries(0))
    assert len(whole) > 5
    for size in (1, 2, 3, 1000):
        assert asyncio.run(entries(size)) == whole


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["", "x", 7, [], "AAAAAAAAAAAA", "é" * 100, "A" * 10_000])
def test_a_cursor_that_leads_nowhere_is_refused(method: str, cursor: object) -> None:
    async def scenario() -> None:
        async with connect(_many()) as client:
            answer = await client.request(method, {"cursor": cursor})
            assert answer["error"]["code"] == -32602

    asyncio.run(scenario())


def test_a_cursor_survives_changes_elsewhere_and_says_when_its_own_entry_is_gone() -> None:
    async def scenario() -> None:
        server = _many()
        settings = replace(Settings(), event_log=False, list_page=3)
        async with connect(server, settings=settings) as client:
            first = (await client.request("prompts/list"))["result"]
            server.remove_prompt(first["prompts"][0]["name"])
            after = await client.request("prompts/list", {"cursor": first["nextCursor"]})
            assert after["result"]["prompts"][0]["name"] not in [one["name"] for one in first["prompts"]]
            server.remove_prompt(first["prompts"][-1]["name"])
            assert (await client.request("prompts/list", {"cursor": first["nextCursor"]}))["error"][
                "code"
            ] == -32602

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("revision", "titles", "icons"),
    [
        ("2024-11-05", False, False),
        ("2025-03-26", False, False),
        ("2025-06-18", True, False),
        ("2025-11-25", True, True),
        ("2026-07-28", True, True),
    ],
)
def test_titles_and_icons_are_sent_where_the_revision_has_them(revision: str, titles: bool, icons: bool) -> None:
    async def scenario() -> None:
        async with connect(_many(), revision=revision) as client:
            opening = client.messages[0]["result"]
            info = opening.get("serverInfo") or opening["_meta"]["io.modelcontextprotocol/serverInfo"]
            assert ("title" in info, "icons" in info, "websiteUrl" in info) == (titles, icons, icons)
            for method in LISTS:
                last = (await client.listed(method))[-1]
                assert ("title" in last, "icons" in last) == (titles, icons), method
                if icons:
                    assert last["icons"] == [
                        {
                            "src": "https://example.org/i.png",
                            "mimeType": "image/png",
                            "sizes": ["48x48"],
                            "theme": "dark",
                        }
                    ]

    asyncio.run(scenario())


def test_lists_say_for_how_long_they_hold() -> None:
    async def scenario() -> None:
        async with connect(make_server(list_ttl=1.5), revision="2026-07-28") as client:
            for method in LISTS:
                result = (await client.request(method))["result"]
                assert (result["ttlMs"], result["cacheScope"]) == (1500, "public")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "options",
    [{"src": "file:///etc/passwd"}, {"src": "javascript:alert(1)"}, {"sizes": "48x48"}, {"theme": "blue"}],
)
def test_an_icon_that_no_client_should_load_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(ContractError):
        Icon(**{"src": "https://example.org/i.png", **options})  # type: ignore[arg-type]
