"""Standard streams of a server: the protocol gets private copies, everybody else gets stderr.

After `claim_standard_streams`, whatever the process or its children write to stdout arrives on stderr, and
whoever reads stdin finds it empty. So no `print` in a tool can tear the protocol.
"""

import os
import sys
from typing import NamedTuple

__all__ = ["StandardStreams", "claim_standard_streams"]


class StandardStreams(NamedTuple):
    """Descriptors that only the protocol uses; not inherited by children."""

    reader: int
    writer: int


def claim_standard_streams() -> StandardStreams:
    """Take stdin and stdout for the protocol and put harmless ones in their places."""
    reader = _private_copy(0)
    writer = _private_copy(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        os.dup2(2, 1)
    except OSError:  # the server was started without a stderr
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.close(sink)
    sys.stdout.flush()  # only now: what was printed before must not reach the protocol either
    return StandardStreams(reader, writer)


def _private_copy(descriptor: int) -> int:
    copy = os.dup(descriptor)  # not inheritable
    if copy > 2:
        return copy
    # A standard stream was closed and its number got reused; move the copy out of the way.
    moved = _private_copy(descriptor)
    os.close(copy)
    return moved
