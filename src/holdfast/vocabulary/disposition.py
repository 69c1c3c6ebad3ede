"""What to do with one request, given what is known about it and what its contract allows: one total table.

    knowledge         contract         probe               disposition
    not_dispatched    any              -                   FIRST_DISPATCH
    in_flight         any              -                   AWAIT_TERMINAL
    completed         any              -                   COMPLETED
    outcome_unknown   Convergent       -                   REPLAY, or REJECT_EXHAUSTED without allowance
    outcome_unknown   ProbeRequired    none yet            HOLD_FOR_PROBE
    outcome_unknown   ProbeRequired    already completed   COMPLETE_FROM_PROBE
    outcome_unknown   ProbeRequired    safe to replay      REPLAY, or REJECT_EXHAUSTED without allowance
    outcome_unknown   NeverReplay      -                   REJECT_AMBIGUOUS
    anything else with the answer of a probe               REJECT_UNEXPECTED_PROBE

Nothing else decides about repeating a request: not why the worker was lost, not how often it was restarted.
"""

from enum import Enum
from typing import NamedTuple

from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge, ProbeAnswer

__all__ = ["Allowance", "Disposition", "after_dispatch", "after_loss", "dispose", "require_open"]


class Disposition(Enum):
    """The one thing to do with a request now."""

    FIRST_DISPATCH = "first_dispatch"
    AWAIT_TERMINAL = "await_terminal"
    COMPLETED = "completed"
    REPLAY = "replay"
    HOLD_FOR_PROBE = "hold_for_probe"
    COMPLETE_FROM_PROBE = "complete_from_probe"
    REJECT_EXHAUSTED = "reject_exhausted"
    REJECT_AMBIGUOUS = "reject_ambiguous"
    REJECT_UNEXPECTED_PROBE = "reject_unexpected_probe"


class Allowance(NamedTuple):
    """How often a request has been dispatched again, and how often it may be."""

    used: int
    most: int

    @property
    def is_left(self) -> bool:
        """Whether one more replay is allowed."""
        return self.used < self.most


_KNOWN = {
    Knowledge.NOT_DISPATCHED: Disposition.FIRST_DISPATCH,
    Knowledge.IN_FLIGHT: Disposition.AWAIT_TERMINAL,
    Knowledge.COMPLETED: Disposition.COMPLETED,
}


def dispose(
    knowledge: Knowledge, contract: ReplayWord, allowance: Allowance, probe: ProbeAnswer | None = None
) -> Disposition:
    """The row of the table."""
    unknown = knowledge is Knowledge.OUTCOME_UNKNOWN
    if probe is not None and not (unknown and contract is ReplayWord.PROBE_REQUIRED):
        return Disposition.REJECT_UNEXPECTED_PROBE
    if not unknown:
        return _KNOWN[knowledge]
    if contract is ReplayWord.NEVER_REPLAY:
        return Disposition.REJECT_AMBIGUOUS
    if contract is ReplayWord.PROBE_REQUIRED:
        if probe is None:
            return Disposition.HOLD_FOR_PROBE
        if probe is ProbeAnswer.ALREADY_COMPLETED:
            return Disposition.COMPLETE_FROM_PROBE
    return Disposition.REPLAY if allowance.is_left else Disposition.REJECT_EXHAUSTED


def after_dispatch(knowledge: Knowledge, disposition: Disposition) -> Knowledge:
    """What is known once the first byte may have reached a worker."""
    first = knowledge is Knowledge.NOT_DISPATCHED and disposition is Disposition.FIRST_DISPATCH
    again = knowledge is Knowledge.OUTCOME_UNKNOWN and disposition is Disposition.REPLAY
    if not (first or again):
        raise AssertionError(f"a request that is {knowledge.value} is not dispatched by {disposition.value}")
    return Knowledge.IN_FLIGHT


def after_loss(knowledge: Knowledge) -> Knowledge:
    """What is known once the worker is lost."""
    return Knowledge.OUTCOME_UNKNOWN if knowledge is Knowledge.IN_FLIGHT else knowledge


def require_open(knowledge: Knowledge) -> None:
    """Refuse an outcome for a request that can have none: nobody has it, or it has one already."""
    if knowledge not in {Knowledge.IN_FLIGHT, Knowledge.OUTCOME_UNKNOWN}:
        raise AssertionError(f"a request that is {knowledge.value} cannot end with an outcome")
