"""Processes found by a mark in their environment, which whatever they start inherits.

A mark tells the processes of one test from all others on the machine, also those that left their group, their
session or their parent. A process that clears its environment is not found. One that hides it, as hosts do, is
found by a parent or child with the mark; no other program is, which may hide for reasons of its own.
"""

import os
from pathlib import Path

from holdfast.process.command import TEST_MARK

__all__ = ["MARK", "command_line", "marked_processes", "memory_of"]

MARK = TEST_MARK
_PROC = Path("/proc")


def marked_processes(mark: str) -> list[int]:
    """The living processes with this mark, by number; one that only waits to be collected does not live."""
    if not (_PROC / "self" / "environ").exists():
        return _searched(mark)
    wanted = os.fsencode(f"{MARK}={mark}")
    running = [entry for entry in os.listdir(_PROC) if entry.isdigit()]
    marked = {entry for entry in running if wanted in _read(entry, "environ").split(b"\0")}
    hidden = [entry for entry in running if _hides(entry)]
    parents = {_parent(entry) for entry in marked} if hidden else set()
    kin = {entry for entry in hidden if entry in parents or _parent(entry) in marked}
    return [int(entry) for entry in running if entry in marked | kin and _is_alive(entry)]


def command_line(pid: int) -> list[str]:
    """The command of a process; empty when there is no such process."""
    if not (_PROC / "self" / "cmdline").exists():
        import psutil

        try:
            return list(psutil.Process(pid).cmdline())
        except psutil.NoSuchProcess:
            return []
    return os.fsdecode(_read(str(pid), "cmdline")).split("\0")[:-1]


def memory_of(pid: int) -> int:
    """The resident memory of a process in bytes; 0 when there is no such process."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _read(pid: str, file: str) -> bytes:
    try:
        return (_PROC / pid / file).read_bytes()
    except OSError:
        return b""  # it ended meanwhile, or belongs to somebody else


def _hides(pid: str) -> bool:
    """Whether this is a process of Holdfast that does not let us read its environment."""
    try:
        with open(_PROC / pid / "environ", "rb"):
            return False
    except PermissionError:
        return b"\nUid:\t%d\t" % os.getuid() in _read(pid, "status") and b"holdfast" in _read(pid, "cmdline")
    except OSError:
        return False


def _parent(pid: str) -> str:
    return os.fsdecode(b"".join(_read(pid, "stat").rpartition(b")")[2].split()[1:2]))


def _is_alive(pid: str) -> bool:
    # The state follows the name, which is in parentheses and may contain anything.
    return _read(pid, "stat").rpartition(b")")[2].split()[:1] not in ([], [b"Z"], [b"X"])


def _searched(mark: str) -> list[int]:
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue  # it ended meanwhile, or belongs to somebody else
    return found
