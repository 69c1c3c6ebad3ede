"""How a command and its tree ended: the two records that the rest of the package reads. Data only."""

from dataclasses import dataclass
from signal import Signals

__all__ = ["Completed", "Outcome", "signal_name"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one process tree.

    Exactly one of `returncode` and `signal` is set when the command's own end was seen. Both are None when it is
    not known: the command outlived even SIGKILL (it is in `survivors`), or its keeper was killed (`lost`).
    """

    pid: int
    returncode: int | None = None
    signal: int | None = None
    stopped: bool = False  # it was asked to stop, rather than ending by itself
    killed: bool = False  # something of the tree did not heed TERM within the grace and got KILL
    lost: bool = False  # the keeper itself was killed; the tree was then searched for and killed
    survivors: tuple[int, ...] = ()  # what is alive in spite of KILL: report it, never ignore it

    @property
    def ok(self) -> bool:
        """Whether the command ended with exit code 0 and nothing of its tree is left."""
        return self.returncode == 0 and not self.survivors

    def describe(self) -> str:
        """The end in words, for a log line or an error message."""
        if self.returncode is not None:
            text = f"exit code {self.returncode}"
        elif self.signal is not None:
            text = f"ended by {signal_name(self.signal)}"
        else:
            text = "its end was not seen"
        return f"{text}, still alive: {', '.join(map(str, self.survivors))}" if self.survivors else text


@dataclass(frozen=True, slots=True)
class Completed:
    """What `run` returns: how the command ended, how long it took, and the last part of what it printed.

    After a timeout the output is what had arrived when the time was up; what the tree printed while it was being
    stopped is dropped.
    """

    argv: tuple[str, ...]
    outcome: Outcome
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    duration: float  # seconds, from the start to the verified end of the whole tree
    timed_out: bool

    @property
    def pid(self) -> int:
        """The process id that the command had."""
        return self.outcome.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or None when the command was ended by a signal or its end was not seen."""
        return self.outcome.returncode

    @property
    def signal(self) -> int | None:
        """The number of the signal that ended the command, or None."""
        return self.outcome.signal

    @property
    def survivors(self) -> tuple[int, ...]:
        """Process ids that are alive in spite of SIGKILL; empty unless something is badly wrong."""
        return self.outcome.survivors

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself, in time, with exit code 0, and nothing of its tree is left."""
        return self.outcome.ok and not self.timed_out

    def describe(self) -> str:
        """The end in words, for a log line or an error message."""
        end = self.outcome.describe()
        return f"stopped after its timeout ({self.duration:.1f} s): {end}" if self.timed_out else end


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGTERM, or `signal 70` where it has none."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
