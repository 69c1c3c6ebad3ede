"""A client that wants a request to end, in both spellings, in every phase of the request's life."""

import pytest
from tests.unit.kernel.driver import INITIALIZE, World, answer, request

from holdfast.kernel.inputs import RestartAsked
from holdfast.vocabulary.execution import SessionPhase


def test_a_waiting_call_that_is_cancelled_never_reaches_a_worker_and_is_not_answered() -> None:
    world = World.live()
    world.lose_worker()
    world.calls(1, "write")
    world.cancels(1)
    world.make_ready()

    assert world.dispatched(2) == []
    assert world.answers_to(1) == []
    assert world.state.pending == {}


def test_a_waiting_call_that_is_stopped_is_answered_once_with_cancelled() -> None:
    world = World.live()
    world.lose_worker()
    world.calls(1, "write")
    world.stops(1)
    world.make_ready()

    assert world.code_of(1) == "CANCELLED"
    assert world.answer_to(1)["result"]["isError"] is True
    assert world.dispatched(2) == []


@pytest.mark.parametrize("name", ["write", "ours"])
def test_a_call_in_flight_that_is_cancelled_is_stopped_at_the_worker_and_not_answered(name: str) -> None:
    world = World.live()
    world.calls("c", name)
    attempt = world.state.pending["c"].attempt
    world.cancels("c")
    world.worker_says(answer(attempt, {"too": "late"}))

    assert world.sent_to(1, "notifications/cancelled")[0]["params"] == {"requestId": attempt}
    assert world.heard == []
    assert world.count("late") == 1
    assert world.state.tombstones == {}


def test_a_foreign_call_in_flight_that_is_stopped_is_answered_at_once() -> None:
    world = World.live()
    world.calls(1, "write")
    attempt = world.state.pending[1].attempt
    world.stops(1)
    world.worker_says(answer(attempt, {"too": "late"}))

    assert world.code_of(1) == "CANCELLED"
    assert world.sent_to(1, "notifications/cancelled")[0]["params"] == {"requestId": attempt}


def test_our_own_worker_says_itself_that_a_call_was_stopped() -> None:
    world = World.live()
    world.calls(1, "ours")
    attempt = world.state.pending[1].attempt
    world.stops(1)
    assert world.sent_to(1, "$/cancelRequest")[0]["params"] == {"id": attempt}
    assert world.answers_to(1) == []
    told = {"isError": True, "_meta": {"io.holdfast/error": {"code": "CANCELLED"}}, "its": "own words"}
    world.worker_answers(1, told)

    assert world.answer_to(1)["result"] == told


def test_a_success_of_our_own_worker_after_the_stop_is_told_as_cancelled() -> None:
    world = World.live()
    world.calls(1, "ours")
    world.stops(1)
    world.worker_answers(1, {"content": []})

    assert world.code_of(1) == "CANCELLED"


def test_our_own_worker_that_does_not_say_so_is_not_waited_for_for_ever() -> None:
    world = World.live(grace=2.0)
    world.calls(1, "ours")
    world.stops(1)
    for _ in range(3):
        world.advance(1.0)
        world.stops(1)
    world.advance(0.5)

    assert world.code_of(1) == "CANCELLED"
    assert len(world.sent_to(1, "$/cancelRequest")) == 1


def test_a_stopped_call_whose_worker_is_lost_is_answered_with_cancelled() -> None:
    world = World.live()
    world.calls(1, "ours")
    world.stops(1)
    world.lose_worker()

    assert world.code_of(1) == "CANCELLED"
    world.make_ready()
    assert world.dispatched(2) == []


def test_a_lost_call_that_is_cancelled_is_not_sent_again() -> None:
    world = World.live()
    world.calls(1, "read")
    world.lose_worker()
    world.cancels(1)
    world.make_ready()

    assert world.dispatched(2) == []
    assert world.heard == []


def test_a_stop_wish_during_the_grace_of_a_timeout_changes_nothing() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls(1, "write")
    world.advance(10.0)
    world.stops(1)
    world.advance(2.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"


def test_a_cancellation_that_fits_nothing_is_counted() -> None:
    world = World.live()
    strange: list[object] = [7, "7", None, True, 1.0, [], {"id": 1}]
    for wanted in strange:
        world.cancels(wanted)

    assert world.count("unmatched") == 7
    assert world.sent_to(1, "notifications/cancelled") == []


def test_the_exact_id_wins_and_otherwise_the_text_counts() -> None:
    world = World.live()
    world.calls(1, "write")
    world.calls("1", "write")
    world.cancels("1")
    assert list(world.state.pending) == [1]
    world.cancels("1")

    assert world.state.pending == {}


def test_the_handshake_cannot_be_cancelled() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.cancels(0)
    world.worker_answers(0, world.server)

    assert world.answer_to(0)["result"] == world.server
    assert world.phase() is SessionPhase.AWAITING_INITIALIZED


def test_an_id_can_be_used_again_right_after_its_cancellation() -> None:
    world = World.live()
    world.calls(1, "write", {"n": "old"})
    old = world.state.pending[1].attempt
    world.cancels(1)
    world.calls(1, "write", {"n": "new"})
    world.worker_says(answer(old, {"of": "the old one"}))
    world.worker_answers(1, {"of": "the new one"})

    assert world.answer_to(1)["result"] == {"of": "the new one"}


def test_no_progress_follows_a_cancellation() -> None:
    world = World.live()
    world.calls(1, "ours", progressToken="t")
    world.stops(1)
    params = {"progressToken": "t", "progress": 5}
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    assert world.told("notifications/progress") == []


def test_cancelled_calls_do_not_hold_a_place_nor_a_replacement() -> None:
    world = World.live(pending_max=2)
    for _ in range(5):
        world.calls(1, "write")
        world.cancels(1)
    assert world.state.pending == {}
    assert world.state.bytes_pending == 0
    world.give(RestartAsked())
    world.make_ready(2)

    assert world.state.active == 2


def test_remembered_cancellations_are_bounded() -> None:
    world = World.live(tombstones_max=3)
    for number in range(10):
        world.calls(number, "write")
        world.cancels(number)

    assert len(world.state.tombstones) == 3


def test_a_request_that_is_no_call_is_stopped_with_an_error() -> None:
    world = World.live()
    world.client_sends(request(1, "resources/read"))
    world.stops(1)

    assert world.fault_of(1)["code"] == "CANCELLED"
    assert world.fault_of(1)["retry"]["safe"] is True
