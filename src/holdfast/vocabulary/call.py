"""The life of one call, as a pure machine: accepted, running, stopping, ended with one terminal answer.

    accepted --dispatch--> running --finish------------------> ended   the work's own outcome
        |                     |
        |                     +--stop(why)--> stopping --finish--> ended   `why`, whatever the work returned
        |                                         +----give_up--> ended   `why`; the work never came back
        +--stop(why)--> ended                                             `why`; the work never began

A second stop changes nothing: the first reason is the one that is told. Anything that arrives after the end
is late; it is counted and dropped. Whoever drives the machine carries out the commands it returns.
"""

from enum import Enum
from typing import NamedTuple

__all__ = ["ACCEPTED", "Call", "Command", "Phase", "Step", "Stop"]


class Phase(Enum):
    """Where a call is in its life."""

    ACCEPTED = "accepted"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Stop(Enum):
    """Why a call is ended from outside. `answered` says whether the caller still gets a terminal answer."""

    CANCEL_REQUEST = "cancel_request"  # `$/cancelRequest`: answered with CANCELLED
    CANCELLED_NOTIFICATION = "cancelled_notification"  # MCP: the caller wants to hear no more
    TIMEOUT = "timeout"
    SHUTDOWN = "shutdown"
    DISCONNECT = "disconnect"

    @property
    def answered(self) -> bool:
        """Whether an answer is sent for a call that ended this way."""
        return self not in (Stop.CANCELLED_NOTIFICATION, Stop.DISCONNECT)


class Command(Enum):
    """What the driver must do after a step."""

    RUN = "run"  # start the work
    ABORT = "abort"  # interrupt the work and everything it started
    ANSWER_OUTCOME = "answer_outcome"  # the terminal answer is what the work returned or raised
    ANSWER_STOP = "answer_stop"  # the terminal answer is the stop reason (silence where `answered` is false)
    DROP_LATE = "drop_late"  # count it; tell nobody
    NOTHING = "nothing"


class Call(NamedTuple):
    """The state of one call. `stop` is the reason that was first given for ending it, if any."""

    phase: Phase
    stop: Stop | None = None

    def dispatch(self) -> "Step":
        """A slot is free: the work begins, unless the call was ended while it waited."""
        if self.phase is Phase.ACCEPTED:
            return Step(_RUNNING, Command.RUN)
        if self.phase is Phase.ENDED:
            return Step(self, Command.DROP_LATE)
        raise AssertionError(f"a call is dispatched once, not while {self.phase.value}")

    def finish(self) -> "Step":
        """The work came to its end, with a value, an error, or because it was interrupted."""
        if self.phase is Phase.RUNNING:
            return Step(_FINISHED, Command.ANSWER_OUTCOME)
        if self.phase is Phase.STOPPING:
            return Step(Call(Phase.ENDED, self.stop), Command.ANSWER_STOP)
        if self.phase is Phase.ENDED:
            return Step(self, Command.DROP_LATE)
        raise AssertionError("work that never began cannot finish")

    def request_stop(self, why: Stop) -> "Step":
        """Somebody wants the call to end: the caller, its deadline, or the server going down."""
        if self.phase is Phase.ACCEPTED:
            return Step(Call(Phase.ENDED, why), Command.ANSWER_STOP)
        if self.phase is Phase.RUNNING:
            return Step(Call(Phase.STOPPING, why), Command.ABORT)
        if self.phase is Phase.STOPPING:
            return Step(self, Command.NOTHING)
        return Step(self, Command.DROP_LATE)

    def give_up(self) -> "Step":
        """The work did not come back within the grace time: answer without it."""
        if self.phase is Phase.STOPPING:
            return Step(Call(Phase.ENDED, self.stop), Command.ANSWER_STOP)
        return Step(self, Command.DROP_LATE)


class Step(NamedTuple):
    """The next state of a call and the one thing to do about it."""

    call: Call
    command: Command


ACCEPTED = Call(Phase.ACCEPTED)
_RUNNING = Call(Phase.RUNNING)
_FINISHED = Call(Phase.ENDED)
