"""Blocked workers: when they are asked for a sign of life, the three verdicts, and what each of them moves."""

from typing import Any

import pytest
from tests.unit.kernel.driver import World, answer, request

from holdfast.kernel.health import health
from holdfast.kernel.inputs import HeldUp, RestartAsked
from holdfast.kernel.state import ErrandKind, Role, WorkerPhase
from holdfast.kernel.vitals import FIRST_LOOK, Condition, Vitals, judge
from holdfast.vocabulary.execution import Rollout

SETTINGS: dict[str, Any] = {"liveness_interval": 5.0, "suspect_after": 10.0, "deadline": 600.0}


def blocked(**policy: Any) -> World:
    """A live session whose worker may be asked for signs of life."""
    return World.live(**{**SETTINGS, **policy})


def pings(world: World, generation: int = 1) -> int:
    return len(world.sent_to(generation, "ping"))


def answer_ping(world: World) -> None:
    number = world.errand(ErrandKind.PING)
    world.worker_says(answer(number, {}), world.state.errands[number].generation)


def learned(**policy: Any) -> World:
    """The same with a worker that has answered a ping during a call."""
    world = blocked(**policy)
    world.calls("first", "read")
    world.advance(1.0)
    answer_ping(world)
    world.worker_answers("first", {})
    return world


TABLE = [
    (Vitals(), Condition.FINE),
    (Vitals(silent=9.9, has_answered=True, is_resting=False, is_overdue=True), Condition.FINE),
    (Vitals(silent=FIRST_LOOK, is_halted=True), Condition.STOPPED),
    (Vitals(silent=0.1, is_halted=True), Condition.FINE),
    (Vitals(silent=10, has_answered=True, is_resting=False), Condition.STOPPED),
    (Vitals(silent=10, has_answered=True, is_resting=True), Condition.UNKNOWN),
    (Vitals(silent=10, has_answered=False, is_resting=False), Condition.UNKNOWN),
    (Vitals(silent=10, has_answered=False, is_overdue=True), Condition.STOPPED),
    (Vitals(silent=10, stuck=10, is_overdue=True), Condition.STOPPED),
    (Vitals(stuck=10, is_overdue=True), Condition.STUCK),
    (Vitals(silent=5, stuck=10, is_overdue=True), Condition.STUCK),
    (Vitals(stuck=9.9, is_overdue=True), Condition.FINE),
]


@pytest.mark.parametrize(("vitals", "expected"), TABLE, ids=str)
def test_every_row_of_the_table(vitals: Vitals, expected: Condition) -> None:
    assert judge(vitals, 10.0) is expected


# --- questions ---------------------------------------------------------------------------------------------------


def test_calls_that_are_short_are_followed_by_no_ping() -> None:
    world = blocked()
    for number in range(100):
        world.calls(number, "read")
        world.advance(0.02)
        world.worker_answers(number, {})

    assert pings(world) == 0
    world.advance(60.0)
    assert not world.worker.life.look_at


def test_a_long_call_is_followed_by_a_ping_at_once_and_then_in_every_interval() -> None:
    world = blocked()
    world.calls(1, "write")
    counted = []
    for _ in range(12):
        world.advance(1.0)
        if world.worker.ping:
            answer_ping(world)
        counted.append(pings(world))

    assert counted == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]
    assert world.worker.life.condition is Condition.FINE


def test_a_worker_is_asked_soon_after_a_call_was_cancelled() -> None:
    world = blocked()
    world.calls(1, "write")
    world.advance(0.1)
    world.cancels(1)
    world.advance(0.5)

    assert pings(world) == 1


def test_a_worker_that_the_host_itself_does_not_read_is_not_silent() -> None:
    world = blocked()
    world.calls(1, "read")
    for _ in range(30):
        world.give(HeldUp(1))
        world.advance(1.0)

    assert world.worker.life.condition is Condition.FINE


# --- stopped -----------------------------------------------------------------------------------------------------


def test_a_halted_worker_is_routed_around_at_once_and_then_killed() -> None:
    world = blocked()
    world.calls(1, "read")
    world.calls(2, "write")
    world.halted = {1}
    world.advance(1.0)
    assert world.worker.life.condition is Condition.STOPPED
    world.calls(3, "read")  # waits for the successor
    world.make_ready(2)

    assert [sent.message["params"]["name"] for sent in world.sent if sent.generation == 2 and sent.attempt] == [
        "read",
        "read",
    ]
    assert world.last("StopWorker") == (1, False)
    world.lose_worker(1)
    world.worker_answers(1, {"by": 2})
    world.worker_answers(3, {"by": 2})
    assert world.result_of(1) == {"by": 2}
    assert world.result_of(3) == {"by": 2}
    assert world.code_of(2) == "AMBIGUOUS_OUTCOME"
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "WORKER_HUNG"


