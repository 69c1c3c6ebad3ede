"""State that was lost with a worker: who learns of it, how often, and what passes untouched until then."""

from typing import Any

import pytest
from tests.unit.kernel.driver import DESCRIPTION, SERVER, World, call, request

from holdfast.kernel.capsule import CapsuleLimits, capture, restore
from holdfast.kernel.inputs import FromClient, RestartAsked, RolloutAsked
from holdfast.kernel.machine import resume
from holdfast.kernel.policy import Policy
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import parse

GENERATION, RESTARTED = "io.holdfast/generation", "io.holdfast/restarted"
LOGGING = {**SERVER, "capabilities": {"tools": {}, "logging": {}}}


def written(**changes: Any) -> World:
    """A session whose worker has run a call that is not read-only."""
    world = World(**changes)
    world.server = LOGGING
    world.go_live()
    world.calls(1, "write")
    world.worker_answers(1, {"ok": 1})
    return world


def meta_of(world: World, number: int) -> dict[str, Any]:
    """The `_meta` of the result of one more read."""
    world.calls(number, "read", {"n": number})
    world.worker_answers(number, {"ok": 1})
    return dict(world.answer_to(number)["result"].get("_meta", {}))


def test_the_next_result_tells_of_the_restart_once_and_every_one_of_the_generation() -> None:
    world = written()
    world.replace_worker()

    restarted = {"from": 1, "to": 2, "reason": "it crashed"}
    assert meta_of(world, 2) == {GENERATION: 2, RESTARTED: restarted}
    assert meta_of(world, 3) == {GENERATION: 2}
    world.replace_worker()  # nothing but reads since
    assert meta_of(world, 4) == {GENERATION: 3}


def test_a_worker_that_has_only_read_is_replaced_without_a_word() -> None:
    world = World.live()
    world.calls(1, "read")
    world.calls(2, "log in", {"n": "a"})  # told to the next worker again
    world.worker_answers(1, {})
    world.worker_answers(2, {})
    world.replace_worker()

    assert meta_of(world, 3) == {}
    assert world.told("notifications/message") == []


def test_losses_that_the_client_has_not_heard_of_are_told_as_one() -> None:
    world = written()
    world.replace_worker()
    world.calls(2, "write")
    world.replace_worker()

    assert world.code_of(2) == "AMBIGUOUS_OUTCOME"
    assert meta_of(world, 3)[RESTARTED] == {"from": 1, "to": 3, "reason": "it crashed"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (RestartAsked(), "the worker was replaced by a fresh one"),
        (RolloutAsked(2), "another release has taken over"),
    ],
)
def test_a_planned_replacement_loses_the_state_as_well(given: Any, reason: str) -> None:
    world = written()
    world.calls(2, "write")
    world.give(given)
    world.make_ready(2)
    world.worker_answers(2, {})  # by the one that made way: it still has its state

    assert world.answer_to(2)["result"] == {"_meta": {GENERATION: 1}}
    assert meta_of(world, 3)[RESTARTED] == {"from": 1, "to": 2, "reason": reason}


@pytest.mark.parametrize(("level", "warnings"), [(None, 1), ("info", 1), ("warning", 1), ("error", 0)])
def test_a_client_that_wants_warnings_gets_one_as_soon_as_the_next_worker_serves(
    level: str | None, warnings: int
) -> None:
    world = written()
    if level is not None:
        world.client_sends(request(9, "logging/setLevel", {"level": level}))
        world.worker_answers(9, {})
    world.lose_worker()
    assert world.told("notifications/message") == []
    world.make_ready()

    told = world.told("notifications/message")
    assert [(note["level"], note["data"][RESTARTED]["to"]) for note in told] == [("warning", 2)] * warnings


def test_a_server_without_a_log_sends_none() -> None:
    world = World.live()
    world.calls(1, "write")
    world.replace_worker()

    assert world.told("notifications/message") == []
    assert RESTARTED in meta_of(world, 2)


@pytest.mark.parametrize(("wants", "warnings"), [({"io.modelcontextprotocol/logLevel": "info"}, 1), ({}, 0)])
def test_a_request_that_describes_itself_says_whether_it_wants_the_warning(
    wants: dict[str, str], warnings: int
) -> None:
    world = World()
    world.worker_up()
    for number in (1, 2):
        if number == 2:
            world.replace_worker()
        world.calls(number, "write", **DESCRIPTION, **wants)
        world.serve()
        world.worker_answers(number, {"resultType": "complete"})

    told = world.told("notifications/message")
    assert [note["_meta"]["io.holdfast/request"] for note in told] == [2] * warnings
    assert world.answer_to(2)["result"]["_meta"][RESTARTED]["from"] == 1


