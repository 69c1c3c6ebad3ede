"""The capsule: a state is restored whole or not at all, whatever the bytes are."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.kernel.driver import DESCRIPTION, INITIALIZE, World, request

from holdfast.kernel.capsule import FORMAT, CapsuleError, CapsuleLimits, capture, restore, seal
from holdfast.kernel.invariants import broken_invariants
from holdfast.kernel.machine import resume
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import State
from holdfast.vocabulary.execution import Knowledge

LIMITS = CapsuleLimits()


def busy() -> World:
    """A session with a bit of everything."""
    world = World.live(heartbeat=5.0)
    world.client_sends(request("level", "logging/setLevel", {"level": "debug"}))
    world.worker_answers("level", {})
    world.calls(1, "read", {"n": "r"}, progressToken="t")
    world.calls("1", "write", {"n": "w"})
    world.calls(2, "pay", {"n": "p"})
    world.calls(3, "ours", {"n": "o"})
    world.stops(3)
    world.replace_worker()
    world.calls(4, "put", {"n": "u", "key": "k"})
    world.store_says()
    world.calls(5, "write", {"n": "v"})
    world.client_sends(request(6, "acme/do"))
    world.advance(2.0)
    world.lose_worker(2, unsent=[world.state.pending[5].attempt])
    world.calls(7, "write", {"n": "x"})
    return world


def restored(world: World, at: float = 1000.0) -> State:
    return restore(capture(world.state, world.now), world.state.policy, at, LIMITS)


def body_of(world: World) -> dict[str, Any]:
    body = json.loads(capture(world.state, world.now))["body"]
    assert isinstance(body, dict)
    return body


def test_session_facts_and_requests_come_back_and_workers_do_not() -> None:
    world = busy()
    again = restored(world)

    assert again.session == world.state.session
    assert again.facts == world.state.facts
    assert list(again.pending) == list(world.state.pending) == list(again.waiting)
    assert (again.workers, again.errands, again.attempts, again.callbacks) == ({}, {}, {}, {})
    assert again.bytes_pending == world.state.bytes_pending
    assert again.next_generation == world.state.next_generation


def test_times_come_back_as_ages() -> None:
    world = busy()
    ages = [world.now - entry.accepted_at for entry in world.state.pending.values()]

    assert [1000.0 - entry.accepted_at for entry in restored(world).pending.values()] == pytest.approx(ages)


def test_what_was_in_flight_comes_back_as_lost_and_is_settled_by_its_contract() -> None:
    world = World.live()
    for number, name in enumerate(["read", "write", "pay"], 1):
        world.calls(number, name, {"n": name})
    again = restored(world, world.now)
    assert {entry.knowledge for entry in again.pending.values()} == {Knowledge.OUTCOME_UNKNOWN}
    world.state, commands = resume(again, world.now)
    world.note(commands)

    assert world.code_of(2) == "AMBIGUOUS_OUTCOME"
    assert world.fault_of(2)["generation"] == 1
    world.make_ready()
    assert world.dispatched(2) == ["read"]
    world.probe_says({"outcome": "safe_to_retry"})
    assert world.dispatched(2) == ["read", "pay"]


def test_the_handshake_goes_on_where_it_was() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.state, commands = resume(restored(world, world.now), world.now)
    world.worker_up()
    world.worker_answers(0, world.server)

    assert [type(command).__name__ for command in commands] == ["StartWorker"]
    assert world.answer_to(0)["result"] == world.server


def test_a_call_that_was_being_stopped_is_answered_at_once() -> None:
    world = World.live()
    world.calls(1, "ours")
    world.stops(1)
    world.state, commands = resume(restored(world, world.now), world.now)
    world.note(commands)

    assert world.code_of(1) == "CANCELLED"


def test_the_era_without_a_handshake_comes_back_too() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "read", **DESCRIPTION)
    again = restored(world)

    assert again.session.self_description == DESCRIPTION
    assert again.pending[1].is_modern


def test_a_restored_state_is_as_sound_as_any() -> None:
    world = busy()
    state, _ = resume(restored(world, world.now), world.now)

    assert broken_invariants(state) == []


def test_capturing_what_was_restored_gives_the_same_bytes() -> None:
    world = busy()
    first = capture(world.state, world.now)
    again = restore(first, world.state.policy, 7.0, LIMITS)

    assert json.loads(capture(again, 7.0))["body"]["session"] == json.loads(first)["body"]["session"]
    third = restore(capture(again, 7.0), world.state.policy, 7.0, LIMITS)
    assert third == again


@pytest.mark.parametrize("version", [0, 1, 3, "2", None, 2.0, True])
def test_any_other_format_is_refused(version: Any) -> None:
    sealed = json.loads(capture(busy().state, 0.0))
    sealed["format"] = version

    with pytest.raises(CapsuleError, match="format"):
        restore(json.dumps(sealed).encode(), Policy(), 0.0, LIMITS)
    assert FORMAT == 2


def harmed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def harm(body: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place: Any = body
        for part in way:
            place = place[int(part)] if part.isdigit() else place[part]
        place[int(last) if last.isdigit() else last] = value

    return harm


BAD_FRAME = base64.b64encode(b"{").decode()
OTHER = base64.b64encode(b'{"jsonrpc":"2.0","id":1,"method":"acme/other"}').decode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("session", None),
        ("session.phase", "warm"),
        ("session.phase", "cold"),
        ("session.phase", "initializing"),
        ("session.phase", "awaiting_initialized"),
        ("session.initialize", None),
        ("session.initialize", OTHER),
        ("session.initialized", OTHER),
        ("session.initialized", None),
        ("session.revision", 5),
        ("session.has_tools", "yes"),
        ("session.self_description", []),
        ("next", [1, 1, 1]),
        ("next", [1, 1, 1, 1]),
        ("next", [99, 0, 1, 1]),
        ("next", "many"),
        ("pending", {}),
        ("pending.0", None),
        ("pending.0.id", "1"),
        ("pending.0.id", True),
        ("pending.0.method", "tools/list"),
        ("pending.0.frame", None),
        ("pending.0.frame", "%%%"),
        ("pending.0.frame", BAD_FRAME),
        ("pending.0.frame", OTHER),
        ("pending.0.age", -1),
        ("pending.0.age", "old"),
        ("pending.0.age", 10**400),
        ("pending.0.knowledge", "in_flight"),
        ("pending.0.knowledge", "completed"),
        ("pending.0.knowledge", "not_dispatched"),
        ("pending.0.rule", None),
        ("pending.0.rule.effect", ["replay_safe"]),
        ("pending.0.rule.effect.0", "whatever"),
        ("pending.0.rule.effect.1", 5),
        ("pending.0.rule.deadline", -5),
        ("pending.0.rule.replays", 0),
        ("pending.0.rule.dialect", "klingon"),
        ("pending.0.rule.is_ours", 1),
        ("pending.0.rule.more", 1),
        ("pending.0.stop", "because"),
        ("pending.0.generation", -1),
        ("pending.0.replays", 99),
        ("pending.0.progress", None),
        ("pending.0.has_beaten", 0),
        ("pending.0.sequence", 99),
        ("pending.0.sequence", 0),
        ("pending.1.sequence", 2.5),
        ("facts", [["a"]]),
        ("facts", [["a", BAD_FRAME]]),
        ("facts", [["a", None]]),
        ("facts", [[5, OTHER]]),
    ],
)
def test_a_capsule_that_contradicts_itself_is_refused(path: str, value: Any) -> None:
    world = busy()
    body = body_of(world)
    assert restore(seal(body), world.state.policy, 0.0, LIMITS).pending != {}
    harmed(path, value)(body)

    with pytest.raises(CapsuleError):
        restore(seal(body), world.state.policy, 0.0, LIMITS)


def test_an_id_that_is_used_twice_is_refused() -> None:
    world = World.live()
    world.calls(1, "read")
    body = body_of(world)
    body["pending"].append({**body["pending"][0], "sequence": body["next"][0]})
    body["next"][0] += 1

    with pytest.raises(CapsuleError, match="twice"):
        restore(seal(body), Policy(), 0.0, LIMITS)


@pytest.mark.parametrize(
    ("policy", "limits"),
    [
        (Policy(pending_max=1), LIMITS),
        (Policy(pending_bytes=10), LIMITS),
        (Policy(facts_max=0), LIMITS),
        (Policy(), CapsuleLimits(total_bytes=100)),
        (Policy(), CapsuleLimits(frame_bytes=30)),
    ],
)
def test_a_capsule_beyond_the_bounds_is_refused(policy: Policy, limits: CapsuleLimits) -> None:
    with pytest.raises(CapsuleError):
        restore(capture(busy().state, 0.0), policy, 0.0, limits)


WHOLE = capture(busy().state, 0.0)


@given(st.integers(0, len(WHOLE) * 8 - 1))
def test_a_single_bit_that_flipped_is_noticed(bit: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[bit // 8] ^= 1 << bit % 8

    with pytest.raises(CapsuleError):
        restore(bytes(damaged), Policy(), 0.0, LIMITS)


@given(st.integers(0, len(WHOLE) - 1))
def test_a_capsule_that_was_cut_is_refused(length: int) -> None:
    with pytest.raises(CapsuleError):
        restore(WHOLE[:length], Policy(), 0.0, LIMITS)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(place=st.integers(0, 200), value=JSON)
@example(place=0, value=None)
def test_any_value_in_any_place_is_restored_or_refused(place: int, value: Any) -> None:
    body = json.loads(WHOLE)["body"]
    spots = list(places(body))
    holder, key = spots[place % len(spots)]
    holder[key] = value
    try:
        data = seal(body)
    except (ValueError, TypeError):  # JSON cannot say it
        return
    try:
        state = restore(data, Policy(), 0.0, LIMITS)
    except CapsuleError:
        return
    assert broken_invariants(resume(state, 0.0)[0]) == []


def places(value: Any) -> Any:
    """Every place in a document that holds a value: the container and the key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from places(inner)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_capsule_are_refused(data: bytes) -> None:
    with pytest.raises(CapsuleError):
        restore(data, Policy(), 0.0, LIMITS)


