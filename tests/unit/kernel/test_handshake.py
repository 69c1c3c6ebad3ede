"""The session of the client and the private handshakes of the workers that serve it."""

from typing import Any

import pytest
from tests.unit.kernel.driver import DESCRIPTION, INITIALIZE, INITIALIZED, World, answer, call, request

from holdfast.kernel.state import WorkerPhase
from holdfast.vocabulary.execution import SessionPhase


def test_the_handshake_goes_through_to_the_worker_and_back() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("first", "initialize", INITIALIZE))
    world.worker_answers("first", world.server)

    assert world.answer_to("first")["result"] == world.server
    assert world.phase() is SessionPhase.AWAITING_INITIALIZED
    world.client_sends(INITIALIZED)
    assert world.phase() is SessionPhase.LIVE
    assert [message.get("method") for message in world.sent_to(1)] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]


def test_an_initialize_that_comes_before_the_worker_waits_for_it() -> None:
    world = World()
    world.client_sends(request(0, "initialize", INITIALIZE))

    assert world.sent == []
    world.worker_up()
    assert world.dispatched(1) == ["initialize"]


def test_a_worker_lost_while_starting_is_replaced_and_the_client_waits() -> None:
    world = World()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.lose_worker()
    world.worker_up()
    world.worker_answers(0, world.server)

    assert world.answer_to(0)["result"] == world.server
    assert world.state.active == 2


def test_a_worker_lost_during_the_handshake_is_replaced_and_asked_again() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.lose_worker()
    assert world.phase() is SessionPhase.INITIALIZING
    world.worker_up()
    world.worker_answers(0, world.server)

    assert world.answer_to(0)["result"] == world.server


def test_a_worker_lost_before_initialized_is_replaced_by_one_that_knows_only_the_request() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.replace_worker()

    assert [message["method"] for message in world.sent_to(2)] == ["initialize"]
    world.client_sends(INITIALIZED)
    assert world.sent_to(2, "notifications/initialized") == [INITIALIZED]


def test_initialized_said_during_a_private_handshake_reaches_the_new_worker_once() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.lose_worker()
    world.worker_up()
    world.client_sends(INITIALIZED)
    world.serve()

    assert world.sent_to(2, "notifications/initialized") == [INITIALIZED]
    assert world.worker.phase is WorkerPhase.READY


def test_a_worker_lost_in_a_live_session_is_replaced_by_one_that_is_told_everything() -> None:
    world = World.live()
    world.replace_worker()

    assert [message["method"] for message in world.sent_to(2)] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    assert world.sent_to(2)[0]["params"] == INITIALIZE
    assert world.heard == []


@pytest.mark.parametrize("phase", ["starting", "initializing", "listing", "ready"])
def test_losing_the_next_worker_in_any_phase_leaves_the_session_as_it_is(phase: str) -> None:
    world = World.live()
    world.calls(1, "read")
    session = world.state.session
    world.lose_worker()
    if phase != "starting":
        world.worker_up()
    if phase == "listing":
        world.worker_says(answer(min(world.state.errands), world.server))
    if phase == "ready":
        world.serve()
    assert world.worker.phase.value == phase
    world.replace_worker()
    world.worker_answers(1, {"ok": 1})

    assert world.state.session == session
    assert world.answer_to(1)["result"] == {"ok": 1}


def test_initialized_said_before_the_answer_makes_the_session_live_with_the_answer() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.client_sends(INITIALIZED)
    assert world.phase() is SessionPhase.INITIALIZING
    world.worker_answers(0, world.server)

    assert world.phase() is SessionPhase.LIVE
    assert world.sent_to(1, "notifications/initialized") == [INITIALIZED]


@pytest.mark.parametrize("up_first", [True, False])
def test_an_early_initialized_reaches_the_worker_that_answers_in_the_end(up_first: bool) -> None:
    world = World()
    if up_first:
        world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.client_sends(INITIALIZED)
    if up_first:
        world.lose_worker()
    world.worker_up()
    world.worker_answers(0, world.server)
    methods = [message.get("method") for message in world.sent_to(world.state.active)]

    assert methods == ["initialize", "notifications/initialized", "tools/list"]


