"""`spawn`: check a command, then start it in the kind of custody that this operating system offers."""

import os
import sys
from collections.abc import Mapping, Sequence

from holdfast.process.command import checked_command, checked_seconds
from holdfast.process.custody import DEFAULT_GRACE, STREAM_LIMIT, Input, Output, Process

__all__ = ["spawn"]


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: Input = "null",
    stdout: Output = "pipe",
    stderr: Output = "pipe",
    grace: float = DEFAULT_GRACE,
    limit: int = STREAM_LIMIT,
) -> Process:
    """Start a command in custody; a ProcessError says why it could not be started.

    `limit` is the longest line that the stream readers' `readline` accepts; twice as much is buffered before the
    command has to wait. `grace` is what a stop leaves the tree to clean up, also when the server dies.
    """
    command = checked_command(argv, cwd, env)
    seconds = checked_seconds("grace", grace)
    if sys.platform == "win32":
        from holdfast.process.windows import start
    else:
        from holdfast.process.posix import start
    return await start(command, stdin=stdin, stdout=stdout, stderr=stderr, grace=seconds, limit=limit)