@pytest.mark.parametrize("age", [599.9, 600.0, 601.0, 3600.0, 1e6])
@pytest.mark.parametrize("now", [0.0, 600.0, 5000.0])
def test_what_was_due_long_ago_is_due_now_and_not_never(age: float, now: float) -> None:
    world = World.live()
    world.calls(1, "read")
    world.lose_worker()
    world.calls(2, "write")
    body = body_of(world)
    for told in body["pending"]:
        told["age"] = age
    state, _ = resume(restore(seal(body), Policy(), now, LIMITS), now)

    assert broken_invariants(state) == []
    assert 0 < state.pending[2].due <= max(now + 0.1 + 1e-6, 1e-6)


def test_a_total_that_was_over_long_ago_is_due_as_soon_as_the_call_is_sent_again() -> None:
    world = World.live(deadline=0.0, deadline_total=50.0)
    world.calls(1, "read")
    body = body_of(world)
    body["pending"][0]["age"] = 150.0
    world.now = 100.0
    world.state, commands = resume(restore(seal(body), world.state.policy, world.now, LIMITS), world.now)
    world.note(commands)
    world.make_ready()

    assert world.state.pending[1].is_in_flight
    world.advance(5.0)
    assert world.code_of(1) == "TOOL_TIMEOUT"
