"""The second net: find and kill what is left of a tree whose keeper was itself killed.

The keeper is then no longer there to adopt anybody, so the tree is recognized by what its members inherited: the
marker in the environment, or the command's session. Blocking; it runs in a thread, and only in that rare case.
"""

import os
import time
from contextlib import suppress

import psutil

from holdfast.process.command import MARKER

__all__ = ["sweep"]

_TICK = 0.2


def sweep(token: str, session: int, *, bound: float) -> tuple[int, ...]:
    """Kill every member of the tree until a search finds none; the ids of those alive after `bound` seconds."""
    deadline = time.monotonic() + bound
    while members := _members(token, session):
        if time.monotonic() >= deadline:
            return tuple(sorted(process.pid for process in members))
        for process in members:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # what this leaves alive is found again
                process.kill()
        psutil.wait_procs(members, timeout=_TICK)
    return ()


def _members(token: str, session: int) -> list[psutil.Process]:
    """Every living process that carries the token or the session, and everything below one of these."""
    processes = {process.pid: process for process in psutil.process_iter()}
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        with suppress(psutil.NoSuchProcess):
            children.setdefault(process.ppid(), []).append(pid)
    pending = [pid for pid, process in processes.items() if _belongs(process, token, session)]
    found: set[int] = set()
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += children.get(pid, ())
    return [processes[pid] for pid in found if _alive(processes[pid])]


def _belongs(process: psutil.Process, token: str, session: int) -> bool:
    try:
        if session and os.getsid(process.pid) == session:  # 0, "never started", is the kernel's own session
            return True
        return token in process.environ().get(MARKER, "").split(":")
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return False  # it ended, or belongs to somebody whose environment may not be read


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