def test_a_client_that_never_says_initialized_gets_its_calls_served() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.calls(1, "read")
    world.serve()
    world.lose_worker()
    world.make_ready()
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}
    assert world.dispatched(1) == ["initialize", "tools/call"]
    assert world.dispatched(2) == ["tools/call"]


def test_a_second_initialize_is_refused_and_the_session_stays() -> None:
    world = World.live()
    world.client_sends(request(7, "initialize", INITIALIZE))

    assert world.answer_to(7)["error"]["code"] == -32600
    assert world.phase() is SessionPhase.LIVE


def test_a_refused_handshake_lets_the_client_try_again() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_fails(world.state.pending[0].attempt)
    assert world.phase() is SessionPhase.COLD
    world.client_sends(request(1, "initialize", INITIALIZE))
    world.worker_answers(1, world.server)

    assert world.phase() is SessionPhase.AWAITING_INITIALIZED


def test_a_handshake_that_loses_every_worker_ends_with_an_error_and_can_be_tried_again() -> None:
    world = World(replays=1)
    world.client_sends(request(0, "initialize", INITIALIZE))
    for _ in range(2):
        world.worker_up()
        world.lose_worker()

    assert world.code_of(0) == "REPLAY_EXHAUSTED"
    assert world.phase() is SessionPhase.COLD
    world.client_sends(request(1, "initialize", INITIALIZE))
    world.worker_up()
    assert world.dispatched(3) == ["initialize"]


def test_initialized_without_a_handshake_is_counted_and_passed_to_nobody() -> None:
    world = World()
    world.worker_up()
    world.client_sends(INITIALIZED)

    assert world.sent == []
    assert world.count("unmatched") == 1


def test_a_second_initialized_is_counted_and_passed_to_nobody() -> None:
    world = World.live()
    world.client_sends(INITIALIZED)

    assert len(world.sent_to(1, "notifications/initialized")) == 1
    assert world.count("unmatched") == 1


def test_a_worker_that_takes_up_another_revision_is_ended_and_counts_as_lost() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.server = {**world.server, "protocolVersion": "1999-01-01"}
    world.serve()

    assert world.last("StopWorker").generation == 2
    world.lose_worker(2, message="killed")
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "HANDSHAKE_CHANGED"


@pytest.mark.parametrize("asked", ["2024-11-05", "2099-01-01"])
def test_the_next_worker_is_asked_for_the_revision_that_was_settled_on(asked: str) -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", {**INITIALIZE, "protocolVersion": asked}))
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.lose_worker()
    world.worker_up()
    (again,) = world.sent_to(2)

    assert asked != world.server["protocolVersion"] == world.state.session.revision
    assert again["params"] == {**INITIALIZE, "protocolVersion": world.server["protocolVersion"]}


def test_a_worker_that_refuses_the_private_handshake_is_ended_and_nobody_is_told() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_fails(min(world.state.errands), "not you again")

    assert world.worker.phase is WorkerPhase.STOPPING
    assert world.heard == []


def test_a_worker_that_does_not_take_up_the_session_in_time_is_ended() -> None:
    world = World.live(start_timeout=3.0)
    world.lose_worker()
    world.worker_up()
    world.advance(3.0)

    assert world.last("StopWorker").generation == 2


def test_the_late_handshake_of_a_worker_that_is_being_ended_does_not_revive_it() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    number = min(world.state.errands)
    world.advance(60.0)
    world.worker_says(answer(number, world.server))

    assert world.worker.phase is WorkerPhase.STOPPING
    assert world.sent_to(2, "tools/list") == []


