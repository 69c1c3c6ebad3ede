"""Tools that return more than a value: text, pictures, sound, resources and links."""

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast import (
    Annotations,
    Audio,
    Context,
    EmbeddedResource,
    Image,
    ResourceLink,
    Server,
    Text,
    ToolError,
    WithContent,
    effect,
)
from holdfast.errors import ContractError
from holdfast.testing import assert_tool_contract, connect

PNG = b"\x89PNG\r\n"


@dataclass(frozen=True)
class Page:
    """What a tool found."""

    number: int


async def several() -> list[Text | Image | Audio | EmbeddedResource | ResourceLink]:
    """Everything at once."""
    return [
        Text("seen", Annotations(("user",), 0.5, "2026-01-02T00:00:00Z")),
        Image(PNG),
        Audio(b"wav", "audio/mpeg"),
        EmbeddedResource("app://x", '{"a":1}', "application/json"),
        ResourceLink("app://y", "y", mime_type="text/plain", size=7),
    ]


async def isolated_picture(width: int) -> WithContent[Page]:
    """A page with its picture, made in another process."""
    return WithContent(Page(width), Image(PNG * width))


ISOLATING = Server("isolating", version="1.0.0")
ISOLATING.tool(isolate=True)(isolated_picture)  # at import: another process must find it too


def _server(*functions: Callable[..., Any], **options: Any) -> Server:
    server = Server("s", version="1.0.0", **options)
    for function in functions:
        server.tool(effect=effect.replay_safe())(function)
    return server


def test_items_are_sent_in_their_order_and_nothing_beside_them() -> None:
    async def scenario() -> None:
        async with connect(_server(several)) as client:
            result = await client.call("several")
            assert result.message["result"].keys() == {"content", "isError"}
            assert result.content == [
                {
                    "type": "text",
                    "text": "seen",
                    "annotations": {
                        "audience": ["user"],
                        "priority": 0.5,
                        "lastModified": "2026-01-02T00:00:00Z",
                    },
                },
                {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"},
                {"type": "audio", "data": "d2F2", "mimeType": "audio/mpeg"},
                {
                    "type": "resource",
                    "resource": {"uri": "app://x", "mimeType": "application/json", "text": '{"a":1}'},
                },
                {"type": "resource_link", "uri": "app://y", "name": "y", "mimeType": "text/plain", "size": 7},
            ]

    asyncio.run(scenario())


def test_a_tool_of_content_publishes_no_output_schema_and_takes_no_form() -> None:
    async def scenario() -> None:
        async with connect(_server(several)) as client:
            tool = (await client.listed("tools/list"))[0]
            assert "outputSchema" not in tool
            assert tool["inputSchema"]["properties"] == {}
            assert (await client.call("several", render="json")).code == "INVALID_REQUEST"
        await assert_tool_contract(_server(several))

    asyncio.run(scenario())


def test_content_stands_behind_the_text_of_a_value_which_keeps_its_schema() -> None:
    async def nearby(width: int) -> WithContent[Page]:
        """A page with its picture."""
        return WithContent(Page(width), Image(PNG))

    async def scenario() -> None:
        for server, name in ((_server(nearby), "nearby"), (ISOLATING, "isolated_picture")):
            async with connect(server) as client:
                result = await client.call(name, width=1)
                assert result.payload == {"status": "success", "number": 1}
                assert [item["type"] for item in result.content] == ["text", "image"]
                assert result.content[1]["data"] == base64.b64encode(PNG).decode()
                listed = await client.listed("tools/list")
                assert "number" in listed[0]["outputSchema"]["properties"]

    asyncio.run(scenario())


def test_a_failure_of_a_tool_of_content_is_a_tool_error() -> None:
    async def refused(wrong: bool) -> Image:
        """A picture, or not."""
        if wrong:
            return "no picture"  # type: ignore[return-value]
        raise ToolError("INVALID_REQUEST", "not this one")

    async def scenario() -> None:
        async with connect(_server(refused)) as client:
            declared = await client.call("refused", wrong=False)
            assert (declared.is_error, declared.code) == (True, "INVALID_REQUEST")
            broken = await client.call("refused", wrong=True)
            assert (broken.is_error, broken.code) == (True, "INTERNAL")

    asyncio.run(scenario())


def test_a_picture_that_no_message_can_hold_is_a_typed_failure() -> None:
    async def vast() -> Image:
        """Too much."""
        return Image(b"x" * 9_000_000)

    async def scenario() -> None:
        async with connect(_server(vast)) as client:
            assert (await client.call("vast")).code == "RESULT_TOO_LARGE"

    asyncio.run(scenario())


def test_content_and_pages_do_not_go_together() -> None:
    with pytest.raises(ContractError, match="pages"):
        Server("s", version="1.0.0").tool(effect=effect.replay_safe(), pages=True)(several)


def test_a_file_becomes_content_of_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"jpg")
    (tmp_path / "a.wav").write_bytes(b"wav")
    assert Image.from_file(tmp_path / "a.jpg").to_wire()["mimeType"] == "image/jpeg"
    assert Audio.from_file(tmp_path / "a.wav").to_wire()["mimeType"] == "audio/wav"


def test_content_of_the_wrong_type_is_refused_where_it_is_made() -> None:
    for make in (
        lambda: Image("text"),  # type: ignore[arg-type]
        lambda: Text(b"bytes"),  # type: ignore[arg-type]
        lambda: ResourceLink("app://x", None),  # type: ignore[arg-type]
        lambda: EmbeddedResource("app://x", 7),  # type: ignore[arg-type]
        lambda: WithContent(1, "text"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="must be"):
            make()
    for wrong in ({"audience": ("everybody",)}, {"priority": 2}):
        with pytest.raises(ValueError, match="not"):
            Annotations(**wrong)


def test_a_context_can_still_be_asked_for() -> None:
    async def told(ctx: Context) -> Text:
        """Its own name."""
        return Text(ctx.tool)

    async def scenario() -> None:
        async with connect(_server(told)) as client:
            assert (await client.call("told")).content == [{"type": "text", "text": "told"}]

    asyncio.run(scenario())
