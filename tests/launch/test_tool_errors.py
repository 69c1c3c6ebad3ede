"""Every error code of the launch tools, reached by a call, in the one shape that failures have."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import git
from tests.launch.runs import (
    BOUND,
    GONE,
    PAGE,
    TOOLS,
    UNKNOWN,
    Launched,
    Mended,
    Place,
    error_of,
    refused,
    succeeded,
)

from holdfast.launch.documents import violations
from holdfast.launch.engine import labour
from holdfast.launch.http_service import running
from holdfast.launch.issues import issue
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.http import make_app
from holdfast.launch.publishing.service import CommitService
from holdfast.launch.toolchain import HUGO_VARIABLE, hugo_executable
from holdfast.launch.tools import server
from holdfast.testing import connect

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]

OF_A_RUN = [tool for tool in TOOLS if tool not in ("launch_start_run", "launch_list_runs")]


def arguments_of(tool: str, run_id: str) -> dict[str, Any]:
    more = {"artifact_name": "page_plan.json"} if tool == "launch_get_artifact" else {}
    return {"run_id": run_id, **more}


# --- INVALID_INPUT ---------------------------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("launch_start_run", {}, "", "required"),
    ("launch_start_run", {"run_config": "run.yaml"}, "/run_config", "type"),
    ("launch_start_run", {"run_config": {}, "idempotency_key": ""}, "/idempotency_key", "anyOf"),
    ("launch_start_run", {"run_config": {}, "idempotency_key": "k" * 201}, "/idempotency_key", "anyOf"),
    ("launch_start_run", {"run_config": {}, "force": True}, "", "additionalProperties"),
    ("launch_get_status", {}, "", "required"),
    ("launch_get_status", {"run_id": 7}, "/run_id", "type"),
    ("launch_get_status", {"run_id": "../../etc"}, "/run_id", "pattern"),
    ("launch_get_status", {"run_id": "short"}, "/run_id", "pattern"),
    ("launch_get_status", {"run_id": "r" * 65}, "/run_id", "pattern"),
    ("launch_get_status", {"run_id": UNKNOWN + "\n"}, "/run_id", "pattern"),
    ("launch_validate", {"run_id": UNKNOWN, "profile": "prod"}, "", "additionalProperties"),
    ("launch_get_artifact", {"run_id": UNKNOWN}, "", "required"),
    ("launch_get_artifact", {"run_id": UNKNOWN, "artifact_name": ""}, "/artifact_name", "minLength"),
    ("launch_get_artifact", {"run_id": UNKNOWN, "artifact_name": "x" * 10_000}, "/artifact_name", "maxLength"),
    ("launch_list_runs", {"filter": {"state": "PAUSED"}}, "/filter", "anyOf"),
    ("launch_list_runs", {"filter": {"owner": "me"}}, "/filter", "anyOf"),
    ("launch_list_runs", {"filter": []}, "/filter", "anyOf"),
]


@pytest.mark.requirement("OURS-9-launch")
@pytest.mark.requirement("S4-errors-INVALID_INPUT")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_missing_wrong_and_unknown_fields_are_listed_in_every_revision(shared: Place, revision: str) -> None:
    async def ask() -> list[Any]:
        async with connect(server, revision=revision) as client:
            return [await client.call(tool, **arguments) for tool, arguments, *_ in WRONG]

    before = shared.picture()
    for (tool, arguments, path, keyword), result in zip(WRONG, asyncio.run(ask()), strict=True):
        error = error_of(result)
        assert (error["code"], error["retryable"]) == ("INVALID_INPUT", False), (tool, arguments)
        violation = error["details"]["violations"][0]
        assert (violation["instancePath"], violation["keyword"]) == (path, keyword), (tool, arguments)
    assert shared.picture() == before


NAMES = ["../../etc/passwd", "/etc/passwd", "runs.sqlite", ".", "..", "page_plan.json\0", "page_plan", "é" * 500]


@pytest.mark.requirement("OURS-25-names")
@pytest.mark.requirement("S4-errors-INVALID_INPUT")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_that_is_no_artifact_of_the_run_never_reads_a_file(shared: Place, name: str) -> None:
    told = refused(shared.call("launch_get_artifact", run_id=shared.run_id, artifact_name=name))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("INVALID_INPUT", False)
    assert told["error"]["details"]["artifact_name"] == name[:200]
    assert told["run_id"] == shared.run_id
    assert "root:" not in json.dumps(told)


# --- SCHEMA_VALIDATION_FAILED ----------------------------------------------------------------------------------


@pytest.mark.requirement("S4-errors-SCHEMA_VALIDATION_FAILED")
def test_a_configuration_that_does_not_fit_its_schema_starts_nothing(shared: Place) -> None:
    wrong = {**shared.origin.config, "github_ref": "main", "colour": "red", "max_fix_attempts": -1}

    error = error_of(shared.call("launch_start_run", run_config=wrong, idempotency_key="wrong"))

    assert (error["code"], error["retryable"]) == ("SCHEMA_VALIDATION_FAILED", False)
    places = {violation["instancePath"] for violation in error["details"]["violations"]}
    assert {"/github_ref", "/max_fix_attempts"} <= places
    assert any("colour" in violation["message"] for violation in error["details"]["violations"])
    assert len(succeeded(shared.call("launch_list_runs"))["runs"]) == 1


@pytest.mark.requirement("S4-errors-SCHEMA_VALIDATION_FAILED")
@pytest.mark.parametrize(
    ("tool", "state", "artifact"),
    [
        ("launch_get_artifact", "READY_FOR_PR", "page_plan.json"),
        ("launch_resume", "VALIDATING", "validation_report.json"),
        ("launch_fix_next", "VALIDATING", "validation_report.json"),
        ("launch_open_pr", "READY_FOR_PR", "patch_bundle.json"),
    ],
)
def test_an_artifact_that_was_changed_behind_our_back_is_not_believed(
    place: Place, tool: str, state: str, artifact: str
) -> None:
    place.put_in(state)
    place.spoil(artifact)

    told = refused(place.call(tool, **arguments_of(tool, place.run_id)))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("SCHEMA_VALIDATION_FAILED", False)
    assert told["error"]["details"]["artifact"] == artifact
    assert (told["run_id"], place.state()) == (place.run_id, state)


# --- RUN_NOT_FOUND ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-errors-RUN_NOT_FOUND")
@pytest.mark.parametrize("tool", OF_A_RUN)
def test_a_run_that_does_not_exist_is_not_found(shared: Place, tool: str) -> None:
    told = refused(shared.call(tool, **arguments_of(tool, UNKNOWN)))

    assert told["run_id"] == UNKNOWN
    assert (told["error"]["code"], told["error"]["retryable"]) == ("RUN_NOT_FOUND", False)


# --- ILLEGAL_STATE ---------------------------------------------------------------------------------------------

EXECUTOR = """
import sys
from pathlib import Path
from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace
root, run_id = Path(sys.argv[1]), sys.argv[2]
with RunService(Workspace(root, f"sqlite:///{root / 'runs.sqlite'}")) as service:
    def stop():
        if any(item.status == "running" for item in service.store.items(run_id)):
            print("working", flush=True)
        return False
    service.engine.perform("validate", run_id, stop=stop)
