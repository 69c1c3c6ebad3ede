"""Another release takes over: its tools are looked at, clients are told, and one that does not hold is left."""

from typing import Any

import pytest
from tests.unit.kernel.driver import DESCRIPTION, SERVER, TOOLS, World, call, request, tool

from holdfast.kernel.commands import RolloutEnded, StartWorker
from holdfast.kernel.health import health
from holdfast.kernel.inputs import CatalogJudged, ClientLeft, RestartAsked, RolloutAsked
from holdfast.kernel.state import ErrandKind, Role, WorkerPhase
from holdfast.wire.codec import decode

NEW = [*TOOLS, tool("new")]
CHANGED = "notifications/tools/list_changed"


def rolling(tools: list[Any] = TOOLS, **policy: Any) -> World:
    """A session whose next release has these tools, and has just listed them."""
    world = World.live(**policy)
    world.give(RolloutAsked(2))
    world.tools = tools
    world.make_ready(2)
    return world


def ended(world: World) -> list[str]:
    return [command.problem for command in world.commands if isinstance(command, RolloutEnded)]


def releases(world: World) -> list[tuple[int, int]]:
    return [(one.generation, one.release) for one in world.commands if isinstance(one, StartWorker)]


def last_rollout(world: World) -> Any:
    return health(world.state, world.now, 0.0)["last_rollout"]


def test_a_release_with_the_same_tools_takes_over_silently() -> None:
    world = rolling()

    assert world.state.active == 2
    assert world.state.release == 2
    assert world.heard == []
    assert ended(world) == [""]
    assert last_rollout(world) == {"outcome": "activated", "release": 2, "reason": ""}


def test_a_worker_that_is_lost_later_is_followed_by_one_of_the_same_release() -> None:
    world = rolling()
    world.lose_worker()

    assert releases(world) == [(1, 1), (2, 2), (3, 2)]


def test_calls_in_flight_finish_where_they_are_and_new_ones_go_to_the_new_release() -> None:
    world = World.live()
    world.calls(1, "write")
    world.give(RolloutAsked(2))
    world.make_ready(2)
    world.calls(2, "write")

    assert [world.state.pending[number].generation for number in (1, 2)] == [1, 2]
    world.worker_answers(1, {"ok": 1})
    world.worker_answers(2, {"ok": 2})
    assert world.result_of(1) == {"ok": 1}


def test_other_tools_are_judged_and_nothing_changes_meanwhile() -> None:
    world = rolling(NEW)
    asked = world.last("JudgeCatalog")

    assert asked.generation == 2
    assert [one["name"] for one in decode(asked.after)["tools"]][-1] == "new"
    assert decode(asked.before)["server"] == decode(asked.after)["server"] == SERVER["serverInfo"]
    world.calls(1, "write")
    assert world.state.pending[1].generation == 1
    assert world.heard == []


def test_tools_that_break_callers_are_refused_and_health_says_why() -> None:
    world = rolling(NEW)
    world.give(CatalogJudged(2, "write: key is required"))
    world.lose_worker(2)

    assert world.state.active == 1
    assert ended(world) == ["write: key is required"]
    assert last_rollout(world) == {"outcome": "failed", "release": 2, "reason": "write: key is required"}
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "CATALOG_REFUSED"
    assert world.heard == []


def test_other_tools_are_announced_and_serve_when_the_client_asks_for_them() -> None:
    world = rolling(NEW)
    world.give(CatalogJudged(2))

    assert world.told(CHANGED) == [{}]
    world.calls(1, "write")
    assert world.state.pending[1].generation == 1
    world.client_sends(request(2, "tools/list"))
    assert world.state.pending[2].generation == 2
    assert world.state.active == 2
    assert world.told(CHANGED) == [{}]


def test_a_client_that_does_not_ask_has_a_moment_and_then_they_serve() -> None:
    world = rolling(NEW, rollout_grace=1.0)
    world.give(CatalogJudged(2))
    world.advance(0.9)
    assert world.state.active == 1
    world.advance(0.2)

    assert world.state.active == 2
    assert world.told(CHANGED) == [{}]


