"""`holdfast run`: any MCP server, in any language, behind the host."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import ServerCommand, command_behind_dashes, has_command, setting_options
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.host.upgrades import UpgradePlan

__all__ = ["command"]

EXAMPLE = "holdfast run -- npx -y @modelcontextprotocol/server-everything"


@click.command(name="run", cls=ServerCommand, options_metavar="[OPTIONS] -- COMMAND [ARGS]...")
@click.option("--name", metavar="NAME", help="What the server is called in `holdfast ps`. [default: from COMMAND]")
@click.option("--watch", "paths", multiple=True, metavar="PATH",
              help="Take up a new version whenever this file or directory changes; may be repeated.")  # fmt: skip
@click.option("--release", "releases", metavar="ROOT",
              help="Run and follow the release that is activated in this directory; no COMMAND then.")  # fmt: skip
@click.option("--env", "variables", multiple=True, metavar="NAME[=VALUE]",
              help="Give the server this variable; may be repeated. With --untrusted few others.")  # fmt: skip
@setting_options(
    "spare", "single", "stateful", "suspect_after", "deadline", "deadline_total", "heartbeat", "start_timeout",
    "replays", "restart_budget", "untrusted",
    "trust_idempotent", "output_bytes", "output_tokens", "health_tools", "metrics", "otel", "mcp_mode",
    "kill_grace", "drain", "exit_with_parent", "probation", "event_log", "state_dir", "http", "http_token_file",
    "http_tokens", "http_hosts", "http_origins", "http_trusted_proxies", "http_concurrency",
    "http_client_concurrency", "http_client_rate", "http_max_body",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    /,
    name: str | None,
    paths: tuple[str, ...],
    releases: str | None,
    variables: tuple[str, ...],
    **options: Any,
) -> int:
    """Run any MCP server so that it survives its own crashes and hangs.

    Put `holdfast run --` in front of the server's command in the configuration of an MCP client. With --http the
    same server is there for any number of clients over HTTP, at /mcp.

    \b
    Examples:
      holdfast run -- npx -y @modelcontextprotocol/server-everything
      holdfast run --spare 1 --name files -- python -m files_server --root /srv
      holdfast run --untrusted --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github
      holdfast run --watch src/ -- python -m files_server
      holdfast run --http 127.0.0.1:7345 -- python -m files_server </dev/null
      holdfast run --release /srv/releases --name files
    """
    from holdfast.host.naming import server_name
    from holdfast.host.run import run_host
    from holdfast.host.worker_environment import worker_environment
    from holdfast.settings import FOREIGN_DEFAULTS, load_configuration

    words, upgrades = _what_serves(ctx, paths, releases)
    chosen = name or (Path(releases).absolute().name if releases else server_name(words))
    configuration = load_configuration(options, server=chosen, defaults=FOREIGN_DEFAULTS)
    environment = worker_environment(variables, untrusted=configuration.settings.untrusted)
    front = None
    if configuration.settings.http:
        from holdfast.cli.http_front import general_front_plan

        front = general_front_plan(configuration.settings)
    return run_host(words, configuration, chosen, front=front, upgrades=upgrades, environment=environment)


def _what_serves(
    ctx: click.Context, paths: tuple[str, ...], releases: str | None
) -> "tuple[tuple[str, ...], UpgradePlan | None]":
    from holdfast.host.upgrades import UpgradePlan
    from holdfast.host.watching import Watch

    watch = Watch(paths) if paths else None
    if releases is None:
        return command_behind_dashes(ctx, EXAMPLE), UpgradePlan(watch) if watch is not None else None
    from holdfast.host.release_directory import ReleaseDirectory

    if has_command(ctx):
        raise UsageError("a release has its own command", remedy="leave out what stands behind `--`")
    directory = ReleaseDirectory(releases)
    serving = directory.verified(directory.current())
    return serving.command, UpgradePlan(watch, directory, serving.id)
