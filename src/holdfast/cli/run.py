"""`holdfast run`: any MCP server, in any language, behind the host."""

from typing import Any

import click

from holdfast.cli.options import ServerCommand, command_behind_dashes, setting_options

__all__ = ["command"]

EXAMPLE = "holdfast run -- npx -y @modelcontextprotocol/server-everything"


@click.command(name="run", cls=ServerCommand, options_metavar="[OPTIONS] -- COMMAND [ARGS]...")
@click.option("--name", metavar="NAME", help="What the server is called in `holdfast ps`. [default: from COMMAND]")
@setting_options(
    "spare", "deadline", "deadline_total", "heartbeat", "start_timeout", "replays", "restart_budget", "untrusted",
    "trust_idempotent", "mcp_mode", "kill_grace", "drain", "exit_with_parent", "event_log", "state_dir",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, /, name: str | None, **options: Any) -> int:
    """Run any MCP server so that it survives its own crashes and hangs.

    Put `holdfast run --` in front of the server's command in the configuration of an MCP client.

    \b
    Examples:
      holdfast run -- npx -y @modelcontextprotocol/server-everything
      holdfast run --spare 1 --name files -- python -m files_server --root /srv
    """
    from holdfast.host.naming import server_name
    from holdfast.host.run import run_host
    from holdfast.settings import load_configuration

    words = command_behind_dashes(ctx, EXAMPLE)
    chosen = name or server_name(words)
    return run_host(words, load_configuration(options, server=chosen), chosen)
