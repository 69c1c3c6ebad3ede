"""Workers that live and go on with calls that were given up: they are replaced, gently and not for ever."""

from typing import Any

from tests.unit.kernel.driver import World, answer

from holdfast.kernel.state import Role, WorkerPhase
from holdfast.vocabulary.execution import Rollout
from holdfast.vocabulary.meta import STUCK_WORK


def stuck(**policy: Any) -> World:
    """A world whose worker has just been given up on a call, and is asked for a sign of life."""
    world = World.live(deadline=10.0, grace=2.0, **policy)
    world.calls(1, "write")
    world.advance(12.0)
    return world


def test_a_worker_that_answers_a_ping_and_goes_on_with_a_call_is_replaced() -> None:
    world = stuck()
    assert world.state.rollout is Rollout.STABLE  # it may be hung altogether
    world.serve()
    world.make_ready(2)

    assert world.state.active == 2
    assert world.last("StopWorker") == (1, True)
    assert world.count("given_up") == 1
    assert [event.tool for event in world.events("work_abandoned")] == ["write"]


def test_a_late_answer_shows_that_the_worker_need_not_be_replaced() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls(1, "write")
    attempt = world.state.pending[1].attempt
    world.advance(12.0)
    world.worker_says(answer(attempt, {}))
    world.serve()

    assert world.state.rollout is Rollout.STABLE


def test_a_worker_with_other_work_is_left_alone_until_that_is_done() -> None:
    world = World.live(deadline=10.0, grace=2.0)
    world.calls(1, "write")
    world.advance(9.0)
    world.calls(2, "write")
    world.advance(3.0)
    world.serve()
    assert len(world.state.workers) == 1
    world.worker_answers(2, {"ok": 1})

    assert [one.role for one in world.state.workers.values()] == [Role.ACTIVE, Role.SUCCESSOR]


def test_too_many_calls_that_were_given_up_are_a_reason_although_it_has_other_work() -> None:
    world = World.live(deadline=10.0, grace=2.0, given_up_max=2)
    for number in range(3):
        world.calls(number, "write")
    world.advance(9.0)
    world.calls("young", "write")
    world.advance(3.0)
    world.serve()
    world.make_ready(2)

    assert world.state.active == 2
    assert world.state.workers[1].phase is WorkerPhase.READY  # it finishes the young one
    world.worker_answers("young", {"ok": 1})
    assert world.result_of("young") == {"ok": 1}


def test_a_successor_that_fails_is_not_tried_again_until_another_call_is_given_up() -> None:
    world = stuck()
    world.serve()
    world.lose_worker(2)
    world.advance(100.0)
    assert list(world.state.workers) == [1]
    world.calls(2, "write")
    world.advance(12.0)
    world.serve()

    assert list(world.state.workers) == [1, 3]


def says_stuck(world: World, count: int) -> None:
    world.worker_says({"jsonrpc": "2.0", "method": STUCK_WORK, "params": {"count": count}})


def test_a_worker_with_stuck_threads_is_replaced_when_it_has_nothing_to_do_and_the_client_hears_nothing() -> None:
    world = World.live()
    world.calls(1, "write")
    says_stuck(world, 1)
    assert world.state.rollout is Rollout.STABLE
    world.worker_answers(1, {"ok": 1})
    world.make_ready(2)

    assert world.state.active == 2
    assert world.told(STUCK_WORK) == []


def test_four_stuck_threads_are_a_reason_although_it_has_other_work() -> None:
    world = World.live()
    world.calls(1, "write")
    says_stuck(world, 3)
    assert world.state.rollout is Rollout.STABLE
    says_stuck(world, 4)
    world.make_ready(2)

    assert world.state.active == 2
    world.worker_answers(1, {"ok": 1})
    assert world.result_of(1) == {"ok": 1}


def test_a_successor_that_fails_is_not_tried_again_until_another_thread_is_stuck() -> None:
    world = World.live()
    says_stuck(world, 1)
    world.lose_worker(2)
    world.advance(100.0)
    assert list(world.state.workers) == [1]
    says_stuck(world, 2)
    world.make_ready(3)
    assert world.state.active == 3


def test_a_call_that_its_client_cancelled_is_not_waited_for_and_no_reason() -> None:
    world = World.live()
    world.calls(1, "write")
    world.cancels(1)
    world.calls(2, "write")
    world.stops(2)

    assert world.state.rollout is Rollout.STABLE
    assert world.count("given_up") == 0
