"""Calls that carry a key: looked up first, stored before they are answered, never twice at the same time."""

import pytest
from tests.unit.kernel.driver import DESCRIPTION, World

from holdfast.kernel.commands import KeepOutcome, LookUpOutcome, ToClient
from holdfast.kernel.inputs import OutcomeFound


def look_ups(world: World) -> list[LookUpOutcome]:
    return [command for command in world.commands if isinstance(command, LookUpOutcome)]


def kept(world: World) -> list[KeepOutcome]:
    return [command for command in world.commands if isinstance(command, KeepOutcome)]


def test_a_call_with_a_key_is_looked_up_before_it_is_sent() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k", "n": "x"})
    assert [(one.tool, one.key, one.arguments) for one in look_ups(world)] == [
        ("put", "text k", {"key": "k", "n": "x"})
    ]
    assert "x" not in world.dispatched()
    world.store_says()

    assert world.dispatched(1)[-1] == "x"


def test_a_stored_outcome_is_the_answer_byte_for_byte_and_nothing_is_sent() -> None:
    world = World.live()
    world.calls("a", "put", {"key": "k", "n": "x"})
    world.store_says(b'{"content": [ ], "n":1e2}')

    assert world.raw[-1] == b'{"jsonrpc":"2.0","id":"a","result":{"content": [ ], "n":1e2}}'
    assert "x" not in world.dispatched()
    assert world.count("deduplicated") == 1


def test_the_same_key_with_other_arguments_is_a_conflict() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k"})
    world.store_says(conflict="used before")
    told = world.answer_to(1)["result"]

    assert told["isError"] is True
    assert world.code_of(1) == "KEY_CONFLICT"


def test_the_outcome_is_stored_before_it_is_answered() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k"})
    world.store_says()
    world.worker_answers(1, {"content": []})
    kinds = [type(command) for command in world.history[-1].commands]

    assert kinds.index(KeepOutcome) < kinds.index(ToClient)
    assert kept(world)[0].result == b'{"content":[]}'


def test_a_failure_and_a_question_back_are_not_stored() -> None:
    world = World.live()
    for number, result in enumerate([{"isError": True}, {"resultType": "input_required"}], 1):
        world.calls(number, "put", {"key": "k"})
        world.store_says()
        world.worker_answers(number, result)

    assert kept(world) == []


def test_a_second_call_with_a_key_under_way_waits_for_the_outcome_of_the_first() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k", "n": "first"})
    world.calls(2, "put", {"key": "k", "n": "second"})
    world.store_says()
    assert len(look_ups(world)) == 1
    world.worker_answers(1, {"content": []})

    assert len(look_ups(world)) == 2
    world.store_says(b'{"content":[]}')
    assert world.answer_to(2)["result"] == {"content": []}
    assert "second" not in world.dispatched()


def test_another_key_and_another_tool_do_not_wait() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k"})
    world.calls(2, "put", {"key": "l"})
    world.calls(3, "put", {"key": 5})

    assert len(look_ups(world)) == 3


def test_a_lost_call_is_sent_again_with_its_key_without_another_look() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k", "n": "x"})
    world.store_says()
    world.replace_worker()
    world.worker_answers(1, {"content": []})

    assert world.dispatched(2) == ["x"]
    assert len(look_ups(world)) == 1
    assert len(kept(world)) == 1


def test_a_call_without_its_key_is_sent_at_most_once() -> None:
    world = World.live()
    world.calls(1, "put", {"n": "x"})
    assert look_ups(world) == []
    world.lose_worker()

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


def test_a_look_up_that_is_answered_after_the_loss_of_the_worker_still_counts() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "k", "n": "x"})
    world.lose_worker()
    world.store_says()
    world.make_ready()

    assert world.dispatched(2) == ["x"]


def test_what_is_found_for_a_cancelled_call_is_not_told_to_another_with_its_id() -> None:
    world = World.live()
    world.calls(1, "put", {"key": "old"})
    (first,) = look_ups(world)
    world.cancels(1)
    world.calls(1, "put", {"key": "new"})
    world.give(OutcomeFound(first.id, b'{"of":"the old one"}'))

    assert world.answers_to(1) == []


def test_an_outcome_that_came_after_the_deadline_is_stored_all_the_same() -> None:
    world = World.live(deadline=10.0)
    world.calls(1, "put", {"key": "k"})
    world.store_says()
    world.advance(10.0)
    world.worker_answers(1, {"content": []})

    assert world.code_of(1) == "TOOL_TIMEOUT"
    assert len(kept(world)) == 1


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (b'{"content":[], "n": 1.0}', b'{"resultType":"complete","content":[], "n": 1.0}'),
        (b" { } ", b'{"resultType":"complete"}'),
        (b'{"resultType":"complete","a":1}', b'{"resultType":"complete","a":1}'),
        (b'{"a":{"resultType":1}}', b'{"resultType":"complete","a":{"resultType":1}}'),
        (b"[1]", b"[1]"),
    ],
)
def test_a_stored_outcome_is_told_in_the_words_of_the_era_of_the_client(stored: bytes, told: bytes) -> None:
    world = World()
    world.worker_up()
    world.calls(1, "put", {"key": "k"}, **DESCRIPTION)
    world.serve()
    world.store_says(stored)

    assert world.raw[-1] == b'{"jsonrpc":"2.0","id":1,"result":' + told + b"}"
