"""What is admitted and what is refused, and how everything ends when the client or the host leaves."""

import pytest
from tests.unit.kernel.driver import DESCRIPTION, World, call, request

from holdfast.kernel.commands import Leave
from holdfast.kernel.inputs import ClientLeft, RestartAsked, ShutDown, Tick, WorkerDown, WorkerUp
from holdfast.kernel.machine import step


def test_too_many_requests_are_refused_at_once_and_the_rest_is_untouched() -> None:
    world = World.live(pending_max=2)
    for number in (1, 2, 3):
        world.calls(number, "write")
    error = world.answer_to(3)["error"]

    assert error["code"] == -32001
    assert error["data"]["code"] == "QUEUE_OVERLOADED"
    assert error["data"]["details"] == {"queue": {"max": 2, "size": 2}}
    assert error["data"]["retry"]["safe"] is True
    world.worker_answers(1, {})
    world.calls(3, "write")
    assert world.state.pending[3].is_in_flight


def test_too_many_bytes_are_refused_but_one_large_request_is_served() -> None:
    world = World.live(pending_bytes=1000)
    world.calls(1, "write", {"n": "x" * 5000})
    world.calls(2, "write")

    assert world.state.pending[1].is_in_flight
    assert world.code_of(2) == "QUEUE_OVERLOADED"


def test_an_overload_in_the_era_without_a_handshake_has_its_own_number() -> None:
    world = World(pending_max=1)
    world.calls(1, "write", **DESCRIPTION)
    world.calls(2, "write", **DESCRIPTION)

    assert world.answer_to(2)["error"]["code"] == 1001


def test_an_id_that_is_still_in_flight_is_refused_and_the_first_request_is_untouched() -> None:
    world = World.live()
    world.calls(1, "write")
    world.calls(1, "read")
    assert world.answer_to(1)["error"]["code"] == -32600
    world.heard.clear()
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}


def test_the_number_one_and_the_text_one_are_two_requests() -> None:
    world = World.live()
    world.calls(1, "write", {"n": "number"})
    world.calls("1", "write", {"n": "text"})
    world.worker_answers("1", {"of": "text"})
    world.worker_answers(1, {"of": "number"})

    assert world.answer_to(1)["result"] == {"of": "number"}
    assert world.answer_to("1")["result"] == {"of": "text"}


def test_numbers_of_any_size_are_ids() -> None:
    world = World.live()
    for number in (2**63, -(2**64), 10**30):
        world.calls(number, "write")
        world.worker_answers(number, {})

        assert world.answer_to(number)["result"] == {}


def test_a_call_without_a_name_is_left_to_the_worker() -> None:
    world = World.live()
    for number, params in enumerate([{}, {"name": 5}, {"name": None, "arguments": []}], 1):
        world.client_sends(request(number, "tools/call", params))

    assert len(world.state.attempts) == 3


def test_when_the_client_leaves_what_is_in_flight_may_finish() -> None:
    world = World.live(drain=5.0)
    world.calls(1, "write")
    world.give(ClientLeft())
    assert not world.state.is_over
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}
    assert isinstance(world.commands[-1], Leave)


def test_when_the_client_leaves_nothing_is_waited_for_beyond_the_bound() -> None:
    world = World.live(drain=5.0)
    world.calls(1, "write")
    world.give(ClientLeft())
    world.advance(3.0)
    world.give(ClientLeft())
    world.advance(2.0)

    assert world.code_of(1) == "CANCELLED"
    assert world.state.is_over


def test_an_idle_host_leaves_at_once_and_says_so_once() -> None:
    world = World.live()
    world.give(ClientLeft())

    assert [command for command in world.commands if isinstance(command, Leave)] == [Leave()]


def test_open_streams_do_not_keep_the_host() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.serve()
    world.give(ClientLeft())

    assert world.state.is_over
    assert len(world.answers_to("s")) == 1


@pytest.mark.parametrize(("tool", "replaced"), [("read", 1), ("write", 0)])
def test_a_worker_lost_while_leaving_is_replaced_only_for_what_is_still_owed(tool: str, replaced: int) -> None:
    world = World.live(drain=5.0)
    world.calls(1, tool)
    world.give(ClientLeft())
    starts = len(world.starts())
    world.lose_worker()
    world.advance(5.0)

    assert len(world.starts()) == starts + replaced
    assert world.code_of(1) == ("CANCELLED" if replaced else "AMBIGUOUS_OUTCOME")


