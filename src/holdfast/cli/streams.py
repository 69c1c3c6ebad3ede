"""Our streams beside a server: its own output is kept off them."""

import contextlib
import os
import sys
from collections.abc import Iterator

__all__ = ["guarded_streams"]


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Inside, whatever this process or its children print goes to stderr, and stdin is empty.

    This is done to the descriptors, not to `sys.stdout`, because programs that a tool starts inherit those.
    """
    sys.stdout.flush()
    saved = os.dup(0), os.dup(1)
    empty, writer = os.pipe()  # at its end of file, like a client that has left
    os.close(writer)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        for descriptor, copy in enumerate(saved):
            os.dup2(copy, descriptor)
            os.close(copy)
