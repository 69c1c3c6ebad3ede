"""`holdfast launch work`: this machine executes runs of a pool, beside others."""

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.launching import open_service, permission_options, told
from holdfast.cli.options import setting_options
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.engine.pool_executor import PoolExecutor
    from holdfast.launch.workspace import Workspace

__all__ = ["work"]

_LONGEST_NAME = 100


@click.command(name="work")
@click.option("--concurrency", type=click.IntRange(1, 256), default=2, show_default=True, metavar="N",
              help="Runs that this machine executes at the same time.")  # fmt: skip
@click.option("--pool-concurrency", type=click.IntRange(0, 100_000), metavar="N",
              help="Runs that the whole pool executes at once, 0 for no bound; it is remembered.")  # fmt: skip
@click.option("--executor", metavar="NAME", help="What this machine is called in the pool. [default: HOST-PID]")
@click.option("--drain", is_flag=True, help="Leave when nothing is left to do.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, for programs.")
@setting_options("launch_dir", "state_dir", "launch_workers", "launch_lease")
@permission_options
def work(
    concurrency: int,
    pool_concurrency: int | None,
    executor: str | None,
    drain: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Join the pool of machines that execute launch runs, until Ctrl-C.

    All machines name the same PostgreSQL database in HOLDFAST_LAUNCH_STORE; nothing else is shared between them.
    The first Ctrl-C, or SIGTERM, finishes the step in hand and hands over; the second stops at once. Nothing is
    lost either way, nor when the machine dies: the others go on when its lease is over.

    \b
    Examples:
      HOLDFAST_LAUNCH_STORE=postgresql://ann@db/launch holdfast launch work
      holdfast launch work --concurrency 4 --executor build-7
      holdfast launch work --drain
    """
    from holdfast.launch.engine.dbos_queue import QueueLostError, check_is_installed
    from holdfast.launch.engine.pool_member import Conditions
    from holdfast.settings import load_configuration

    options = {**options, "launch_engine": "dbos"}
    settings = load_configuration(options).settings
    if not settings.launch_store:
        raise UsageError(
            "a pool needs a PostgreSQL database",
            remedy="set HOLDFAST_LAUNCH_STORE=postgresql://user@host/database",
        )
    check_is_installed()
    conditions = Conditions(_name(executor), concurrency, settings.launch_workers, float(settings.launch_lease))
    tell = _teller(as_json=as_json)
    with told(as_json=as_json), open_service(options) as service, _alone_in(service.workspace):
        if pool_concurrency is not None:
            service.bound_pool(pool_concurrency)
        machine = service.pool_executor(conditions, tell)
        adopted = machine.adopt()
        if adopted:
            tell("adopt", f"going on with {len(adopted)} runs that were interrupted")
        try:
            with _leaving_on_signals(machine, tell):
                machine.serve(drain=drain)
        except QueueLostError as lost:
            raise UsageError(str(lost), remedy=lost.remedy) from lost
        tell("leave", f"{conditions.name} has left the pool")
    return 0


@contextlib.contextmanager
def _alone_in(workspace: "Workspace") -> Iterator[None]:
    """Of two machines in one directory, one could take up a run while processes of the other still write there."""
    from holdfast.launch.engine.local import held

    with held(workspace.machine_lock) as is_alone:
        if not is_alone:
            raise UsageError(
                f"another machine of a pool works in {workspace.root}",
                remedy="give this one a --launch-dir of its own",
            )
        yield


def _name(given: str | None) -> str:
    import os
    import socket

    name = f"{socket.gethostname()}-{os.getpid()}" if given is None else given.strip()
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"the name of an executor has 1 to {_LONGEST_NAME} printable characters", remedy="--executor build-7"
        )
    return name


def _teller(*, as_json: bool) -> Callable[[str, str], None]:
    """Tells what this machine does: a line each, with the time of day."""
    import json

    from holdfast.present.bounds import clean_line

    def tell(kind: str, text: str) -> None:
        if as_json:
            line = json.dumps({"at": time.time(), "kind": kind, "text": text}, ensure_ascii=False)
        else:
            line = f"{time.strftime('%H:%M:%S')}  {kind:<6}  {clean_line(text)}"
        # Nobody looks any more, or a signal came while we printed: the work is not about that.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            sys.stdout.write(line + "\n")  # in one piece: several threads tell
            sys.stdout.flush()

    return tell


@contextlib.contextmanager
def _leaving_on_signals(machine: "PoolExecutor", tell: Callable[[str, str], None]) -> Iterator[None]:
    asked = 0

    def leave(number: int, frame: object) -> None:  # noqa: ARG001
        nonlocal asked
        asked += 1
        machine.leave(at_once=asked > 1)
        if asked == 1:
            tell("leave", f"finishing the step of {machine.executing} in hand; again to stop at once")

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
