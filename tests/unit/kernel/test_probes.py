"""Calls whose outcome only a probe can tell."""

from typing import Any

import pytest
from tests.unit.kernel.driver import DESCRIPTION, TOOLS, World, answer, tool

from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.kernel.probes import result_of
from holdfast.kernel.state import ErrandKind
from holdfast.vocabulary.effects import replay_safe
from holdfast.wire.envelope import Response


def held(**policy: Any) -> World:
    """A world with a lost payment, whose probe is being asked."""
    world = World.live(**policy)
    world.calls(1, "pay", {"key": "k", "n": "p", "secret": 1})
    world.replace_worker()
    return world


def test_a_lost_call_is_not_sent_again_before_its_probe_has_spoken() -> None:
    world = held()

    assert world.dispatched(2) == []
    (asked,) = world.sent_to(2, "tools/call")
    assert asked["params"] == {"name": "check", "arguments": {"key": "k", "n": "p"}}


def test_a_probe_that_knows_the_result_completes_the_call() -> None:
    world = held()
    world.probe_says({"outcome": "completed", "result": {"paid": 5}})
    told = world.result_of(1)

    assert told["structuredContent"] == {"paid": 5}
    assert told["isError"] is False
    assert world.dispatched(2) == []
    assert world.count("completed_by_probe") == 1


def test_a_call_that_took_effect_and_whose_result_is_lost_is_ambiguous() -> None:
    world = held()
    world.probe_says({"outcome": "completed"})

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"
    assert world.fault_of(1)["retry"]["safe"] is False


def test_a_probe_that_frees_the_call_has_it_sent_again() -> None:
    world = held()
    world.probe_says({"outcome": "safe_to_retry"})
    assert world.dispatched(2) == ["p"]
    world.worker_answers(1, {"ok": 1})

    assert world.result_of(1) == {"ok": 1}


def test_a_probe_can_answer_with_text_alone() -> None:
    world = held()
    number = world.errand(ErrandKind.PROBE)
    text = [{"type": "text", "text": "well"}, {"type": "text", "text": '{"outcome":"safe_to_retry"}'}]
    world.worker_says(answer(number, {"content": text}))

    assert world.dispatched(2) == ["p"]


def test_a_probe_that_does_not_know_is_asked_again_with_growing_pauses_until_the_bound() -> None:
    world = held(probe_hold=3.0)
    asked = []
    for _ in range(20):
        if 1 not in world.state.pending:
            break
        if any(errand.kind is ErrandKind.PROBE for errand in world.state.errands.values()):
            asked.append(world.now - 100.0)
            world.probe_says({"outcome": "unknown"})
        world.advance(0.1)

    assert len(world.sent_to(2, "tools/call")) in {4, 5}
    world.advance(3.0)
    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


@pytest.mark.parametrize("structured", [{}, {"outcome": 5}, {"outcome": ["completed"]}, {"outcome": "maybe"}])
def test_an_answer_that_makes_no_sense_is_no_answer(structured: Any) -> None:
    world = held()
    world.probe_says(structured)

    assert world.answers_to(1) == []
    assert world.dispatched(2) == []


def test_a_probe_that_fails_is_no_answer() -> None:
    world = held()
    world.worker_fails(world.errand(ErrandKind.PROBE))
    world.advance(0.2)

    assert len(world.sent_to(2, "tools/call")) == 2


def test_a_probe_that_does_not_answer_is_asked_again() -> None:
    world = held(probe_timeout=1.0, probe_hold=10.0)
    world.advance(1.3)

    assert len(world.sent_to(2, "tools/call")) == 2


def test_a_probe_that_is_lost_with_its_worker_is_asked_on_the_next_one() -> None:
    world = held()
    world.replace_worker()
    world.advance(0.2)
    assert len(world.sent_to(3, "tools/call")) == 1
    world.probe_says({"outcome": "safe_to_retry"})

    assert world.dispatched(3) == ["p"]


def test_a_probe_that_does_not_exist_ends_the_call_as_ambiguous() -> None:
    world = World.live(tools=[one for one in TOOLS if one["name"] != "check"])
    world.calls(1, "pay")
    world.replace_worker()

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


