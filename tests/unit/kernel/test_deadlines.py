"""Deadlines of requests, signs of life, and workers that may be hung."""

import pytest
from tests.unit.kernel.driver import DESCRIPTION, World, answer, request

from holdfast.kernel.inputs import HeldUp
from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.kernel.state import WorkerPhase


def progress(world: World, number: float, token: str = "t") -> None:
    params = {"progressToken": token, "progress": number}
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


@pytest.mark.requirement("OURS-12-same-error")
def test_a_foreign_call_is_cancelled_at_its_deadline_and_answered_after_the_grace() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls(1, "write")
    attempt = world.state.pending[1].attempt
    world.advance(10.0)
    assert world.sent_to(1, "notifications/cancelled")[0]["params"] == {"requestId": attempt}
    assert world.answers_to(1) == []
    world.advance(2.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert "10000 ms" in world.answer_to(1)["result"]["content"][0]["text"]
    assert world.answer_to(1)["result"]["_meta"]["io.holdfast/error"]["retry"]["safe"] is False


def test_an_answer_within_the_grace_is_told_as_a_timeout_at_once() -> None:
    world = World.live(deadline=10.0)
    world.calls(1, "write")
    world.advance(10.0)
    world.worker_answers(1, {"isError": True})

    assert world.code_of(1) == "TOOL_TIMEOUT"


def test_an_answer_after_the_grace_is_dropped() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls(1, "write")
    attempt = world.state.pending[1].attempt
    world.advance(12.0)
    world.worker_says(answer(attempt, {}))

    assert len(world.answers_to(1)) == 1
    assert world.count("late") == 1


@pytest.mark.requirement("OURS-12-same-error")
def test_a_request_that_never_gets_a_worker_ends_at_its_deadline() -> None:
    world = World.live(deadline=10.0)
    world.lose_worker()
    world.calls(1, "write")
    world.client_sends(request(2, "resources/list"))
    world.advance(10.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert "10000 ms" in world.answer_to(1)["result"]["content"][0]["text"]
    assert world.fault_of(2)["code"] == "TOOL_TIMEOUT"


def test_after_a_timeout_a_worker_that_answers_a_ping_stays() -> None:
    world = World.live(deadline=10.0, grace=2.0, ping_timeout=5.0)
    world.calls(1, "write")
    world.advance(12.0)
    assert len(world.sent_to(1, "ping")) == 1
    world.serve()
    world.advance(60.0)

    assert world.state.active == 1
    assert world.worker.phase is WorkerPhase.READY


def test_after_a_timeout_a_worker_that_does_not_answer_a_ping_is_ended() -> None:
    world = World.live(deadline=10.0, grace=2.0, ping_timeout=5.0)
    world.calls(1, "write")
    world.advance(17.0)

    assert world.worker.phase is WorkerPhase.STOPPING
    world.lose_worker()
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "WORKER_HUNG"


def test_a_worker_that_is_busy_with_something_within_its_time_is_not_hung() -> None:
    world = World.live(deadline=10.0, grace=2.0, ping_timeout=5.0)
    world.calls(1, "write")
    world.advance(9.0)
    world.calls(2, "write")
    world.advance(8.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert world.worker.phase is WorkerPhase.READY
    assert world.answers_to(2) == []


@pytest.mark.requirement("OURS-12-host-deadline")
def test_a_call_of_our_own_worker_is_left_to_it_until_the_ping_decides() -> None:
    world = World.live(grace=2.0, ping_timeout=10.0)
    world.calls(1, "ours")
    world.advance(8.0)  # five seconds of its own, the grace, and a second to say so
    assert len(world.sent_to(1, "ping")) == 1
    assert world.sent_to(1, "notifications/cancelled") == []
    world.advance(10.0)

    assert world.worker.phase is WorkerPhase.STOPPING
    world.replace_worker()
    assert world.dispatched(2) == ["tools/call"]


def test_a_call_of_our_own_worker_that_lives_and_never_answers_ends_all_the_same() -> None:
    world = World.live(grace=2.0, ping_timeout=10.0)
    world.calls(1, "ours")
    world.advance(8.0)
    world.serve()
    world.advance(20.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert world.worker.phase is not WorkerPhase.STOPPING


def test_a_deadline_of_a_person_counts_for_our_own_tools_too() -> None:
    world = World(Policy(ping_interval=0, grace=2.0, tools={"ours": ToolPolicy(deadline=1.0)}))
    world.go_live()
    world.calls(1, "ours")
    world.advance(3.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert "1000 ms" in world.answer_to(1)["result"]["content"][0]["text"]


def test_a_deadline_of_nothing_is_none() -> None:
    world = World.live(deadline=0.0, deadline_total=0.0)
    world.calls(1, "write")
    world.advance(1e6)

    assert world.answers_to(1) == []


def test_progress_extends_a_deadline_up_to_the_total() -> None:
    world = World.live(deadline=10.0, deadline_total=25.0, grace=2.0)
    world.calls(1, "write", progressToken="t")
    for number in range(4):
        world.advance(8.0)
        if 1 in world.state.pending:
            progress(world, number)
    world.advance(5.0)
    sent = world.sent_to(1, "notifications/cancelled")

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert len(sent) == 1
    assert len(world.told("notifications/progress")) == 3


def test_a_repeated_call_has_its_deadline_anew_but_the_total_stays() -> None:
    world = World.live(deadline=10.0, deadline_total=15.0, grace=1.0)
    world.calls(1, "read")
    world.advance(9.0)
    world.replace_worker()
    world.advance(5.0)
    assert world.answers_to(1) == []
    world.advance(2.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"


def test_an_idle_worker_is_asked_for_a_sign_of_life() -> None:
    world = World.live(ping_interval=30.0, ping_timeout=10.0)
    for _ in range(5):
        world.advance(30.0)
        world.serve()
    assert len(world.sent_to(1, "ping")) == 5
    world.advance(41.0)

    assert world.worker.phase is WorkerPhase.STOPPING


def test_an_idle_worker_that_does_not_know_ping_is_alive() -> None:
    world = World.live(ping_interval=30.0, ping_timeout=10.0)
    world.advance(30.0)
    world.worker_fails(world.worker.ping)
    world.advance(20.0)

    assert world.worker.phase is WorkerPhase.READY


def test_a_busy_worker_is_not_asked() -> None:
    world = World.live(ping_interval=30.0)
    world.calls(1, "write")
    world.advance(300.0)

    assert world.sent_to(1, "ping") == []


def test_a_worker_that_says_something_else_is_alive() -> None:
    world = World.live(ping_interval=30.0, ping_timeout=10.0)
    for _ in range(20):
        world.advance(9.0)
        world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})

    assert world.worker.phase is WorkerPhase.READY


def test_the_silence_of_a_worker_that_the_host_does_not_read_means_nothing() -> None:
    world = World.live(ping_interval=30.0, ping_timeout=10.0)
    for _ in range(20):
        world.advance(9.0)
        world.give(HeldUp(1))

    assert world.worker.phase is WorkerPhase.READY


def test_a_worker_with_nothing_but_an_open_stream_is_asked_and_can_be_hung() -> None:
    world = World(ping_interval=30.0, ping_timeout=10.0)
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.serve()
    world.advance(30.0)
    assert world.sent_to(1, "server/discover")[0]["params"] == {"_meta": DESCRIPTION}
    world.advance(10.0)

    assert world.worker.phase is WorkerPhase.STOPPING


def test_a_patient_client_hears_rising_numbers_and_nothing_after_the_end() -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "write", progressToken="t")
    world.advance(100.0)
    numbers = [told["progress"] for told in world.told("notifications/progress")]
    world.worker_answers(1, {})
    world.advance(100.0)

    assert len(numbers) == 6
    assert numbers == sorted(set(numbers))
    assert len(world.told("notifications/progress")) == 6


def test_signs_of_life_go_on_while_a_lost_call_waits() -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "read", progressToken="t")
    world.lose_worker()
    world.advance(15.0)

    assert world.told("notifications/progress")[0]["message"] == "waiting for the worker after 15 s"


def test_a_client_without_a_token_gets_no_signs_of_life() -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "write")
    world.advance(100.0)

    assert world.heard == []


@pytest.mark.parametrize("first", [0, 5, 0.5, 10**15, 2**62, -3])
def test_signs_of_life_rise_above_any_progress_of_the_tool(first: float) -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "write", progressToken="t")
    progress(world, first)
    world.advance(31.0)
    told = [one["progress"] for one in world.told("notifications/progress")]

    assert len(told) == 3
    assert told == sorted(set(told))