def test_a_spare_takes_over_from_a_halted_worker_without_any_start() -> None:
    world = blocked(spare=True)
    world.make_ready(2)
    world.calls(1, "read")
    world.halted = {1}
    world.advance(1.0)

    assert world.state.active == 2
    assert world.state.pending[1].generation == 2


def test_a_halted_worker_that_goes_on_before_anything_was_moved_is_rehabilitated() -> None:
    world = blocked()
    world.calls(1, "write")
    world.halted = {1}
    world.advance(1.0)
    world.halted = set()
    answer_ping(world)

    assert world.worker.life.condition is Condition.FINE
    assert world.state.rollout is Rollout.STABLE
    assert world.state.workers[2].phase is WorkerPhase.STOPPING  # the successor is not needed
    world.worker_answers(1, {"ok": 1})
    assert world.result_of(1) == {"ok": 1}


def test_a_worker_that_computes_in_its_loop_although_it_answered_during_a_call_before_is_stopped() -> None:
    world = learned()
    world.load = 1.0
    world.calls(1, "write")
    world.advance(10.2)
    before = world.worker.life.condition
    world.advance(0.1)

    assert (before, world.worker.life.condition) == (Condition.FINE, Condition.STOPPED)


def test_a_stopped_worker_whose_successor_fails_is_ended_first() -> None:
    world = blocked()
    world.calls(1, "read")
    world.halted = {1}
    world.advance(1.0)
    world.lose_worker(2)
    assert world.worker.phase is WorkerPhase.STOPPING
    world.lose_worker(1)
    world.make_ready()

    world.worker_answers(1, {"ok": 1})
    assert world.result_of(1) == {"ok": 1}


@pytest.mark.parametrize("phase", [WorkerPhase.INITIALIZING, WorkerPhase.LISTING])
def test_a_worker_that_is_halted_before_it_serves_is_replaced_without_waiting_for_its_time(
    phase: WorkerPhase,
) -> None:
    world = blocked(start_timeout=60.0)
    world.lose_worker()
    world.worker_up()
    if phase is WorkerPhase.LISTING:
        world.worker_says(answer(world.errand(ErrandKind.INITIALIZE), world.server))
    assert world.worker.phase is phase
    world.halted = {2}
    world.advance(6.5)

    assert world.worker.phase is WorkerPhase.STOPPING


# --- unknown -----------------------------------------------------------------------------------------------------


def test_a_silent_worker_of_a_session_that_only_reads_is_relieved_and_whoever_answers_first_counts() -> None:
    world = blocked()
    world.calls(1, "read")
    world.advance(10.3)
    assert world.worker.life.condition is Condition.UNKNOWN
    world.make_ready(2)
    assert world.state.workers[1].role is Role.RETIRED
    first = world.state.pending[1].earlier
    assert first is not None
    world.advance(49.0)
    world.worker_says(answer(first.attempt, {"by": 1}), 1)

    assert world.result_of(1) == {"by": 1}
    assert world.count("hedges_dropped") == 1
    assert world.last("StopWorker") == (1, True)
    assert [sent.message["method"] for sent in world.sent if sent.generation == 2][-1] == "notifications/cancelled"


def test_the_answer_of_the_second_worker_counts_when_it_is_first_and_the_other_is_dropped() -> None:
    world = blocked()
    world.calls(1, "read")
    world.advance(10.3)
    world.make_ready(2)
    first = world.state.pending[1].earlier
    assert first is not None
    world.worker_answers(1, {"by": 2})
    world.worker_says(answer(first.attempt, {"by": 1}), 1)

    assert world.result_of(1) == {"by": 2}


def test_nothing_moves_on_unknown_in_a_session_that_has_written() -> None:
    world = blocked(deadline=60.0)
    world.calls(0, "write")
    world.worker_answers(0, {})
    world.calls(1, "read")
    world.advance(59.0)
    before = list(world.state.workers)
    world.worker_answers(1, {"ok": 1})

    assert before == [1]
    assert world.result_of(1) == {"ok": 1}
    assert world.worker.life.condition is Condition.FINE


