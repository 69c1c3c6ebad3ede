"""A small server on the official Python SDK, as a newcomer would write it: something to probe.

holdfast probe --tool lookup --arguments '{"sku": "A-1"}' --slow-tool audit --hang-tool forever \
    -- python examples/probe/sdk_server.py

With `http PORT` behind it, it serves Streamable HTTP instead.
"""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("sdk-example")
STOCK = {"A-1": 12, "B-2": 0}
READS = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READS)
def lookup(sku: str) -> int:
    """How many there are of one article."""
    return STOCK[sku]


@server.tool(annotations=READS)
async def audit(ctx: Context, seconds: float = 2.0) -> int:
    """Count everything there is, slowly."""
    await ctx.report_progress(1, 2)
    await asyncio.sleep(seconds)
    return sum(STOCK.values())


@server.tool(annotations=READS)
async def forever() -> int:
    """Wait for something that never happens."""
    await asyncio.Event().wait()
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run()
