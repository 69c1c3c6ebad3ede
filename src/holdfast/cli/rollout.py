"""`holdfast rollout`: a new version of a server takes over in a running host; the client's session goes on."""

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import SECONDS, setting_options
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.host.records import HostRecord
    from holdfast.settings import Settings

__all__ = ["command"]


@click.command(name="rollout")
@click.argument("host", required=False, metavar="[NAME|PID]")
@click.option("--to", "program", metavar="CMD",
              help="The command that serves from now on, in one text. [default: the same as now]")  # fmt: skip
@click.option("--accept-breaking", is_flag=True,
              help="Take over even where the new tools break callers and no version says so.")  # fmt: skip
@click.option("--host", "whole", is_flag=True,
              help="Replace the host itself by the version of holdfast that is installed now.")  # fmt: skip
@click.option("--watch", "paths", multiple=True, metavar="PATH",
              help="Stay, and do it again whenever this file or directory changes; may be repeated.")  # fmt: skip
@click.option("--timeout", type=SECONDS, default=120.0, metavar="SECONDS",
              help="How long to wait until the new version serves. [default: 120]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@setting_options("state_dir")
def command(
    host: str | None,
    program: str | None,
    accept_breaking: bool,
    whole: bool,
    paths: tuple[str, ...],
    timeout: float,
    as_json: bool,
    **options: Any,
) -> int:
    """Have a new version of the server take over while calls are in flight.

    It is started beside the old one, takes up the session, and its tools are compared with those that clients
    know. Calls in flight finish where they are; new ones go to the new version. If anything about it is wrong, the
    old one stays, and the exit code is 1. One that keeps crashing right afterwards is left for the old one again.
    A rollout goes on in the host when this command gives up waiting or is interrupted.

    \b
    Examples:
      holdfast rollout                              after the server's files were replaced
      holdfast rollout inventory --to 'python server_v2.py'
      holdfast rollout --watch src/                 at every change, until Ctrl-C
      holdfast rollout --host                       after holdfast itself was upgraded
    """
    from holdfast.cli.running_hosts import choose, known_hosts

    settings, hosts = known_hosts(options)
    record = choose(hosts, host)
    if whole:
        if program is not None or paths or accept_breaking:
            raise UsageError("--host replaces the host and nothing else", remedy="give it alone")
        return _reinstall(record, settings, timeout, as_json=as_json)
    words = _words(program)

    def roll_out() -> int:
        return _roll_out(record, words, accept_breaking=accept_breaking, timeout=timeout, as_json=as_json)

    return _at_every_change(record, paths, roll_out) if paths else roll_out()


def _words(program: str | None) -> list[str] | None:
    if program is None:
        return None
    try:
        program.encode()  # what is no text cannot be told to the host
        words = shlex.split(program)
    except ValueError as error:
        raise UsageError(f"--to is no command: {error}", remedy="quote it as in a shell") from error
    if not words:
        raise UsageError("--to is empty", remedy="holdfast rollout --to 'python server.py'")
    return words


def _roll_out(
    record: "HostRecord", words: list[str] | None, *, accept_breaking: bool, timeout: float, as_json: bool
) -> int:
    from holdfast.cli.running_hosts import label
    from holdfast.errors import NotAskedError, RefusedError, SessionError
    from holdfast.host.remote import ask
    from holdfast.wire.codec import encode

    try:
        told = ask(record, "rollout", timeout, command=words, accept_breaking=accept_breaking)
    except (NotAskedError, RefusedError) as error:
        return _tell_failure(f"the old version stays: {error}", as_json=as_json)
    except SessionError as error:
        return _tell_failure(f"{error}; what became of it says: holdfast status", as_json=as_json, is_open=True)
    except KeyboardInterrupt:
        print("holdfast: the rollout goes on; what becomes of it says: holdfast status", file=sys.stderr)
        raise
    if as_json:
        sys.stdout.write(encode({"ok": True, **told}).decode() + "\n")
    pid = f", worker pid {told['worker_pid']}" if told.get("worker_pid") else ""
    text = f"release {told.get('release')} serves: generation {told.get('generation')}{pid}"
    print(f"{label(record)}: {text}", file=sys.stderr)
    return 0


def _tell_failure(text: str, *, as_json: bool, is_open: bool = False) -> int:
    """Say why there is no success: refused, or nobody knows yet."""
    from holdfast.wire.codec import encode

    if as_json:
        sys.stdout.write(encode({"ok": None if is_open else False, "reason": text}).decode() + "\n")
    print(f"holdfast: {text}", file=sys.stderr)
    return 1


def _reinstall(record: "HostRecord", settings: "Settings", timeout: float, *, as_json: bool) -> int:
    """Ask for it, and wait until the next version answers: it has the same process, and a record of its own."""
    import select
    import time

    from holdfast.cli.running_hosts import label
    from holdfast.errors import NotAskedError, RefusedError, SessionError
    from holdfast.host.records import list_hosts
    from holdfast.host.remote import ask
    from holdfast.wire.codec import encode

    deadline = time.monotonic() + timeout
    try:
        ask(record, "reinstall", timeout, seconds=timeout / 2)
        while record.alive and time.monotonic() < deadline:
            for found in list_hosts(settings):
                if found.pid == record.pid and found.host != record.host:
                    told = {"ok": True, "pid": found.pid, "version": found.version}
                    if as_json:
                        sys.stdout.write(encode(told).decode() + "\n")
                    print(f"{label(found)} goes on with version {found.version}", file=sys.stderr)
                    return 0
            select.select([], [], [], 0.05)
        raise SessionError(f"{label(record)} {'has not come back yet' if record.alive else 'is gone'}")
    except (NotAskedError, RefusedError) as error:
        return _tell_failure(f"the host stays as it is: {error}", as_json=as_json)
    except SessionError as error:
        return _tell_failure(f"{error}; see: holdfast ps", as_json=as_json, is_open=True)


def _at_every_change(record: "HostRecord", paths: tuple[str, ...], roll_out: Callable[[], int]) -> int:
    import select

    from holdfast.host.watching import POLL, Watch

    watch = Watch(paths)
    print(f"watching {', '.join(map(str, watch.paths))}; Ctrl-C ends it", file=sys.stderr)
    while record.alive:
        select.select([], [], [], POLL)
        if watch.look():
            roll_out()
    print("holdfast: the host is gone", file=sys.stderr)
    return 1
