"""A request that two workers have, because the first seems blocked: whoever answers first ends it.

Only what may be repeated without any further effect is hedged, with one other worker at a time, and charged as a
repetition. The answer that comes second is counted and dropped, like every late one.
"""

from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Earlier, Pending, Tombstone, Worker
from holdfast.kernel.turn import Turn, due_time
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.events import CallReplayed
from holdfast.wire.splice import replace_id

__all__ = ["fall_back", "forget_earlier", "hedge", "may_hedge", "win"]


def may_hedge(entry: Pending) -> bool:
    """Whether a request in flight may be sent to a second worker."""
    rule = entry.rule
    if rule is None or entry.earlier is not None or entry.call.stop is not None or entry.method in STREAM_METHODS:
        return False
    return rule.effect.kind is EffectKind.REPLAY_SAFE and not rule.is_stateful and entry.charged < rule.replays


def hedge(turn: Turn, entry: Pending, successor: Worker) -> None:
    """Send a request that a worker has to another one too."""
    rule = entry.rule
    assert rule is not None  # see may_hedge
    attempt = turn.take_id()
    due = turn.now + rule.deadline if rule.deadline else 0.0
    if rule.deadline_total and not rule.is_ours:
        last = due_time(entry.accepted_at + rule.deadline_total, turn.now)
        due = min(due, last) if due else last
    turn.put(
        entry._replace(
            generation=successor.generation,
            attempt=attempt,
            earlier=Earlier(entry.generation, entry.attempt, entry.due),
            replays=entry.replays + 1,
            sent_at=turn.now,
            due=due,
            is_overdue=False,
        )
    )
    turn.wake(entry.due)
    turn.state.attempts[attempt] = entry.id
    turn.count_of(entry, "hedged")
    if not entry.is_own:
        turn.record(CallReplayed(entry.id, entry.tool, successor.generation, entry.replays + 2, entry.method))
    turn.pass_to_worker(successor, replace_id(entry.frame, attempt), attempt)


def win(turn: Turn, entry: Pending, number: int) -> Pending:
    """One of two attempts is answered: the request is that one's alone from now on."""
    earlier = entry.earlier
    if earlier is None:
        return entry
    loser = entry.generation, entry.attempt
    if number == entry.attempt:
        loser = earlier.generation, earlier.attempt
        entry = entry._replace(earlier=None)
    else:
        entry = entry._replace(generation=earlier.generation, attempt=earlier.attempt, earlier=None)
    _bury(turn, entry, *loser)
    worker = turn.state.workers.get(loser[0])
    if worker is not None:
        turn.notify_worker(worker, "notifications/cancelled", {"requestId": loser[1]})
    return turn.put(entry)


def forget_earlier(turn: Turn, entry: Pending) -> Pending:
    """The first of two attempts does not count any more."""
    earlier = entry.earlier
    if earlier is None:
        return entry
    _bury(turn, entry, earlier.generation, earlier.attempt)
    return turn.put(entry._replace(earlier=None))


def fall_back(turn: Turn, entry: Pending) -> Pending:
    """The worker with the second attempt is lost, and the one with the first is not: it is waited for again."""
    earlier = entry.earlier
    assert earlier is not None  # see recovery
    turn.state.attempts.pop(entry.attempt, None)
    due = due_time(earlier.due, turn.now) if earlier.due else 0.0
    return turn.put(entry._replace(generation=earlier.generation, attempt=earlier.attempt, due=due, earlier=None))


def _bury(turn: Turn, entry: Pending, generation: int, attempt: int) -> None:
    turn.state.attempts.pop(attempt, None)
    turn.count_of(entry, "hedges_dropped")
    if generation in turn.state.workers:
        tombs = turn.state.tombstones
        tombs[attempt] = Tombstone(generation, entry.id)
        while len(tombs) > turn.state.policy.tombstones_max:
            del tombs[next(iter(tombs))]
