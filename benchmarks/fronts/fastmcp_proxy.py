"""FastMCP's own proxy in front of a command."""

import sys

from fastmcp.server import create_proxy

backend = {"mcpServers": {"default": {"command": sys.argv[1], "args": sys.argv[2:]}}}
create_proxy(backend, name="proxy").run(show_banner=False)
