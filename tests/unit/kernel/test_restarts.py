"""When workers are started again: at once, with growing pauses, at a low rate; and what a spare is worth."""

import pytest
from tests.unit.kernel.driver import World, answer, request

from holdfast.kernel.health import health
from holdfast.kernel.state import Role, WorkerPhase


def crash_loop(world: World, times: int) -> None:
    for _ in range(times):
        world.lose_worker()


def test_pauses_double_up_to_a_bound() -> None:
    world = World(restart_delay=0.1, restart_delay_max=0.5, restart_budget=99)
    crash_loop(world, 6)

    assert world.starts() == pytest.approx([0, 0, 0.1, 0.2, 0.4, 0.5, 0.5])


def test_pauses_stay_bounded_after_very_many_losses() -> None:
    world = World(restart_delay=0.1, restart_delay_max=5.0, restart_budget=10_000, restart_window=1e9)
    crash_loop(world, 1500)

    assert world.starts()[-1] == 5.0


def test_pauses_start_anew_after_a_worker_has_served_for_a_while() -> None:
    world = World.live(restart_delay=0.1, restart_reset=30.0)
    for _ in range(3):
        world.replace_worker()
    world.advance(30.0)
    world.lose_worker()

    assert world.starts()[-1] == 0.0
    assert world.state.restarts.consecutive == 1


def test_a_worker_that_only_starts_does_not_count_as_having_served() -> None:
    world = World.live(restart_delay=0.1, restart_budget=99)
    for _ in range(3):
        world.lose_worker()
        world.worker_up()
        world.advance(31.0)

    assert world.state.restarts.consecutive == 3


def test_when_the_budget_is_used_up_workers_are_tried_at_a_low_rate() -> None:
    world = World.live(restart_budget=3, restart_slow=30.0)
    crash_loop(world, 3)
    assert not world.state.restarts.is_degraded
    crash_loop(world, 1)

    assert world.state.restarts.is_degraded
    assert world.starts()[-1] == 30.0


def test_the_rate_stays_low_however_long_no_worker_becomes_ready() -> None:
    world = World.live(restart_budget=3, restart_slow=30.0, restart_window=60.0)
    crash_loop(world, 4)
    for _ in range(10):
        world.advance(30.0)
        world.lose_worker()

    assert set(world.starts()[-11:]) == {30.0}
    assert world.state.restarts.is_degraded


def test_losses_long_ago_do_not_count_for_the_budget() -> None:
    world = World.live(restart_budget=3, restart_window=60.0, restart_reset=1e9)
    for _ in range(10):
        world.replace_worker()
        world.advance(25.0)

    assert not world.state.restarts.is_degraded


def test_calls_are_answered_at_once_while_workers_keep_failing() -> None:
    world = World.live(restart_budget=1)
    world.calls(1, "read")
    crash_loop(world, 2)
    world.calls(2, "write")

    assert world.code_of(1) == "WORKER_LOST"
    assert world.answer_to(1)["error"]["code"] == -32010
    assert world.code_of(2) == "NOT_READY"
    assert world.answer_to(2)["error"]["code"] == -32014
    assert world.fault_of(2)["retry"] == {"safe": True, "afterMs": 30_000}


def test_a_worker_that_becomes_ready_ends_the_time_of_refusals() -> None:
    world = World.live(restart_budget=1)
    crash_loop(world, 2)
    world.make_ready()
    world.calls(1, "read")
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}
    assert not world.state.restarts.is_degraded


def test_a_client_can_initialize_again_after_the_host_had_to_refuse_it() -> None:
    world = World(restart_budget=1)
    crash_loop(world, 2)
    world.client_sends(request(0, "initialize", {}))
    assert world.code_of(0) == "NOT_READY"
    world.heard.clear()
    world.worker_up()
    world.client_sends(request(0, "initialize", {}))

    assert world.dispatched(3) == ["initialize"]


def test_a_spare_is_started_once_the_worker_serves_and_prepared_in_full() -> None:
    world = World.live(spare=True)
    world.make_ready(2)

    assert world.state.workers[2].role is Role.SPARE
    assert world.state.workers[2].phase is WorkerPhase.READY
    assert health(world.state, world.now, 0.0)["spare"] == "ready"


def test_a_ready_spare_takes_over_in_the_very_step_of_the_loss() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.calls(1, "read", {"n": "r"})
    world.lose_worker()

    assert world.state.active == 2
    assert world.dispatched(2) == ["r"]
    assert [worker.role for worker in world.state.workers.values()] == [Role.ACTIVE, Role.SPARE]


def test_a_spare_that_is_on_its_way_is_hurried_when_it_is_needed() -> None:
    world = World.live(spare=True, restart_delay_max=5.0)
    world.lose_worker(2)
    assert world.starts()[-1] == 5.0
    world.lose_worker(1)

    assert world.last("StartWorker") == (3, 0.0, 1)
    assert world.state.active == 3