@pytest.mark.parametrize("number", [10**400, -(10**400), "5", None, True, [], {}])
def test_progress_that_is_no_number_harms_nobody(number: float) -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "write", progressToken="t")
    progress(world, number)
    world.advance(31.0)

    assert len(world.told("notifications/progress")) == 3


def test_progress_never_falls_after_signs_of_life() -> None:
    world = World.live(heartbeat=15.0)
    world.calls(1, "write", progressToken="t")
    world.advance(31.0)
    progress(world, 0)
    progress(world, 1)
    told = [one["progress"] for one in world.told("notifications/progress")]

    assert told == sorted(set(told))
    assert told[-1] == 1


def test_progress_never_falls_after_a_repetition() -> None:
    world = World.live()
    world.calls(1, "read", progressToken="t")
    progress(world, 3)
    world.replace_worker()
    for number in (1, 2, 3, 4):
        progress(world, number)

    assert [one["progress"] for one in world.told("notifications/progress")] == [3, 4]


def test_the_clock_need_not_be_looked_at_when_nothing_is_under_way() -> None:
    world = World.live()
    world.advance(100.0)
    world.tick()

    assert world.state.wake_at == 0.0


@pytest.mark.parametrize(("name", "safe"), [("read", True), ("write", False)])
def test_a_timeout_invites_to_a_retry_only_where_that_is_safe(name: str, safe: bool) -> None:
    world = World.live(deadline=10.0, grace=1.0)
    world.calls(1, name)
    world.advance(11.0)

    told = world.answer_to(1)["result"]["_meta"]["io.holdfast/error"]
    assert told["retryable"] is safe
    assert told["retry"]["safe"] is safe


