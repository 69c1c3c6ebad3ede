"""Which process a number meant: process ids are given again, so a record of one needs more than the number.

On Linux a process is told apart by the boot of the machine, the namespace that its id belongs to, and the moment
of its start. Elsewhere there is only the id. Reads /proc directly; nothing here signals anybody.
"""

import os
import sys

__all__ = ["is_running", "is_within_sight", "machine_name", "mark_of"]


def machine_name() -> str:
    """The name of this machine: a directory of records may be shared with others over a network."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def mark_of(pid: int) -> str:
    """What tells this process from every other that has had or will have its id; empty where nothing does."""
    ticks = _start_ticks(pid)
    return f"{_boot()}/{_namespace()}/{ticks}" if ticks else ""


def is_within_sight(machine: str, mark: str) -> bool:
    """Whether the process could be seen from here if it lived; not that of another machine or container."""
    if machine != machine_name():
        return False
    boot, _, rest = mark.partition("/")
    return not mark or boot != _boot() or rest.partition("/")[0] == _namespace()


def is_running(pid: int, mark: str) -> bool:
    """Whether the process that had this id and mark still runs; one that nobody has waited for does not."""
    if mark:
        return mark_of(pid) == mark
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _start_ticks(pid: int) -> str:
    if sys.platform != "linux":
        return ""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            data = file.read()
    except OSError:
        return ""
    # The second field is the program's name in brackets and may itself contain spaces and brackets.
    fields = data[data.rindex(b")") + 2 :].split()
    return "" if fields[0] in b"ZX" else fields[19].decode()


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""