def test_after_a_deadline_without_an_answer_unknown_counts_as_stopped() -> None:
    world = blocked(deadline=20.0, grace=2.0)
    world.calls(0, "write")
    world.worker_answers(0, {})
    world.calls(1, "write")
    world.advance(15.0)
    world.calls(2, "read")
    assert list(world.state.workers) == [1]
    world.advance(6.0)
    world.make_ready(2)
    world.worker_answers(2, {"by": 2})

    assert world.result_of(2) == {"by": 2}
    world.lose_worker(1)
    assert world.code_of(1) == "TOOL_TIMEOUT"


def test_after_a_cancellation_the_next_read_goes_to_a_successor_in_time() -> None:
    world = blocked()
    world.calls(0, "write")
    world.worker_answers(0, {})
    world.calls(1, "write")
    world.advance(3.0)
    world.cancels(1)
    world.calls(2, "read")
    world.advance(10.0)
    world.make_ready(2)
    world.worker_answers(2, {"by": 2})

    assert world.result_of(2) == {"by": 2}


def test_a_server_that_is_honestly_busy_for_a_minute_loses_nothing() -> None:
    for load in (0.0, 1.0):
        world = blocked(deadline=70.0)
        world.load = load
        world.calls(0, "write")
        world.worker_answers(0, {})
        world.calls(1, "write")
        world.advance(5.0)
        world.calls(2, "write")
        world.advance(25.0)
        world.calls(3, "read")
        world.advance(30.0)
        world.worker_answers(1, {"ok": 1})
        world.serve()  # the pings that waited
        world.worker_answers(2, {"ok": 1})
        world.worker_answers(3, {"ok": 1})

        assert list(world.state.workers) == [1]
        assert [world.answer_to(number)["result"] for number in (1, 2, 3)] == [{"ok": 1}] * 3


def test_a_worker_that_runs_only_hedges_is_not_suspected() -> None:
    world = blocked()
    world.calls(1, "read")
    world.advance(10.3)
    world.make_ready(2)
    world.advance(200.0)

    assert list(world.state.workers) == [1, 2]
    assert world.worker.life.condition is Condition.FINE


def test_the_second_worker_is_lost_and_the_first_one_still_answers() -> None:
    world = blocked()
    world.calls(1, "read")
    world.advance(10.3)
    world.make_ready(2)
    world.lose_worker(2)
    world.worker_answers(1, {"by": 1}, 1)

    assert world.result_of(1) == {"by": 1}


# --- stuck -------------------------------------------------------------------------------------------------------


def test_a_worker_that_answers_pings_but_ends_no_call_after_a_cancellation_is_stuck() -> None:
    world = blocked()
    world.calls(1, "write")
    world.advance(1.0)
    world.cancels(1)
    world.calls(2, "read")
    world.calls(3, "write")
    for _ in range(10):
        world.advance(1.0)
        if world.worker.ping:
            answer_ping(world)
    assert world.worker.life.condition is Condition.STUCK
    world.make_ready(2)
    world.worker_answers(2, {"by": 2})

    assert world.result_of(2) == {"by": 2}
    assert world.state.workers[1].phase is WorkerPhase.READY  # it drains
    world.worker_answers(3, {"by": 1}, 1)
    assert world.result_of(3) == {"by": 1}
    assert world.last("StopWorker") == (1, True)


def test_a_worker_whose_calls_go_on_ending_is_not_stuck() -> None:
    world = blocked()
    world.calls(1, "write")
    world.cancels(1)
    world.calls(2, "write")
    for number in range(10, 40):
        world.calls(number, "read")
        world.advance(1.0)
        world.worker_answers(number, {})
        if world.worker.ping:
            answer_ping(world)

    assert world.worker.life.condition is Condition.FINE


def test_a_server_of_our_own_is_trusted_to_have_stopped_what_was_cancelled_as_long_as_it_answers() -> None:
    world = blocked()
    world.calls(1, "ours")
    world.cancels(1)
    world.calls(2, "write")
    for _ in range(60):
        world.advance(0.5)
        if world.worker.ping:
            answer_ping(world)

    assert world.worker.life.condition is Condition.FINE


def test_a_stream_that_its_client_closes_is_no_call_that_hangs() -> None:
    world = blocked()
    world.client_sends(request(1, "subscriptions/listen"))
    world.cancels(1)

    assert not world.worker.life.overdue_since


# --- one worker only ---------------------------------------------------------------------------------------------


def test_a_single_worker_that_is_silent_gets_no_second_one_and_new_calls_are_refused() -> None:
    world = blocked(single=True, spare=True)
    world.calls(1, "read")
    world.advance(10.3)
    world.calls(2, "read")

    assert list(world.state.workers) == [1]
    fault = world.fault_of(2)
    assert (fault["code"], fault["retryable"]) == ("NOT_READY", True)
    assert "single = true" in fault["message"]
    world.worker_answers(1, {"ok": 1})
    world.calls(3, "read")
    assert 3 in world.state.attempts.values()


