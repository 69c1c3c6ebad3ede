"""Whether a worker that has calls in flight is blocked: what is known of it, and the one table of what follows.

    verdict    when
    stopped    a process of it is halted by a signal and its ping is unanswered; or it is silent although it has
               answered a ping during a call before, and uses the CPU; or it is silent, and so is a call that is
               overdue or was cancelled
    unknown    it is silent, and has never answered a ping during a call (single-threaded, and perhaps honestly
               busy), or sleeps in a system call without using the CPU
    stuck      it answers pings, but no call has ended since one was overdue or cancelled (a deadlocked pool)
    fine       anything else

Silent is a worker that has said nothing at all for `suspect_after` seconds since the oldest ping that it has not
answered. Time without a question is no silence.
"""

from enum import Enum
from typing import NamedTuple

__all__ = ["FIRST_LOOK", "FRESH", "Condition", "Life", "Vitals", "judge"]

FIRST_LOOK = 0.25  # seconds that a call may take before anybody wonders; shorter ones cost nothing
_IDLE_SHARE = 0.05  # of a CPU, below which a process tree counts as sleeping


class Condition(Enum):
    """The verdict about a worker."""

    FINE = "fine"
    UNKNOWN = "unknown"
    STUCK = "stuck"
    STOPPED = "stopped"


class Vitals(NamedTuple):
    """What is known of a worker at one moment; times are seconds up to now, 0 for what is not the case."""

    silent: float = 0.0  # since the oldest unanswered ping
    stuck: float = 0.0  # since a call was overdue or cancelled, and for which another one waits
    has_answered: bool = False  # a ping during a call
    is_overdue: bool = (
        False  # a call was not answered by its deadline or its cancellation, and none has ended since
    )
    is_halted: bool = False  # process state T
    is_resting: bool = True  # it uses no CPU, as far as that is known


def judge(vitals: Vitals, suspect_after: float) -> Condition:
    """The row of the table."""
    if vitals.is_halted and vitals.silent >= FIRST_LOOK:
        return Condition.STOPPED
    if vitals.silent >= suspect_after:
        is_certain = vitals.is_overdue or (vitals.has_answered and not vitals.is_resting)
        return Condition.STOPPED if is_certain else Condition.UNKNOWN
    if vitals.stuck >= suspect_after:
        return Condition.STUCK
    return Condition.FINE


class Life(NamedTuple):
    """What the host remembers of the signs of life of one worker; times are those of the clock, 0 is never."""

    look_at: float = 0.0  # when to look at it again
    asked_at: float = 0.0  # when it was last sent a ping during a call
    has_answered: bool = False  # such a ping, while the call was still under way
    knows_ping: bool = False  # it has answered one at some time
    overdue_since: float = 0.0  # a call was overdue or cancelled, and none has ended since
    stuck_since: float = 0.0  # the same without the calls that it is trusted to have stopped
    is_halted: bool = False
    cpu: float | None = None  # seconds of its process tree, as last seen
    cpu_when_asked: float | None = None
    condition: Condition = Condition.FINE
    suspected_at: float = 0.0
    relief_at: float = 0.0  # no successor is started before
    has_acted: bool = False  # it has run a call that is not read-only: there may be state in it
    holds_state: bool = False  # and that state would be lost with it

    def is_resting(self, silent: float) -> bool:
        """Whether it has used no CPU while it was silent; what is not known counts as rest."""
        if self.cpu is None or self.cpu_when_asked is None:
            return True
        return self.cpu - self.cpu_when_asked < _IDLE_SHARE * silent


FRESH = Life()
