"""A run from its beginning until it rests, and what is left of it by whoever was lost on the way."""

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.launch.stages import Stage

from holdfast.launch.engine import execution
from holdfast.launch.engine.execution import Execution

LINE = [
    "CLONED_INPUTS", "INGESTED", "FACTS_READY", "PLAN_READY", "DRAFTING", "DRAFT_READY", "LINKING", "VALIDATING",
    "READY_FOR_PR",
]  # fmt: skip


class Lost(BaseException):
    """The process is gone; nothing can be written any more."""


def moves(stage: Stage, run_id: str) -> list[str]:
    return [event.payload["to"] for event in stage.told(run_id, "RUN_STATE_CHANGED")]


@pytest.mark.requirement("OURS-23-rests")
def test_a_run_is_driven_until_it_is_ready_and_then_to_its_pull_request(any_stage: Stage) -> None:
    stage, run_id = any_stage, any_stage.run(required_sections=["docs", "blog"])
    assert stage.engine.perform("drive", run_id) == {"state": "READY_FOR_PR"}
    assert moves(stage, run_id) == LINE
    assert {item.status for item in stage.store.items(run_id)} == {"finished"}
    made = {name: digest for item in stage.store.items(run_id) for name, digest in item.outputs.items()}
    assert stage.digests(run_id) == made
    assert len(stage.told(run_id, "PATCH_APPLIED")) == 1
    answer = {"pr_url": "file:///x/pulls/1", "branch": "launch/x", "commit_sha": "d" * 40}
    assert stage.engine.perform("open_pr", run_id) == answer
    assert stage.state(run_id) == "DONE"
    stage.check(run_id)


def test_a_run_is_resumed_from_state_to_state(stage: Stage) -> None:
    run_id = stage.run(state="DRAFTING")
    left = LINE[LINE.index("DRAFT_READY") :]
    assert [stage.engine.perform("resume", run_id)["state"] for _ in left] == left
    assert stage.engine.perform("resume", run_id) == {"state": "READY_FOR_PR"}
    assert {item.attempt for item in stage.store.items(run_id)} == {1}


def test_a_section_that_fails_does_not_lose_what_the_others_have_written(stage: Stage) -> None:
    stage.order("section_writer-docs", "later", "later", "later", "fine")
    run_id = stage.run(state="DRAFTING", required_sections=["products", "docs", "blog"])
    assert stage.engine.perform("drive", run_id) == {"state": "DRAFTING"}
    assert stage.store.section_states(run_id) == {"products": "DRAFTED", "docs": "BLOCKED", "blog": "DRAFTED"}
    assert stage.engine.perform("resume", run_id) == {"state": "DRAFT_READY"}
    written = [(item.scope, item.status) for item in stage.items(run_id, "section_writer")]
    assert sorted(written) == [("blog", "finished"), *[("docs", "failed")] * 3, ("docs", "finished"),
                               ("products", "finished")]  # fmt: skip
    stage.check(run_id)


def test_sections_are_written_side_by_side(stage: Stage) -> None:
    stage.order("section_writer", "wait")
    run_id = stage.run(state="DRAFTING", required_sections=["docs", "blog"])
    stage.engine.begin("drive", run_id)
    both = {stage.waits("section_writer", section) for section in ("docs", "blog")}
    assert len(both) == 2
    assert {item.status for item in stage.items(run_id, "section_writer")} == {"running"}


def ready_to_fix(stage: Stage, issues: int, **config: Any) -> str:
    run_id = stage.run(state="DRAFT_READY", issues=issues, **config)
    assert stage.engine.perform("drive", run_id) == {"state": "VALIDATING"}
    return run_id


def test_each_call_mends_one_issue_until_none_is_left(stage: Stage) -> None:
    run_id = ready_to_fix(stage, 2)
    first, second = (stage.engine.perform("fix", run_id) for _ in range(2))
    assert (first["applied_patch_ids"], first["remaining_blockers"]) == (["patch_002"], 1)
    assert (second["applied_patch_ids"], second["remaining_blockers"]) == (["patch_003"], 0)
    assert first["fixed_issue_id"] != second["fixed_issue_id"]
    assert stage.state(run_id) == "READY_FOR_PR"
    stage.check(run_id)


def test_an_issue_that_its_rule_cannot_mend_costs_one_attempt_and_the_others_are_mended(stage: Stage) -> None:
    run_id = stage.run(state="DRAFT_READY", issues=3, stubborn=True, max_fix_attempts=4)
    assert stage.engine.perform("drive", run_id) == {"state": "VALIDATING"}
    tried = stage.refused("fix", run_id)
    assert (tried.code, (tried.details or {})["reason"]) == ("FIX_EXHAUSTED", "fix_no_op")
    others = [stage.engine.perform("fix", run_id) for _ in range(2)]
    assert [one["remaining_blockers"] for one in others] == [2, 1]
    left = stage.refused("fix", run_id)
    assert (left.details or {})["reason"] == "no_fixable_issue"
    assert (left.details or {})["issues"] == [(tried.details or {})["issue_id"]]
    assert (stage.state(run_id), stage.at(run_id).fix_attempts) == ("VALIDATING", 3)
    stage.check(run_id)