def test_each_of_several_clients_is_told_and_one_that_came_later_is_not() -> None:
    world = written()

    def ask(number: int, client: str) -> dict[str, Any]:
        frame = encode(call(number, "read"))
        world.give(FromClient(parse(decode(frame)), frame, client=client))
        world.worker_answers(number, {})
        return dict(world.answer_to(number)["result"].get("_meta", {}))

    ask(10, "a")
    ask(11, "b")
    world.replace_worker()

    assert RESTARTED in ask(12, "a")
    assert RESTARTED not in ask(13, "a")
    assert RESTARTED in ask(14, "b")
    assert RESTARTED not in ask(15, "late")
    assert RESTARTED in meta_of(world, 16)


def test_the_rest_of_an_answer_stays_byte_for_byte() -> None:
    world = written()
    world.replace_worker()
    meta_of(world, 2)
    world.calls(3, "read")
    attempt = world.state.pending[3].attempt
    world.worker_says(
        b'{ "jsonrpc":"2.0", "result" : {"a":1e2, "_meta" : { "x" : "\\u00e9" }}, "id":%d}' % attempt
    )

    assert world.raw[-1] == (
        b'{ "jsonrpc":"2.0", "result" : {"a":1e2, "_meta" : '
        b'{"io.holdfast/generation":2, "x" : "\\u00e9" }}, "id":3}'
    )


def test_an_error_and_a_list_are_not_marked() -> None:
    world = written()
    world.replace_worker()
    world.client_sends(request(2, "tools/list"))
    world.worker_answers(2, {"tools": []})
    world.calls(3, "read")
    world.worker_fails(world.state.pending[3].attempt)

    assert world.answer_to(2)["result"] == {"tools": []}
    assert set(world.answer_to(3)["error"]) == {"code", "message"}
    assert RESTARTED in meta_of(world, 4)


# --- stateful ----------------------------------------------------------------------------------------------------


def test_a_stateful_server_refuses_the_first_call_after_a_loss_once() -> None:
    world = written(stateful=True)
    world.replace_worker()
    world.calls(2, "write")
    refused = world.fault_of(2)

    assert (refused["code"], refused["retryable"], refused["retry"]) == (
        "STATE_LOST",
        True,
        {"safe": True, "afterMs": 0},
    )
    assert refused["details"] == {"restarted": {"from": 1, "to": 2, "reason": "it crashed"}}
    assert world.sent_to(2, "tools/call") == []
    assert RESTARTED in meta_of(world, 3)


def test_everything_that_was_sent_before_the_client_could_know_is_refused() -> None:
    world = written(stateful=True)
    world.calls(2, "read")
    world.calls(3, "write")
    world.lose_worker()
    world.calls(4, "read")
    world.client_sends(request(5, "prompts/list"))
    world.make_ready()

    assert [world.code_of(number) for number in (2, 3, 4)] == ["STATE_LOST", "AMBIGUOUS_OUTCOME", "STATE_LOST"]
    assert world.dispatched(2) == ["prompts/list"]


def test_calls_of_a_worker_that_made_way_are_not_repeated_without_its_state() -> None:
    world = written(stateful=True)
    world.calls(2, "read")
    world.give(RestartAsked())
    world.make_ready(2)
    world.calls(3, "read")
    world.lose_worker(1)

    assert [world.code_of(number) for number in (2, 3)] == ["STATE_LOST", "STATE_LOST"]
    assert world.sent_to(2, "tools/call") == []


def test_a_stateful_server_may_keep_what_it_was_told_by_a_call_that_only_reads() -> None:
    world = World.live(stateful=True)
    world.client_sends(request(1, "prompts/get", {"name": "p"}))
    world.replace_worker()
    world.worker_answers(1, {"ok": 1})
    world.calls(2, "read")
    world.worker_answers(2, {})
    world.replace_worker()
    world.calls(3, "read")

    assert (world.answer_to(1)["result"], world.code_of(3)) == ({"ok": 1}, "STATE_LOST")


def test_a_host_that_takes_over_tells_of_the_state_of_the_one_before() -> None:
    world = written()
    policy = Policy(ping_interval=0.0, liveness_interval=0.0, heartbeat=0.0)
    world.state = restore(capture(world.state, world.now), policy, world.now, CapsuleLimits())
    world.state, commands = resume(world.state, world.now)
    world.note(commands)
    world.make_ready()

    assert meta_of(world, 2)[RESTARTED]["from"] == 1
