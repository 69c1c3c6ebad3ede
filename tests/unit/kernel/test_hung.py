"""Hung or busy: what excuses the silence of a worker, and what does not."""

from tests.unit.kernel.driver import INITIALIZE, SERVER, World, request

from holdfast.kernel.inputs import RestartAsked
from holdfast.kernel.state import WorkerPhase


def test_a_client_that_keeps_calling_does_not_keep_a_hung_worker() -> None:
    world = World.live(deadline=10.0, grace=1.0, ping_timeout=5.0)
    for number in range(1, 40):
        world.calls(number, "read")
        world.advance(1.0)

    # The first call was given up after 11 s; the calls of those seconds excuse it for 11 s more, the later do not.
    assert world.state.last_fault is None
    assert world.worker.phase is WorkerPhase.STOPPING
    assert len(world.sent_to(1, "ping")) == 1


def test_a_call_from_before_the_question_excuses_its_silence_as_long_as_it_is_within_its_time() -> None:
    world = World.live(deadline=100.0, grace=1.0, ping_timeout=5.0)
    world.calls(1, "read")
    world.advance(50.0)
    world.calls(2, "write")
    world.advance(70.0)  # the first one is overdue, the second one is not
    before = world.worker.phase
    world.advance(40.0)

    assert (before, world.worker.phase) == (WorkerPhase.READY, WorkerPhase.STOPPING)


def test_a_first_worker_that_hangs_in_the_handshake_is_replaced_and_the_next_one_answers() -> None:
    world = World(start_timeout=60.0, ping_timeout=5.0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.advance(66.0)
    assert world.worker.phase is WorkerPhase.STOPPING
    world.lose_worker()
    world.worker_up()
    world.worker_answers(0, SERVER)

    assert len(world.answers_to(0)) == 1
    assert "result" in world.answer_to(0)


def test_a_slow_handshake_of_a_worker_that_answers_pings_is_waited_for_but_not_for_ever() -> None:
    world = World(start_timeout=10.0, ping_timeout=5.0, deadline=30.0)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    for _ in range(40):
        world.advance(1.0)
        world.serve()  # it answers pings
    assert world.worker.phase is WorkerPhase.OPEN
    assert world.fault_of(0)["class"] == "timeout"


def test_a_worker_that_spoke_since_it_was_asked_is_not_hung_and_one_that_spoke_before_is() -> None:
    worlds = []
    for said_after in (0.5, 0.0):
        world = World.live(ping_interval=30.0, ping_timeout=10.0)
        world.advance(30.0)  # it is asked now
        world.advance(said_after)
        world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        world.advance(10.0 - said_after)
        worlds.append(world)

    assert [world.worker.phase for world in worlds] == [WorkerPhase.READY, WorkerPhase.STOPPING]


def test_a_worker_is_asked_after_exactly_the_interval_of_silence() -> None:
    world = World.live(ping_interval=30.0)
    world.advance(29.9)
    assert world.sent_to(1, "ping") == []
    world.advance(0.1)

    assert len(world.sent_to(1, "ping")) == 1


def test_a_worker_that_has_just_spoken_is_not_asked() -> None:
    world = World.live(ping_interval=30.0)
    world.advance(10.0)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    world.advance(20.0)

    assert world.sent_to(1, "ping") == []


def test_a_worker_that_has_made_way_and_hangs_is_ended_and_counts_as_lost() -> None:
    world = World.live(deadline=10.0, grace=2.0, ping_timeout=4.0)
    world.calls(1, "write")
    world.give(RestartAsked())
    world.advance(5.0)
    world.calls(2, "write")
    world.make_ready(2)
    world.advance(11.0)  # the first one was given up, the second one is out of time
    world.lose_worker(1)

    assert world.last("StopWorker") == (1, False)
    assert world.state.last_fault is not None
    assert world.state.last_fault["code"] == "WORKER_HUNG"
    assert world.state.active == 2
