"""`holdfast stop`: end a running host, and with it its worker; or clean up after one that died."""

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import SECONDS, setting_options

if TYPE_CHECKING:
    from holdfast.host.records import HostRecord
    from holdfast.settings import Settings

__all__ = ["command"]

_ANSWER = 5.0  # seconds for the host to hear of it; then it is told by a signal
_TICK = 0.05


@click.command(name="stop")
@click.argument("host", required=False, metavar="[NAME|PID]")
@click.option("--timeout", type=SECONDS, default=30.0, metavar="SECONDS",
              help="How long to wait for its end. [default: 30]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
@setting_options("state_dir")
def command(host: str | None, timeout: float, as_json: bool, **options: Any) -> int:
    """End a running host and its worker, and wait until they are gone.

    Of a host that is dead already it removes what that left: processes, containers, its record.

    \b
    Examples:
      holdfast stop
      holdfast stop inventory
      holdfast stop 4711 --timeout 5
    """
    from holdfast.cli.running_hosts import choose, known_hosts, label
    from holdfast.errors import UsageError

    settings, hosts = known_hosts(options)
    record = choose(hosts, host, dead_too=True)
    if not record.alive:
        return _clean_up(settings, record, as_json=as_json)
    deadline = time.monotonic() + timeout
    _tell(record, min(_ANSWER, timeout))
    pause = threading.Event()
    while record.alive:
        if time.monotonic() >= deadline:
            raise UsageError(f"{label(record)} still runs after {timeout:g} s", remedy=f"kill -9 {record.pid}")
        pause.wait(_TICK)
    if as_json:
        _print({"ok": True, "pid": record.pid, "was": "running"})
    print(f"{label(record)} is stopped", file=sys.stderr)
    return 0


def _tell(record: "HostRecord", seconds: float) -> None:
    from holdfast.errors import SessionError
    from holdfast.host.remote import ask

    try:
        ask(record, "stop", seconds)
    except SessionError as error:
        if record.alive:  # asked last, so that the signal reaches nobody who was given its number since
            print(f"{error}; it gets SIGTERM", file=sys.stderr)
            os.kill(record.pid, signal.SIGTERM)


def _clean_up(settings: "Settings", record: "HostRecord", *, as_json: bool) -> int:
    import asyncio

    from holdfast.cli.running_hosts import label
    from holdfast.host.reaper import reap

    told: dict[str, Any] = {"ok": True, "pid": record.pid, "was": "dead"}
    for done in asyncio.run(reap(settings, only=record.host)):
        parts = [f"{len(done.killed)} processes killed"] if done.killed else []
        parts += [f"{len(done.containers)} containers removed"] if done.containers else []
        parts += [f"still alive: {', '.join(map(str, done.left))}"] if done.left else []
        parts += [done.problem] if done.problem else []
        print(f"{label(record)} was dead already; {', '.join(parts) or 'nothing was left of it'}", file=sys.stderr)
        told |= {"ok": not done.left, "killed": done.killed, "left": done.left, "containers": done.containers}
    if as_json:
        _print(told)
    return 0 if told["ok"] else 1


def _print(document: dict[str, Any]) -> None:
    from holdfast.wire.codec import encode

    sys.stdout.write(encode(document).decode() + "\n")
