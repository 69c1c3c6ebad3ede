"""Every tool in every state of a run: what it does there, or what it says instead.

Rows are the states, columns the tools that depend on them; a cell says what the caller is told. Reading and
starting are possible in every state. `ok` is a success; what follows the arrow is the state of the run then.
"""

from typing import Any, NamedTuple

import pytest
from tests.launch.runs import PAGE, TOOLS, Place, refused, succeeded

from holdfast.launch import states
from holdfast.launch.documents import encode

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]

# ILLEGAL_STATE for good; the same while a fix is made; CANCELLED for good; ILLEGAL_STATE with the pull request.
NO, WAIT, OVER, OPENED = "no", "wait", "over", "opened"
MATRIX = """
                launch_validate     launch_fix_next     launch_resume       launch_cancel   launch_open_pr
CREATED         no                  no                  ok>CLONED_INPUTS    ok>CANCELLED    no
CLONED_INPUTS   no                  no                  ok>INGESTED         ok>CANCELLED    no
INGESTED        no                  no                  ok>FACTS_READY      ok>CANCELLED    no
FACTS_READY     no                  no                  ok>PLAN_READY       ok>CANCELLED    no
PLAN_READY      no                  no                  ok>DRAFTING         ok>CANCELLED    no
DRAFTING        no                  no                  ok>DRAFT_READY      ok>CANCELLED    no
DRAFT_READY     no                  no                  ok>LINKING          ok>CANCELLED    no
LINKING         ok>READY_FOR_PR     no                  ok>VALIDATING       ok>CANCELLED    no
VALIDATING      ok>READY_FOR_PR     ok>READY_FOR_PR     ok>READY_FOR_PR     ok>CANCELLED    no
FIXING          wait                wait                ok>VALIDATING       ok>CANCELLED    no
READY_FOR_PR    ok>READY_FOR_PR     no                  ok>READY_FOR_PR     ok>CANCELLED    ok>DONE
PR_OPENED       no                  no                  ok>DONE             ok>CANCELLED    opened
DONE            no                  no                  no                  no              opened
FAILED          no                  no                  no                  no              no
CANCELLED       over                over                over                ok>CANCELLED    over
"""


class Cell(NamedTuple):
    """One tool in one state. `after` is the state that a success leads to."""

    tool: str
    state: str
    outcome: str
    after: str


def cells() -> list[Cell]:
    """The matrix, with the columns that are the same everywhere."""
    head, *lines = MATRIX.strip().splitlines()
    made = []
    for line in lines:
        state, *words = line.split()
        outcomes = dict.fromkeys(TOOLS, "ok") | dict(zip(head.split(), words, strict=True))
        for tool, word in outcomes.items():
            outcome, _, after = word.partition(">")
            made.append(Cell(tool, state, outcome, after or state))
    return made


CELLS = cells()
ALLOWED = [cell for cell in CELLS if cell.outcome == "ok"]
REFUSED = [cell for cell in CELLS if cell.outcome != "ok"]
PULL_REQUEST = {
    "schema_version": "1.0",
    "run_id": "r_2026-01-21T10-00-00Z_abcd",
    "base_ref": "a" * 40,
    "branch_name": "launch/r_2026-01-21T10-00-00Z_abcd/tablekit",
    "commit_shas": ["b" * 40],
    "pr_title": "Launch tablekit",
    "pr_body": "Pages.",
    "rollback_steps": ["git revert"],
    "affected_paths": ["content/kb/tablekit/faq.md"],
    "validation_summary": {"ok": True, "profile": "local", "gates_passed": 1, "gates_total": 1},
    "pr_url": "file:///site.git#pull/1",
    "pr_number": 1,
}


def named(cells: list[Cell]) -> list[str]:
    return [f"{cell.tool.removeprefix('launch_')}-{cell.state}" for cell in cells]


