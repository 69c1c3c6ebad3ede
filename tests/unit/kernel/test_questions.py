"""Questions and log messages that say which call they are about: ids, time, and clients that are gone."""

from typing import Any

from tests.unit.kernel.driver import World, answer, request

from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import ClientLeft

ABOUT = "io.holdfast/request"


def attempt_of(world: World, request_id: int) -> int:
    return world.state.pending[request_id].attempt


def ask(world: World, request_id: int) -> None:
    meta = {ABOUT: attempt_of(world, request_id)}
    world.worker_says(request("q-1", "elicitation/create", {"message": "?", "_meta": meta}))


def last_to_client(world: World) -> Any:
    return world.last(ToClient.__name__)


def test_a_question_names_the_call_by_the_clients_own_id() -> None:
    world = World.live()
    world.calls(77, "ours")
    ask(world, 77)

    assert world.told("elicitation/create") == [{"message": "?", "_meta": {ABOUT: 77}}]
    assert last_to_client(world).about == 77
    world.client_sends(answer(1, {"action": "decline"}))
    assert world.sent[-1].message == answer("q-1", {"action": "decline"})


def test_a_log_message_names_the_call_too_and_none_follows_a_cancellation() -> None:
    world = World.live()
    world.calls(77, "ours")
    params = {"level": "info", "data": "x", "_meta": {ABOUT: attempt_of(world, 77), "other": 1}}
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    told = world.told("notifications/message")
    assert told == [{"level": "info", "data": "x", "_meta": {ABOUT: 77, "other": 1}}]

    world.stops(77)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    assert world.told("notifications/message") == told


def test_what_is_about_no_call_passes_as_it_is() -> None:
    world = World.live()
    for about in (999, "x", None, True, 1.0):
        params = {"level": "info", "data": about, "_meta": {ABOUT: about}}
        world.worker_says({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    assert [item["_meta"][ABOUT] for item in world.told("notifications/message")] == [999, "x", None, True, 1.0]


def test_a_call_that_waits_for_its_client_has_the_clients_time_besides_its_own() -> None:
    world = World.live(answer_timeout=100.0)
    world.calls(1, "ours")  # which has five seconds of its own
    before = world.state.pending[1].due
    ask(world, 1)
    assert world.state.pending[1].due == before + 100
    world.advance(60)
    assert not world.state.pending[1].is_overdue

    world.client_sends(answer(1, {"action": "decline"}))
    assert world.state.pending[1].due == before + 60


def test_a_question_that_is_taken_back_gives_its_time_back() -> None:
    world = World.live(answer_timeout=100.0)
    world.calls(1, "ours")
    before = world.state.pending[1].due
    ask(world, 1)
    world.advance(1)
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q-1"}})
    assert world.state.pending[1].due == before + 1


def test_without_a_time_for_answers_nothing_is_added() -> None:
    world = World.live(answer_timeout=0.0)
    world.calls(1, "ours")
    before = world.state.pending[1].due
    ask(world, 1)
    assert world.state.pending[1].due == before


def test_a_client_that_leaves_answers_nothing_and_its_questions_end() -> None:
    world = World.live()
    world.calls(1, "ours")
    ask(world, 1)
    world.give(ClientLeft())

    assert world.state.callbacks == {}
    told = world.sent[-1].message
    assert (told["id"], told["error"]["message"]) == ("q-1", "the client has closed its end")
    ask(world, 1)
    assert world.state.callbacks == {}
    assert world.sent[-1].message["error"]["message"] == "the client has closed its end"


def test_a_question_of_a_lost_worker_is_taken_back_and_asked_anew_by_the_next() -> None:
    world = World.live()
    world.calls(1, "ours")
    ask(world, 1)
    world.replace_worker()
    assert world.told("notifications/cancelled")[0]["requestId"] == 1

    ask(world, 1)
    assert len(world.told("elicitation/create")) == 2
    world.client_sends(answer(2, {"action": "accept", "content": {}}))
    assert world.sent[-1].message["id"] == "q-1"
