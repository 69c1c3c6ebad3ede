"""What is next in a run: from wherever it was left, the rest is done, once, and then it rests."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch import states
from holdfast.launch.pipeline import Did, Move, Rest, Work, next_step
from holdfast.launch.workers import WORKERS, inputs_of

_SECTIONS = ("docs", "blog")
_MADE = {
    "repo_scout": ["repo_inventory.json", "frontmatter_contract.json", "site_context.json", "hugo_facts.json"],
    "facts_builder": ["product_facts.json", "evidence_map.json"],
    "snippet_curator": ["snippet_catalog.json"],
    "ia_planner": ["page_plan.json"],
    "section_writer": ["draft_manifest.{}.json", "drafts/{}/a.md"],
    "linker_patcher": ["patch_bundle.json", "patch_conflicts.json"],
    "validator": ["validation_report.json"],
    "fixer": ["patch_bundle.json", "fixes/{}.json"],
}


class _Run:
    """A run in memory: artifacts are named after how often they were made."""

    def __init__(self, report_ok: bool) -> None:
        self.state = states.CREATED
        self.artifacts: dict[str, str] = {}
        self.did: list[Did] = []
        self.report_ok = report_ok
        self.worked: list[tuple[str, str]] = []

    def step(self) -> Work | Move | Rest:
        report: dict[str, Any] | None = (
            {"ok": self.report_ok} if "validation_report.json" in self.artifacts else None
        )
        return next_step(self.state, _SECTIONS, self.artifacts, self.did, report)

    def work(self, worker: str, scope: str, *, dies: bool = False) -> None:
        inputs = {name: self.artifacts[name] for name in inputs_of(worker, self.artifacts)}
        if dies:
            self.did.append(Did(worker, scope, "running", inputs))
            return
        self.worked.append((worker, scope))
        for name in _MADE[worker]:
            self.artifacts[name.format(scope)] = f"{name}#{len(self.worked)}"
        self.did.append(Did(worker, scope, "finished", inputs))

    def finish(self, deaths: "list[bool]") -> None:
        for _ in range(200):
            step = self.step()
            if isinstance(step, Rest):
                return
            if isinstance(step, Move):
                assert states.is_edge(self.state, step.state)
                self.state = step.state
                continue
            for scope in step.scopes:
                dies = bool(deaths) and deaths.pop()
                self.work(step.worker, scope, dies=dies)
        raise AssertionError("the run does not come to rest")


@given(deaths=st.lists(st.booleans(), max_size=30))
def test_whatever_dies_on_the_way_every_work_is_finished_once(deaths: list[bool]) -> None:
    run = _Run(report_ok=True)
    run.finish(list(deaths))
    assert run.state == states.READY_FOR_PR
    assert len(run.worked) == len(set(run.worked))
    assert {worker for worker, _ in run.worked} == set(WORKERS) - {"fixer", "pr_manager", "tree_keeper"}
    assert {scope for worker, scope in run.worked if worker == "section_writer"} == set(_SECTIONS)


@pytest.mark.requirement("OURS-23-rests")
def test_a_run_whose_gates_found_something_rests_and_waits_for_a_fix() -> None:
    run = _Run(report_ok=False)
    run.finish([])
    assert run.state == states.VALIDATING
    assert isinstance(run.step(), Rest)


@given(deaths=st.lists(st.booleans(), max_size=6))
def test_a_fix_that_was_interrupted_is_carried_out_and_validated(deaths: list[bool]) -> None:
    run = _Run(report_ok=False)
    run.finish([])
    run.state = states.FIXING
    run.did.append(Did("fixer", "iss_1", "running", {}))
    run.report_ok = True
    run.finish(list(deaths))
    assert run.state == states.READY_FOR_PR
    assert run.worked[-2:] == [("fixer", "iss_1"), ("validator", "run")]


def test_a_fix_that_changed_no_artifact_is_still_validated() -> None:
    run = _Run(report_ok=False)
    run.finish([])
    run.state = states.FIXING
    run.did.append(Did("fixer", "iss_1", "finished", {}))
    assert run.step() == Work("validator", ("run",))


def test_a_fix_that_failed_leads_back_to_where_it_began() -> None:
    run = _Run(report_ok=False)
    run.finish([])
    run.state = states.FIXING
    run.did.append(Did("fixer", "iss_1", "failed", {}))
    assert run.step() == Move(states.VALIDATING)


def test_a_changed_artifact_makes_the_work_that_reads_it_necessary_again() -> None:
    run = _Run(report_ok=True)
    run.finish([])
    run.state = states.LINKING
    run.artifacts["patch_bundle.json"] = "another"
    assert run.step() == Work("validator", ("run",))


def test_the_end_of_a_run_is_a_rest() -> None:
    for state in states.TERMINAL:
        assert isinstance(next_step(state, _SECTIONS, {}, [], None), Rest)


def test_inputs_are_what_the_table_names_and_what_begins_like_it() -> None:
    names = ["drafts/docs/a.md", "draft_manifest.docs.json", "page_plan.json", "pr.json", "drafted"]
    assert inputs_of("linker_patcher", names) == ["draft_manifest.docs.json", "drafts/docs/a.md", "page_plan.json"]
