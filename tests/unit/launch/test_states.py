"""The states of a run: which change may follow which, and how far sections are."""

from itertools import pairwise

import pytest

from holdfast.launch import states

_LINE = (
    states.CREATED, states.CLONED_INPUTS, states.INGESTED, states.FACTS_READY, states.PLAN_READY, states.DRAFTING,
    states.DRAFT_READY, states.LINKING, states.VALIDATING, states.READY_FOR_PR, states.PR_OPENED, states.DONE,
)  # fmt: skip


def _expected() -> set[tuple[str, str]]:
    edges = set(pairwise(_LINE))
    edges |= {("VALIDATING", "FIXING"), ("FIXING", "VALIDATING"), ("READY_FOR_PR", "VALIDATING")}
    alive = set(states.STATES) - {"DONE", "FAILED", "CANCELLED"}
    return edges | {(state, end) for state in alive for end in ("FAILED", "CANCELLED")}


@pytest.mark.requirement("OURS-21-states")
@pytest.mark.parametrize("before", states.STATES)
def test_a_state_leads_exactly_where_the_contract_says(before: str) -> None:
    reached = {after for after in states.STATES if states.is_edge(before, after)}
    assert reached == {after for start, after in _expected() if start == before}


@pytest.mark.requirement("OURS-21-states")
def test_there_are_fifteen_states_and_three_have_no_exit() -> None:
    assert len(states.STATES) == len(set(states.STATES)) == 15
    assert {state for state in states.STATES if not states.EDGES[state]} == set(states.TERMINAL)


def test_an_unknown_state_leads_nowhere() -> None:
    assert not states.is_edge("REVIEWING", "DONE")


def test_sections_come_in_their_fixed_order_and_tell_how_far_they_are() -> None:
    told = states.section_states(["kb", "docs", "products"], planned=["docs", "kb"], drafted=["docs"])
    assert list(told.items()) == [("products", "NOT_STARTED"), ("docs", "DRAFTED"), ("kb", "OUTLINED")]


@pytest.mark.parametrize(
    ("merged", "passed", "blocked", "state"),
    [
        (False, False, [], "DRAFTED"),
        (True, False, [], "MERGED_IN_WORKTREE"),
        (True, True, [], "DONE"),
        (True, False, ["docs"], "BLOCKED"),
    ],
)
def test_a_drafted_section_goes_from_the_work_tree_to_done_or_is_blocked(
    merged: bool, passed: bool, blocked: list[str], state: str
) -> None:
    told = states.section_states(
        ["docs"], planned=["docs"], drafted=["docs"], is_merged=merged, is_passed=passed, blocked=blocked
    )
    assert told == {"docs": state}
