"""What becomes of requests whose worker is lost: repeated in order, refused, or as if never sent."""

import pytest
from tests.unit.kernel.driver import DESCRIPTION, World, request

from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.vocabulary.effects import at_most_once, replay_safe
from holdfast.vocabulary.execution import Knowledge


def test_a_call_that_only_reads_is_sent_again_and_answered() -> None:
    world = World.live()
    world.calls(1, "read", {"n": "a"})
    world.replace_worker()
    world.worker_answers(1, {"ok": 1})

    assert world.dispatched(2) == ["a"]
    assert world.result_of(1) == {"ok": 1}


def test_what_is_sent_again_is_byte_for_byte_what_the_client_wrote() -> None:
    world = World.live()
    frame = b'{"jsonrpc" : "2.0", "id":"\\u0041", "method":"tools/call","params":{"name":"read","x":1e2}}'
    world.client_sends(frame)
    world.replace_worker()
    payloads = [sent.payload for sent in world.sent if sent.attempt][-2:]

    for payload in payloads:
        attempt = payload[payload.index(b'"id":') + 5 : payload.index(b', "method"')]
        assert payload.replace(b'"id":' + attempt, b'"id":"\\u0041"') == frame


def test_what_was_lost_is_repeated_in_the_order_of_acceptance_before_anything_younger() -> None:
    world = World.live()
    for number, name in enumerate(["read", "check", "read"]):
        world.calls(number, name, {"n": f"old {number}"})
    world.lose_worker()
    world.calls(7, "read", {"n": "young"})
    world.calls(8, "write", {"n": "younger"})
    world.make_ready()

    assert world.dispatched(2) == ["old 0", "old 1", "old 2", "young", "younger"]


def test_reads_that_need_no_tool_do_not_wait_for_the_list_of_tools() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_says({"jsonrpc": "2.0", "id": min(world.state.errands), "result": world.server})
    world.calls(1, "read", {"n": "call"})
    world.client_sends(request(2, "resources/list"))

    assert world.dispatched(2) == ["resources/list"]


def test_an_attempt_is_charged_when_it_is_sent_again_and_not_before() -> None:
    world = World.live(replays=1)
    world.calls(1, "read")
    for _ in range(5):
        world.lose_worker()
        assert world.state.pending[1].replays == 0
    world.make_ready()
    assert world.state.pending[1].replays == 1


@pytest.mark.parametrize("replays", [0, 1, 3])
def test_a_call_that_loses_every_worker_is_given_up_after_its_allowance(replays: int) -> None:
    world = World.live(replays=replays)
    world.calls(1, "read")
    for _ in range(replays):
        world.replace_worker()
    assert world.answers_to(1) == []
    world.lose_worker()

    assert world.code_of(1) == "REPLAY_EXHAUSTED"
    assert world.answer_to(1)["error"]["code"] == -32012
    assert world.fault_of(1)["attempt"] == replays + 1
    assert world.fault_of(1)["retry"]["safe"] is True


def test_an_unsent_attempt_is_sent_for_the_first_time_whatever_its_effect() -> None:
    world = World.live()
    world.calls(1, "write", {"n": "w"})
    world.lose_worker(unsent=[world.state.pending[1].attempt])
    assert world.state.pending[1].knowledge is Knowledge.NOT_DISPATCHED
    world.make_ready()
    world.worker_answers(1, {"ok": 1})

    assert world.result_of(1) == {"ok": 1}
    assert world.count("replayed") == 0


def test_an_unsent_repetition_is_not_charged_and_the_first_attempt_stays_unknown() -> None:
    world = World.live(replays=1)
    world.calls(1, "read")
    world.replace_worker()
    world.lose_worker(unsent=[world.state.pending[1].attempt])

    assert world.state.pending[1].knowledge is Knowledge.OUTCOME_UNKNOWN
    assert world.state.pending[1].replays == 0
    world.make_ready()
    world.worker_answers(1, {"ok": 1})
    assert world.result_of(1) == {"ok": 1}


def test_a_call_that_may_have_taken_effect_ends_with_one_error_that_says_so() -> None:
    world = World.live()
    world.calls("w", "write")
    world.lose_worker()
    told = world.answer_to("w")["error"]

    assert told["code"] == -32011
    assert told["data"]["class"] == "ambiguous_outcome"
    assert told["data"]["code"] == "AMBIGUOUS_OUTCOME"
    assert (told["data"]["generation"], told["data"]["attempt"]) == (1, 1)
    assert told["data"]["retry"] == {"safe": False, "afterMs": 0}
    world.make_ready()
    assert world.dispatched(2) == []


def test_the_era_without_a_handshake_has_its_own_error_numbers() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "write", **DESCRIPTION)
    world.serve()
    world.lose_worker()

    assert world.answer_to(1)["error"]["code"] == 1011


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "completion/complete", "resources/list"])
def test_methods_that_only_read_are_sent_again(method: str) -> None:
    world = World.live()
    world.client_sends(request(1, method))
    world.replace_worker()

    assert world.dispatched(2) == [method]


def test_a_method_that_nobody_knows_is_sent_at_most_once() -> None:
    world = World.live()
    world.client_sends(request(1, "acme/launch"))
    world.lose_worker()

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


@pytest.mark.parametrize(
    ("name", "said", "codes"),
    [
        ("write", ToolPolicy(effect=replay_safe()), []),
        ("read", ToolPolicy(effect=at_most_once()), ["AMBIGUOUS_OUTCOME"]),
        ("read", ToolPolicy(replays=0), ["REPLAY_EXHAUSTED"]),
    ],
)
def test_what_a_person_says_about_a_tool_counts_before_the_tool_itself(
    name: str, said: ToolPolicy, codes: list[str]
) -> None:
    world = World(Policy(ping_interval=0, tools={name: said}))
    world.go_live()
    world.calls(1, name)
    world.lose_worker()

    assert [world.code_of(1) for _ in world.answers_to(1)] == codes


def test_an_answer_of_the_lost_worker_that_comes_before_its_end_counts() -> None:
    world = World.live()
    world.calls(1, "write")
    world.worker_answers(1, {"ok": 1})
    world.lose_worker()

    assert world.result_of(1) == {"ok": 1}


def test_an_answer_of_a_generation_that_is_gone_is_counted_and_dropped() -> None:
    world = World.live()
    world.calls(1, "read")
    attempt = world.state.pending[1].attempt
    world.lose_worker()
    world.make_ready()
    world.worker_says({"jsonrpc": "2.0", "id": attempt, "result": {"from": "the dead"}}, 1)
    world.worker_says({"jsonrpc": "2.0", "id": attempt, "result": {"from": "the living"}}, 2)

    assert world.answers_to(1) == []
    assert world.count("late") == 2


def test_a_worker_is_replaced_at_once_without_waiting_for_the_clock() -> None:
    world = World.live()
    commands = world.lose_worker()

    assert [type(command).__name__ for command in commands][-1] == "StartWorker"
    assert world.starts() == [0.0, 0.0]


def test_the_loss_is_recorded_with_its_cause_and_what_was_in_flight() -> None:
    world = World.live()
    world.calls(1, "read")
    world.calls(2, "write")
    world.lose_worker(stderr="boom", message="exit 9")
    (event,) = world.events("worker_lost")

    assert (event.generation, event.role, event.in_flight, event.stderr) == (1, "active", 2, "boom")
    assert event.message == "exit 9"