def told_limit(world: World, request_id: int = 1) -> str:
    return str(world.answer_to(request_id)["result"]["content"][0]["text"])


def test_the_timeout_of_our_own_tool_is_told_as_its_author_declared_it() -> None:
    world = World.live(grace=2.0, ping_timeout=10.0)
    world.calls(1, "ours")
    world.advance(8.0)
    world.serve()
    world.advance(20.0)

    assert "5000 ms" in told_limit(world)
    assert "timeout of the tool" in told_limit(world)


def test_the_total_that_was_hit_is_told_and_not_the_deadline_between_two_signs() -> None:
    world = World.live(deadline=10.0, deadline_total=25.0, grace=2.0)
    world.calls(1, "write", progressToken="t")
    for number in range(3):
        world.advance(8.0)
        progress(world, number)
    world.advance(5.0)

    assert "25000 ms" in told_limit(world)
    assert "deadline_total" in told_limit(world)


def test_a_deadline_shortly_before_the_total_is_told_as_itself() -> None:
    world = World.live(deadline=10.0, deadline_total=11.0, grace=2.0)
    world.calls(1, "write")
    world.advance(12.0)

    assert "10000 ms" in told_limit(world)


def test_a_total_alone_is_told() -> None:
    world = World.live(deadline=0.0, deadline_total=7.0, grace=1.0)
    world.calls(1, "write")
    world.advance(8.0)

    assert "7000 ms" in told_limit(world)


def test_a_client_hears_signs_of_life_before_any_worker_has_its_call() -> None:
    world = World.live(heartbeat=15.0)
    world.lose_worker()
    world.calls(1, "write", progressToken="t")
    world.advance(15.0)

    assert world.told("notifications/progress")[0]["message"] == "waiting for the worker after 15 s"


def test_the_handshake_has_no_signs_of_life() -> None:
    world = World(heartbeat=15.0)
    world.client_sends(request(0, "initialize", {"_meta": {"progressToken": "t"}}))
    world.advance(100.0)

    assert world.heard == []