def arranged(place: Place, cell: Cell) -> dict[str, Any]:
    """The run in the state of the cell, with what such a run has; the arguments of the call."""
    place.reset()
    if cell.state in ("PR_OPENED", "DONE"):
        place.keep("pr.json", encode("pr", PULL_REQUEST), "pr")
    if cell.tool == "launch_fix_next" and cell.outcome == "ok":
        place.keep_report(place.edit_by_hand(PAGE))
    if cell.tool == "launch_open_pr" and cell.outcome == "ok":
        place.bare_site()
    place.put_in(cell.state)
    special: dict[str, dict[str, Any]] = {
        "launch_start_run": {"run_config": place.origin.config, "idempotency_key": place.origin.key},
        "launch_get_artifact": {"run_id": place.run_id, "artifact_name": "page_plan.json"},
        "launch_list_runs": {"filter": {"state": cell.state}},
    }
    return special.get(cell.tool, {"run_id": place.run_id})


def test_the_matrix_has_a_cell_for_every_tool_in_every_state() -> None:
    assert {(cell.tool, cell.state) for cell in CELLS} == {
        (tool, state) for tool in TOOLS for state in states.STATES
    }
    assert len(CELLS) == 9 * 15


@pytest.mark.requirement("OURS-21-at-least-linking")
@pytest.mark.requirement("OURS-29-run-id")
@pytest.mark.requirement("OURS-30-cancel")
@pytest.mark.requirement("S4-conventions-ok")
@pytest.mark.requirement("S4-conventions-run-id")
@pytest.mark.requirement("S4-launch_validate-state")
@pytest.mark.requirement("S4-launch_resume-works")
@pytest.mark.requirement("S4-launch_cancel-works")
@pytest.mark.parametrize("cell", ALLOWED, ids=named(ALLOWED))
def test_what_a_state_allows_is_done_and_leads_to_one_state(shared: Place, cell: Cell) -> None:
    arguments = arranged(shared, cell)

    answer = succeeded(shared.call(cell.tool, **arguments))

    assert answer.get("run_id", shared.run_id) == shared.run_id
    assert ("run_id" in answer) == (cell.tool != "launch_list_runs")
    assert shared.state() == cell.after
    assert answer.get("state", cell.after) == cell.after
    if cell.tool == "launch_resume":
        moved = [event for event in shared.new_events() if event.type == "RUN_STATE_CHANGED"]
        assert len(moved) == (cell.after != cell.state)
        assert answer["status"]["state"] == cell.after


@pytest.mark.requirement("OURS-21-at-least-linking")
@pytest.mark.requirement("OURS-30-cancel")
@pytest.mark.requirement("S4-conventions-error")
@pytest.mark.requirement("S4-errors-ILLEGAL_STATE")
@pytest.mark.requirement("S4-errors-CANCELLED")
@pytest.mark.requirement("S4-launch_validate-state")
@pytest.mark.requirement("S4-launch_fix_next-state")
@pytest.mark.requirement("S4-launch_open_pr-state")
@pytest.mark.requirement("S4-acceptance-retryable")
@pytest.mark.parametrize("cell", REFUSED, ids=named(REFUSED))
def test_what_a_state_does_not_allow_is_refused_and_changes_nothing(shared: Place, cell: Cell) -> None:
    arguments = arranged(shared, cell)
    before = shared.picture()

    told = refused(shared.call(cell.tool, **arguments))

    assert told["run_id"] == shared.run_id
    error, details = told["error"], told["error"]["details"]
    assert error["code"] == ("CANCELLED" if cell.outcome == OVER else "ILLEGAL_STATE")
    assert error["retryable"] is (cell.outcome == WAIT)
    assert details["state"] == cell.state
    assert details.get("reason") == ("fixing" if cell.outcome == WAIT else None)
    assert details.get("scope") == ("run" if cell.outcome == OVER else None)
    opened = {key: details.get(key) for key in ("pr_url", "branch", "commit_sha")}
    assert opened == (
        {"pr_url": PULL_REQUEST["pr_url"], "branch": PULL_REQUEST["branch_name"], "commit_sha": "b" * 40}
        if cell.outcome == OPENED
        else dict.fromkeys(opened)
    )
    assert shared.picture() == before
