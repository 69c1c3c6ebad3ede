"""`holdfast ps`: the hosts that run here, and the records of those that died."""

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import setting_options

if TYPE_CHECKING:
    from holdfast.host.records import HostRecord

__all__ = ["command"]

_TIMEOUT = 2.0  # seconds for a host to answer; all are asked at once
_AT_ONCE = 16
_COLUMNS = ("name", "pid", "state", "generation", "restarts", "uptime", "command")


@click.command(name="ps")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array with the whole health of each host.")
@setting_options("state_dir")
def command(as_json: bool, **options: Any) -> int:
    """List the running hosts, one line each.

    \b
    Examples:
      holdfast ps
      holdfast ps --json
    """
    from concurrent.futures import ThreadPoolExecutor

    from holdfast.cli.running_hosts import known_hosts, label
    from holdfast.wire.codec import encode

    _, hosts = known_hosts(options)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(_look, hosts))
    if as_json:
        sys.stdout.write(encode(found).decode() + "\n")
        return 0
    if not found:
        print("no host is running; start one with: holdfast run -- COMMAND", file=sys.stderr)
        return 0
    for line in _table(found):
        sys.stdout.write(line + "\n")
    for host, health in zip(hosts, found, strict=True):
        if health["state"] == "dead":
            print(
                f"{label(host)} died without cleaning up; the next host to start does it, or now: "
                f"holdfast stop {host.pid}",
                file=sys.stderr,
            )
    return 0


def _look(host: "HostRecord") -> dict[str, Any]:
    """The record of a host and what it says about itself: `dead`, `silent`, or its own state."""
    from holdfast.errors import SessionError
    from holdfast.host.naming import legible
    from holdfast.host.remote import ask

    words = {name: legible(getattr(host, name)) for name in ("host", "name", "cwd", "since", "version")}
    known = {**words, "pid": host.pid, "command": list(map(legible, host.command)), "alive": host.alive}
    if not known["alive"]:
        return {**known, "state": "dead"}
    try:
        health = ask(host, "status", _TIMEOUT)
    except SessionError as error:
        return {**known, "state": "silent" if host.alive else "dead", "problem": str(error)}
    return {**health, **known}


def _table(found: list[dict[str, Any]]) -> list[str]:
    import shutil

    from holdfast.cli.health import command_line, duration
    from holdfast.present.table import render_table

    rows = [
        (
            host["name"],
            host["pid"],
            str(host.get("state", "unknown")),
            host.get("generation"),
            host.get("restart_count"),
            duration(host.get("uptime_ms")),
            command_line(host["command"]),
        )
        for host in found
    ]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 160
    return render_table(_COLUMNS, rows, max_rows=len(rows), max_width=max(width, 40), max_cell=60)
