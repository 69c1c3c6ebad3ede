"""Mistakes that systems of this kind are known for, each as the outcome that we have instead."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event as hooks
from sqlalchemy.engine import Engine
from tests.launch.products import git
from tests.launch.runs import PAGE, Mended, Place, Published, error_of, succeeded, until

from holdfast.errors import ToolError
from holdfast.launch.claim_marks import claims_of, without_marks
from holdfast.launch.documents import violations
from holdfast.launch.fixing.rules import choose
from holdfast.launch.identifiers import trace_id
from holdfast.launch.issues import issue, issue_id
from holdfast.launch.patching.fence import Fence
from holdfast.launch.store.chain import BEGINNING
from holdfast.launch.store.export import replay, replay_file
from holdfast.launch.store.folding import picture_of
from holdfast.launch.store.refusals import ChainBroken
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.tools import server
from holdfast.testing import connect
from holdfast.version import __version__

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]


# --- starting and reading --------------------------------------------------------------------------------------


def test_a_configuration_of_unknown_words_starts_no_run(shared: Place) -> None:
    shared.reset()
    error = error_of(shared.call("launch_start_run", run_config={"bogus": 1}))

    assert error["code"] == "SCHEMA_VALIDATION_FAILED"
    assert any("bogus" in violation["message"] for violation in error["details"]["violations"])
    assert [run["run_id"] for run in succeeded(shared.call("launch_list_runs"))["runs"]] == [shared.run_id]


def test_a_key_is_kept_and_means_one_run(shared: Place) -> None:
    shared.reset()
    arguments = {"run_config": shared.origin.config, "idempotency_key": shared.origin.key}

    run_ids = {succeeded(shared.call("launch_start_run", **arguments))["run_id"] for _ in range(3)}

    assert run_ids == {shared.run_id}


def test_a_run_that_was_started_leaves_its_first_state_by_itself(place: Place) -> None:
    run_id = succeeded(place.call("launch_start_run", run_config=place.origin.config))["run_id"]

    until(lambda: place.service.run(run_id).state != "CREATED", what="the first change of state")

    told = [event.type for event in place.service.store.events(run_id)]
    assert told[:3] == ["RUN_CREATED", "WORK_ITEM_QUEUED", "WORK_ITEM_STARTED"]
    succeeded(place.call("launch_cancel", run_id=run_id))


def test_the_snapshot_of_a_run_without_a_past_is_whole_and_every_tool_understands_it(place: Place) -> None:
    run_id = place.service.start(place.origin.config, drive=False)[0].run_id

    snapshot = place.service.store.snapshot(run_id)

    assert violations("snapshot", snapshot) == []
    assert (snapshot["run_state"], snapshot["run_id"]) == ("CREATED", run_id)
    assert replay(place.service.store, run_id).ok
    for tool in ("launch_validate", "launch_fix_next", "launch_open_pr"):
        assert error_of(place.call(tool, run_id=run_id))["code"] == "ILLEGAL_STATE"


def test_the_exports_of_a_run_tell_what_the_store_tells(published: Published) -> None:
    folder = published.place.run_folder
    report = replay_file(folder / "events.ndjson")

    assert report.ok
    assert report.snapshot is not None
    assert report.snapshot == json.loads((folder / "snapshot.json").read_bytes())
    assert report.snapshot["run_state"] == "DONE"
    assert report.events == len(published.place.events())


@pytest.mark.parametrize("name", ["../../../../../etc/hostname", "../run_config.json", "runs.sqlite"])
def test_a_name_with_a_path_in_it_reaches_no_file(shared: Place, name: str) -> None:
    error = error_of(shared.call("launch_get_artifact", run_id=shared.run_id, artifact_name=name))

    assert (error["code"], set(error["details"])) == ("INVALID_INPUT", {"artifact_name", "hint"})


def test_runs_are_listed_without_a_look_at_their_past(shared: Place) -> None:
    shared.reset()
    asked: list[str] = []

    def hear(*told: Any) -> None:
        asked.append(told[2])

    shared.service  # noqa: B018 - opened before anybody listens
    hooks.listen(Engine, "before_cursor_execute", hear)
    try:
        succeeded(shared.call("launch_list_runs"))
    finally:
        hooks.remove(Engine, "before_cursor_execute", hear)

    assert any("FROM launch_runs" in statement for statement in asked)
    assert not [statement for statement in asked if "launch_events" in statement]


def test_a_server_that_only_announces_loads_neither_store_nor_engine_nor_parsers() -> None:
    heavy = ("sqlalchemy", "dbos", "psycopg", "tantivy", "tree_sitter", "mcp", "holdfast.search.library")
    script = f"import sys, holdfast.launch.tools; print([name for name in {heavy} if name in sys.modules])"

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert told.stdout == "[]\n"


def test_runs_that_failed_are_listed_like_the_others_and_always_in_the_same_order(shared: Place) -> None:
    shared.reset()
    shared.put_in("FAILED", failure='{"code":"INTERNAL","message":"it broke","details":{}}')

    lists = [succeeded(shared.call("launch_list_runs"))["runs"] for _ in range(2)]

    assert lists[0] == lists[1]
    (run,) = lists[0]
    assert (run["run_id"], run["state"]) == (shared.run_id, "FAILED")
    assert run["started_at"]
    shared.reset()


def test_every_section_has_a_state_and_every_issue_a_title(mended: Mended) -> None:
    mended.place.serve()
    status = succeeded(mended.place.run_call("launch_get_status"))["status"]

    assert set(status["section_states"]) == {"products", "kb"}
    assert set(status["section_states"].values()) <= {"DONE", "BLOCKED", "MERGED_IN_WORKTREE"}
    opened = [event.payload["issue"] for event in mended.place.new_events() if event.type == "ISSUE_OPENED"]
    assert mended.dead_link["issue_id"] in {one["issue_id"] for one in opened}
    assert all(one["message"] for one in opened)


def test_wrong_calls_are_told_in_the_words_of_the_contract_by_a_server_with_our_version(shared: Place) -> None:
    async def ask() -> tuple[Any, Any, Any]:
        async with connect(server, revision=None) as client:
            hello = await client.handshake("2025-11-25")
            return (
                hello["result"]["serverInfo"],
                await client.call("launch_get_status"),
                await client.call("launch"),
            )

    info, missing, unknown = asyncio.run(ask())

    assert info["version"] == __version__
    assert error_of(missing)["code"] == "INVALID_INPUT"
    assert (unknown.error["code"], unknown.code) == (-32602, "NOT_FOUND")


# --- gates and fixes -------------------------------------------------------------------------------------------


def test_nothing_passes_that_no_gate_has_looked_at(shared: Place) -> None:
    shared.reset()
    shared.put_in("CREATED")

    assert error_of(shared.run_call("launch_validate"))["code"] == "ILLEGAL_STATE"

    shared.reset()
    report = shared.document("validation_report.json")
    assert len(report["gates"]) > 10
    assert {gate["status"] for gate in report["gates"]} <= {"passed", "skipped"}
    told = [event.payload["gate"] for event in shared.events() if event.type == "GATE_RUN_FINISHED"]
    assert told == [gate["name"] for gate in report["gates"]]


def test_a_report_with_findings_fits_its_schema(mended: Mended) -> None:
    for answer in (mended.validated, mended.fixed):
        assert violations("validation_report", answer["validation_report"]) == []
    assert mended.validated["validation_report"]["error_code"] == "GATE_FAILED"


def test_pages_of_others_are_not_judged(mended: Mended) -> None:
    ours = {patch["path"] for patch in mended.place.document("patch_bundle.json")["patches"]}
    others = {
        str(path.relative_to(mended.place.work_tree)) for path in mended.place.work_tree.rglob("*.md")
    } - ours

    found = [
        one["location"]["path"] for one in mended.validated["validation_report"]["issues"] if "location" in one
    ]

    assert others
    assert set(found) <= ours


def test_findings_of_both_severities_that_count_enter_the_fix_loop_the_worst_first() -> None:
    data = {"line_text": "x", "target": "/y/"}
    made = [
        issue("links", "DEAD", severity, severity, path=PAGE, fix_rule="remove_dead_link", data=data)
        for severity in ("info", "warn", "error", "blocker")
    ]

    assert (chosen := choose(made, ())) is not None
    assert chosen["severity"] == "blocker"
    assert (chosen := choose(made[:3], ())) is not None
    assert chosen["severity"] == "error"
    assert choose(made[:2], ()) is None


def test_a_fix_is_a_patch_of_the_bundle_and_is_made_in_the_work_tree_of_the_run(mended: Mended) -> None:
    patches = {patch["patch_id"]: patch for patch in mended.place.document("patch_bundle.json")["patches"]}

    assert mended.fixed["applied_patch_ids"]
    assert set(mended.fixed["applied_patch_ids"]) <= set(patches)
    record = mended.place.document(f"fixes/{mended.fixed['fixed_issue_id']}.json")
    assert record["patch_ids"] == mended.fixed["applied_patch_ids"]
    assert "/nowhere/at/all/" not in (mended.place.work_tree / PAGE).read_text()


def test_an_issue_keeps_its_id_when_its_line_moves() -> None:
    first, second = (
        issue("links", "DEAD", "error", "Dead.", path=PAGE, line=line, anchor="/y/") for line in (3, 9)
    )

    assert first["issue_id"] == second["issue_id"] == issue_id("links", "DEAD", PAGE, "/y/")
    assert first["issue_id"] != issue("links", "DEAD", "error", "Dead.", path=PAGE, anchor="/z/")["issue_id"]


def test_a_claim_is_marked_where_a_reader_does_not_see_it(shared: Place) -> None:
    text = (shared.work_tree / PAGE).read_text()

    assert claims_of(text)
    assert "[claim" not in text
    assert all(line.strip().endswith("-->") for line in text.splitlines() if claims_of(line))
    assert "claim:" not in without_marks(text)


# --- the fence -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "content/docs/notebook/x.md",
        "content/docs/note/../../../../outside.md",
        "content/docs/note/../note2/x.md",
        "/content/docs/note/x.md",
    ],
)
def test_the_fence_knows_names_and_not_only_their_beginnings(path: str) -> None:
    fence = Fence(["content/docs/note/"])

    assert fence.check("content/docs/note/x.md") == "content/docs/note/x.md"
    with pytest.raises(ToolError) as refused:
        fence.check(path)
    assert refused.value.code == "ALLOWED_PATHS_VIOLATION"


def test_a_run_that_may_write_nowhere_is_not_one_that_may_write_everywhere(shared: Place) -> None:
    config = {**shared.origin.config, "allowed_paths": []}

    assert error_of(shared.call("launch_start_run", run_config=config))["code"] == "SCHEMA_VALIDATION_FAILED"
    assert not Fence([]).allows("content/docs/x.md")


# --- states and events -----------------------------------------------------------------------------------------


def test_a_worker_that_fails_ends_the_run_as_failed_with_its_reason(place: Place) -> None:
    config = {**place.origin.config, "github_ref": "1" * 40}
    run_id = place.service.start(config, drive=False)[0].run_id

    status = succeeded(place.call("launch_resume", run_id=run_id))["status"]

    assert status["state"] == "FAILED"
    told = [
        event for event in place.service.store.events(run_id) if event.type in ("WORK_ITEM_FAILED", "RUN_FAILED")
    ]
    assert [event.type for event in told] == ["WORK_ITEM_FAILED", "RUN_FAILED"]
    assert told[1].payload["failure"]["code"] == told[0].payload["error"]["code"]
    assert place.service.store.snapshot(run_id)["run_state"] == "FAILED"


def test_a_run_is_ready_before_it_has_a_pull_request_and_says_when_it_is_complete(published: Published) -> None:
    events = published.place.events()
    moves = [event.payload["to"] for event in events if event.type == "RUN_STATE_CHANGED"]

    assert moves[-4:] == ["VALIDATING", "READY_FOR_PR", "PR_OPENED", "DONE"]
    assert events[-1].type == "RUN_COMPLETED"
    assert published.place.row()["finished_at"] is not None


def test_a_run_with_findings_is_never_done(shared: Place) -> None:
    shared.reset()
    shared.keep_report(issue("policy", "PATCH_CONFLICT", "blocker", "It does not fit.", path=PAGE))

    assert error_of(shared.run_call("launch_open_pr"))["details"]["reason"] == "report_not_ok"
    shared.put_in("VALIDATING")
    assert error_of(shared.run_call("launch_open_pr"))["code"] == "ILLEGAL_STATE"
    assert succeeded(shared.run_call("launch_resume"))["status"]["state"] == "VALIDATING"
    shared.reset()


def test_every_artifact_is_told_in_one_form_and_none_is_missing_in_the_index(published: Published) -> None:
    written = [event.payload for event in published.place.events() if event.type == "ARTIFACT_WRITTEN"]

    assert {frozenset(payload) for payload in written} == {
        frozenset({"name", "path", "schema_id", "sha256", "size", "writer_worker"})
    }
    assert {payload["name"]: payload["sha256"] for payload in written} == published.place.digests()
    assert {"page_plan.json", "patch_bundle.json", "validation_report.json", "pr.json"} <= set(
        published.place.digests()
    )


def test_every_json_artifact_of_a_run_fits_its_schema(published: Published) -> None:
    with contextlib.closing(RunStore(published.place.workspace.store_url)) as store:
        kept = store.artifacts(published.place.run_id)

    for name, artifact in kept.items():
        if artifact.schema_id != "text":
            assert violations(artifact.schema_id, published.place.document(name)) == [], name
    assert len([name for name in kept if name.endswith(".json")]) > 10


def test_work_is_told_once_and_under_one_name(published: Published) -> None:
    started = Counter(
        event.payload["work_item_id"] for event in published.place.events() if event.type == "WORK_ITEM_STARTED"
    )

    assert set(started.values()) == {1}
    assert all(name.startswith(f"{published.place.run_id}:") for name in started)


def test_a_run_has_one_trace_and_one_name_in_all_that_is_told_of_it(published: Published) -> None:
    told = {(event.run_id, event.trace_id) for event in published.place.events()}

    assert told == {(published.place.run_id, trace_id(published.place.run_id))}


def test_events_are_a_chain_in_which_a_change_is_noticed(published: Published) -> None:
    events = published.place.events()

    assert [event.prev_hash for event in events] == [BEGINNING, *(event.event_hash for event in events[:-1])]
    assert picture_of(events).run.state == "DONE"
    changed = replace(events[5], payload={**events[5].payload, "extra": 1})
    with pytest.raises(ChainBroken):
        picture_of([*events[:5], changed, *events[6:]])


# --- the pull request ------------------------------------------------------------------------------------------


def test_two_runs_of_a_product_have_branches_of_their_own(published: Published, shared: Place) -> None:
    assert published.answer["branch"] == f"launch/{published.place.run_id}/tablekit"

    shared.reset()
    runs = {shared.service.start(shared.origin.config, drive=False)[0].run_id for _ in range(5)}
    assert len(runs) == 5, "also of one second"
    shared.reset()


def test_a_pull_request_names_its_run_its_base_and_the_gates_that_passed(published: Published) -> None:
    document = published.place.document("pr.json")
    summary = document["validation_summary"]

    assert document["base_ref"] == published.place.config()["site_ref"]
    assert document["run_id"] == published.place.run_id
    assert (summary["ok"], summary["gates_passed"] > 10) == (True, True)
    assert document["rollback_steps"]
    assert document["affected_paths"]


def test_the_commit_is_in_the_repository_and_says_what_was_configured(published: Published) -> None:
    sha = published.answer["commit_sha"]

    assert git(published.remote, "cat-file", "-t", sha) == "commit"
    assert git(published.remote, "show", "--no-patch", "--format=%s", sha) == "Launch tablekit"
    assert f"Run {published.place.run_id}." in git(published.remote, "show", "--no-patch", "--format=%b", sha)
    kb = git(published.remote, "show", f"{sha}:{PAGE}")
    assert kb == (published.place.work_tree / PAGE).read_text().strip()


def test_publishing_that_was_lost_on_the_way_is_repeated_without_a_second_commit(place: Place) -> None:
    remote = place.bare_site()
    first = succeeded(place.run_call("launch_open_pr"))
    refs = git(remote, "for-each-ref")
    place.reset()  # as if the process had died before anything of it was kept
    place.reconfigure(site_repo_url=str(remote))

    second = succeeded(place.run_call("launch_open_pr"))

    assert second == first
    assert git(remote, "for-each-ref") == refs


def test_a_run_of_the_local_profile_really_publishes(published: Published) -> None:
    assert published.place.config().get("validation_profile", "local") == "local"
    heads = git(published.remote, "for-each-ref", "--format=%(refname)", "refs/heads/launch")
    assert heads == f"refs/heads/{published.answer['branch']}"
    pulls = git(published.remote, "for-each-ref", "--format=%(objectname)", "refs/pull")
    assert published.answer["commit_sha"] in pulls