@contextlib.contextmanager
def lost_at(stage: Stage, patch: pytest.MonkeyPatch, method: str, *, after: bool = False) -> Any:
    """The first time an execution comes there, its process is gone as far as the store can see."""
    original = getattr(Execution, method)
    seen: list[Execution] = []

    def gone(self: Execution) -> None:
        if not seen:
            seen.append(self)
            stage.store.release_all()
            raise Lost

    async def around(self: Execution, *arguments: Any, **more: Any) -> Any:
        if not after:
            gone(self)
        answer = await original(self, *arguments, **more)
        if after:
            gone(self)
        return answer

    with patch.context() as inner:
        inner.setattr(Execution, method, around)
        yield seen


@pytest.mark.parametrize(("method", "fixes_before"), [("_carry_out_fix", 1), ("_look_with_gates", 0)])
def test_a_fix_whose_owner_was_lost_is_carried_to_its_end_for_the_same_caller(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, method: str, fixes_before: int
) -> None:
    run_id = ready_to_fix(stage, fixes_before + 1)
    before = {stage.engine.perform("fix", run_id)["fixed_issue_id"] for _ in range(fixes_before)}
    with lost_at(stage, monkeypatch, method) as seen:
        fixed = stage.engine.perform("fix", run_id)
    assert seen
    assert fixed["fixed_issue_id"] not in before
    assert fixed["applied_patch_ids"] == [f"patch_{fixes_before + 2:03}"]
    assert (stage.state(run_id), stage.at(run_id).fix_attempts) == ("READY_FOR_PR", fixes_before + 1)
    assert len([item for item in stage.items(run_id, "fixer") if item.status == "finished"]) == fixes_before + 1
    stage.check(run_id)


def test_a_fix_whose_validation_fails_waits_for_the_next_validation(stage: Stage) -> None:
    stage.order("validator", "fine", "later", "later", "later", "fine")
    run_id = ready_to_fix(stage, 1)
    assert stage.refused("fix", run_id).retryable
    assert stage.state(run_id) == "VALIDATING"
    (stage.workspace.run(run_id) / "work" / "site").mkdir(parents=True, exist_ok=True)
    assert stage.engine.perform("validate", run_id)["validation_report"]["ok"]
    assert stage.state(run_id) == "READY_FOR_PR"
    assert [item.status for item in stage.items(run_id, "fixer")] == ["finished"]
    stage.check(run_id)


def test_a_refusal_of_a_worker_while_a_fix_is_made_leads_back_to_where_it_began(stage: Stage) -> None:
    stage.order("fixer", "refuse")
    run_id = ready_to_fix(stage, 1)
    refused = stage.refused("fix", run_id)
    assert (refused.code, stage.state(run_id)) == ("ALLOWED_PATHS_VIOLATION", "VALIDATING")
    stage.check(run_id)


def test_pages_are_changed_as_often_as_the_budget_allows(stage: Stage) -> None:
    run_id = ready_to_fix(stage, 3, budgets={"max_runtime_s": 60, "max_patch_attempts": 2})
    assert stage.engine.perform("fix", run_id)["remaining_blockers"] == 2
    refused = stage.refused("fix", run_id)
    assert (refused.code, refused.retryable, stage.state(run_id)) == ("FIX_EXHAUSTED", False, "VALIDATING")
    told = {"reason": "budget_exceeded", "budget": "max_patch_attempts", "limit": 2, "used": 2}
    assert {name: refused.details[name] for name in told} == told
    assert "2 attempts at changing pages" in refused.message
    assert [item.status for item in stage.items(run_id, "fixer")] == ["finished"]
    stage.check(run_id)


def test_the_codes_that_callers_know_are_those_of_the_contract() -> None:
    from holdfast.errors import CODES

    assert set(CODES) >= execution._CODES


WORKERS = ["linker_patcher", "validator"]


@settings(
    max_examples=min(6, settings().max_examples // 13), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    killed=st.sets(st.sampled_from(WORKERS)),
    lost=st.lists(st.tuples(st.sampled_from(["_work", "_advance"]), st.integers(1, 4)), max_size=2),
)
def test_whoever_is_killed_between_two_steps_the_artifacts_are_the_same(
    stage: Stage, killed: set[str], lost: list[tuple[str, int]]
) -> None:
    if stage.store.run("r_undisturbed") is None:
        stage.run("r_undisturbed", state="DRAFT_READY")
        assert stage.engine.perform("drive", "r_undisturbed") == {"state": "READY_FOR_PR"}
    for worker in WORKERS:
        stage.order(worker, "kill" if worker in killed else "fine", "fine")
    run_id = f"r_disturbed_{len(stage.store.runs(limit=99))}"
    stage.run(run_id, state="DRAFT_READY")
    with pytest.MonkeyPatch.context() as patch:
        for method, number in lost:
            lose(stage, patch, method, number)
        assert stage.engine.perform("drive", run_id) == {"state": "READY_FOR_PR"}
    assert stage.digests(run_id) == stage.digests("r_undisturbed")
    assert moves(stage, run_id) == LINE
    stage.check(run_id)


def lose(stage: Stage, patch: pytest.MonkeyPatch, method: str, number: int) -> None:
    """At the end of the step of this number, whoever executed it is gone."""
    original, count = getattr(Execution, method), [0]

    async def around(self: Execution, *arguments: Any) -> Any:
        answer = await original(self, *arguments)
        count[0] += 1
        if count[0] == number:
            stage.store.release_all()
            raise Lost
        return answer

    patch.setattr(Execution, method, around)
