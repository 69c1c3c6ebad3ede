"""A client that wants a request to end. Both spellings stop the work; they differ in whether an answer follows.

Work that no worker has yet is over at once. Otherwise the worker is asked to stop: one of our own says itself when
it has; of others nothing can be expected, since the protocol wants silence of them, so nobody waits for them.
"""

from holdfast.kernel.answers import bury, end_silently, end_stopped
from holdfast.kernel.liveness import note_overdue
from holdfast.kernel.state import Pending
from holdfast.kernel.turn import Turn
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.ids import match_cancellation

__all__ = ["ANSWER_MARGIN", "cancel", "interrupt", "stop_for_good"]

ANSWER_MARGIN = 1.5  # seconds beyond the grace that a worker of our own has to say that the work has ended


def cancel(turn: Turn, wanted: object, why: Stop) -> None:
    """End the request that is meant; one that cannot be found is counted."""
    found = match_cancellation(wanted, turn.state.pending)
    if found is None:
        turn.count("unmatched")
        return
    entry = turn.state.pending[found]
    if entry.method == "initialize":
        turn.count("unmatched")  # the protocol forbids it, and the session would be left in between
        return
    step = entry.call.request_stop(why)
    if not entry.is_in_flight:
        end_stopped(turn, entry, why)
        return
    if entry.call.stop is not None:
        return  # it is being stopped already, and the first reason is the one that is told
    interrupt(turn, entry, why)
    if not why.answered:
        note_overdue(turn, entry, is_cancelled=True)
        bury(turn, entry)
        end_silently(turn, entry)
    elif entry.rule is not None and entry.rule.is_ours:
        patience = turn.state.policy.grace + ANSWER_MARGIN
        turn.put(entry._replace(call=step.call, due=turn.now + patience, beat_at=0.0))
    else:
        note_overdue(turn, entry, is_cancelled=True)
        bury(turn, entry)
        end_stopped(turn, entry, why)


def stop_for_good(turn: Turn, entry: Pending) -> None:
    """End a request because the host ends; a worker of our own is given time to say itself that the work ended."""
    if not (entry.is_in_flight and entry.rule is not None and entry.rule.is_ours):
        end_stopped(turn, entry, Stop.SHUTDOWN)
    elif entry.call.stop is None:
        interrupt(turn, entry, Stop.CANCEL_REQUEST)
        due = turn.now + turn.state.policy.grace + ANSWER_MARGIN
        turn.put(entry._replace(call=entry.call.request_stop(Stop.SHUTDOWN).call, due=due, beat_at=0.0))


def interrupt(turn: Turn, entry: Pending, why: Stop) -> None:
    """Ask the worker that has the request to stop, or the two that have it."""
    attempts = [(entry.generation, entry.attempt)]
    if entry.earlier is not None:
        attempts.append((entry.earlier.generation, entry.earlier.attempt))
    for generation, attempt in attempts:
        worker = turn.state.workers.get(generation)
        if worker is None:
            continue
        if why is Stop.CANCEL_REQUEST and entry.rule is not None and entry.rule.is_ours:
            turn.notify_worker(worker, "$/cancelRequest", {"id": attempt})
        else:
            turn.notify_worker(worker, "notifications/cancelled", {"requestId": attempt})
