"""Ending a helper that plain code has started as the leader of a group of its own, at once, with the whole group.

For programs of ours that have nothing to clean up (parsers) or only read (git), started where no event loop runs.
Everything else goes through `run` and `spawn`, which ask first, wait, and verify the whole tree.
"""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

__all__ = ["end_group"]


def end_group(leader: subprocess.Popen[Any]) -> None:
    """Kill the leader and everything in its group; does not wait. Nothing happens where the leader was reaped."""
    if leader.returncode is None:
        with suppress(ProcessLookupError, PermissionError):  # it ended this very moment
            os.killpg(leader.pid, signal.SIGKILL)
