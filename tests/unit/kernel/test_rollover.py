"""A planned replacement: prepared beside the incumbent, which finishes what it has; unnoticed when it fails."""

from tests.unit.kernel.driver import DESCRIPTION, INITIALIZE, INITIALIZED, TOOLS, World, answer, request

from holdfast.kernel.commands import RolloutEnded
from holdfast.kernel.health import health
from holdfast.kernel.inputs import RestartAsked
from holdfast.kernel.state import ErrandKind, Role, WorkerPhase


def endings(world: World) -> list[str]:
    return [command.problem for command in world.commands if isinstance(command, RolloutEnded)]


def test_an_idle_worker_is_replaced_as_soon_as_its_successor_is_ready() -> None:
    world = World.live()
    world.give(RestartAsked())
    assert world.state.active == 1
    world.make_ready(2)

    assert world.state.active == 2
    assert endings(world) == [""]
    assert world.last("StopWorker") == (1, True)
    assert world.state.restarts.total == 1


def test_calls_go_on_at_the_incumbent_while_the_successor_is_prepared() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.calls(1, "read", {"n": "r"})

    assert world.dispatched(1)[-1] == "r"


def test_the_incumbent_finishes_while_younger_calls_go_to_the_successor() -> None:
    world = World.live()
    world.calls(1, "write", {"n": "old"})
    world.give(RestartAsked())
    world.make_ready(2)
    assert endings(world) == [""]
    world.calls(2, "write", {"n": "new"})
    assert world.dispatched(2) == ["new"]
    assert health(world.state, world.now, 0.0)["rollout"] == "reloading"
    world.worker_answers(1, {"ok": 1})

    assert world.result_of(1) == {"ok": 1}
    assert world.last("StopWorker") == (1, True)
    assert health(world.state, world.now, 0.0)["rollout"] == "stable"


def test_a_long_call_that_may_not_be_repeated_keeps_the_incumbent_up_to_its_own_deadline() -> None:
    world = World.live(drain=5.0, deadline=600.0, grace=2.0)
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.advance(599.0)
    assert world.state.workers[1].phase is WorkerPhase.READY
    world.advance(3.0)

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert world.last("StopWorker") == (1, True)


def test_calls_that_can_be_repeated_have_the_time_of_the_drain_and_then_move() -> None:
    world = World.live(drain=5.0)
    world.calls(1, "read", {"n": "r"})
    world.give(RestartAsked())
    world.make_ready(2)
    world.advance(4.0)
    assert world.state.workers[1].phase is WorkerPhase.READY
    world.advance(1.0)
    world.lose_worker(1)

    assert world.dispatched(2) == ["r"]


def test_a_late_answer_of_an_incumbent_that_is_being_ended_still_counts() -> None:
    world = World.live(drain=5.0)
    world.calls(1, "read")
    world.give(RestartAsked())
    world.make_ready(2)
    world.advance(5.0)
    world.worker_answers(1, {"ok": 1})

    assert world.result_of(1) == {"ok": 1}


def test_a_call_without_a_deadline_keeps_the_incumbent_for_a_bounded_time() -> None:
    world = World.live(deadline=0.0, deadline_total=0.0, retired_time=900.0)
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.advance(899.0)
    assert world.answers_to(1) == []
    world.advance(1.0)
    world.lose_worker(1)

    assert world.code_of(1) == "ROLLOUT_DISRUPTED"


def test_so_many_workers_may_finish_calls_and_then_the_oldest_ends() -> None:
    world = World.live(retired_max=2)
    for number in range(1, 5):
        world.calls(number, "write")
        world.give(RestartAsked())
        world.make_ready(number + 1)
    stopping = [one.generation for one in world.state.workers.values() if one.phase is WorkerPhase.STOPPING]

    assert stopping == [1, 2]


def test_a_worker_that_finishes_a_call_may_still_ask_the_client_and_report() -> None:
    world = World.live()
    world.calls(1, "write", progressToken="t")
    world.give(RestartAsked())
    world.make_ready(2)
    world.worker_says(request("q", "elicitation/create"), 1)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hi"}}, 1)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, 1)
    (asked,) = [message for message in world.heard if message.get("method") == "elicitation/create"]
    world.client_sends(answer(asked["id"], {"action": "accept"}))

    assert world.sent_to(1)[-1]["result"] == {"action": "accept"}
    assert len(world.told("notifications/message")) == 1
    assert world.told("notifications/tools/list_changed") == []


