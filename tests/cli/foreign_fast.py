"""A server of FastMCP, as its users write it."""

from fastmcp import FastMCP

mcp = FastMCP("fast", version="1.2.3")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
