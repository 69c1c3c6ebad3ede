"""A low-level server of the official SDK on the SDK's own stdio transport."""

from typing import Any

__all__ = ["run_low_level"]


async def run_low_level(server: Any) -> None:
    """Serve it until its client leaves."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
