"""The echo tool on the official SDK's low-level server."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    """Offer the one tool."""
    return types.ListToolsResult(
        tools=[types.Tool(name="echo", description="Return the text.", input_schema=SCHEMA)]
    )


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Return the text."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=(params.arguments or {})["text"])])


async def main() -> None:
    """Serve on stdin and stdout."""
    server: Server[Any] = Server("sdk-echo", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


anyio.run(main)
