"""Whether a git that talks to another side still gets anywhere, whatever the protocol is.

A server that takes the connection and then sends nothing would hold a call until the end of its time; http has a
setting of git's own against that, git:// has none. What counts is work of git and of its helpers: bytes that they
read or wrote, or computing time, as after a transfer. Where the system does not tell, the settings remain.
"""

from contextlib import suppress
from time import monotonic

from holdfast.git.asking import GitTimeoutError

__all__ = ["STALLED", "GitStalledError", "Stall", "has_worked"]

STALLED = 30.0  # seconds; a server that is at work sends something every five
_BETWEEN = 1.0  # seconds between two looks
_WAITING = 0.02  # of a processor: what a git and its transport take at most that wake up to see whether bytes came
_TICK = 0.01  # seconds; the system counts computing time in such steps


class GitStalledError(GitTimeoutError):
    """Git was ended by us, since nothing came from the other side."""


class Stall:
    """The work of a process and of all below it, looked at about once a second."""

    def __init__(self, pid: int, seconds: float = STALLED) -> None:
        self._pid, self._seconds = pid, seconds
        self._seen = (-1, 0.0)
        self._next = self._since = monotonic()

    def check(self) -> None:
        """GitStalledError where nothing has happened for too long."""
        now = monotonic()
        if now < self._next:
            return
        self._next = now + min(_BETWEEN, self._seconds / 4)
        work = _work_of(self._pid)
        if work is None or has_worked(self._seen, work, now - self._since):
            self._seen, self._since = work or (-1, 0.0), now
        elif now - self._since > self._seconds:
            raise GitStalledError(f"the other side has sent nothing for {self._seconds:.0f} seconds")


def has_worked(before: tuple[int, float], after: tuple[int, float], seconds: float) -> bool:
    """Whether bytes moved in these seconds, or more was computed than waiting takes.

    A git that waits wakes up some twenty times a second: in half a minute that is more than one step of its clock.
    """
    return after[0] != before[0] or after[1] - before[1] > 1.5 * _TICK + _WAITING * seconds


def _work_of(pid: int) -> tuple[int, float] | None:
    """Bytes read and written, and seconds computed; None where that cannot be seen."""
    import psutil

    moved, computed = 0, 0.0
    with suppress(psutil.Error):
        leader = psutil.Process(pid)
        if not hasattr(leader, "io_counters"):
            return None
        for process in [leader, *leader.children(recursive=True)]:
            with suppress(psutil.Error):
                io, times = process.io_counters(), process.cpu_times()
                moved += io.read_chars + io.write_chars
                computed += times.user + times.system
        return moved, computed
    return None