def test_requests_of_the_era_without_a_handshake_are_served_at_once() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "read", **DESCRIPTION)
    (asked,) = world.sent_to(1, "tools/list")
    assert asked["params"]["_meta"] == DESCRIPTION
    world.serve()
    world.worker_answers(1, {"resultType": "complete"})

    assert world.answer_to(1)["result"] == {"resultType": "complete"}
    assert world.phase() is SessionPhase.COLD


def test_a_worker_lost_in_the_era_without_a_handshake_is_replaced_without_one() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "read", **DESCRIPTION)
    world.serve()
    world.replace_worker()
    world.worker_answers(1, {"resultType": "complete"})

    assert world.answer_to(1)["result"] == {"resultType": "complete"}
    assert world.sent_to(2, "initialize") == []
    assert (world.state.session.revision, world.state.session.spoken) == ("", "2026-07-28")


def test_a_self_description_that_the_host_cannot_use_is_left_to_the_worker() -> None:
    world = World()
    world.worker_up()
    world.client_sends(call(1, "read", **{"io.modelcontextprotocol/protocolVersion": "2099-01-01"}))

    assert world.dispatched(1) == ["tools/call"]


def test_a_call_before_any_handshake_is_left_to_the_worker() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "read")

    assert world.dispatched(1) == ["tools/call"]


def test_ping_is_answered_by_the_host_itself_whatever_the_worker_does() -> None:
    world = World()
    world.client_sends(request("p", "ping"))

    assert world.answer_to("p")["result"] == {}


def test_a_lost_call_from_before_the_handshake_does_not_keep_the_handshake_waiting() -> None:
    world = World()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.client_sends(request(1, "resources/read", {"uri": "a:b"}))
    world.calls(2, "read")
    world.worker_up()
    world.lose_worker()
    world.worker_up()
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.serve()

    assert world.dispatched(2) == ["initialize", "resources/read", "tools/call"]


ENDED: dict[str, Any] = {
    "message": "the worker ended (exit code 1)",
    "stderr": "loading\nError: API_KEY is not set\n\n",
}


@pytest.mark.parametrize("reads", ["never", "unsent", "sent"])
def test_a_server_that_ends_at_once_is_told_with_its_last_words_however_far_it_came(reads: str) -> None:
    world = World(replays=2)
    world.client_sends(request(0, "initialize", INITIALIZE))
    for _ in range(3):
        assert world.answers_to(0) == []
        if reads != "never":
            world.worker_up()
        world.lose_worker(unsent=world.state.attempts if reads == "unsent" else (), **ENDED)

    told = world.answer_to(0)["error"]
    assert told["message"] == "the worker ended (exit code 1): Error: API_KEY is not set"
    assert told["data"]["details"]["worker"]["stderr"].startswith("loading")
    assert world.phase() is SessionPhase.COLD


def test_a_client_in_its_handshake_does_not_wait_for_long_pauses() -> None:
    world = World(replays=2, restart_budget=99, restart_delay=0.1)
    for _ in range(9):
        world.lose_worker()
    world.client_sends(request(0, "initialize", INITIALIZE))
    for _ in range(3):
        world.lose_worker(**ENDED)

    assert world.starts()[-3:-1] == pytest.approx([0.1, 0.1])
    assert len(world.answers_to(0)) == 1


def test_a_handshake_that_is_refused_since_workers_keep_failing_is_told_why() -> None:
    world = World(restart_budget=1)
    for _ in range(2):
        world.lose_worker(**ENDED)
    world.client_sends(request(0, "initialize", INITIALIZE))

    assert world.code_of(0) == "NOT_READY"
    assert "exit code 1" in world.answer_to(0)["error"]["message"]
    assert "API_KEY is not set" in world.answer_to(0)["error"]["message"]


def test_last_words_that_the_cause_has_already_are_not_said_twice() -> None:
    world = World(replays=0)
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.lose_worker(message="the worker ended (exit code 1): no key", stderr="no key")

    assert world.answer_to(0)["error"]["message"] == "the worker ended (exit code 1): no key"
