"""`spawn`: check a command, then start it in the kind of custody that this operating system offers."""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from holdfast.errors import ProcessError
from holdfast.process.command import checked_command, checked_seconds
from holdfast.process.custody import DEFAULT_GRACE, STREAM_LIMIT, Deliver, Input, Output, Process
from holdfast.process.ownership import not_owned

__all__ = ["spawn"]


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: Input = "null",
    stdout: Output = "pipe",
    stderr: Output = "pipe",
    on_stdout: Deliver | None = None,
    on_stderr: Deliver | None = None,
    grace: float = DEFAULT_GRACE,
    limit: int = STREAM_LIMIT,
    pass_fds: tuple[int, ...] = (),
) -> Process:
    """Start a command in custody; a ProcessError says why it could not be started.

    `limit` is the longest line that the stream readers' `readline` accepts; twice as much is buffered before the
    command has to wait. `grace` is what a stop leaves the tree to clean up, also when the server dies.

    `on_stdout` and `on_stderr` take the output from the event loop as it comes, in place of a stream reader: up to
    256 KiB at a time, never before `spawn` has returned, and b"" exactly once: at the end of the output, or when
    the process was stopped. All that the tree wrote comes before it, however the tree ended.

    `pass_fds` are open files, such as a listening socket, that the command inherits under the same numbers.
    """
    for name, output, deliver in (("stdout", stdout, on_stdout), ("stderr", stderr, on_stderr)):
        if deliver is not None and output != "pipe":
            raise ProcessError(
                f"on_{name} gets nothing where {name} is {output!r}; give {name}='pipe' or leave it out"
            )
    command = checked_command(argv, cwd, env)
    seconds = checked_seconds("grace", grace)
    if sys.platform == "win32":
        from holdfast.process.windows import start

        if pass_fds:
            raise ProcessError("no open file can be handed to a command on Windows; run it in WSL")
    else:
        from holdfast.process.posix import start as start_on_posix

        start = partial(start_on_posix, pass_fds=pass_fds)
    with not_owned():
        return await start(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            on_stdout=on_stdout,
            on_stderr=on_stderr,
            grace=seconds,
            limit=limit,
        )
