"""Servers of the official SDK, as its users write them, and things that are none."""

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server as LowLevelServer
from mcp.server.mcpserver import MCPServer

sdk = MCPServer("high", version="1.2.3")


@sdk.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    """What the low-level server offers."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    return types.ListToolsResult(tools=[types.Tool(name="add", description="Add.", input_schema=schema)])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Add two numbers."""
    arguments = params.arguments or {}
    total = str(arguments["a"] + arguments["b"])
    return types.CallToolResult(content=[types.TextContent(type="text", text=total)])


low = LowLevelServer("low", version="1.2.3", on_list_tools=list_tools, on_call_tool=call_tool)
number = 5


def make_sdk() -> MCPServer:
    """A factory."""
    return sdk


class Pretender:
    """Something that has a method of the right name, and is no server."""

    def run_stdio_async(self) -> None:
        """Not a coroutine."""


pretender = Pretender()
