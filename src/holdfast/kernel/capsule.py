"""The durable part of a state as bytes, and back: what a host hands over to the process that takes its place.

The session, its requests and its facts are in it; workers and everything that lives with them are not, so what a
worker had comes back as lost (see `machine.resume`). Times are ages, because the next process has another clock.
Everything is checked before anything is built: a capsule is taken whole or refused.
"""

import base64
import hashlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from holdfast.errors import WireError
from holdfast.kernel.admission import first_beat, pending_request
from holdfast.kernel.capsule_values import (
    CapsuleError,
    CapsuleLimits,
    count,
    number,
    part,
    read_frame,
    read_message,
    read_rule,
    require,
    word,
    write_rule,
)
from holdfast.kernel.catalog import Catalog, read_catalog
from holdfast.kernel.lost_state import loss_by_host
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import Pending, Session, State, StateLoss
from holdfast.vocabulary.call import Call, Phase, Stop
from holdfast.vocabulary.execution import Knowledge, SessionPhase
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import Notification, Request

__all__ = ["FORMAT", "CapsuleError", "CapsuleLimits", "capture", "restore", "seal"]

FORMAT = 2


# --- out ---------------------------------------------------------------------------------------------------------


def capture(state: State, now: float) -> bytes:
    """The capsule of a state."""
    session = state.session
    return seal(
        {
            "session": {
                "phase": session.phase.value,
                "initialize": _base64(session.initialize),
                "initialized": _base64(session.initialized),
                "revision": session.revision,
                "has_tools": session.has_tools,
                "capabilities": session.capabilities,
                "abilities": list(session.abilities),
                "self_description": session.self_description,
            },
            "pending": [_captured(entry, now) for entry in state.pending.values()],
            "facts": [[about, _base64(frame)] for about, frame in state.facts.items()],
            "tools": _base64(state.catalog.definitions) if state.catalog is not None else None,
            "state_of": _captured_loss(state),
            "next": [state.next_sequence, state.next_id, state.next_callback, state.next_generation],
        }
    )


def seal(body: Mapping[str, Any]) -> bytes:
    """The bytes of a capsule with this content."""
    return encode({"format": FORMAT, "sha256": hashlib.sha256(encode(body)).hexdigest(), "body": body})


def _captured(entry: Pending, now: float) -> dict[str, Any]:
    lost = entry.knowledge is not Knowledge.NOT_DISPATCHED
    stop = entry.call.stop
    return {
        "id": entry.id,
        "method": entry.method,
        "sequence": entry.sequence,
        "frame": _base64(entry.frame),
        "age": max(0.0, now - entry.accepted_at),
        "knowledge": (Knowledge.OUTCOME_UNKNOWN if lost else entry.knowledge).value,
        "rule": write_rule(entry.rule) if lost and entry.rule is not None else None,
        "stop": stop.value if stop is not None else None,
        "generation": entry.generation,
        "replays": entry.replays,
        "moves": entry.moves,
        "progress": entry.progress,
        "has_beaten": entry.has_beaten,
    }


def _captured_loss(state: State) -> int:
    """The generation whose state the client of the handshake loses with this host; 0 where there is none."""
    lost = loss_by_host(state, "")
    return lost.unaware.get("", 0) if lost is not None else 0


def _base64(frame: bytes | None) -> str | None:
    return None if frame is None else base64.b64encode(frame).decode()


# --- in ----------------------------------------------------------------------------------------------------------


def restore(data: bytes, policy: Policy, now: float, limits: CapsuleLimits) -> State:
    """The state that a capsule holds; raises CapsuleError when anything in it is not as it must be."""
    body = _opened(data, limits)
    session = _session(part(body, "session", dict), limits)
    numbers = part(body, "next", list)
    require(
        len(numbers) == 4 and all(type(one) is int and one > 0 for one in numbers), "its next numbers are wrong"
    )
    entries = [_pending(item, policy, now, limits) for item in part(body, "pending", list)]
    _check_together(entries, session, policy, numbers[0])
    facts = dict(_fact(item, limits) for item in part(body, "facts", list))
    require(len(facts) <= policy.facts_max, "it has too many facts")
    state = State(policy, session, facts=facts, catalog=_catalog(body.get("tools"), policy, limits))
    held = body.get("state_of", 0)  # older hosts do not write it
    require(type(held) is int and held >= 0, "its loss of state is none")
    if held:
        unrefused = frozenset({""} if policy.stateful else ())
        state.clients = {"": None}
        state.lost = StateLoss("the host was replaced, and its workers with it", {"": held}, unrefused)
    state.next_sequence, state.next_id, state.next_callback, state.next_generation = numbers
    for entry in entries:
        state.pending[entry.id] = entry
        state.waiting[entry.id] = None
        state.bytes_pending += len(entry.frame)
    state.wake_at = min((at for entry in entries for at in (entry.due, entry.beat_at) if at), default=0.0)
    return state


