"""What workers say besides answers, answers that nobody asked for, and what the session remembers for the next."""

from typing import Any

import pytest
from tests.unit.kernel.driver import DESCRIPTION, World, answer, request

from holdfast.kernel.inputs import GarbledAnswer
from holdfast.vocabulary.faults import fault


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


# --- questions to the client -------------------------------------------------------------------------------------


def test_a_question_of_the_worker_reaches_the_client_with_an_id_of_the_hosts_own_and_the_answer_returns() -> None:
    world = World.live()
    world.worker_says(b'{"jsonrpc":"2.0","id":"q-1","method":"roots/list","params":{"n":1.0}}')
    assert world.raw[-1] == b'{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"n":1.0}}'
    world.client_sends(b'{"jsonrpc":"2.0","id":1,"result":{"roots":[ ]}}')

    assert world.sent[-1].payload == b'{"jsonrpc":"2.0","id":"q-1","result":{"roots":[ ]}}'
    assert world.state.callbacks == {}


def test_questions_of_two_workers_with_the_same_id_are_told_apart() -> None:
    world = World.live()
    world.worker_says(request("q", "roots/list"))
    world.replace_worker()
    world.worker_says(request("q", "roots/list"))
    world.client_sends(answer(1, {"of": "the first"}))
    world.client_sends(answer(2, {"of": "the second"}))

    assert world.count("late") == 1
    assert world.sent_to(2)[-1]["result"] == {"of": "the second"}


def test_a_question_whose_worker_is_lost_is_taken_back() -> None:
    world = World.live()
    world.worker_says(request("q", "sampling/createMessage"))
    world.lose_worker()

    assert world.told("notifications/cancelled")[0]["requestId"] == 1
    assert world.state.callbacks == {}


def test_a_question_that_the_worker_takes_back_is_taken_back_from_the_client() -> None:
    world = World.live()
    world.worker_says(request("q", "sampling/createMessage"))
    world.worker_says(note("notifications/cancelled", requestId="q", reason="never mind"))

    assert world.told("notifications/cancelled") == [{"requestId": 1, "reason": "never mind"}]
    assert world.state.callbacks == {}


@pytest.mark.parametrize("wanted", ["other", 1, None, [], 5.5])
def test_taking_back_what_was_never_asked_is_counted(wanted: Any) -> None:
    world = World.live()
    world.worker_says(request("1", "roots/list"))
    world.worker_says(note("notifications/cancelled", requestId=wanted))

    assert world.count("unmatched") == 1
    assert len(world.state.callbacks) == 1


def test_open_questions_are_bounded() -> None:
    world = World.live(callbacks_max=2)
    for number in range(3):
        world.worker_says(request(number, "roots/list"))

    assert len(world.told("roots/list")) == 2
    assert world.sent_to(1)[-1]["error"]["code"] == -32001


def test_a_ping_of_the_worker_is_answered_by_the_host() -> None:
    world = World.live()
    world.worker_says(request("p", "ping"))

    assert world.sent_to(1)[-1] == answer("p", {})
    assert world.heard == []


def test_what_a_worker_asks_and_says_during_its_private_handshake_is_not_heard() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_says(request("q", "roots/list"))
    world.worker_says(note("notifications/message", data="starting"))

    assert world.heard == []
    assert world.sent_to(2)[-1]["error"]["code"] == -32601


@pytest.mark.parametrize("number", [1, 7, "1", None])
def test_an_answer_of_the_client_to_nothing_is_counted_and_dropped(number: Any) -> None:
    world = World.live()
    sent = len(world.sent)
    world.client_sends({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "?"}})

    assert world.count("late") == 1
    assert len(world.sent) == sent


# --- answers that nobody asked for -------------------------------------------------------------------------------


def test_a_doubled_answer_is_counted_and_dropped() -> None:
    world = World.live()
    world.calls(1, "write")
    attempt = world.state.pending[1].attempt
    for _ in range(3):
        world.worker_says(answer(attempt, {"ok": 1}))

    assert len(world.answers_to(1)) == 1
    assert world.count("late") == 2


@pytest.mark.parametrize("number", [999, -1, 0, "3", "x", 2**70])
def test_an_answer_with_a_foreign_id_is_counted_and_dropped(number: Any) -> None:
    world = World.live()
    world.calls(3, "write")
    world.worker_says(answer(number, {"ok": 1}))

    assert world.heard == []
    assert world.count("late") == 1
    assert len(world.state.workers) == 1


def test_an_error_without_an_id_is_counted_and_dropped() -> None:
    world = World.live()
    world.calls(1, "write")
    world.worker_says({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}})

    assert world.heard == []
    assert world.count("late") == 1


def test_the_id_of_the_host_for_one_worker_is_worth_nothing_on_another() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.calls(1, "write")
    world.worker_says(answer(world.state.pending[1].attempt, {"from": "the spare"}), 2)

    assert world.heard == []
    assert world.state.pending[1].is_in_flight


def test_an_answer_that_nobody_can_read_ends_its_call_with_a_failure() -> None:
    world = World.live()
    world.calls(1, "write")
    problem = fault("RESULT_TOO_LARGE", "the answer is too large")
    world.give(GarbledAnswer(1, world.state.pending[1].attempt, problem))

    assert world.code_of(1) == "RESULT_TOO_LARGE"


def test_an_unreadable_answer_to_a_call_that_was_stopped_is_told_as_cancelled() -> None:
    world = World.live()
    world.calls(1, "ours")
    world.stops(1)
    world.give(GarbledAnswer(1, world.state.pending[1].attempt, fault("INTERNAL", "not json")))

    assert world.code_of(1) == "CANCELLED"


