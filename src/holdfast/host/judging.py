"""Whether a new list of tools may replace the one that clients know: no breaking change without its version.

The comparison is the contract toolchain's, which a host has no other use for: it runs in a process of its own, so
that the host stays small and its loop goes on meanwhile.
"""

from holdfast.errors import ProcessError
from holdfast.interpreter import module_command

__all__ = ["judge"]

PROGRAM = "holdfast.contract.replacement"
FINE = "fine"  # what it prints where nothing speaks against it
TIMEOUT = 30.0
_LONGEST = 2000


async def judge(before: bytes, after: bytes) -> str:
    """Why the tools `after` may not replace those `before`, in one line; nothing if they may."""
    from holdfast.process import run

    question = b'{"before":' + before + b',"after":' + after + b"}"
    command = module_command(PROGRAM)
    try:
        done = await run(command, stdin=question, timeout=TIMEOUT, tail_bytes=_LONGEST * 4)
    except ProcessError as error:
        return f"the tools could not be compared: {error.message}"
    answer = done.stdout.strip()[:_LONGEST]
    if not done.ok or not answer:  # silence is no consent
        last = done.stderr.strip().splitlines()[-1:] or [done.outcome.describe()]
        return f"the tools could not be compared: {last[0][:_LONGEST]}"
    return "" if answer == FINE else answer
