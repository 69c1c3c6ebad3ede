"""Calls that end their worker each time: they are kept away from it for a while, so that others are served.

A call is blamed for a loss only where no other one can be: of calls that may be repeated it is the only one at
its last attempt, and of calls that may not it was alone with the worker. To find out, a call that was lost
twice has its last attempt alone: for half a second no other call is sent. Once the repetitions of a call are
used up, or a call that is never repeated was lost as often, the pair of its tool and its arguments is refused
with QUARANTINED, and its losses are taken off the restart budget.
"""

import hashlib
from collections.abc import Iterable

from holdfast.kernel.state import Blame, Pending, State
from holdfast.kernel.turn import Turn
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.events import CallQuarantined
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import RELAY_DEPTH, decode, encode

__all__ = [
    "PAIRS_MAX",
    "blame",
    "is_quarantined",
    "lift_quarantine",
    "note_last_attempt",
    "quarantine_fault",
    "suspect_of",
    "waits_its_turn",
]

ALONE = 0.5  # seconds that a call at its last attempt has before the next call is sent
PAIRS_MAX = 256


def suspect_of(lost: Iterable[Pending]) -> int:
    """The sequence number of the one call that a loss can be blamed on; 0 where there is none."""
    calls = [entry for entry in lost if entry.method == "tools/call" and entry.call.stop is None]
    last = [entry.sequence for entry in calls if _is_last(entry) and entry.charged]
    if len(last) == 1:
        return last[0]
    never = [entry.sequence for entry in calls if _replay(entry) is ReplayWord.NEVER_REPLAY]
    return never[0] if len(calls) == len(never) == 1 else 0


def blame(turn: Turn, entry: Pending) -> None:
    """Take down one more loss by a call; after enough of them the pair is quarantined."""
    state, policy = turn.state, turn.state.policy
    if not policy.quarantine:
        return
    pair = _pair(entry)
    earlier = state.blamed.get(pair, Blame(0, 0.0))
    losses = entry.charged + 1
    if _replay(entry) is ReplayWord.NEVER_REPLAY:
        losses = 1 + (earlier.losses if turn.now < earlier.until else 0)
    is_enough = losses > policy.replays or _replay(entry) is not ReplayWord.NEVER_REPLAY
    kept = {one: found for one, found in state.blamed.items() if turn.now < found.until and one != pair}
    while len(kept) >= PAIRS_MAX:
        del kept[next(iter(kept))]
    state.blamed = {**kept, pair: Blame(losses, turn.now + policy.quarantine, is_enough)}
    if is_enough:
        turn.count("quarantined")
        turn.record(CallQuarantined(entry.tool, losses, policy.quarantine))
        _refund(turn, losses)


def _refund(turn: Turn, losses: int) -> None:
    """Take losses off the account of the server: they say nothing about how it serves others."""
    before = turn.state.restarts
    recent = before.recent[: max(0, len(before.recent) - losses)]
    turn.state.restarts = before._replace(
        recent=recent,
        consecutive=max(0, before.consecutive - losses),
        is_degraded=before.is_degraded and len(recent) > turn.state.policy.restart_budget,
        retry_at=turn.now,
    )


def is_quarantined(turn: Turn, entry: Pending) -> bool:
    """Whether a call is refused."""
    blamed = turn.state.blamed
    if not blamed or entry.method != "tools/call":
        return False
    found = blamed.get(_pair(entry))
    return found is not None and found.is_enough and turn.now < found.until


def quarantine_fault(turn: Turn, entry: Pending) -> Fault:
    """Why a call is refused, and for how long."""
    found = turn.state.blamed[_pair(entry)]
    left = max(1, round(found.until - turn.now))
    text = (
        f"{entry.tool} with these arguments has ended its worker {found.losses} times; it is refused for {left} s"
    )
    return fault("QUARANTINED", text, details={"losses": found.losses, "seconds": left})


def lift_quarantine(state: State) -> None:
    """Forget who is to blame: somebody wants another worker, which may do better."""
    state.blamed = {}


def note_last_attempt(turn: Turn, entry: Pending) -> None:
    """A call is sent for the last time: for a moment it is alone with the worker, to see whether it ends that."""
    state = turn.state
    if entry.method == "tools/call" and state.policy.quarantine and entry.charged > 1 and _is_last(entry):
        state.alone, state.alone_until = entry.id, turn.now + ALONE


def waits_its_turn(turn: Turn, entry: Pending) -> bool:
    """Whether a call waits because another one is to be alone with the worker."""
    state = turn.state
    if turn.now >= state.alone_until or entry.method != "tools/call":
        return False
    other = state.pending.get(state.alone) if state.alone is not None else None
    if other is None or not other.is_in_flight:
        state.alone_until = 0.0
        return False
    turn.wake(state.alone_until)
    return True


def _is_last(entry: Pending) -> bool:
    rule = entry.rule
    return rule is not None and _replay(entry) is not ReplayWord.NEVER_REPLAY and entry.charged >= rule.replays


def _replay(entry: Pending) -> ReplayWord | None:
    return entry.rule.effect.replay if entry.rule is not None else None


def _pair(entry: Pending) -> bytes:
    """The digest of a tool and its arguments, whatever the order of their names."""
    params = decode(entry.frame, max_depth=RELAY_DEPTH).get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    if isinstance(arguments, dict):
        arguments = sorted(arguments.items())
    return hashlib.sha256(encode([entry.tool, arguments])).digest()
