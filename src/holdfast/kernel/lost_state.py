"""State that was lost is not hidden: the clients of a worker that may have held state learn of its replacement.

A worker that has run any call that is not read-only may keep the effect in its memory: a dict, a history, an open
page. When another one takes its place, by a crash, a restart or a rollout, each client gets

    a warning         `notifications/message`, where its logging is on
    the generation    of the worker, in `_meta` of every result from then on
    the restart       from which generation to which and why, in `_meta` of its next result
    STATE_LOST        with `stateful = true`: its first call after the loss is refused once, and not repeated

Until the first loss nothing of this costs anything per call, and answers pass byte for byte.
"""

from typing import Any

from holdfast.kernel.rules import LIST_METHODS, STREAM_METHODS
from holdfast.kernel.state import Pending, State, StateLoss, Worker
from holdfast.kernel.turn import Turn
from holdfast.present.eras import META_LOG_LEVEL
from holdfast.vocabulary.execution import Knowledge, SessionPhase
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_GENERATION, META_REQUEST, META_RESTARTED
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import notification_message
from holdfast.wire.splice import add_result_meta

__all__ = ["loss_by_host", "lost_fault", "mark_result", "note_client", "note_loss", "refused_now", "warn_session"]

_CLIENTS = 1024  # that are told apart; whoever came first is forgotten first
_WARNED = frozenset({"debug", "info", "notice", "warning"})  # levels of a log that has warnings in it
_UNMARKED = LIST_METHODS | STREAM_METHODS | {"initialize"}


def note_client(state: State, client: str) -> None:
    """Remember a client that was not known yet: whatever is lost from now on is its loss too."""
    known = [*state.clients, client][-_CLIENTS:]
    state.clients = dict.fromkeys(known)


def note_loss(turn: Turn, worker: Worker, reason: str) -> None:
    """Take down that another worker takes the place of this one, if it may have held state."""
    if worker.life.holds_state:
        turn.state.lost = _loss(turn.state, worker.generation, reason)
        turn.count("state_lost")


def loss_by_host(state: State, reason: str) -> StateLoss | None:
    """The loss for a host whose workers end with it; None where none of them held anything."""
    worker = state.workers.get(state.active)
    if state.lost is None and (worker is None or not worker.life.holds_state):
        return None
    return _loss(state, state.active, reason)


def _loss(state: State, generation: int, reason: str) -> StateLoss:
    earlier = state.lost.unaware if state.lost is not None else {}
    unaware = {client: earlier.get(client, generation) for client in state.clients}
    return StateLoss(reason, unaware, frozenset(unaware) if state.policy.stateful else frozenset())


# --- telling -----------------------------------------------------------------------------------------------------


def warn_session(turn: Turn, worker: Worker) -> None:
    """Warn the client of the handshake in its log, as soon as the next worker serves."""
    state = turn.state
    lost = state.lost
    if lost is None or lost.is_warned:
        return
    state.lost = lost._replace(is_warned=True)
    if state.session.phase is SessionPhase.LIVE and "" in lost.unaware and _logs_warnings(state):
        params = _warning(_restarted(lost, "", worker.generation))
        turn.tell_client(notification_message("notifications/message", params))


def _logs_warnings(state: State) -> bool:
    frame = state.facts.get("log level")
    if frame is None:  # the client has not said; then a server with a log may send what it sees fit
        return "logging" in state.session.abilities
    params = decode(frame, max_depth=RELAY_DEPTH).get("params")
    return isinstance(params, dict) and params.get("level") in _WARNED


def mark_result(turn: Turn, entry: Pending, frame: bytes) -> bytes:
    """The result of a worker with its generation, and with the restart if the client has not heard of it."""
    state = turn.state
    lost = state.lost
    if lost is None or entry.method in _UNMARKED or entry.is_own:
        return frame
    members: dict[str, Any] = {META_GENERATION: entry.generation}
    if entry.client in lost.unaware and entry.generation == state.active:
        restarted = _restarted(lost, entry.client, entry.generation)
        members[META_RESTARTED] = restarted
        unaware = {client: at for client, at in lost.unaware.items() if client != entry.client}
        state.lost = lost._replace(unaware=unaware)
        if entry.is_modern:
            _warn_caller(turn, entry, restarted)
    return add_result_meta(frame, {name: encode(value) for name, value in members.items()})


def _warn_caller(turn: Turn, entry: Pending, restarted: dict[str, Any]) -> None:
    """Without a handshake each request says whether its sender wants the log."""
    params = decode(entry.frame, max_depth=RELAY_DEPTH).get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and meta.get(META_LOG_LEVEL) in _WARNED:
        params = {**_warning(restarted), "_meta": {META_REQUEST: entry.id}}
        turn.tell_listener(notification_message("notifications/message", params), entry.id)


def _restarted(lost: StateLoss, client: str, generation: int) -> dict[str, Any]:
    return {"from": lost.unaware[client], "to": generation, "reason": lost.reason}


def _warning(restarted: dict[str, Any]) -> dict[str, Any]:
    text = f"the server was restarted, and what it kept in memory is lost: {restarted['reason']}"
    return {"level": "warning", "logger": "holdfast", "data": {"message": text, META_RESTARTED: restarted}}


# --- refusing ----------------------------------------------------------------------------------------------------


def refused_now(turn: Turn) -> list[Pending]:
    """The calls that are refused because their clients do not know yet that the state is lost.

    These are all that such a client has waiting: it sent them before it could know. What waits for its probe is
    not among them.
    """
    state = turn.state
    lost = state.lost
    if lost is None or not lost.unrefused:
        return []
    waiting = [state.pending[request_id] for request_id in state.waiting]
    calls = [
        entry
        for entry in waiting
        if entry.method == "tools/call" and entry.client in lost.unrefused and entry.hold is None
    ]
    state.lost = lost._replace(unrefused=lost.unrefused - {entry.client for entry in calls})
    return calls


def lost_fault(turn: Turn, entry: Pending) -> Fault:
    """Why a call is refused whose server has lost its state."""
    lost = turn.state.lost
    is_new = entry.knowledge is Knowledge.NOT_DISPATCHED
    end = "was not run" if is_new else "is not repeated without it"
    text = f"the server was restarted and has lost its state; {entry.tool} {end}"
    if lost is None:
        return fault("STATE_LOST", text)
    since = lost.unaware.get(entry.client, 0)
    details = {"restarted": {"from": since, "to": turn.state.active, "reason": lost.reason}} if since else {}
    return fault("STATE_LOST", f"{text} ({lost.reason})", details=details)
