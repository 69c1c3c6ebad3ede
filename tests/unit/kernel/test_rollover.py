"""A planned replacement: prepared beside the incumbent, behind a fence with a bound, unnoticed when it fails."""

from tests.unit.kernel.driver import DESCRIPTION, INITIALIZE, INITIALIZED, TOOLS, World, answer, request

from holdfast.kernel.commands import RolloutEnded
from holdfast.kernel.inputs import RestartAsked
from holdfast.kernel.state import ErrandKind, Role, WorkerPhase
from holdfast.vocabulary.execution import Rollout


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


def test_the_incumbent_finishes_while_younger_calls_wait_behind_the_fence() -> None:
    world = World.live()
    world.calls(1, "write", {"n": "old"})
    world.give(RestartAsked())
    world.make_ready(2)
    assert world.state.rollout is Rollout.RELOADING
    world.calls(2, "write", {"n": "new"})
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}
    assert world.dispatched(2) == ["new"]
    assert endings(world) == [""]


def test_the_fence_has_a_bound_and_a_late_answer_of_the_incumbent_still_counts() -> None:
    world = World.live(drain=5.0)
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.calls(2, "read", {"n": "new"})
    world.advance(5.0)
    assert world.dispatched(2) == ["new"]
    world.worker_answers(1, {"ok": 1})

    assert world.answer_to(1)["result"] == {"ok": 1}


def test_what_the_incumbent_did_not_finish_ends_by_its_contract() -> None:
    world = World.live(drain=5.0)
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
    assert world.answer_to(1)["result"] == {"ok": 1}


def test_a_successor_that_fails_behind_the_fence_sets_free_what_waited() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.calls(2, "read", {"n": "waits"})
    world.lose_worker(2)

    assert world.dispatched(1)[-1] == "waits"


def test_a_list_of_tools_that_waits_behind_the_fence_is_answered_although_the_successor_fails() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.client_sends(request("list", "tools/list"))
    world.lose_worker(2)
    world.worker_answers("list", {"tools": []})

    assert world.answer_to("list")["result"] == {"tools": []}


def test_an_incumbent_that_is_lost_makes_way_at_once() -> None:
    world = World.live()
    world.calls(1, "read", {"n": "r"})
    world.give(RestartAsked())
    world.lose_worker(1)
    world.make_ready(2)

    assert world.state.active == 2
    assert world.dispatched(2) == ["r"]
    assert endings(world) == [""]


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
    world.worker_says(answer(attempt, {}), 1)

    assert world.answers_to("s") == []
    assert world.count("late") == 1


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


def test_a_successor_that_was_there_before_the_handshake_is_told_of_it() -> None:
    world = World()
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.give(RestartAsked())
    world.worker_up(2)
    assert world.state.active == 1
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.serve(1)
    world.serve(2)

    assert [message.get("method") for message in world.sent_to(2)] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    assert world.state.active == 2


def test_a_worker_that_hangs_in_the_handshake_can_be_replaced() -> None:
    world = World(drain=5.0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.give(RestartAsked())
    world.worker_up(2)
    world.advance(5.0)
    world.lose_worker(1)
    world.worker_answers(0, world.server)

    assert world.answer_to(0)["result"] == world.server
    assert world.dispatched(2) == ["initialize"]


def test_a_late_answer_to_the_handshake_of_a_worker_that_has_made_way_still_counts() -> None:
    world = World(drain=5.0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.give(RestartAsked())
    world.worker_up(2)
    world.advance(5.0)
    world.worker_answers(0, world.server)
    world.serve(2)

    assert world.answer_to(0)["result"] == world.server
    assert [message["method"] for message in world.sent_to(2)] == ["initialize"]


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


def test_an_open_question_to_the_client_keeps_the_incumbent_until_the_bound() -> None:
    world = World.live(drain=5.0)
    world.worker_says(request("q", "roots/list"))
    world.give(RestartAsked())
    world.make_ready(2)
    assert world.state.active == 1
    world.advance(5.0)

    assert world.state.active == 2


def test_a_successor_that_hangs_behind_the_fence_does_not_keep_requests_waiting() -> None:
    world = World.live(drain=60.0, ping_interval=10.0, ping_timeout=5.0)
    world.calls(1, "write")
    world.give(RestartAsked())
    world.make_ready(2)
    world.calls(2, "read", {"n": "waits"})
    world.advance(15.0)
    assert world.state.workers[2].phase is WorkerPhase.STOPPING
    world.advance(60.0)

    assert world.dispatched(1)[-1] == "waits"


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
