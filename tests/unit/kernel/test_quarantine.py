"""Calls that end their worker each time: who is blamed, what is refused, and what others notice of it."""

from typing import Any

from tests.unit.kernel.driver import World, request

from holdfast.kernel.inputs import RestartAsked

POISON = {"n": "bad"}


def poisoned(**changes: Any) -> World:
    """A session in which a call has used up its repetitions, each of which ended the worker."""
    world = World.live(**changes)
    world.calls(1, "read", POISON)
    for _ in range(3):
        world.replace_worker()
    return world


def test_a_call_that_has_used_up_its_repetitions_is_refused_at_once_the_next_time() -> None:
    world = poisoned()
    assert world.code_of(1) == "REPLAY_EXHAUSTED"
    world.advance(10.0)
    params = b'{"name":"read","arguments":{ "n" : "b\\u0061d" }}'
    world.client_sends(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":' + params + b"}")
    refused = world.fault_of(2)

    assert (refused["code"], refused["retryable"], refused["retry"]) == (
        "QUARANTINED",
        False,
        {"safe": True, "afterMs": 590_000},
    )
    assert world.dispatched(world.state.active) == []
    assert [(event.tool, event.losses) for event in world.events("call_quarantined")] == [("read", 3)]


def test_other_arguments_and_other_tools_go_on() -> None:
    world = poisoned()
    world.calls(2, "read", {"n": "good"})
    world.calls(3, "check", POISON)

    assert world.dispatched(world.state.active) == ["good", "bad"]


def test_after_a_while_it_may_be_tried_again() -> None:
    world = poisoned()
    world.advance(601.0)
    world.calls(2, "read", POISON)

    assert world.dispatched(world.state.active) == ["bad"]


def test_whoever_restarts_the_server_lifts_the_refusal() -> None:
    world = poisoned()
    world.give(RestartAsked())
    world.calls(2, "read", POISON)

    assert not world.answers_to(2)


def test_nothing_is_refused_where_that_is_not_wanted() -> None:
    world = poisoned(quarantine=0.0)
    world.calls(2, "read", POISON)

    assert not world.answers_to(2)


def test_its_losses_do_not_use_up_the_restart_budget() -> None:
    world = World.live(restart_budget=4)
    for number in range(5):
        world.calls(number, "read", {"n": f"bad {number}"})
        for _ in range(3):
            world.replace_worker()

    assert [world.code_of(number) for number in range(5)] == ["REPLAY_EXHAUSTED"] * 5
    assert (world.state.restarts.is_degraded, world.state.restarts.recent) == (False, ())
    assert world.state.restarts.total == 15


def test_calls_that_were_lost_beside_it_go_on_without_it() -> None:
    world = World.live()
    world.calls(1, "read", POISON)
    world.calls(2, "read", {"n": "good"})
    world.calls(3, "read", {"n": "fine"})
    for _ in range(2):
        world.replace_worker()
    assert world.dispatched(3) == ["bad"]  # alone, so that it is known what it does
    world.calls(4, "read", {"n": "young"})
    world.replace_worker()
    assert world.dispatched(4) == ["good"]
    world.worker_answers(2, {})
    world.worker_answers(3, {})
    world.worker_answers(4, {})

    assert [world.code_of(1), *("result" in world.answer_to(number) for number in (2, 3, 4))] == [
        "REPLAY_EXHAUSTED",
        True,
        True,
        True,
    ]


def test_a_last_attempt_that_takes_long_holds_up_the_others_for_a_moment_only() -> None:
    world = World.live()
    world.calls(1, "read", {"n": "slow"})
    world.calls(2, "read", {"n": "good"})
    for _ in range(2):
        world.replace_worker()
    world.calls(3, "read", {"n": "young"})
    world.client_sends(request(4, "prompts/list"))
    assert world.dispatched(3) == ["slow"]
    world.advance(0.4)
    assert world.dispatched(3) == ["slow"]
    world.advance(2.0)

    assert world.dispatched(3) == ["slow", "good", "prompts/list", "young"]


def test_the_same_call_that_waits_besides_is_refused_with_it() -> None:
    world = World.live()
    for number in (1, 2, 3):
        world.calls(number, "read", POISON)
    for _ in range(3):
        world.replace_worker()

    assert [world.code_of(number) for number in (1, 2, 3)] == ["REPLAY_EXHAUSTED", "QUARANTINED", "QUARANTINED"]
    assert not world.state.pending


def test_a_call_that_is_never_repeated_is_refused_when_its_client_has_tried_often_enough() -> None:
    world = World.live(restart_budget=2)
    codes = []
    for number in range(5):
        world.calls(number, "write", POISON)
        if not world.answers_to(number):
            world.replace_worker()
        codes.append(world.code_of(number))

    assert codes == ["AMBIGUOUS_OUTCOME"] * 3 + ["QUARANTINED"] * 2
    assert not world.state.restarts.is_degraded


def test_nobody_is_blamed_for_a_loss_that_several_calls_may_have_caused() -> None:
    world = World.live(replays=0)
    world.calls(1, "write", POISON)
    world.calls(2, "write", {"n": "good"})
    for number in range(3, 6):
        world.replace_worker()
        world.calls(number, "write", POISON)
        world.calls(number + 10, "write", {"n": number})
    world.lose_worker()

    assert world.events("call_quarantined") == []
