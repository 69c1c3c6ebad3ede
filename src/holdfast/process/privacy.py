"""Keeps what a process knows from other processes, also from those of the same user.

The system shows the environment that a process was started with, and its memory, to every process of its user:
to a worker, too. Linux alone can refuse that. A process that refuses leaves no core dump either, and a debugger of
its own user cannot attach to it; root still can.
"""

import os
import sys
from collections.abc import Iterable

__all__ = ["forget_variables", "hide_process"]

_PR_SET_DUMPABLE = 4


def hide_process() -> bool:
    """Refuse others of this user the environment and memory of this process; whether the system can do that.

    It lasts until the process executes another program. What it starts is not hidden.
    """
    if sys.platform != "linux":
        return False
    try:
        import ctypes
    except ImportError:  # an interpreter that was built without libffi
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def forget_variables(names: Iterable[str]) -> None:
    """Remove variables from the environment, for what is started from now on and from what the system shows."""
    for name in names:
        if name in os.environ:
            _overwrite(name)
            os.environ.pop(name)


def _overwrite(name: str) -> None:
    """Write zeros over the value where the process got it: removing a variable only forgets the place."""
    if os.name == "nt":
        return
    try:
        import ctypes
    except ImportError:
        return
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    place = getenv(os.fsencode(name))
    if place:
        ctypes.memset(place, 0, len(ctypes.string_at(place)))