def test_a_listener_of_the_era_without_a_handshake_is_told_under_its_own_id() -> None:
    world = World()
    world.worker_up()
    for number, wanted in (("yes", True), ("no", False)):
        params = {"notifications": {"toolsListChanged": wanted}, "_meta": DESCRIPTION}
        world.client_sends(request(number, "subscriptions/listen", params))
    world.serve()
    world.give(RolloutAsked(2))
    world.tools = NEW
    world.make_ready(2)
    world.give(CatalogJudged(2))

    assert world.told(CHANGED) == [{"_meta": {"io.modelcontextprotocol/subscriptionId": "yes"}}]


def test_a_verdict_about_a_worker_that_is_gone_changes_nothing() -> None:
    world = rolling(NEW)
    world.lose_worker(2)
    world.give(CatalogJudged(2))

    assert world.state.active == 1
    assert len(ended(world)) == 1


@pytest.mark.parametrize("problem", ["error", "silence"])
def test_a_release_that_cannot_list_its_tools_never_displaces_the_incumbent(problem: str) -> None:
    world = World.live(list_timeout=5.0)
    world.give(RolloutAsked(2))
    world.worker_up(2)
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.INITIALIZE), "result": SERVER}, 2)
    if problem == "error":
        world.worker_fails(world.errand(ErrandKind.LIST_TOOLS), "the database is gone", 2)
    else:
        world.advance(5.0)
    world.lose_worker(2)

    assert world.state.active == 1
    assert "cannot list its tools" in ended(world)[0]


@pytest.mark.parametrize("problem", ["START_TIMEOUT", "crash", "handshake", "abilities"])
def test_a_release_that_cannot_take_up_the_session_never_displaces_the_incumbent(problem: str) -> None:
    world = World.live(start_timeout=5.0)
    world.calls(1, "write")
    world.give(RolloutAsked(2))
    world.worker_up(2)
    number = world.errand(ErrandKind.INITIALIZE)
    if problem == "START_TIMEOUT":
        world.advance(5.0)
    elif problem == "handshake":
        world.worker_fails(number, "no", 2)
    elif problem == "abilities":
        world.worker_says({"jsonrpc": "2.0", "id": number, "result": {**SERVER, "capabilities": {}}}, 2)
    world.lose_worker(2)
    world.worker_answers(1, {"ok": 1})

    assert world.state.active == 1
    assert world.result_of(1) == {"ok": 1}
    assert ended(world)[0]
    assert last_rollout(world)["outcome"] == "failed"


def test_the_loss_of_the_incumbent_does_not_put_an_unseen_release_into_service() -> None:
    world = World.live()
    world.give(RolloutAsked(2))
    world.worker_up(2)
    world.lose_worker(1)

    assert world.state.active == 3
    assert releases(world) == [(1, 1), (2, 2), (3, 1)]
    world.serve(2)
    assert world.state.active == 2


@pytest.mark.parametrize("reason", ["under way", "state in its worker", "about to end"])
def test_a_rollout_that_cannot_be_is_refused_with_the_reason(reason: str) -> None:
    world = World.live()
    if reason == "under way":
        world.give(RestartAsked())
    elif reason == "about to end":
        world.calls(1, "write")
        world.give(ClientLeft())
    else:
        world.calls(1, "open")
        world.worker_answers(1, {})
    world.give(RolloutAsked(2))

    assert reason in ended(world)[0]
    assert len(releases(world)) == 1 + (reason == "under way")


# --- state that goes along ---------------------------------------------------------------------------------------


def test_journaled_calls_are_made_again_in_order_before_the_new_release_serves() -> None:
    world = World.live()
    for number, key in ((1, "a"), (2, "b"), (3, "a")):
        world.client_sends(call(number, "log in", {"n": key, "at": number}))
        world.worker_answers(number, {"content": []})
    world.give(RolloutAsked(2))
    world.worker_up(2)
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.INITIALIZE), "result": SERVER}, 2)

    assert [message["params"]["arguments"]["at"] for message in world.sent_to(2, "tools/call")] == [2]
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.RESTORE), "result": {}}, 2)
    assert [message["params"]["arguments"]["at"] for message in world.sent_to(2, "tools/call")] == [2, 3]
    assert world.sent_to(2, "tools/list") == []
    world.serve(2)
    assert world.state.active == 2