def test_a_worker_that_crashes_while_it_finishes_a_call_is_lost_like_any_other() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.lose_worker(1)

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"
    assert world.count("workers_lost") == 1
    assert world.state.restarts.consecutive == 0
    assert world.state.active == 2


def test_what_the_incumbent_did_not_finish_ends_by_its_contract() -> None:
    world = World.live(drain=5.0, retired_time=5.0)
    world.calls(1, "write")
    world.calls(2, "read", {"n": "r"})
    world.give(RestartAsked())
    world.make_ready(2)
    world.advance(5.0)
    world.lose_worker(1)

    assert world.code_of(1) == "ROLLOUT_DISRUPTED"
    assert world.answer_to(1)["error"]["code"] == -32013
    assert world.fault_of(1)["retry"]["safe"] is False
    assert world.dispatched(2) == ["r"]


def test_the_end_of_a_worker_that_has_made_way_is_no_failure() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.make_ready(2)
    world.lose_worker(1)

    assert world.state.restarts.consecutive == 0
    assert world.state.last_fault is None
    assert world.state.active == 2


def test_a_successor_that_fails_leaves_the_incumbent_in_its_place() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RestartAsked())
    world.worker_up(2)
    world.lose_worker(2, message="no such file")

    assert endings(world) == ["the successor was lost: no such file"]
    assert world.state.active == 1
    world.worker_answers(1, {"ok": 1})
    assert world.result_of(1) == {"ok": 1}


def test_a_successor_that_fails_once_it_serves_is_replaced_while_the_incumbent_finishes() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.calls(2, "read", {"n": "again"})
    world.lose_worker(2)
    world.make_ready(3)
    world.worker_answers(1, {"ok": 1})

    assert world.dispatched(3) == ["again"]
    assert world.result_of(1) == {"ok": 1}


def test_an_incumbent_that_is_lost_makes_way_at_once() -> None:
    world = World.live()
    world.calls(1, "read", {"n": "r"})
    world.give(RestartAsked())
    world.lose_worker(1)
    world.make_ready(2)

    assert world.state.active == 2
    assert world.dispatched(2) == ["r"]
    assert endings(world) == [""]


def test_a_fresh_worker_that_is_lost_ends_the_wish_with_its_fault() -> None:
    world = World.live(restart_budget=0, restart_slow=30.0)
    world.lose_worker()
    world.give(RestartAsked())
    world.lose_worker(message="it ended (exit code 1)", stderr="starting\nno such file\n")

    assert endings(world) == ["the worker was lost: it ended (exit code 1): no such file"]
    world.give(RestartAsked())
    world.make_ready()
    assert endings(world)[1:] == [""]


def test_a_successor_that_takes_the_place_of_a_lost_incumbent_and_fails_too_ends_the_wish() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.lose_worker(1)
    assert endings(world) == []
    world.lose_worker(2, message="no such file")

    assert endings(world) == ["the worker was lost: no such file"]


def test_a_second_wish_joins_the_first() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.give(RestartAsked())

    assert len(world.state.workers) == 2


def test_a_wish_while_nothing_runs_hastens_the_start() -> None:
    world = World.live(restart_budget=0, restart_slow=30.0)
    world.lose_worker()
    assert world.starts()[-1] == 30.0
    world.give(RestartAsked())
    assert world.starts()[-1] == 0.0
    world.make_ready()

    assert endings(world) == [""]


def test_a_spare_becomes_the_successor() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.give(RestartAsked())

    assert world.state.active == 2
    assert endings(world) == [""]


def test_streams_move_to_the_successor_and_do_not_hold_the_fence() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.serve()
    world.give(RestartAsked())
    world.make_ready(2)

    assert world.state.active == 2
    assert world.dispatched(2) == ["subscriptions/listen"]
    assert world.state.pending["s"].generation == 2


def test_the_late_end_of_a_stream_on_the_old_worker_is_dropped() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.serve()
    attempt = world.state.pending["s"].attempt
    world.give(RestartAsked())
    world.make_ready(2)
    assert world.state.tombstones[attempt].id == "s"
    world.worker_says(answer(attempt, {}), 1)

    assert world.answers_to("s") == []
    assert world.state.tombstones == {}
    assert world.count("late") == 1


