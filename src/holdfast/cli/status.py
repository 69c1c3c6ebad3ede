"""`holdfast status`: how one running host is."""

import sys
from typing import Any

import click

from holdfast.cli.options import setting_options

__all__ = ["command"]

_TIMEOUT = 5.0


@click.command(name="status")
@click.argument("host", required=False, metavar="[NAME|PID]")
@click.option("--json", "as_json", is_flag=True, help="Print the health as one JSON object.")
@setting_options("state_dir")
def command(host: str | None, as_json: bool, **options: Any) -> int:
    """Show the health of a running host: the only one, the one of this directory, or the one named.

    The exit code is 0 when it is ready, 1 when it is not, 2 when there is no such host.

    \b
    Examples:
      holdfast status
      holdfast status inventory
      holdfast status 4711 --json
    """
    from holdfast.cli.health import describe_health
    from holdfast.cli.running_hosts import choose, known_hosts
    from holdfast.errors import SessionError
    from holdfast.host.remote import ask
    from holdfast.wire.codec import encode

    _, hosts = known_hosts(options)
    record = choose(hosts, host)
    try:
        health = ask(record, "status", _TIMEOUT)
    except SessionError as error:
        print(f"holdfast: {error}", file=sys.stderr)
        return 1
    for line in [encode(health).decode()] if as_json else describe_health(health):
        sys.stdout.write(line + "\n")
    return 0 if health.get("state") == "ready" else 1