"""


@pytest.fixture
def executor(place: Place, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that validates the run at this moment, with a Hugo that takes its time."""
    slow = tmp_path / "hugo"
    slow.write_text(f'#!/bin/sh\n[ "$1" = version ] && exec {hugo_executable()} "$@"\nexec sleep 600\n')
    slow.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", EXECUTOR, str(place.root), place.run_id],
        stdout=subprocess.PIPE, text=True, env=os.environ | {HUGO_VARIABLE: str(slow)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        yield process
        process.communicate(timeout=BOUND)


@pytest.mark.requirement("OURS-30-busy")
@pytest.mark.requirement("S4-errors-ILLEGAL_STATE")
@pytest.mark.requirement("S4-acceptance-retryable")
def test_a_run_that_another_process_executes_is_busy_until_it_is_cancelled(
    place: Place, executor: subprocess.Popen[str]
) -> None:
    for tool in ("launch_validate", "launch_fix_next", "launch_resume", "launch_open_pr"):
        told = refused(place.run_call(tool))
        assert (told["run_id"], told["error"]["code"]) == (place.run_id, "ILLEGAL_STATE")
        assert (told["error"]["retryable"], told["error"]["details"]["reason"]) == (True, "busy")
    assert succeeded(place.run_call("launch_get_status"))["status"]["state"] == "READY_FOR_PR"

    assert succeeded(place.run_call("launch_cancel"))["state"] == "CANCELLED"

    executor.communicate(timeout=BOUND)
    assert place.new_events()[-1].type in ("RUN_CANCELLED", "WORK_ITEM_FAILED")


@pytest.mark.requirement("S4-launch_validate-worktree")
def test_a_run_whose_work_tree_is_gone_is_not_validated(place: Place) -> None:
    place.work_tree.rename(place.root / "elsewhere")

    error = error_of(place.run_call("launch_validate"))

    assert (error["code"], error["retryable"]) == ("ILLEGAL_STATE", False)
    assert error["details"]["missing"] == "worktree"


@pytest.mark.requirement("S4-launch_fix_next-report")
@pytest.mark.requirement("S4-launch_open_pr-report")
def test_what_the_last_report_says_decides_between_a_fix_and_a_pull_request(shared: Place) -> None:
    shared.reset()
    shared.put_in("VALIDATING")
    fix = error_of(shared.run_call("launch_fix_next"))
    shared.put_in("READY_FOR_PR")
    shared.keep_report(issue("policy", "PATCH_CONFLICT", "blocker", "It does not fit.", path=PAGE))
    publish = error_of(shared.run_call("launch_open_pr"))

    assert [error["code"] for error in (fix, publish)] == ["ILLEGAL_STATE"] * 2
    assert [error["details"]["reason"] for error in (fix, publish)] == ["report_ok", "report_not_ok"]
    assert [error["retryable"] for error in (fix, publish)] == [False] * 2


# --- TOOLCHAIN_MISSING -----------------------------------------------------------------------------------------


@pytest.mark.requirement("OURS-26-toolchain")
@pytest.mark.requirement("S4-errors-TOOLCHAIN_MISSING")
def test_without_hugo_nothing_is_validated_and_nothing_changes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HUGO", "/nowhere/hugo")
    row, digests = place.row(), place.digests()

    error = error_of(place.run_call("launch_validate"))

    assert (error["code"], error["retryable"]) == ("TOOLCHAIN_MISSING", False)
    (tool,) = error["details"]["tools"]
    assert (tool["name"], tool["found"]) == ("hugo", None)
    assert (place.state(), place.digests()) == (row["state"], digests)
    told = [event.type for event in place.new_events()]
    assert told == ["WORK_ITEM_QUEUED", "WORK_ITEM_STARTED", "WORK_ITEM_FAILED"]


# --- GATE_FAILED and FIX_EXHAUSTED -----------------------------------------------------------------------------


@pytest.mark.requirement("OURS-24-exhausted")
@pytest.mark.requirement("OURS-26-report")
@pytest.mark.requirement("S4-errors-GATE_FAILED")
@pytest.mark.requirement("S4-launch_validate-report")
@pytest.mark.requirement("S4-launch_fix_next-answer")
@pytest.mark.requirement("S4-launch_fix_next-exhausted")
@pytest.mark.requirement("S4-errors-FIX_EXHAUSTED")
def test_a_broken_page_is_found_mended_once_and_then_no_more(mended: Mended) -> None:
    report, fixed, place = mended.validated["validation_report"], mended.fixed, mended.place
    assert (report["ok"], report["error_code"]) == (False, "GATE_FAILED")
    assert violations("validation_report", report) == []
    assert fixed["fixed_issue_id"] == mended.dead_link["issue_id"]
    blockers = [one for one in fixed["validation_report"]["issues"] if one["severity"] == "blocker"]
    assert fixed["remaining_blockers"] == len(blockers)

    place.serve()
    place.keep_report(mended.dead_link)
    place.put_in("VALIDATING")
    for _ in range(2):  # the second time the run is FAILED, and the answer is the same
        error = error_of(place.run_call("launch_fix_next"))
        assert (error["code"], error["retryable"], place.state()) == ("FIX_EXHAUSTED", False, "FAILED")
        assert (error["details"]["attempts"], error["details"]["max_fix_attempts"]) == (1, 1)
        assert "launch_start_run" in error["details"]["hint"]  # by hand or by a validation nothing goes on here
    assert error_of(place.run_call("launch_resume"))["code"] == "ILLEGAL_STATE"


@pytest.mark.requirement("S4-launch_fix_next-exhausted")
def test_a_run_without_attempts_is_exhausted_at_the_first_fix(shared: Place) -> None:
    shared.reset()
    shared.reconfigure(max_fix_attempts=0)
    shared.keep_report(issue("policy", "PATCH_CONFLICT", "blocker", "It does not fit.", path=PAGE))
    shared.put_in("VALIDATING")

    first, second = (error_of(shared.run_call("launch_fix_next")) for _ in range(2))

    assert first == second
    assert (first["code"], shared.state()) == ("FIX_EXHAUSTED", "FAILED")
    assert shared.row()["finished_at"] is not None
    assert not [event for event in shared.new_events() if event.type.startswith("WORK_ITEM")]


@pytest.mark.requirement("OURS-24-no-rule")
@pytest.mark.requirement("S4-errors-FIX_EXHAUSTED")
@pytest.mark.requirement("S4-launch_fix_next-order")
def test_findings_that_no_rule_mends_leave_the_run_to_a_person(shared: Place) -> None:
    shared.reset()
    found = [issue("policy", code, "blocker", f"{code}.", path=PAGE) for code in ("PATCH_CONFLICT", "OTHER")]
    shared.keep_report(*found)
    shared.put_in("VALIDATING")
    before = shared.picture()

    error = error_of(shared.run_call("launch_fix_next"))

    assert (error["code"], error["retryable"]) == ("FIX_EXHAUSTED", False)
    assert error["details"]["reason"] == "no_fixable_issue"
    assert set(error["details"]["issues"]) == {one["issue_id"] for one in found}
    assert (shared.state(), shared.picture()) == ("VALIDATING", before)


# --- ALLOWED_PATHS_VIOLATION and COMMIT_SERVICE_ERROR ----------------------------------------------------------


@pytest.mark.requirement("OURS-25-fence")
@pytest.mark.requirement("S4-errors-ALLOWED_PATHS_VIOLATION")
def test_a_bundle_that_leaves_the_fence_is_not_published(place: Place) -> None:
    remote = place.bare_site()
    place.reconfigure(allowed_paths=["content/kb/table/"])  # the run writes to content/kb/tablekit

    told = refused(place.run_call("launch_open_pr"))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("ALLOWED_PATHS_VIOLATION", False)
    assert (told["run_id"], place.state()) == (place.run_id, "READY_FOR_PR")
    assert "launch/" not in git(remote, "for-each-ref")


@pytest.mark.requirement("S4-errors-COMMIT_SERVICE_ERROR")
@pytest.mark.requirement("S4-acceptance-retryable")
def test_a_commit_service_that_is_away_may_be_asked_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labour, "_ATTEMPTS", 1)  # the pauses between attempts are not what this is about
    place.reconfigure(commit_service={**place.config()["commit_service"], "endpoint_url": GONE})

    told = refused(place.run_call("launch_open_pr"))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("COMMIT_SERVICE_ERROR", True)
    assert told["error"]["details"]["reason"] == "unreachable"
    assert (told["run_id"], place.state()) == (place.run_id, "READY_FOR_PR")