def test_state_made_while_a_candidate_is_being_told_reaches_it_too() -> None:
    world = World.live()
    world.calls(1, "log in", {"n": 1})
    world.worker_answers(1, {})
    world.give(RolloutAsked(2))
    world.worker_up(2)
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.INITIALIZE), "result": SERVER}, 2)
    world.calls(2, "log in", {"n": 2})
    world.worker_answers(2, {})
    world.serve(2)

    assert world.state.active == 2
    assert [one["params"]["arguments"]["n"] for one in world.sent_to(2, "tools/call")] == [1, 2]


def test_journaled_state_is_restored_in_the_era_without_a_handshake_too() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "log in", {"n": 7}, **DESCRIPTION)
    world.serve()
    world.worker_answers(1, {"resultType": "complete"})
    world.lose_worker()
    world.make_ready()

    assert [one["params"]["arguments"]["n"] for one in world.sent_to(2, "tools/call")] == [7]
    assert world.worker.phase is WorkerPhase.READY


def test_a_worker_that_takes_up_less_than_there_was_serves_and_the_fault_says_so() -> None:
    world = World.live()
    world.calls(1, "log in", {"n": 1})
    world.worker_answers(1, {})
    world.lose_worker()
    world.worker_up()
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.INITIALIZE), "result": SERVER})
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.RESTORE), "result": {"isError": True}})
    world.serve()

    assert world.worker.phase is WorkerPhase.READY
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "SESSION_NOT_RESTORED"


@pytest.mark.parametrize("given", [None, "", 0, {"a": [1]}])
def test_whatever_the_key_of_a_journal_points_at_tells_its_entries_apart(given: Any) -> None:
    world = World.live()
    for number, key in ((1, given), (2, "x"), (3, given)):
        world.calls(number, "log in", {"n": key} if key is not None else {})
        world.worker_answers(number, {})

    assert len(world.state.facts) == 2
    assert world.state.pins == {}


@pytest.mark.parametrize("refusal", ["error", "isError", "silence"])
def test_a_release_that_does_not_take_up_the_state_is_refused(refusal: str) -> None:
    world = World.live(start_timeout=5.0)
    world.calls(1, "log in", {"n": 1})
    world.worker_answers(1, {})
    world.give(RolloutAsked(2))
    world.worker_up(2)
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.INITIALIZE), "result": SERVER}, 2)
    number = world.errand(ErrandKind.RESTORE)
    if refusal == "error":
        world.worker_fails(number, "no", 2)
    elif refusal == "isError":
        world.worker_says({"jsonrpc": "2.0", "id": number, "result": {"isError": True}}, 2)
    else:
        world.advance(5.0)

    assert world.state.workers[2].phase is WorkerPhase.STOPPING
    assert world.state.active == 1


def test_failed_calls_leave_no_state_behind() -> None:
    world = World.live()
    world.calls(1, "log in", {"n": 1})
    world.worker_answers(1, {"isError": True})
    world.calls(2, "open")
    world.worker_answers(2, {"isError": True})

    assert world.state.facts == {}
    assert world.state.pins == {}


def test_state_that_there_is_no_room_for_holds_the_session_to_its_worker() -> None:
    world = World.live(facts_max=2)
    for number in range(3):
        world.calls(number, "log in", {"n": number})
        world.worker_answers(number, {})
    world.give(RolloutAsked(2))

    assert "log in" in ended(world)[0]


# --- probation ---------------------------------------------------------------------------------------------------


def test_a_release_that_crashes_at_once_is_left_for_the_one_before_it() -> None:
    world = rolling(NEW, probation_losses=3)
    world.give(CatalogJudged(2))
    world.advance(1.0)
    world.calls(1, "read")
    for _ in range(3):
        world.lose_worker(world.state.active)

    assert world.state.active == 1
    assert world.state.release == 1
    assert world.state.pending[1].generation == 1
    assert last_rollout(world)["outcome"] == "rolled_back"
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "ROLLED_BACK"
    assert len(world.told(CHANGED)) == 2
    assert world.events("rollout")[-1].outcome == "rolled_back"


