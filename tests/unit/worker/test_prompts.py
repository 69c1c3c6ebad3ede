"""Prompts and completions: typed arguments that arrive as texts, messages of every kind, and what is refused."""

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

import pytest
from tests.unit.worker.offering import make_server

from holdfast import Audio, EmbeddedResource, Image, Message, ResourceLink, Server, Text
from holdfast.errors import ContractError
from holdfast.testing import connect


def test_texts_become_the_types_of_the_function() -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            told = await client.get_prompt("sum_up", name="a", words="7", tone="warm")
            assert told.messages == [
                {"role": "user", "content": {"type": "text", "text": "first in 7 warm words"}},
                {"role": "assistant", "content": {"type": "image", "data": "cG5n", "mimeType": "image/png"}},
            ]
            assert told.message["result"]["description"] == "Sum a note up."
            assert (await client.get_prompt("plain")).messages[0]["content"]["text"] == "hello"
            assert (await client.request("prompts/get", {"name": "plain"}))["result"]["messages"]

    asyncio.run(scenario())


def test_a_prompt_is_listed_with_its_arguments() -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            listed = {prompt["name"]: prompt for prompt in await client.listed("prompts/list")}
            assert listed["sum_up"]["title"] == "Sum up"
            assert listed["sum_up"]["arguments"] == [
                {"name": "name", "description": "Which note.", "required": True},
                {"name": "words", "description": "In how many words.", "required": False},
                {"name": "tone", "required": False},
            ]
            assert "arguments" not in listed["plain"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        ({}, [""]),
        ({"name": "a", "words": "many"}, ["/words"]),
        ({"name": "a", "tone": "loud", "colour": "red"}, ["", "/tone"]),
        ({"name": "a", "words": ""}, ["/words"]),
    ],
)
def test_arguments_that_do_not_fit_are_all_told(arguments: dict[str, str], places: list[str]) -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            error = (await client.get_prompt("sum_up", **arguments)).error or {}
            assert (error["code"], error["data"]["code"]) == (-32602, "INVALID_REQUEST")
            assert [one["instancePath"] for one in error["data"]["details"]["violations"]] == places

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"name": "nobody"}, "NOT_FOUND"),
        ({}, "INVALID_REQUEST"),
        ({"name": 3}, "INVALID_REQUEST"),
        ({"name": "sum_up", "arguments": {"name": 3}}, "INVALID_REQUEST"),
        ({"name": "sum_up", "arguments": ["a"]}, "INVALID_REQUEST"),
        ({"name": "sum_up", "arguments": {"name": "secret"}}, "FORBIDDEN"),
        ({"name": "sum_up", "arguments": {"name": "gone"}}, "INTERNAL"),
    ],
)
def test_a_prompt_that_cannot_be_given_is_a_typed_error(params: dict[str, Any], code: str) -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            error = (await client.request("prompts/get", params))["error"]
            assert error["data"]["code"] == code
            assert error["code"] == (-32603 if code in {"FORBIDDEN", "INTERNAL"} else -32602)

    asyncio.run(scenario())


def test_every_kind_of_content_can_stand_in_a_message_and_old_clients_read_words() -> None:
    server = Server("s", version="1.0.0")

    @server.prompt()
    async def parade() -> list[Text | Image | Audio | EmbeddedResource | ResourceLink | Message | str]:
        """One of each."""
        link = ResourceLink("app://x", "x", title="The X", size=3)
        return [
            "plain",
            Text("t"),
            Image(b"i"),
            Audio(b"a"),
            EmbeddedResource("app://x", b"x"),
            link,
            Message.user(link),
        ]

    async def kinds(revision: str) -> list[str]:
        async with connect(server, revision=revision) as client:
            return [message["content"]["type"] for message in (await client.get_prompt("parade")).messages]

    newest = ["text", "text", "image", "audio", "resource", "resource_link", "resource_link"]
    assert asyncio.run(kinds("2026-07-28")) == newest
    assert asyncio.run(kinds("2025-06-18")) == newest
    assert asyncio.run(kinds("2025-03-26")) == [*newest[:5], "text", "text"]
    assert asyncio.run(kinds("2024-11-05")) == ["text", "text", "image", "text", "resource", "text", "text"]