@pytest.mark.requirement("S4-errors-COMMIT_SERVICE_ERROR")
def test_a_commit_service_that_refuses_is_not_worth_another_try(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAUNCH_TOKEN", "not the one")
    service = CommitService(tmp_path / "commits", BareForge())
    with running(make_app(service, token="secret")) as url:
        place.reconfigure(commit_service={**place.config()["commit_service"], "endpoint_url": url})
        told = refused(place.run_call("launch_open_pr"))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("COMMIT_SERVICE_ERROR", False)
    assert told["error"]["details"]["status"] == 401
    assert "secret" not in json.dumps(told)
    assert place.state() == "READY_FOR_PR"


# --- INTERNAL --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-errors-INTERNAL")
def test_an_unexpected_error_names_the_class_of_its_cause_and_no_path(place: Place, origin: Launched) -> None:
    place.keep("patch_bundle.json", b"[]", "no_such_schema")

    told = refused(place.run_call("launch_open_pr"))

    assert (told["error"]["code"], told["error"]["retryable"]) == ("INTERNAL", False)
    assert told["error"]["details"]["cause_class"] == "FileNotFoundError"
    assert str(origin.folder.parent) not in json.dumps(told)
    assert "Traceback" not in json.dumps(told)
    assert (told["run_id"], place.state()) == (place.run_id, "READY_FOR_PR")


@pytest.mark.requirement("S4-errors-INTERNAL")
def test_a_store_that_is_broken_is_told_as_internal_by_every_tool(place: Place) -> None:
    with place.database() as connection:
        connection.execute("DROP TABLE launch_artifacts")

    for tool in ("launch_get_status", "launch_get_artifact", "launch_resume"):
        error = error_of(place.call(tool, **arguments_of(tool, place.run_id)))
        assert (error["code"], error["retryable"]) == ("INTERNAL", False)
        assert error["details"]["cause_class"]
        assert str(place.root) not in json.dumps(error)


@pytest.mark.requirement("S4-errors-INTERNAL")
@pytest.mark.parametrize(
    ("store", "reason", "retryable"),
    [
        ("postgresql://ann:pass-word@127.0.0.1:9/launch", "store_unavailable", True),
        ("mysql://ann:pass-word@127.0.0.1:9/launch", "store_refused", False),
    ],
)
def test_a_store_that_cannot_even_be_opened_says_what_to_do_and_whether_to_try_again(
    place: Place, store: str, reason: str, retryable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    Place.stop()
    place.serve(launch_store=store)
    try:
        error = error_of(place.call("launch_list_runs"))
    finally:
        Place.stop()

    assert (error["code"], error["retryable"]) == ("INTERNAL", retryable)
    assert error["details"]["reason"] == reason
    assert error["details"]["hint"]
    assert "pass-word" not in json.dumps(error) + caplog.text
    assert "Traceback" not in caplog.text
