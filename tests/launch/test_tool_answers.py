"""What the launch tools answer when they succeed: starting once, listing, status, artifacts, a pull request."""

import asyncio
import base64
import json
import re

import pytest
from tests.launch.products import git
from tests.launch.runs import (
    PAGE,
    TOOLS,
    Mended,
    Place,
    Published,
    answered,
    described,
    error_of,
    succeeded,
    until,
)

from holdfast.launch import states
from holdfast.launch.documents import sha256, violations
from holdfast.launch.issues import issue, ordered
from holdfast.launch.tools import server
from holdfast.testing import assert_tool_contract, connect

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]

RUN_ID = re.compile(r"r_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ_[0-9a-f]{4,8}")


# --- what is published -----------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-acceptance-described")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_client_needs_nothing_but_what_is_published(tool: str) -> None:
    published = described()[tool]
    given, answer = published["inputSchema"], published["outputSchema"]

    assert given["additionalProperties"] is False
    assert all(field.get("description") for field in given["properties"].values())
    assert answer["properties"]["ok"] == {"const": True}
    assert "ok" in answer["required"]
    assert ("run_id" in answer["required"]) == (tool != "launch_list_runs")
    assert published["description"]


@pytest.mark.requirement("S4-acceptance-described")
def test_there_are_nine_tools_and_each_keeps_the_rules_of_all_tools(shared: Place) -> None:
    shared.reset()
    assert sorted(described()) == sorted(TOOLS)
    asyncio.run(assert_tool_contract(server))


# --- starting --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("OURS-30-created")
@pytest.mark.requirement("S4-launch_start_run-works")
def test_a_valid_configuration_starts_a_run_that_goes_on_by_itself(place: Place) -> None:
    started = succeeded(place.call("launch_start_run", run_config=place.origin.config))
    assert started["state"] == "CREATED"
    assert RUN_ID.fullmatch(started["run_id"])

    other = succeeded(place.call("launch_start_run", run_config=place.origin.config))
    assert other["run_id"] != started["run_id"], "without a key every call is another run"

    for run in (started, other):
        assert succeeded(place.call("launch_cancel", run_id=run["run_id"]))["cancelled"] is True


@pytest.mark.requirement("OURS-30-created")
@pytest.mark.requirement("S4-launch_start_run-idempotent")
@pytest.mark.parametrize("state", ["DRAFTING", "READY_FOR_PR", "CANCELLED"])
def test_the_same_key_and_configuration_are_the_same_run_in_its_state_of_now(shared: Place, state: str) -> None:
    shared.reset()
    shared.put_in(state)
    turned = dict(reversed(shared.origin.config.items()))  # the order of keys says nothing

    again = succeeded(shared.call("launch_start_run", run_config=turned, idempotency_key=shared.origin.key))

    assert (again["run_id"], again["state"]) == (shared.run_id, state)
    assert len(succeeded(shared.call("launch_list_runs"))["runs"]) == 1


@pytest.mark.requirement("OURS-22-key")
@pytest.mark.requirement("S4-launch_start_run-idempotent")
def test_the_same_key_with_another_configuration_is_refused_with_both_digests(shared: Place) -> None:
    shared.reset()
    config = {**shared.origin.config, "max_fix_attempts": 7}

    error = error_of(shared.call("launch_start_run", run_config=config, idempotency_key=shared.origin.key))

    assert (error["code"], error["retryable"]) == ("INVALID_INPUT", False)
    details = error["details"]
    assert details["existing_run_id"] == shared.run_id
    assert details["existing_config_sha256"] == shared.row()["config_sha256"] != details["given_config_sha256"]
    assert len(details["given_config_sha256"]) == 64


@pytest.mark.requirement("OURS-22-key")
@pytest.mark.requirement("S4-launch_start_run-idempotent")
def test_of_many_starts_at_once_with_one_key_one_makes_the_run(place: Place) -> None:
    async def ask() -> list[str]:
        async with connect(server) as client:
            arguments = {"run_config": place.origin.config, "idempotency_key": "all at once"}
            numbers = [client.start_call("launch_start_run", arguments) for _ in range(8)]
            return [succeeded(await answered(client, number))["run_id"] for number in numbers]

    run_ids = set(asyncio.run(ask()))

    assert len(run_ids) == 1
    assert len(succeeded(place.call("launch_list_runs"))["runs"]) == 2
    succeeded(place.call("launch_cancel", run_id=run_ids.pop()))


