"""A server whose tools run in processes of their own, and end those processes as often as they are told.

Imports little: every call starts a process that imports this file.
"""

import fcntl
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.vocabulary import effects as effect
from holdfast.worker.context import Context
from holdfast.worker.server import Server

server = Server("dying", version="1.0.0", dialect="poc", render="json", presentation="meta")


@dataclass
class Runs:
    """The process that a call ended in, and how many there were."""

    runs: int
    pid: int


async def mortal(
    note: str, ctx: Context, deaths: int = 0, how: Literal["exit", "kill", "half", "stall"] = "exit", key: str = ""
) -> Runs:
    """Write down this run in the file `note`; die in the first runs, then answer."""
    with Path(note).open("a+") as file:  # noqa: ASYNC230 - a few bytes
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        runs = len(file.readlines())
    await ctx.progress("at work", progress=runs, data={"runs": [runs]})
    if runs > deaths:
        return Runs(runs, os.getpid())
    if how == "half":
        _tell_half_an_outcome()
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "stall" and runs > 1:
        await ctx.run(["sleep", "60"])
    os._exit(7)


def _tell_half_an_outcome() -> None:
    for descriptor in range(3, 64):
        try:
            writes = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        except OSError:
            continue
        if writes:
            os.write(descriptor, b'{"payload":{"runs":')


async def look(note: str) -> Runs:
    """The probe of `probed`."""
    return Runs(len(Path(note).read_text().splitlines()), os.getpid())  # noqa: ASYNC240 - a few bytes


server.tool(effect=effect.replay_safe(), read_only=True)(look)
server.tool(name="safe", effect=effect.replay_safe(), isolate=True)(mortal)
server.tool(name="keyed", effect=effect.deduplicated("/arguments/key"), isolate=True)(mortal)
server.tool(name="probed", effect=effect.probe_required("look"), isolate=True)(mortal)
server.tool(name="once", isolate=True)(mortal)
server.tool(name="hasty", effect=effect.replay_safe(), timeout=1.0, isolate=True)(mortal)
