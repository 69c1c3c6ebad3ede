"""FastMCP's own proxy on stdio in front of a command; run by `blocked_servers.py`."""

import os
import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

__all__: list[str] = []

if __name__ == "__main__":
    transport = StdioTransport(sys.argv[1], sys.argv[2:], env=dict(os.environ))
    create_proxy(transport).run(show_banner=False)