# --- listing ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-launch_list_runs-works")
@pytest.mark.requirement("S4-launch_list_runs-filter")
def test_runs_are_listed_newest_first_and_narrowed_by_product_and_state(place: Place) -> None:
    config = place.origin.config
    slugs = ["chartkit", "tablekit", "chartkit"]
    made = [place.service.start({**config, "product_slug": slug}, drive=False)[0].run_id for slug in slugs]
    place.service.cancel(made[0])

    def listed(**wanted: str) -> list[str]:
        return [run["run_id"] for run in succeeded(place.call("launch_list_runs", filter=wanted))["runs"]]

    assert listed() == [*reversed(made), place.run_id]
    assert listed(product_slug="chartkit") == [made[2], made[0]]
    assert listed(state="CREATED") == [made[2], made[1]]
    assert listed(product_slug="chartkit", state="CANCELLED") == [made[0]]
    assert listed(product_slug="nothing") == []
    runs = {run["run_id"]: run for run in succeeded(place.call("launch_list_runs"))["runs"]}
    assert runs[place.run_id]["finished_at"] is None
    assert runs[made[0]]["finished_at"] >= runs[made[0]]["started_at"]
    assert runs[made[0]] == {**runs[made[0]], "product_slug": "chartkit", "state": "CANCELLED"}


# --- status and artifacts --------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-types-status")
def test_a_status_tells_sections_open_issues_and_artifacts_with_their_digests(mended: Mended) -> None:
    mended.place.serve()
    mended.place.put_in("VALIDATING")
    status = succeeded(mended.place.run_call("launch_get_status"))["status"]

    assert status["run_id"] == mended.place.run_id
    assert set(status["section_states"]) == {"products", "kb"}
    names = [artifact["name"] for artifact in status["artifacts"]]
    assert names == sorted(names)
    assert {"page_plan.json", "patch_bundle.json", "validation_report.json"} < set(names)
    for artifact in status["artifacts"]:
        arguments = {"run_id": mended.place.run_id, "artifact_name": artifact["name"]}
        found = succeeded(mended.place.call("launch_get_artifact", **arguments))["artifact"]
        assert sha256(found["content"].encode()) == found["sha256"] == artifact["sha256"]


@pytest.mark.requirement("S4-types-status")
def test_open_issues_have_their_first_sentence_as_title_the_worst_first(shared: Place) -> None:
    shared.reset()
    found = [
        issue("truthlock", "UNCITED", severity, f"{severity.title()} line. It goes on.", path=PAGE)
        for severity in ("warn", "blocker", "error")
    ]
    with shared.service.store.change(shared.run_id) as change:
        change.issues(found)

    status = succeeded(shared.run_call("launch_get_status"))["status"]

    assert [one["title"] for one in status["open_issues"]] == ["Blocker line", "Error line", "Warn line"]
    assert [one["issue_id"] for one in status["open_issues"]] == [one["issue_id"] for one in ordered(found)]
    assert {one["gate"] for one in status["open_issues"]} == {"truthlock"}
    shared.reset()


@pytest.mark.requirement("S4-types-artifact")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page_plan.json", "application/json"),
        ("drafts/kb/faq.md", "text/markdown"),
        ("logs/gate_schema.log", "text/plain"),
    ],
)
def test_an_artifact_of_text_is_given_as_it_is(shared: Place, name: str, kind: str) -> None:
    shared.reset()
    answer = succeeded(shared.call("launch_get_artifact", run_id=shared.run_id, artifact_name=name))

    found = answer["artifact"]
    assert (found["name"], found["content_type"]) == (name, kind)
    assert found["sha256"] == sha256(found["content"].encode()) == shared.digests()[name]
    if kind == "application/json":
        assert violations("page_plan", json.loads(found["content"])) == []


