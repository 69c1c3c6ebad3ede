"""The echo tool on FastMCP."""

from fastmcp import FastMCP

server: FastMCP = FastMCP("fastmcp-echo")


@server.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


server.run(show_banner=False)
