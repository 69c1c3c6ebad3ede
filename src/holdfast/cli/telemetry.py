"""`holdfast telemetry`: what was asked of one running host, how it ended and how long it took."""

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import setting_options
from holdfast.errors import UsageError
from holdfast.stdio.terminal import CLEAR_SCREEN, control

if TYPE_CHECKING:
    from holdfast.host.records import HostRecord

__all__ = ["command"]

_TIMEOUT = 5.0
_INTERVAL = 1.0  # seconds between two screens


@click.command(name="telemetry")
@click.argument("host", required=False, metavar="[NAME|PID]")
@click.option("--json", "as_json", is_flag=True, help="Print the whole telemetry as one JSON object.")
@click.option("--prometheus", is_flag=True, help="Print the figures in the text format of Prometheus.")
@click.option("--watch", is_flag=True, help="Go on, once a second, until interrupted.")
@setting_options("state_dir")
def command(host: str | None, as_json: bool, prometheus: bool, watch: bool, **options: Any) -> int:
    """Show what a running host was asked: the only one, the one of this directory, or the one named.

    The times are those of answers to the client, restarts of the worker included; p50, p95 and p99 are estimated
    from a histogram.

    \b
    Examples:
      holdfast telemetry
      holdfast telemetry inventory --watch
      holdfast telemetry 4711 --json
      holdfast telemetry --prometheus
    """
    from holdfast.cli.event_follow import wait_for_reader
    from holdfast.cli.running_hosts import choose, known_hosts
    from holdfast.errors import SessionError

    if as_json and prometheus:
        raise UsageError("--json and --prometheus exclude each other", remedy="choose one of them")
    _, hosts = known_hosts(options)
    record = choose(hosts, host)
    while True:
        try:
            text = _told(record, as_json=as_json, prometheus=prometheus)
        except SessionError as error:
            print(f"holdfast: {error}", file=sys.stderr)
            return 1
        is_screen = watch and not as_json and not prometheus and sys.stdout.isatty()
        sys.stdout.write((control(CLEAR_SCREEN) if is_screen else "") + text)
        sys.stdout.flush()
        if not watch or not wait_for_reader(_INTERVAL):
            return 0


def _told(record: "HostRecord", *, as_json: bool, prometheus: bool) -> str:
    from holdfast.cli.telemetry_text import describe_telemetry
    from holdfast.host.remote import ask
    from holdfast.wire.codec import encode

    if prometheus:
        return str(ask(record, "metrics", _TIMEOUT).get("text", ""))
    telemetry = ask(record, "telemetry", _TIMEOUT)
    lines = [encode(telemetry).decode()] if as_json else describe_telemetry(telemetry)
    return "".join(f"{line}\n" for line in lines)
