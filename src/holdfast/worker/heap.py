"""How many heaps a server process has: few, because the threads of its tools come and go.

The C library of Linux gives each thread that allocates while others do a heap of its own, and what is freed in one
is of no use to the others. A server that had answered 32 searches at a time held 16 of its 123 MB like this. The
threads hold the interpreter's lock for most of their time, so two heaps make nobody wait.
"""

import sys

__all__ = ["share_heaps"]

HEAPS = 2  # one for the event loop, one for all tools
_M_ARENA_MAX = -8  # the name of the option in malloc.h


def share_heaps() -> bool:
    """Let the threads to come share their heaps; whether this C library has such an option."""
    if sys.platform != "linux":
        return False
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none, and one heap anyway
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, HEAPS))
