"""What the system tells of a process and its descendants: whether it is halted, and how much CPU they have used.

Read from /proc, without a process of its own, in well under a millisecond. Where there is no /proc nothing is
seen, which is evidence for nothing.
"""

import os
from typing import NamedTuple

__all__ = ["NOTHING_SEEN", "Tree", "look_at_tree"]

_MOST = 256  # processes that are looked at
_STATE, _USER, _SYSTEM = 0, 11, 12  # fields of /proc/PID/stat behind the name of the program


class Tree(NamedTuple):
    """A process tree at one moment; `cpu` is in seconds, None where it is not known."""

    is_halted: bool = False
    cpu: float | None = None


NOTHING_SEEN = Tree()


def look_at_tree(root: int) -> Tree:
    """Look at a process and its descendants.

    It counts as halted when it, or a descendant that has the same stdin, is in state T: a server is often started
    by another program. What a call has started with a stdin of its own, and somebody stopped, is no concern here.
    """
    stdin = _stdin_of(root)
    ticks, is_halted = 0, False
    waiting = [root]
    for pid in waiting:
        fields = _stat_of(pid)
        if fields is None:
            continue
        ticks += int(fields[_USER]) + int(fields[_SYSTEM])
        if fields[_STATE] == b"T" and (pid == root or _stdin_of(pid) == stdin):
            is_halted = True
        if len(waiting) < _MOST:
            waiting += _children_of(pid)
    return Tree(is_halted, ticks / os.sysconf("SC_CLK_TCK")) if ticks or is_halted else NOTHING_SEEN


def _stat_of(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None  # it has ended meanwhile, or there is no /proc


def _children_of(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
    except OSError:
        return children  # ended meanwhile
    return children


def _stdin_of(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return None