def test_a_stream_that_moves_keeps_its_place_among_what_waits() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "subscriptions/listen"))
    world.give(RestartAsked())
    world.client_sends(request("two", "tools/list"))
    world.worker_up(2)
    world.client_sends(request(1, "resources/list"))
    world.stops("two")

    assert world.dispatched(2) == ["subscriptions/listen", "resources/list"]


def test_a_stream_that_moves_keeps_its_place_before_younger_requests_that_wait() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.give(RestartAsked())
    world.worker_up(2)
    world.calls("young", "read", {"n": "r"}, **DESCRIPTION)
    world.serve(2)

    assert world.dispatched(2) == ["subscriptions/listen", "r"]


def test_a_successor_with_other_tools_is_announced() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.tools = TOOLS[:1]
    world.make_ready(2)

    assert world.told("notifications/tools/list_changed") == [{}]


def test_a_replacement_before_any_session_needs_no_handshake() -> None:
    world = World()
    world.worker_up()
    world.give(RestartAsked())
    world.worker_up(2)

    assert world.state.active == 2
    assert world.sent == []


def test_a_handshake_under_way_is_begun_anew_with_the_successor() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    first = world.state.pending[0].attempt
    world.give(RestartAsked())
    world.worker_up(2)
    world.worker_says(answer(first, {"stale": True}), 1)
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.serve(2)

    assert world.result_of(0) == world.server
    assert [message.get("method") for message in world.sent_to(2)] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]


def test_a_handshake_that_may_not_be_begun_anew_is_left_to_the_incumbent() -> None:
    world = World(replays=0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.give(RestartAsked())
    world.worker_up(2)
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.serve(2)

    assert world.result_of(0) == world.server
    assert [message.get("method") for message in world.sent_to(2)] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]


def test_a_worker_that_hangs_in_the_handshake_can_be_replaced() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.give(RestartAsked())
    world.worker_up(2)
    world.worker_answers(0, world.server)

    assert world.result_of(0) == world.server
    assert world.dispatched(2) == ["initialize"]
    assert world.last("StopWorker").generation == 1


def test_initialized_reaches_a_successor_that_knows_the_handshake_already() -> None:
    world = World(drain=5.0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.client_sends(request(1, "resources/list"))
    world.give(RestartAsked())
    world.make_ready(2)
    world.client_sends(INITIALIZED)

    assert world.sent_to(2, "notifications/initialized") == [INITIALIZED]


def test_an_open_question_to_the_client_keeps_the_incumbent_until_the_drain_is_over() -> None:
    world = World.live(drain=5.0)
    world.worker_says(request("q", "roots/list"))
    world.give(RestartAsked())
    world.make_ready(2)
    before = world.state.workers[1].phase
    world.advance(5.0)

    assert (before, world.state.workers[1].phase) == (WorkerPhase.READY, WorkerPhase.STOPPING)


def test_a_worker_that_is_being_ended_is_not_prepared_any_further() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up(2)
    number = world.errand(ErrandKind.INITIALIZE)
    world.give(RestartAsked())
    world.make_ready(3)
    world.worker_says(answer(number, world.server), 2)

    assert world.state.workers[2].role is Role.RETIRED
    assert world.state.workers[2].phase is WorkerPhase.STOPPING
    assert world.sent_to(2, "tools/list") == []


def test_other_capabilities_of_a_successor_are_noted_for_whoever_operates_the_host() -> None:
    world = World.live()
    world.give(RestartAsked())
    world.server = {**world.server, "capabilities": {"tools": {"listChanged": True}}}
    world.make_ready(2)

    assert world.state.active == 2
    assert world.state.last_fault is not None
    assert (world.state.last_fault["code"], world.state.last_fault["generation"]) == ("CAPABILITIES_CHANGED", 2)


def test_the_same_capabilities_in_another_order_are_no_news() -> None:
    world = World()
    world.server = {**world.server, "capabilities": {"tools": {}, "logging": {}}}
    world.go_live()
    world.give(RestartAsked())
    world.server = {**world.server, "capabilities": {"logging": {}, "tools": {}}}
    world.make_ready(2)

    assert world.state.last_fault is None
