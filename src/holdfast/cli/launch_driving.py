"""Runs while somebody waits: what is told of them, and how Ctrl-C stops them."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["drive", "stopped_within", "watched"]


def watched(
    service: "RunService", run_id: str, quiet: bool, work: Callable[[Callable[[], bool]], dict[str, Any]]
) -> dict[str, Any]:
    """Do something with a run, and tell what happens meanwhile."""
    from holdfast.cli.indexing import stop_on_interrupt
    from holdfast.cli.launch_watch import Watcher

    with stop_on_interrupt() as stop:
        watcher = Watcher(service, run_id, stop, quiet=quiet)
        watcher.skip()
        try:
            return work(watcher)
        finally:
            watcher.tell()


def drive(service: "RunService", run_id: str, *, quiet: bool, kept: bool = True) -> None:
    """Execute the run until it rests; where another process does, watch that."""
    from holdfast.cli.indexing import stop_on_interrupt
    from holdfast.cli.launch_watch import Watcher

    with stop_on_interrupt() as stop:
        watcher = Watcher(service, run_id, stop, quiet=quiet)
        try:
            while True:
                try:
                    service.engine.perform("drive", run_id, stop=watcher)
                    return
                except ToolError as error:
                    if error.details.get("scope") == "request":  # it was asked to stop, and has
                        raise KeyboardInterrupt from error
                    if error.details.get("reason") != "busy":
                        raise
                if watcher() or stopped_within(stop, 0.3):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            watcher.tell()  # what to do next is the last word
            after = f"the run is kept: holdfast launch resume {run_id}" if kept else "nothing was kept"
            print(f"holdfast: stopped; {after}", file=sys.stderr)
            raise
        finally:
            watcher.tell()


def stopped_within(stop: Callable[[], bool], seconds: float) -> bool:
    """Wait so long; whether the person wants to stop."""
    import threading

    threading.Event().wait(seconds)  # a signal is noticed when it is over, which is soon
    return stop()
