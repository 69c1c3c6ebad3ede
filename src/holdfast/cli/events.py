"""`holdfast events`: what happened, from the event logs that servers write."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from holdfast.cli.groups import CommandGroup
from holdfast.cli.options import setting_options

__all__ = ["command"]


@click.group(name="events", cls=CommandGroup)
def command() -> None:
    """Read the event log of a server.

    \b
    Examples:
      holdfast events show inventory -n 5
      holdfast events path inventory
    """


@command.command(name="path")
@click.argument("server", required=False)
@setting_options("state_dir")
def show_path(server: str | None, **options: Any) -> int:
    """Print where the event log of a server is, or the directory of all of them.

    \b
    Example:
      tail -f "$(holdfast events path inventory)"
    """
    print(_log_path(server, options) if server else _state(options))
    return 0


@command.command(name="show")
@click.argument("server", required=False)
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=20, metavar="N", help="How many. [default: 20]"
)
@click.option("--json", "as_json", is_flag=True, help="Print each event as one JSON line.")
@click.option("--fault", metavar="ID", help="Print the full record of this fault, with its traceback.")
@setting_options("state_dir")
def show_events(server: str | None, number: int, as_json: bool, fault: str | None, **options: Any) -> int:
    """Print the latest events of a server, or of all of them, the newest last.

    \b
    Examples:
      holdfast events show inventory -n 5
      holdfast events show --fault 64c99e812477
    """
    from holdfast.cli.event_list import describe_event, find_fault, latest_events
    from holdfast.cli.faults import describe_record
    from holdfast.errors import UsageError

    state = _state(options)
    paths = [_log_path(server, options)] if server else sorted(state.glob("*/events.jsonl"))
    if server and not paths[0].exists():
        known = ", ".join(sorted(path.parent.name for path in state.glob("*/events.jsonl"))) or "none"
        raise UsageError(f"there is no event log of {server!r} in {state}", remedy=f"one of: {known}")
    if fault is not None:
        record = find_fault(paths, fault)
        if record is None:
            raise UsageError(f"there is no fault {fault!r} in {state}", remedy="holdfast events show")
        return _print([record], as_json=as_json, describe=describe_record)
    latest = latest_events(paths, number)
    if not latest:
        print(f"no events yet in {state}", file=sys.stderr)
    return _print(latest, as_json=as_json, describe=describe_event)


def _print(
    events: list[dict[str, Any]], *, as_json: bool, describe: Callable[[dict[str, Any]], Iterable[str]]
) -> int:
    from holdfast.wire.codec import encode

    for event in events:
        for line in [encode(event).decode()] if as_json else describe(event):
            sys.stdout.write(line + "\n")
    return 0


def _state(options: dict[str, Any]) -> Path:
    from holdfast.settings import load_settings

    return load_settings(options).state_path()


def _log_path(server: str, options: dict[str, Any]) -> Path:
    from holdfast.observe.event_log import open_event_log
    from holdfast.settings import load_settings

    # The path is asked for, whether or not the log is being written at the moment.
    log = open_event_log(load_settings({**options, "event_log": True}), server)
    assert log.path is not None
    return log.path