def _catalog(told: Any, policy: Policy, limits: CapsuleLimits) -> Catalog | None:
    """The tools that the client knows, so that it is told when those of the next worker are others."""
    definitions = read_frame(told, limits)
    if definitions is None:
        return None
    try:
        listed = decode(definitions, max_depth=RELAY_DEPTH)
    except WireError as error:
        raise CapsuleError(f"the capsule is damaged: {error}") from None
    require(isinstance(listed, list), "its tools are none")
    return read_catalog(listed, policy)


def _opened(data: bytes, limits: CapsuleLimits) -> dict[str, Any]:
    require(len(data) <= limits.total_bytes, "it is too large")
    try:
        sealed = decode(data)
    except WireError as error:
        raise CapsuleError(f"the capsule is damaged: {error}") from None
    require(isinstance(sealed, dict) and set(sealed) == {"format", "sha256", "body"}, "it is none")
    require(type(sealed["format"]) is int and sealed["format"] == FORMAT, f"its format is not {FORMAT}")
    body = sealed["body"]
    require(isinstance(body, dict), "it has no content")
    require(hashlib.sha256(encode(body)).hexdigest() == sealed["sha256"], "its content is not what was sealed")
    return dict(body)


def _session(told: dict[str, Any], limits: CapsuleLimits) -> Session:
    phase = word(SessionPhase, told.get("phase"))
    first, second = (read_frame(told.get(name), limits) for name in ("initialize", "initialized"))
    described = told.get("self_description")
    require(isinstance(described, dict | None), "its self-description is none")
    require((first is None) == (phase is SessionPhase.COLD), "its handshake does not fit its phase")
    if phase is not SessionPhase.INITIALIZING:
        require((second is not None) == (phase is SessionPhase.LIVE), "its handshake does not fit its phase")
    if first is not None:
        asked = read_message(first)
        require(isinstance(asked, Request) and asked.method == "initialize", "its handshake is none")
    if second is not None:
        said = read_message(second)
        is_it = isinstance(said, Notification) and said.method.removeprefix("notifications/") == "initialized"
        require(is_it, "its handshake is none")
    revision, has_tools = part(told, "revision", str), part(told, "has_tools", bool)
    abilities = part(told, "abilities", list)
    require(all(isinstance(name, str) for name in abilities), "its capabilities are none")
    digest = part(told, "capabilities", str)
    return Session(phase, first, second, revision, has_tools, digest, tuple(abilities), described)


def _pending(told: Any, policy: Policy, now: float, limits: CapsuleLimits) -> Pending:
    require(isinstance(told, dict), "a request in it is none")
    frame = read_frame(told.get("frame"), limits)
    request = read_message(frame) if frame is not None else None
    require(isinstance(request, Request), "a request in it is none")
    assert isinstance(request, Request)
    assert frame is not None
    same = type(told.get("id")) is type(request.id) and told.get("id") == request.id
    require(same and told.get("method") == request.method, "a request in it is not that of its frame")
    knowledge = word(Knowledge, told.get("knowledge"))
    lost = knowledge is Knowledge.OUTCOME_UNKNOWN
    require(lost or knowledge is Knowledge.NOT_DISPATCHED, "a request in it cannot be where it is")
    rule = read_rule(told.get("rule")) if lost else None
    stop = word(Stop, told["stop"]) if told.get("stop") is not None else None
    generation, replays = count(told, "generation"), count(told, "replays")
    fresh = told.get("rule") is None and stop is None and not replays
    require(lost or fresh, "a request in it that was never dispatched has a history")
    moves = count(told, "moves")
    require(rule is None or 0 <= replays - moves <= rule.replays, "a request in it was repeated too often")
    entry = pending_request(request, frame, policy, now - number(told, "age"), count(told, "sequence"))
    beat_at = first_beat(entry, policy, now)
    if rule is None:
        return entry._replace(beat_at=beat_at)
    return entry._replace(
        knowledge=knowledge,
        rule=rule,
        call=Call(Phase.RUNNING if stop is None else Phase.STOPPING, stop),
        generation=generation,
        replays=replays,
        moves=moves,
        due=now + rule.deadline if rule.deadline else 0.0,
        progress=number(told, "progress"),
        has_beaten=part(told, "has_beaten", bool),
        beat_at=beat_at,
    )


def _check_together(entries: list[Pending], session: Session, policy: Policy, next_sequence: int) -> None:
    require(len(entries) <= policy.pending_max, "it has too many requests")
    heavy = len(entries) > 1 and sum(len(entry.frame) for entry in entries) > policy.pending_bytes
    require(not heavy, "its requests are too large together")
    require(len({entry.id for entry in entries}) == len(entries), "an id in it is used twice")
    numbers = [0, *(entry.sequence for entry in entries), next_sequence]
    require(all(a < b for a, b in pairwise(numbers)), "its requests are not in order")
    handshakes = [entry.frame for entry in entries if entry.method == "initialize"]
    expected = [session.initialize] if session.phase is SessionPhase.INITIALIZING else []
    require(handshakes == expected, "its handshake does not fit its requests")


def _fact(item: Any, limits: CapsuleLimits) -> tuple[str, bytes]:
    require(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str), "a fact in it is none")
    frame = read_frame(item[1], limits)
    require(frame is not None and isinstance(read_message(frame), Request), "a fact in it is none")
    assert frame is not None
    return item[0], frame
