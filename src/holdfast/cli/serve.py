"""`holdfast serve`: one server, one client, on stdin and stdout."""

import sys
from typing import Any

import click

from holdfast.cli.options import setting_options

__all__ = ["command"]


@click.command(name="serve")
@click.argument("target")
@click.option("--standalone", is_flag=True, help="Serve with no host in front of the server; so far the only way.")
@setting_options()
def command(target: str, standalone: bool, **options: Any) -> int:  # noqa: ARG001 - there is no other way yet
    """Serve a server written in Python to one MCP client, on stdin and stdout.

    TARGET is module:object, path/file.py or path/file.py:object.

    \b
    Examples:
      holdfast serve inventory.py
      holdfast serve shop.inventory:server --mcp-mode legacy --tool-timeout 30
    """
    from holdfast.cli.streams import guarded_streams
    from holdfast.settings import load_settings
    from holdfast.worker.serve import serve
    from holdfast.worker.targets import load_target

    settings = load_settings(options)
    with guarded_streams():  # what the file prints while it is imported is no message
        server = load_target(target)
    if sys.stdin.isatty():
        print(
            f"{server.name} waits for an MCP client on stdin. To try a tool: holdfast call {target} TOOL",
            file=sys.stderr,
        )
    return serve(server, settings)
