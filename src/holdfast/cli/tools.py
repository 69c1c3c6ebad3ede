"""`holdfast tools`: what a server offers, for a person or as JSON."""

import sys
from typing import Any

import click

from holdfast.cli.options import SECONDS, ServerCommand, setting_options, take_source

__all__ = ["command"]


@click.command(name="tools", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("--json", "as_json", is_flag=True, help="Print the full tool definitions as a JSON array.")
@click.option(
    "--timeout",
    type=SECONDS,
    default=0.0,
    metavar="SECONDS",
    help="How long to wait for each answer. [default: 30]",
)
@setting_options("state_dir")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], as_json: bool, timeout: float, **options: Any) -> int:
    """List the tools of a server, with their arguments.

    TARGET is module:object, path/file.py or path/file.py:object. Behind `--` stands the command line of any MCP
    server on stdio, in any language.

    \b
    Examples:
      holdfast tools inventory.py
      holdfast tools --json -- npx some-server --flag
    """
    from holdfast.errors import UsageError

    source, rest = take_source(ctx, words, "holdfast tools -- python server.py")
    if rest:
        remedy = "holdfast tools TARGET, or holdfast tools -- COMMAND ARGS..."
        raise UsageError(f"unexpected argument {rest[0]!r}", remedy=remedy)
    from holdfast.cli.connect import load_server, run
    from holdfast.cli.streams import guarded_streams
    from holdfast.cli.tool_list import describe_tools, fetch_tools
    from holdfast.settings import load_configuration

    options["event_log"] = False  # nothing is called, so nothing happens
    with guarded_streams():
        server = load_server(source)
        settings = load_configuration(options, server=server.name if server else None).settings
        peer, tools = run(fetch_tools(source, server, settings, timeout))
    if as_json:
        from holdfast.wire.codec import encode

        print(encode(tools).decode())
    else:
        contracts = {} if server is None else server.surface.by_name
        sys.stdout.write("\n".join(describe_tools(peer, tools, contracts)) + "\n")
    return 0
