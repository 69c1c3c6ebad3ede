"""`holdfast events`: what happened, from the event logs that servers write."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from holdfast.cli.groups import CommandGroup, meant
from holdfast.cli.options import setting_options

__all__ = ["command"]

_INTERVAL = 0.25  # seconds between two looks at a log that is followed
_DIRECT = "holdfast.events"  # where a context keeps that no subcommand was named


class _EventsGroup(CommandGroup):
    """A group whose subcommand `show` need not be written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args[0] in (*self.commands, *ctx.help_option_names) if args else ctx.resilient_parsing
        if not named:
            ctx.meta[_DIRECT] = True
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [
            parameter.get_help_record(ctx)
            for parameter in show_events.get_params(ctx)
            if not isinstance(parameter, click.Argument)
        ]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        self.format_commands(ctx, formatter)


@click.group(name="events", cls=_EventsGroup, options_metavar="", subcommand_metavar="[SERVER] [OPTIONS]")
def command() -> None:
    """Read the event log of a server, or of all of them, the newest event last.

    \b
    Examples:
      holdfast events                     the latest of all servers
      holdfast events inventory -n 5
      holdfast events inventory --follow
      holdfast events --fault 64c99e812477
      holdfast events path inventory
    """


@command.command(name="path")
@click.argument("server", required=False)
@setting_options("state_dir")
def show_path(server: str | None, **options: Any) -> int:
    """Print where the event log of a server is, or the directory of all of them.

    \b
    Example:
      jq .tool "$(holdfast events path inventory)"
    """
    print(_log_path(server, options) if server else _state(None, options))
    return 0


@command.command(name="show")
@click.argument("server", required=False)
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=20, metavar="N", help="How many. [default: 20]"
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new events as they are written, until interrupted.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as one JSON line.")
@click.option("--fault", metavar="ID", help="Print the full record of this fault, with its traceback.")
@setting_options("state_dir")
@click.pass_context
def show_events(
    ctx: click.Context,
    /,
    server: str | None,
    number: int,
    follow: bool,
    as_json: bool,
    fault: str | None,
    **options: Any,
) -> int:
    """Print the latest events; the same as without `show`.

    \b
    Examples:
      holdfast events show inventory -n 5
      holdfast events show --fault 64c99e812477
    """
    from holdfast.cli.event_list import describe_event, find_fault, latest_events
    from holdfast.cli.faults import describe_record
    from holdfast.errors import UsageError

    state = _state(server, options)
    if follow:
        if fault is not None:
            raise UsageError("--follow and --fault exclude each other", remedy=f"holdfast events --fault {fault}")
        return _follow(server, state, number, as_json=as_json, options=options)
    paths = [_log_path(server, options)] if server else _logs(state)
    if server and not paths[0].exists():
        _refuse(ctx, server, state)
    if fault is not None:
        record = find_fault(paths, fault)
        if record is None:
            raise UsageError(f"there is no fault {fault!r} in {state}", remedy="holdfast events show")
        return _print([record], as_json=as_json, describe=describe_record)
    latest = latest_events(paths, number)
    if not latest:
        print(f"no events yet in {state}", file=sys.stderr)
    return _print(latest, as_json=as_json, describe=describe_event)


def _refuse(ctx: click.Context, server: str, state: Path) -> None:
    from holdfast.errors import UsageError

    misspelled = meant(server, command.commands) if _DIRECT in ctx.meta and ctx.parent is not None else ""
    if misspelled:
        raise click.UsageError(f"there is no command {server!r}{misspelled}", ctx.parent)
    known = ", ".join(path.parent.name for path in _logs(state)) or "none"
    raise UsageError(f"there is no event log of {server!r} in {state}", remedy=f"one of: {known}")


def _follow(server: str | None, state: Path, number: int, *, as_json: bool, options: dict[str, Any]) -> int:
    from holdfast.cli.event_follow import EventFollower, wait_for_reader
    from holdfast.cli.event_list import describe_event

    path = _log_path(server, options) if server else None
    follower = EventFollower(lambda: [path] if path else _logs(state))
    try:
        events = follower.poll()[-number:]
        if not events:
            print(f"waiting for the first event in {path or state}", file=sys.stderr)
        while True:
            if events:
                _print(events, as_json=as_json, describe=describe_event)
                sys.stdout.flush()
            if not wait_for_reader(_INTERVAL):
                return 0
            events = follower.poll()
    finally:
        follower.close()


def _logs(state: Path) -> list[Path]:
    return sorted(state.glob("*/events.jsonl"))


def _print(
    events: list[dict[str, Any]], *, as_json: bool, describe: Callable[[dict[str, Any]], Iterable[str]]
) -> int:
    from holdfast.wire.codec import encode

    for event in events:
        for line in [encode(event).decode()] if as_json else describe(event):
            sys.stdout.write(line + "\n")
    return 0


def _state(server: str | None, options: dict[str, Any]) -> Path:
    from holdfast.settings import load_configuration

    return load_configuration(options, server=server).settings.state_path()


def _log_path(server: str, options: dict[str, Any]) -> Path:
    from holdfast.observe.event_log import open_event_log
    from holdfast.settings import load_configuration

    # The path is asked for, whether or not the log is being written at the moment.
    settings = load_configuration({**options, "event_log": True}, server=server).settings
    log = open_event_log(settings, server)
    assert log.path is not None
    return log.path
