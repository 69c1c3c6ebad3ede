"""The fixtures of the official conformance suite that need no answers: content, resources, prompts, changes."""

import asyncio
import base64
import json
from typing import Annotated

from pydantic import BaseModel, Field

from holdfast import Audio, Context, EmbeddedResource, Image, Message, Server, Text, ToolError

__all__ = ["register"]

PAUSE = 0.3  # seconds between two reports: at most four a second are told
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")


class Person(BaseModel):
    """Whose place it is."""

    context: str


def register(server: Server) -> None:
    """Put all of them on a server."""
    # The suite calls the first tool without arguments.
    for function in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_progress,
        said_region,
    ):
        server.tool()(function)
    server.tool(errors=("NOT_FOUND",))(test_error_handling)
    _register_changes(server)
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template)
    server.resource("test://watched-resource", mime_type="text/plain", subscribable=True)(watched)
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
    ):
        server.prompt()(prompt)
    server.completion("test_prompt_with_arguments", "arg1")(words)


def _register_changes(server: Server) -> None:
    @server.tool()
    async def test_trigger_tool_change() -> str:
        """Let a tool come and go, so that the list has changed."""
        server.tool(name="test_passing_tool")(test_passing)
        server.remove_tool("test_passing_tool")
        return "the list of tools has changed"

    @server.tool()
    async def test_trigger_prompt_change() -> str:
        """Let a prompt come and go, so that the list has changed."""
        server.prompt(name="test_passing_prompt")(test_passing)
        server.remove_prompt("test_passing_prompt")
        return "the list of prompts has changed"


async def test_passing() -> str:
    """Here for a moment."""
    return "here"


# --- tools -----------------------------------------------------------------------------------------------------


async def test_simple_text() -> Text:
    """Return one text."""
    return Text("This is a simple text response for testing.")


async def test_image_content() -> Image:
    """Return a picture."""
    return Image(PNG, "image/png")


async def test_audio_content() -> Audio:
    """Return a sound."""
    return Audio(WAV, "audio/wav")


async def test_embedded_resource() -> EmbeddedResource:
    """Return a resource with its text."""
    return EmbeddedResource("test://embedded-resource", "This is an embedded resource content.", "text/plain")


async def test_multiple_content_types() -> list[Text | Image | EmbeddedResource]:
    """Return a text, a picture and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    return [
        Text("Multiple content types test:"),
        Image(PNG, "image/png"),
        EmbeddedResource("test://mixed-content-resource", data, "application/json"),
    ]


async def test_error_handling() -> str:
    """Fail, always."""
    raise ToolError("NOT_FOUND", "This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context) -> str:
    """Tell progress three times."""
    for done in (0, 50, 100):
        await ctx.progress(f"{done} of 100", progress=done, total=100)
        await asyncio.sleep(PAUSE)
    return "done"


async def said_region(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
) -> str:
    """Say the region, which stands in a header as well.

    Args:
        region: Where.
    """
    return region or "nowhere"


# --- resources -------------------------------------------------------------------------------------------------


async def static_text() -> str:
    """Return a text that never changes."""
    return "This is the content of the static text resource."


async def static_binary() -> bytes:
    """Return a picture that never changes."""
    return PNG


async def template(id: str) -> dict[str, str | bool]:  # noqa: A002 - the suite names it so
    """Return the data of one id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


async def watched() -> str:
    """Return a text that clients can subscribe to."""
    return "Watched."


# --- prompts ---------------------------------------------------------------------------------------------------


async def test_simple_prompt() -> str:
    """Return one text."""
    return "This is a simple prompt for testing."


async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Return a text with both arguments.

    Args:
        arg1: The first.
        arg2: The second.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


async def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite names it so
    """Return a resource, and what to do with it.

    Args:
        resourceUri: Which.
    """
    return [
        Message.user(EmbeddedResource(resourceUri, "Embedded resource content for testing.", "text/plain")),
        Message.user("Please process the embedded resource above."),
    ]


async def test_prompt_with_image() -> list[Message]:
    """Return a picture, and what to do with it."""
    return [Message.user(Image(PNG, "image/png")), Message.user("Please analyze the image above.")]


async def test_input_required_result_prompt(ctx: Context) -> str:
    """Ask what it is about before it says anything."""
    answer = await ctx.elicit("What is the context?", Person, key="user_context")
    return f"Context: {answer.value.context if answer.value else 'none'}"


async def words(value: str) -> list[str]:
    """Return the words that go on as typed."""
    return [word for word in ("test", "testValue1", "testValue2") if word.startswith(value)]
