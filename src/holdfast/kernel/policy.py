"""The numbers that the kernel decides by, and what a person has said about single tools. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.vocabulary.effects import Effect

__all__ = ["Policy", "ToolPolicy"]


class ToolPolicy(NamedTuple):
    """What a person has said about one tool; None where nothing was said."""

    effect: Effect | None = None
    deadline: float | None = None
    deadline_total: float | None = None
    replays: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Every bound of a host, in seconds where it is a time; 0 means without a limit where that makes sense.

    `grace` is what work has between being asked to stop and being given up.
    """

    pending_max: int = 1024
    pending_bytes: int = 64 * 1024 * 1024
    replays: int = 2
    tool_timeout: float = 120.0  # of tools of our own servers that declare none
    answer_timeout: float = 300.0  # that a client may take to answer them, besides that
    deadline: float = 600.0
    deadline_total: float = 3600.0
    grace: float = 2.0
    drain: float = 5.0
    heartbeat: float = 15.0
    liveness_interval: float = 5.0  # between two questions to a worker that has calls in flight; 0 asks none
    suspect_after: float = 10.0
    single: bool = False  # never a second worker while the first lives
    stateful: bool = False  # the first call after a loss of state is refused once
    ping_interval: float = 30.0
    ping_timeout: float = 10.0
    start_timeout: float = 60.0
    list_timeout: float = 10.0
    restart_budget: int = 10
    restart_window: float = 60.0
    restart_delay: float = 0.1
    restart_delay_max: float = 5.0
    restart_slow: float = 30.0
    restart_reset: float = 30.0
    rollout_grace: float = 1.0  # that a client has to ask for the new list of tools before they are there
    probation: float = 30.0  # that a new release has to hold, without a loss
    probation_losses: int = 3  # before it has, after which the one before it serves again
    quarantine: float = 600.0  # that a call is refused for which ends its worker each time; 0 refuses none
    probe_hold: float = 30.0
    probe_timeout: float = 10.0
    spare: bool = False
    trusts_worker: bool = True  # what it says about its tools counts; otherwise only a person's word does
    trust_idempotent: bool = False
    tools: Mapping[str, ToolPolicy] = field(default_factory=dict)

    # What nobody should have to tune; each bounds something that a hostile peer could let grow.
    callbacks_max: int = 256
    tombstones_max: int = 4096
    facts_max: int = 256
    pages_max: int = 200
    pages_bytes: int = 16 * 1024 * 1024
    stuck_threads_max: int = 4  # from which on a worker is replaced although it is busy
    given_up_max: int = 8  # calls that a live worker may go on with although they were given up
    retired_max: int = 4  # workers that have made way and still finish calls
    retired_time: float = 3600.0  # that such a worker has at most