def test_the_loss_of_a_spare_harms_nobody_and_another_one_is_started_later() -> None:
    world = World.live(spare=True, restart_delay_max=5.0)
    world.make_ready(2)
    world.calls(1, "write")
    world.lose_worker(2)
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}
    assert world.state.restarts.consecutive == 0
    assert world.starts()[-1] == 5.0


def test_what_a_spare_says_is_not_heard_by_the_client() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hi"}}, 2)
    world.worker_says(request("ask", "sampling/createMessage"), 2)

    assert world.heard == []
    assert world.sent_to(2)[-1]["error"]["code"] == -32601


@pytest.mark.requirement("S3-health-lifecycle")
def test_health_tells_a_first_worker_that_starts_from_one_that_comes_after_a_loss() -> None:
    world, seen = World(), list[str]()
    for happens in (lambda: None, world.go_live, world.lose_worker, lambda: world.make_ready(2)):
        happens()
        seen.append(health(world.state, world.now, 90.0)["state"])

    assert seen == ["starting", "ready", "recovering", "ready"]


def test_health_is_not_ready_while_the_handshake_of_the_client_is_unanswered() -> None:
    world = World()
    world.worker_up()
    assert health(world.state, world.now, 90.0)["state"] == "ready"
    world.client_sends(request("init", "initialize", {"protocolVersion": "2025-11-25"}))
    assert health(world.state, world.now, 90.0)["state"] == "starting"
    world.worker_answers("init", {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}})

    assert health(world.state, world.now, 90.0)["state"] == "ready"


def test_health_tells_the_state_the_restarts_and_the_last_fault() -> None:
    world = World.live()
    assert health(world.state, world.now, 90.0)["state"] == "ready"
    world.lose_worker(code="WORKER_HUNG")
    told = health(world.state, world.now, 90.0)

    assert (told["state"], told["worker_handshake"], told["generation"]) == ("recovering", "starting", 2)
    assert (told["consecutive_failures"], told["restart_count"], told["uptime_ms"]) == (1, 1, 10_000)
    assert told["last_fault"]["code"] == "WORKER_HUNG"
    assert told["last_fault"]["generation"] == 1


def crash_loop_with_spares(world: World, times: int) -> list[float]:
    """Every worker becomes ready at once and is lost at its first call; the pauses before the next spares."""
    pauses = []
    for number in range(times):
        world.now += 0.2
        world.calls(number + 1, "write", {"n": number})  # one and the same call would be quarantined
        world.lose_worker()
        pauses.append(world.starts()[-1])
        for generation in list(world.state.workers):
            if world.state.workers[generation].phase is WorkerPhase.STARTING:
                world.make_ready(generation)
    return pauses


def test_a_spare_does_not_spare_a_crash_loop_its_pauses() -> None:
    world = World.live(spare=True, restart_budget=5, restart_delay=0.1, restart_slow=30.0)
    world.make_ready(2)
    pauses = crash_loop_with_spares(world, 8)

    assert pauses == pytest.approx([0.0, 0.1, 0.2, 0.4, 0.8, 30.0, 30.0, 30.0])
    assert world.state.restarts.is_degraded


def test_a_crash_loop_with_spares_is_over_when_the_losses_are_within_the_budget_again() -> None:
    world = World.live(spare=True, restart_budget=1, restart_window=60.0)
    world.make_ready(2)
    crash_loop_with_spares(world, 3)
    assert health(world.state, world.now, 0.0)["degraded"] is True
    assert health(world.state, world.now, 0.0)["retry_in_ms"] == 0  # a worker serves; only the spare is put off
    world.advance(61.0)

    assert health(world.state, world.now, 0.0)["degraded"] is False
    world.lose_worker()
    assert not world.state.restarts.is_degraded


def test_health_is_not_ready_while_calls_wait_for_the_list_of_tools() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_says(answer(min(world.state.errands), world.server))
    assert world.worker.phase is WorkerPhase.LISTING
    assert health(world.state, world.now, 0.0)["state"] == "ready"
    world.calls(1, "write")

    assert health(world.state, world.now, 0.0)["state"] == "recovering"


def test_every_request_is_counted_as_answered_unanswered_or_pending() -> None:
    world = World.live(pending_max=2)
    world.client_sends(request("p", "ping"))
    world.calls(1, "write")
    world.calls(1, "write")
    world.calls(2, "write")
    world.calls(3, "write")
    world.cancels(1)
    told = health(world.state, world.now, 0.0)
    counters = told["counters"]

    assert counters["requests"] == 6
    assert counters["requests"] == counters["answered"] + counters["unanswered"] + told["pending"]
    assert counters["refused"] == 2