def test_an_unreadable_answer_to_the_host_itself_is_an_error() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.give(GarbledAnswer(2, min(world.state.errands), fault("INTERNAL", "not json")))

    assert world.last("StopWorker").generation == 2


# --- notifications -----------------------------------------------------------------------------------------------


def test_notifications_pass_byte_for_byte_in_both_directions() -> None:
    world = World.live()
    frame = b'{"jsonrpc":"2.0", "method":"notifications/acme","params":{"n":1.50}}'
    world.worker_says(frame)
    world.client_sends(frame)

    assert world.raw[-1] == frame
    assert world.sent[-1].payload == frame


def test_a_notification_of_the_client_without_a_worker_is_counted() -> None:
    world = World.live()
    world.lose_worker()
    world.client_sends(note("notifications/roots/list_changed"))

    assert world.count("unheard") == 1


def test_progress_passes_byte_for_byte_while_its_request_is_in_flight() -> None:
    world = World.live()
    world.calls(1, "write", progressToken=7)
    frame = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7, "progress":1}}'
    world.worker_says(frame)
    assert world.raw[-1] == frame
    world.worker_answers(1, {})
    world.worker_says(frame)

    assert len(world.told("notifications/progress")) == 1


@pytest.mark.parametrize("token", ["7", True, 7.0, None, [], 8])
def test_progress_with_a_token_that_nobody_gave_is_dropped(token: Any) -> None:
    world = World.live()
    world.calls(1, "write", progressToken=7)
    world.worker_says(note("notifications/progress", progressToken=token, progress=1))

    assert world.heard == []


def test_progress_by_request_id_is_told_with_the_clients_own() -> None:
    world = World.live()
    world.calls("mine", "write")
    world.worker_says(note("notifications/progress", id=world.state.pending["mine"].attempt, progress=1))

    assert world.told("notifications/progress") == [{"id": "mine", "progress": 1}]


@pytest.mark.parametrize("as_text", [True, False])
def test_what_comes_over_a_stream_is_told_with_the_clients_own_id(as_text: bool) -> None:
    world = World()
    world.worker_up()
    world.client_sends(request("s", "subscriptions/listen", {"_meta": DESCRIPTION}))
    world.serve()
    attempt = world.state.pending["s"].attempt
    key = "io.modelcontextprotocol/subscriptionId"
    world.worker_says(note("notifications/acme", _meta={key: str(attempt) if as_text else attempt}))

    assert world.told("notifications/acme")[0]["_meta"][key] == "s"


@pytest.mark.parametrize("number", ["9" * 5000, "٣", 10**400, True, None, "x"])
def test_a_stream_id_that_makes_no_sense_passes_as_it_is(number: Any) -> None:
    world = World.live()
    world.worker_says(note("notifications/acme", _meta={"io.modelcontextprotocol/subscriptionId": number}))

    assert len(world.told("notifications/acme")) == 1


# --- what the session remembers ----------------------------------------------------------------------------------


def remember(world: World, number: int, method: str, **params: Any) -> None:
    world.client_sends(request(number, method, params))
    world.worker_answers(number, {})


def test_log_level_and_subscriptions_are_restored_on_the_next_worker() -> None:
    world = World.live()
    remember(world, 1, "logging/setLevel", level="info")
    remember(world, 2, "logging/setLevel", level="debug")
    remember(world, 3, "resources/subscribe", uri="a:1")
    remember(world, 4, "resources/subscribe", uri="a:2")
    remember(world, 5, "resources/unsubscribe", uri="a:1")
    heard = len(world.heard)
    world.replace_worker()

    assert [one["params"] for one in world.sent_to(2, "logging/setLevel")] == [{"level": "debug"}]
    assert [one["params"] for one in world.sent_to(2, "resources/subscribe")] == [{"uri": "a:2"}]
    assert len(world.heard) == heard


def test_what_was_refused_is_not_remembered() -> None:
    world = World.live()
    world.client_sends(request(1, "logging/setLevel", {"level": "loud"}))
    world.worker_fails(world.state.pending[1].attempt)

    assert world.state.facts == {}


def test_a_spare_that_is_ready_already_is_told_too() -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    remember(world, 1, "logging/setLevel", level="debug")
    remember(world, 2, "resources/subscribe", uri="a:1")
    remember(world, 3, "resources/unsubscribe", uri="a:1")
    world.serve(2)

    assert [one.get("method") for one in world.sent_to(2)][-3:] == [
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ]


def test_facts_are_bounded_and_so_are_the_questions_about_them() -> None:
    world = World.live(facts_max=3, spare=True)
    world.make_ready(2)
    for number in range(10):
        remember(world, number, "resources/subscribe", uri=f"a:{number}")

    assert list(world.state.facts) == ["resource a:7", "resource a:8", "resource a:9"]
    assert len(world.state.errands) == 1
    assert len(world.state.workers[2].to_tell) == 6


def test_a_refused_fact_does_not_keep_the_worker_from_serving() -> None:
    world = World.live()
    remember(world, 1, "logging/setLevel", level="debug")
    world.lose_worker()
    world.worker_up()
    world.worker_says(answer(min(world.state.errands), world.server))
    world.worker_fails(world.sent_to(2, "logging/setLevel")[0]["id"])
    world.serve()
    world.calls(2, "read", {"n": "r"})

    assert world.dispatched(2) == ["r"]
    assert world.count("facts_refused") == 1