@pytest.mark.parametrize("asked", [1, 2])
def test_shutting_down_answers_everything_exactly_once(asked: int) -> None:
    world = World.live(spare=True, grace=2.0)
    world.calls(1, "write")
    world.calls(2, "ours")
    world.stops(2)
    world.client_sends(request(3, "resources/read"))
    world.calls(4, "ours")
    for _ in range(asked):
        world.give(ShutDown())
    world.calls(5, "read")
    world.advance(7.0)

    assert [len(world.answers_to(number)) for number in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert world.state.pending == {}
    assert [command for command in world.commands if isinstance(command, Leave)] == [Leave()]


def test_nothing_new_begins_while_the_host_ends() -> None:
    world = World.live(spare=True, grace=2.0)
    world.calls(1, "ours", {"n": "old"})
    world.give(ShutDown())
    world.calls(2, "read", {"n": "new"})
    starts = len(world.starts())
    world.advance(7.0)

    assert "new" not in world.dispatched()
    assert len(world.starts()) == starts
    assert world.code_of(2) == "CANCELLED"


def test_our_own_worker_has_time_to_say_itself_that_its_calls_were_stopped() -> None:
    world = World.live()
    world.calls(1, "ours")
    attempt = world.state.pending[1].attempt
    world.give(ShutDown())
    assert world.sent_to(1, "$/cancelRequest")[0]["params"] == {"id": attempt}
    told = {"isError": True, "_meta": {"io.holdfast/error": {"code": "CANCELLED"}}}
    world.worker_answers(1, told)

    assert world.answer_to(1)["result"] == told
    assert world.state.is_over


def test_shutting_down_in_the_middle_of_a_replacement_says_that_it_did_not_happen() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.give(ShutDown())

    assert world.last("RolloutEnded").problem == "the host is about to end"


def test_a_replacement_is_refused_while_leaving() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(ClientLeft())
    world.give(RestartAsked())

    assert world.last("RolloutEnded").problem == "the host is about to end"
    assert len(world.state.workers) == 1


@pytest.mark.parametrize("given", [Tick(), WorkerUp(1), WorkerDown(1, {}), ShutDown(), ClientLeft()])
def test_nothing_happens_after_the_end(given: Tick | WorkerUp | WorkerDown | ShutDown | ClientLeft) -> None:
    world = World.live()
    world.give(ShutDown())

    assert world.give(given) == []


def test_a_state_that_was_handed_out_is_never_changed() -> None:
    world = World.live()
    world.calls(1, "read")
    before = world.state
    kept = before.copy()
    step(before, world.now, WorkerDown(1, {}))

    assert before == kept


def test_the_call_of_the_log_is_written_once_per_call_of_a_foreign_tool() -> None:
    world = World.live()
    world.client_sends(call(1, "write"))
    world.client_sends(call(2, "ours"))
    world.worker_answers(1, {})
    world.worker_answers(2, {})

    assert [(event.request_id, event.outcome) for event in world.events("tool_call")] == [(1, "ok")]


def test_the_log_tells_how_each_call_ended() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls("cancelled", "write")
    world.cancels("cancelled")
    world.calls("stopped", "write")
    world.stops("stopped")
    world.calls("slow", "write")
    world.advance(12.0)
    world.calls("lost", "write")
    world.lose_worker()

    assert [(event.request_id, event.outcome, event.code) for event in world.events("tool_call")] == [
        ("cancelled", "cancelled", "CANCELLED"),
        ("stopped", "cancelled", "CANCELLED"),
        ("slow", "timeout", "TOOL_TIMEOUT"),
        ("lost", "error", "AMBIGUOUS_OUTCOME"),
    ]


def test_asking_twice_for_the_end_waits_for_nobody() -> None:
    world = World.live()
    world.calls(1, "ours")
    world.give(ShutDown())
    assert not world.state.is_over
    world.give(ShutDown())

    assert world.state.is_over
    assert world.code_of(1) == "CANCELLED"


def test_everything_that_ends_is_counted_as_what_it_was() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    for name in ("slow", "stopped", "cancelled"):
        world.calls(name, "write")
    world.stops("stopped")
    world.cancels("cancelled")
    world.advance(12.0)
    world.calls("again", "read")
    world.calls("lost", "write")
    world.replace_worker()
    world.worker_answers("again", {})
    names = ("requests", "answered", "replayed", "ambiguous", "cancelled", "timeouts", "workers_lost")

    assert [world.count(name) for name in names] == [6, 5, 1, 1, 2, 1, 1]
    assert [event.request_id for event in world.events("call_replayed")] == ["again"]


@pytest.mark.parametrize(("name", "safe"), [("read", True), ("write", False)])
def test_the_end_of_the_host_invites_to_a_retry_only_where_that_is_safe(name: str, safe: bool) -> None:
    world = World.live()
    world.calls(1, name)
    world.give(ShutDown())

    told = world.answer_to(1)["result"]["_meta"]["io.holdfast/error"]
    assert told["code"] == "CANCELLED"
    assert told["retryable"] is told["retry"]["safe"] is safe


def test_a_request_that_no_worker_ever_got_was_tried_zero_times() -> None:
    world = World.live(pending_max=1, deadline=10.0, grace=1.0)
    world.calls(1, "write")
    world.calls(2, "write")
    assert world.fault_of(2)["attempt"] == 0
    world.replace_worker()
    world.lose_worker()
    world.calls(3, "write")
    world.advance(10.0)

    assert world.fault_of(1)["attempt"] == 1
    assert world.answer_to(3)["result"]["_meta"]["io.holdfast/error"]["attempt"] == 0