def test_a_held_call_has_its_bound_although_no_worker_ever_comes() -> None:
    world = World.live(probe_hold=30.0, restart_budget=0)
    world.calls(1, "pay")
    world.lose_worker()
    assert world.answers_to(1) == []
    world.advance(30.0)

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


def test_the_clock_is_not_looked_at_all_the_time_while_a_held_call_waits_for_a_worker() -> None:
    world = World.live(probe_hold=30.0)
    world.calls(1, "pay")
    world.lose_worker()
    steps = len(world.history)
    world.advance(29.0)

    assert len(world.history) - steps < 5


def test_younger_calls_do_not_wait_for_a_probe() -> None:
    world = held()
    world.calls(2, "read", {"n": "r"})

    assert world.dispatched(2) == ["r"]


def test_a_freed_call_that_is_lost_again_needs_its_probe_again() -> None:
    world = held(replays=5)
    world.probe_says({"outcome": "safe_to_retry"})
    world.replace_worker()

    assert world.dispatched(3) == []
    assert len(world.sent_to(3, "tools/call")) == 1


def test_a_freed_call_without_allowance_is_exhausted() -> None:
    world = held(replays=0)
    world.probe_says({"outcome": "safe_to_retry"})

    assert world.code_of(1) == "REPLAY_EXHAUSTED"


def test_the_answer_of_a_probe_for_a_cancelled_call_is_nothing_to_its_successor() -> None:
    world = held()
    number = world.errand(ErrandKind.PROBE)
    world.cancels(1)
    world.calls(1, "pay", {"n": "another"})
    world.worker_says(answer(number, {"structuredContent": {"outcome": "completed", "result": 1}}))

    assert world.answers_to(1) == []
    assert world.state.pending[1].is_in_flight


def test_a_probe_in_the_era_without_a_handshake_describes_the_client() -> None:
    world = World()
    world.worker_up()
    world.calls(1, "pay", **DESCRIPTION)
    world.serve()
    world.replace_worker()
    (asked,) = world.sent_to(2, "tools/call")
    assert asked["params"]["_meta"] == DESCRIPTION
    world.probe_says({"outcome": "completed", "result": 1})

    assert world.result_of(1)["resultType"] == "complete"


@pytest.mark.parametrize(
    "result",
    [None, 5, {"content": 5}, {"content": ["x", {"text": 5}]}, {"content": [{"text": "[" * 100_000}]},
     {"content": [{"text": "[1]"}]}, {"isError": True, "structuredContent": {"outcome": "completed"}}],
)  # fmt: skip
def test_a_result_without_an_object_is_an_empty_one(result: Any) -> None:
    assert result_of(Response(1, result, None)) == {}


@pytest.mark.parametrize(
    "probe",
    [
        tool("check"),
        tool("check", "probe_required", probe="read"),
        tool("check", "deduplicated", key="/arguments/k"),
    ],
)
def test_a_probe_that_is_not_safe_to_repeat_itself_is_never_asked(probe: Any) -> None:
    world = World.live(tools=[*(one for one in TOOLS if one["name"] != "check"), probe])
    world.calls(1, "pay")
    world.replace_worker()

    assert world.sent_to(2, "tools/call") == []
    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"
    assert "replay_safe" in world.answer_to(1)["error"]["message"]


def test_a_person_can_vouch_for_a_probe() -> None:
    vouched = {"check": ToolPolicy(effect=replay_safe())}
    world = World(Policy(ping_interval=0.0, tools=vouched))
    world.tools = [*(one for one in TOOLS if one["name"] != "check"), tool("check")]
    world.go_live()
    world.calls(1, "pay")
    world.replace_worker()

    assert len(world.sent_to(2, "tools/call")) == 1


def test_a_freed_call_without_allowance_may_be_sent_again_by_its_client() -> None:
    world = held(replays=0)
    world.probe_says({"outcome": "safe_to_retry"})

    assert world.fault_of(1)["retry"]["safe"] is True
