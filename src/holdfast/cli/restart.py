"""`holdfast restart`: a new worker for a running host; the client's session goes on."""

import sys
from typing import Any

import click

from holdfast.cli.options import SECONDS, setting_options

__all__ = ["command"]


@click.command(name="restart")
@click.argument("host", required=False, metavar="[NAME|PID]")
@click.option("--timeout", type=SECONDS, default=60.0, metavar="SECONDS",
              help="How long to wait for the new worker. [default: 60]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what serves now as one JSON object.")
@setting_options("state_dir")
def command(host: str | None, timeout: float, as_json: bool, **options: Any) -> int:
    """Replace the worker of a running host, and wait until the new one serves.

    \b
    Examples:
      holdfast restart
      holdfast restart inventory --timeout 10
    """
    from holdfast.cli.running_hosts import choose, known_hosts, label
    from holdfast.host.remote import ask
    from holdfast.wire.codec import encode

    _, hosts = known_hosts(options)
    record = choose(hosts, host)
    result = ask(record, "restart", timeout)
    if as_json:
        sys.stdout.write(encode({"ok": True, "pid": record.pid, **result}).decode() + "\n")
    generation, worker = result.get("generation"), result.get("worker_pid")
    facts = [f"generation {generation}"] if generation is not None else []
    facts += [f"worker pid {worker}"] if worker is not None else []
    print(f"{label(record)} has a new worker{': ' if facts else ''}{', '.join(facts)}", file=sys.stderr)
    return 0