async def _list_of_numbers() -> list[int]:
    """Numbers."""
    return []


async def _takes_a_list(names: list[str]) -> str:
    """A text."""
    return ""


@pytest.mark.parametrize(
    ("function", "words"), [(_list_of_numbers, "messages"), (_takes_a_list, "one text cannot say")]
)
def test_a_prompt_that_cannot_work_is_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        Server("s", version="1.0.0").prompt()(function)


def test_a_prompt_needs_its_parentheses() -> None:
    with pytest.raises(ContractError, match="without parentheses"):
        Server("s", version="1.0.0").prompt(_takes_a_list)


# --- completion --------------------------------------------------------------------------------------------------


class Colour(Enum):
    """Two of many."""

    RED = "red"
    GREEN = "green"


def test_arguments_are_completed_by_a_function_or_by_their_type() -> None:
    server = make_server()

    @server.prompt()
    async def paint(colour: Colour, *, bright: bool = False, size: int | None = None) -> str:
        """Paint."""
        return f"{colour} {bright} {size}"

    async def scenario() -> None:
        async with connect(server) as client:
            assert await client.complete("sum_up", "name", "a") == ["a"]
            assert await client.complete("sum_up", "tone", "W") == ["warm"]
            assert await client.complete("sum_up", "words", "1") == []
            assert await client.complete("paint", "colour") == ["red", "green"]
            assert await client.complete("paint", "bright", "t") == ["true"]
            assert await client.complete("notes://one/{name}", "name") == []

    asyncio.run(scenario())


def test_a_completion_that_returns_one_text_is_a_defect_and_not_a_list_of_its_letters() -> None:
    server = make_server()

    @server.completion("sum_up", "words")
    async def number(value: str) -> list[str]:
        return cast("list[str]", value + "00")

    async def scenario() -> None:
        async with connect(server) as client:
            with pytest.raises(AssertionError, match=r"refused: .*OutputContractViolation"):
                await client.complete("sum_up", "words", "1")

    asyncio.run(scenario())


def test_more_values_than_one_answer_can_hold_are_counted() -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            assert len(await client.complete("sum_up", "name", "n", tone="warm")) == 100
            told = client.messages[-1]["result"]["completion"]
            assert (told["total"], told["hasMore"]) == (250, True)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "INVALID_REQUEST"),
        ({"ref": {"type": "ref/tool", "name": "x"}}, "INVALID_REQUEST"),
        ({"ref": {"type": "ref/prompt"}}, "INVALID_REQUEST"),
        ({"ref": {"type": "ref/prompt", "name": "sum_up"}, "argument": {"name": "name"}}, "INVALID_REQUEST"),
        ({"ref": {"type": "ref/prompt", "name": "nobody"}, "argument": {"name": "a", "value": ""}}, "NOT_FOUND"),
        ({"ref": {"type": "ref/prompt", "name": "sum_up"}, "argument": {"name": "z", "value": ""}}, "NOT_FOUND"),
        (
            {
                "ref": {"type": "ref/prompt", "name": "sum_up"},
                "argument": {"name": "name", "value": ""},
                "context": {"arguments": {"tone": 3}},
            },
            "INVALID_REQUEST",
        ),
    ],
)
def test_what_cannot_be_completed_is_a_typed_error(params: dict[str, Any], code: str) -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            error = (await client.request("completion/complete", params))["error"]
            assert (error["code"], error["data"]["code"]) == (-32602, code)

    asyncio.run(scenario())


def test_a_completion_of_nothing_is_refused_where_it_is_declared() -> None:
    async def good(value: str) -> list[str]:
        return [value]

    async def bad(text: str) -> list[str]:
        return [text]

    async def worse(value: str) -> str:
        return value

    server = make_server()
    for of, argument, function, words in (
        ("sum_up", "nothing", good, "no argument"),
        ("nobody", "name", good, "no argument"),
        ("sum_up", "name", good, "twice"),
        ("sum_up", "words", bad, "other parameters"),
        ("sum_up", "words", worse, "texts"),
    ):
        with pytest.raises(ContractError, match=words):
            server.completion(of, argument)(function)