@pytest.mark.requirement("OURS-28-base64")
@pytest.mark.requirement("S4-types-artifact-base64")
def test_an_artifact_that_is_no_text_is_base64_and_says_so(shared: Place) -> None:
    picture = b"\x89PNG\r\n\x1a\n\x00\xff\xfe"
    shared.keep("pictures/logo.png", picture)
    arguments = {"run_id": shared.run_id, "artifact_name": "pictures/logo.png"}

    found = succeeded(shared.call("launch_get_artifact", **arguments))["artifact"]

    assert found["content_type"].endswith(";base64")
    assert base64.b64decode(found["content"], validate=True) == picture
    assert found["sha256"] == sha256(picture)
    shared.reset()


# --- going on --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-launch_resume-works")
def test_a_run_that_nobody_executes_goes_on_by_one_state_at_a_time(place: Place) -> None:
    run_id = place.service.start(place.origin.config, drive=False)[0].run_id

    for state in ("CLONED_INPUTS", "INGESTED"):
        status = succeeded(place.call("launch_resume", run_id=run_id))["status"]
        assert (status["run_id"], status["state"]) == (run_id, state)

    assert "repo_inventory.json" in {artifact["name"] for artifact in status["artifacts"]}
    assert (place.workspace.run(run_id) / "work" / "repo" / "pyproject.toml").is_file()


@pytest.mark.requirement("OURS-30-auto-resume")
def test_interrupted_runs_go_on_with_the_start_of_the_server_only_where_that_is_asked_for(place: Place) -> None:
    Place.stop()
    place.put_in("PR_OPENED")
    before = place.requests()
    place.serve()
    assert (place.requests(), place.state()) == (before, "PR_OPENED")

    Place.stop()
    place.serve(auto_resume=True)
    until(lambda: place.state() == "DONE", what="the end of the run that was interrupted")


@pytest.mark.requirement("S4-launch_fix_next-order")
@pytest.mark.requirement("S4-launch_fix_next-answer")
def test_the_first_mendable_issue_is_fixed_and_its_patches_are_in_the_bundle(mended: Mended) -> None:
    report, fixed = mended.validated["validation_report"], mended.fixed
    mendable = [one for one in report["issues"] if one["severity"] in ("blocker", "error") and "fix_rule" in one]
    patches = {patch["patch_id"]: patch for patch in mended.place.document("patch_bundle.json")["patches"]}

    assert fixed["fixed_issue_id"] == mendable[0]["issue_id"]
    assert [patches[name]["path"] for name in fixed["applied_patch_ids"]] == [PAGE]
    assert "/nowhere/at/all/" not in (mended.place.work_tree / PAGE).read_text()
    moves = [event.payload["to"] for event in mended.place.new_events() if event.type == "RUN_STATE_CHANGED"]
    assert moves[:3] == ["VALIDATING", "FIXING", "VALIDATING"]


@pytest.mark.requirement("S4-launch_open_pr-answer")
def test_a_pull_request_is_one_commit_on_the_branch_of_the_run(published: Published) -> None:
    answer, run_id = published.answer, published.place.run_id
    base = published.place.config()["site_ref"]

    assert set(answer) == {"ok", "run_id", "pr_url", "branch", "commit_sha"}
    assert answer["branch"] == f"launch/{run_id}/tablekit"
    assert git(published.remote, "rev-parse", f"refs/heads/{answer['branch']}") == answer["commit_sha"]
    assert git(published.remote, "rev-parse", f"{answer['commit_sha']}^") == base
    changed = git(published.remote, "diff", "--name-only", base, answer["commit_sha"]).splitlines()
    assert changed == sorted(patch["path"] for patch in published.place.document("patch_bundle.json")["patches"])
    assert answer["pr_url"]


@pytest.mark.requirement("OURS-31-again")
@pytest.mark.requirement("S4-launch_open_pr-state")
def test_what_is_asked_of_a_published_run_is_told_its_pull_request(published: Published) -> None:
    published.place.serve()
    error = error_of(published.place.run_call("launch_open_pr"))

    assert published.place.state() == states.DONE
    assert (error["code"], error["retryable"]) == ("ILLEGAL_STATE", False)
    told = {key: error["details"][key] for key in ("pr_url", "branch", "commit_sha")}
    assert told == {key: published.answer[key] for key in told}