def test_without_the_worker_that_made_way_another_of_its_release_is_started() -> None:
    world = rolling(probation_losses=1)
    world.lose_worker(1)
    world.lose_worker(2)

    assert releases(world)[-1] == (3, 1)
    world.make_ready(3)
    assert world.state.active == 3


def test_the_worker_that_made_way_is_kept_until_the_new_release_has_held() -> None:
    world = rolling(probation=30.0)
    world.advance(29.0)
    phases = [world.state.workers[1].phase]
    world.advance(2.0)
    phases.append(world.state.workers[1].phase)

    assert phases == [WorkerPhase.READY, WorkerPhase.STOPPING]
    assert world.state.probation is None


def test_a_loss_after_probation_is_a_loss_like_any_other() -> None:
    world = rolling(probation=30.0, probation_losses=1)
    world.advance(31.0)
    world.lose_worker(1)
    world.lose_worker(2)

    assert releases(world)[-1] == (3, 2)


def test_a_crash_loop_is_left_however_long_each_start_takes() -> None:
    world = rolling(probation=30.0, probation_losses=3)
    for _ in range(2):
        world.lose_worker()
        world.advance(40.0)
        world.make_ready()
        world.advance(20.0)
    world.lose_worker()

    assert world.state.release == 1
    assert last_rollout(world)["outcome"] == "rolled_back"


def test_a_loss_begins_the_probation_anew_once_a_worker_serves_again() -> None:
    world = rolling(probation=30.0)
    world.advance(29.0)
    world.lose_worker()
    left = [health(world.state, world.now, 0.0)["probation_ms"]]
    world.advance(10.0)
    world.make_ready()
    world.advance(29.0)
    left.append(health(world.state, world.now, 0.0)["probation_ms"])
    world.advance(2.0)

    assert left == [30_000, 1_000]
    assert world.state.probation is None


def test_fewer_losses_than_a_loop_do_not_bring_the_old_release_back() -> None:
    world = rolling(probation_losses=3)
    world.lose_worker()
    world.make_ready()
    world.lose_worker()
    world.make_ready()

    assert world.state.release == 2


def test_a_restart_does_not_end_the_probation() -> None:
    world = rolling(probation_losses=1)
    world.give(RestartAsked())
    world.make_ready(3)
    world.lose_worker(3)

    assert world.state.release == 1
    assert world.state.active == 1


def test_a_call_is_not_charged_for_the_loss_that_brings_the_old_release_back() -> None:
    world = rolling(probation_losses=3, replays=2)
    world.calls(1, "read")
    for _ in range(3):
        world.make_ready() if world.worker.phase is WorkerPhase.STARTING else None
        world.lose_worker()

    assert world.state.active == 1
    assert world.state.pending[1].generation == 1


def test_a_call_that_is_moved_by_every_upgrade_is_never_exhausted() -> None:
    world = World.live(replays=1, drain=1.0, probation=0.0)
    world.calls(1, "read")
    for release in range(2, 6):
        world.give(RolloutAsked(release))
        world.make_ready(release)
        world.advance(1.0)
        world.lose_worker(release - 1)

    assert world.answers_to(1) == []
    assert world.state.pending[1].generation == 5


def test_state_that_died_with_its_worker_holds_nobody_any_more() -> None:
    world = World.live()
    world.calls(1, "open")
    world.worker_answers(1, {})
    world.replace_worker()
    world.give(RolloutAsked(2))

    assert releases(world)[-1][1] == 2


def test_a_spare_of_the_old_release_makes_way_and_one_of_the_new_is_started() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.give(RolloutAsked(2))
    world.make_ready(3)
    world.tick()
    spares = [(one.generation, one.release) for one in world.state.workers.values() if one.role is Role.SPARE]

    assert spares == [(4, 2)]
    assert world.state.workers[2].phase is WorkerPhase.STOPPING


def test_state_made_while_on_probation_is_there_after_the_way_back() -> None:
    world = rolling(probation_losses=1)
    world.calls(1, "log in", {"n": 7})
    world.worker_answers(1, {})
    world.lose_worker(2)

    assert [one["params"]["arguments"]["n"] for one in world.sent_to(1, "tools/call")] == [7]
    assert world.state.active == 1
