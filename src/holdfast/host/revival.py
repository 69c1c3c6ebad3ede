"""A new beginning after the kernel itself has failed at the start or the end of a worker.

Such a failure is a mistake of ours. The state from before it tells of workers that are not there any more, and
would do so for ever. So what is durable of it goes through the same capsule by which one host takes over from
another: the session and its requests stay, every worker is forgotten, and a new one is started. To be done only
once all processes are gone, since what was with them is lost from then on and may be repeated.
"""

from holdfast.kernel.commands import Command, StartWorker
from holdfast.kernel.lost_state import loss_by_host
from holdfast.kernel.machine import resume
from holdfast.kernel.state import State

__all__ = ["PAUSE", "revived"]

PAUSE = 1.0  # seconds: what fails every time must not be tried all the time


def revived(state: State, now: float) -> tuple[State, list[Command]]:
    """The state to go on with, and what is to be done for it."""
    from holdfast.kernel.capsule import CapsuleLimits, capture, restore  # which a host as a rule never needs

    # It never leaves this process, so only its content is checked.
    limits = CapsuleLimits(total_bytes=2**40, frame_bytes=2**40)
    fresh = restore(capture(state, now), state.policy, now, limits)
    fresh.catalog = state.catalog
    fresh.restarts = state.restarts
    fresh.release = state.release
    fresh.last_fault = state.last_fault
    fresh.leaving_at = state.leaving_at
    fresh.counts = dict(state.counts)
    fresh.clients = state.clients
    fresh.lost = loss_by_host(state, "the host has failed, and its workers were ended")
    fresh.wake_at = min(filter(None, (fresh.wake_at, fresh.leaving_at)), default=0.0)
    resumed, commands = resume(fresh, now)
    return resumed, [
        command._replace(delay=PAUSE) if isinstance(command, StartWorker) else command for command in commands
    ]