def test_a_single_worker_that_is_stopped_is_killed_before_the_next_one_starts() -> None:
    world = blocked(single=True)
    world.calls(1, "read")
    world.halted = {1}
    world.advance(1.0)
    assert list(world.state.workers) == [1]
    world.lose_worker(1)
    world.make_ready(2)
    world.worker_answers(1, {"ok": 1})

    assert world.result_of(1) == {"ok": 1}


def test_a_single_worker_without_any_deadline_is_not_called_retryable() -> None:
    world = blocked(single=True, deadline=0.0, deadline_total=0.0)
    world.calls(1, "read")
    world.advance(10.3)
    world.calls(2, "read")

    assert world.fault_of(2)["retryable"] is False


def test_a_wish_for_a_fresh_single_worker_ends_the_first_one_first() -> None:
    world = blocked(single=True)
    world.give(RestartAsked())
    assert list(world.state.workers) == [1]
    world.lose_worker(1)
    world.make_ready(2)

    assert world.state.rollout is Rollout.STABLE
    assert world.last("RolloutEnded").problem == ""
    assert world.count("workers_lost") == 0


# --- health ------------------------------------------------------------------------------------------------------


def told(world: World) -> tuple[Any, ...]:
    health_now = health(world.state, world.now, 0.0)
    return health_now["state"], health_now["reason_code"], health_now["admits"]


def test_health_is_ready_only_if_a_call_would_be_taken() -> None:
    world = blocked(pending_max=2)
    assert told(world) == ("ready", None, True)
    world.calls(1, "write")
    world.calls(2, "write")
    assert told(world) == ("degraded", "queue_full", False)
    world.worker_answers(1, {})
    world.advance(11.0)
    assert told(world) == ("degraded", "worker_unknown", False)


def test_health_admits_calls_that_a_successor_on_its_way_will_take() -> None:
    world = blocked()
    world.calls(1, "read")
    world.halted = {1}
    world.advance(1.0)

    assert told(world) == ("degraded", "worker_stopped", True)


def test_health_tells_that_workers_keep_failing_and_that_nothing_is_taken() -> None:
    world = blocked(restart_budget=1)
    world.lose_worker()
    world.lose_worker()

    assert told(world) == ("degraded", "workers_fail", False)


def test_health_tells_that_a_worker_takes_no_more_calls_until_it_takes_one() -> None:
    world = blocked()
    for code in ("QUEUE_OVERLOADED", ""):
        world.calls(1, "read")
        attempt = world.state.pending[1].attempt
        error = {"code": -32001, "message": "full", "data": {"code": code}}
        world.worker_says({"jsonrpc": "2.0", "id": attempt, **({"error": error} if code else {"result": {}})})
        assert told(world) == (("degraded", "worker_refuses", False) if code else ("ready", None, True))


# --- lists -------------------------------------------------------------------------------------------------------


def test_lists_do_not_wait_for_a_worker_that_does_not_answer() -> None:
    world = blocked()
    world.client_sends(request("before", "prompts/list"))
    world.worker_answers("before", {"prompts": [{"name": "p"}]})
    world.calls(1, "write")
    world.client_sends(request(2, "tools/list"))
    world.client_sends(request(3, "prompts/list"))
    world.advance(1.0)
    world.client_sends(request(4, "tools/list"))

    assert [tool["name"] for tool in world.result_of(2)["tools"]] == [t["name"] for t in world.tools]
    assert world.result_of(3) == {"prompts": [{"name": "p"}]}
    assert len(world.answers_to(4)) == 1


def test_lists_of_a_worker_that_answers_come_from_it() -> None:
    world = blocked()
    world.client_sends(request(1, "tools/list"))
    world.worker_answers(1, {"tools": []})
    world.client_sends(request(2, "tools/list"))
    for _ in range(60):
        world.advance(0.2)
        world.serve()
    world.worker_answers(2, {"tools": [{"name": "new"}]})

    assert world.result_of(2) == {"tools": [{"name": "new"}]}


def test_a_list_that_has_changed_is_not_told_from_memory() -> None:
    world = blocked()
    world.client_sends(request(1, "prompts/list"))
    world.worker_answers(1, {"prompts": []})
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})
    world.lose_worker()
    world.client_sends(request(2, "prompts/list"))

    assert world.answers_to(2) == []
