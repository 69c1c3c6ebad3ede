"""The records of a launch: what its events make of them, the same every time, with nothing secret in them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.launch.documents import violations
from holdfast.launch.identifiers import span_id, trace_id, work_item_id
from holdfast.launch.telemetry.http import make_app
from holdfast.launch.telemetry.records import (
    calls_for,
    child_run_id,
    commit_calls,
    launch_event_id,
    summary_of,
    tool_call,
)
from holdfast.launch.telemetry.service import TelemetryService

RUN = "r_2026-01-21T10-00-00Z_0011aabb"
ITEM = work_item_id(RUN, "section_writer", 1, "docs")
CONFIG = {
    "product_slug": "tablekit",
    "family": "tables",
    "target_platform": "python",
    "required_sections": ["docs"],
    "github_repo_url": "https://user:hunter2@example.org/tablekit",
    "github_ref": "a" * 40,
    "site_repo_url": "/srv/sites/site.git",
    "site_ref": "b" * 40,
    "telemetry": {"endpoint_url": "embedded:", "project": "launches", "run_tags": ["x"]},
}


def event(seq: int, type_: str, payload: dict[str, Any], span: str | None = None) -> dict[str, Any]:
    return {
        "event_id": f"{RUN}:{seq}",
        "run_id": RUN,
        "seq": seq,
        "ts": f"2026-01-21T10:00:{seq:02}.000000Z",
        "type": type_,
        "payload": payload,
        "trace_id": trace_id(RUN),
        "span_id": span or span_id(RUN),
        "parent_span_id": None if span is None else span_id(RUN),
        "prev_hash": "0" * 64,
        "event_hash": "1" * 64,
    }


ITEM_PAYLOAD = {"work_item_id": ITEM, "worker": "section_writer", "scope_key": "docs", "attempt": 1}
ASKED = {
    "model": "m",
    "provider_base_url": "http://m.example/v1",
    "prompt_hash": "p",
    "temperature": 0,
    "max_tokens": 9,
}
ANSWERED = {"latency_ms": 500, "token_usage": {"total": 5}, "finish_reason": "stop", "output_hash": "o"}
LOST = {"error_class": "timeout", "error_summary": "slow", "retryable": False}
EVENTS = [
    event(1, "RUN_CREATED", {"product_slug": "tablekit", "config": CONFIG, "config_sha256": "c" * 64}),
    event(2, "RUN_STATE_CHANGED", {"from": "CREATED", "to": "CLONED_INPUTS", "reason": ""}),
    event(3, "WORK_ITEM_STARTED", {**ITEM_PAYLOAD, "owner": "me", "lease_token": 1}, span_id(ITEM)),
    event(4, "LLM_CALL_STARTED", {"call_id": "c1", **ASKED}, span_id(ITEM, "x")),
    event(5, "LLM_CALL_FINISHED", {"call_id": "c1", **ANSWERED}, span_id(ITEM, "x2")),
    event(6, "LLM_CALL_STARTED", {"call_id": "c2", **ASKED}, span_id(ITEM, "y")),
    event(7, "LLM_CALL_FAILED", {"call_id": "c2", **LOST}, span_id(ITEM, "y2")),
    event(8, "WORK_ITEM_FINISHED", {**ITEM_PAYLOAD, "outputs": {"drafts/x.md": "d" * 64}}, span_id(ITEM)),
    event(9, "GATE_RUN_FINISHED", {"gate": "hugo_build", "ok": False, "duration_ms": 900, "issues": 2}, "e" * 16),
    event(10, "ARTIFACT_WRITTEN", {"name": "x", "sha256": "d" * 64}),
    event(11, "PR_OPENED", {"pr_url": "https://example.org/1", "branch": "launch/x", "commit_sha": "f" * 40}),
    event(12, "RUN_COMPLETED", {"reason": ""}),
]


def deliver(service: TelemetryService, events: list[dict[str, Any]]) -> None:
    app = make_app(service, None)
    for one in events:
        for method, path, document in calls_for(one, CONFIG):
            reply = app.ask(method, path, document)
            assert reply.status in {200, 201}, (method, path, reply.document)


@pytest.fixture
def picture(tmp_path: Path) -> dict[str, Any]:
    with TelemetryService(tmp_path / "t.sqlite") as service:
        deliver(service, EVENTS)
        found = service.picture(RUN)
    assert found is not None
    return found


def test_the_events_of_a_run_make_one_launch_with_its_children(picture: dict[str, Any]) -> None:
    launch = picture["run"]

    assert (launch["agent_name"], launch["job_type"]) == ("launch.orchestrator", "launch")
    assert (launch["status"], launch["duration_ms"], launch["git_branch"]) == ("success", 11000, "launch/x")
    assert launch["context_json"]["state"] == "CLONED_INPUTS"
    kinds = [(one["job_type"], one["status"]) for one in picture["children"]]
    assert sorted(kinds) == [
        ("commit_service", "success"),
        ("gate", "failure"),
        ("llm_call", "failure"),
        ("llm_call", "success"),
        ("worker", "success"),
    ]
    assert len(picture["events"]) == len(EVENTS)


def test_every_record_is_of_the_one_trace_of_its_run(picture: dict[str, Any]) -> None:
    spans = {one["context_json"]["span_id"] for one in picture["children"]}

    assert {one["context_json"]["trace_id"] for one in picture["children"]} == {trace_id(RUN)}
    assert {one["parent_run_id"] for one in picture["children"]} == {RUN}
    assert all(one["run_id"].startswith(f"{RUN}-{one['job_type']}-") for one in picture["children"])
    assert span_id(ITEM) in spans
    assert len(spans) == 5


def test_work_and_calls_of_a_model_tell_what_they_cost(picture: dict[str, Any]) -> None:
    by_kind = {(one["job_type"], one["status"]): one for one in picture["children"]}
    work, answer = by_kind["worker", "success"], by_kind["llm_call", "success"]

    assert (work["agent_name"], work["website_section"], work["duration_ms"]) == (
        "launch.section_writer",
        "docs",
        5000,
    )
    assert work["output_summary"] == "drafts/x.md"
    assert answer["metrics_json"] == {"tokens": {"total": 5}, "finish_reason": "stop"}
    assert (answer["duration_ms"], answer["start_time"]) == (500, "2026-01-21T10:00:04.000000Z")
    assert ASKED.items() <= answer["context_json"].items()
    assert answer["context_json"]["evidence_path"] == "evidence/llm_calls/c1.json"
    assert by_kind["llm_call", "failure"]["context_json"]["error_class"] == "timeout"


def test_nothing_secret_and_no_absolute_path_leaves(picture: dict[str, Any]) -> None:
    assert "hunter2" not in str(picture)
    assert "/srv/sites" not in str(picture)


def test_saying_everything_twice_says_it_once(tmp_path: Path) -> None:
    with TelemetryService(tmp_path / "t.sqlite") as service:
        deliver(service, EVENTS)
        before = service.picture(RUN)
        deliver(service, EVENTS[:1] + EVENTS[2:3])
        after = service.picture(RUN)

    assert before == after


def test_a_commit_is_said_of_the_launch_first_and_then_of_every_child(tmp_path: Path) -> None:
    calls = commit_calls(RUN, EVENTS, commit_hash="f" * 40, author="A", timestamp="2026-01-21T10:00:00Z")

    assert calls[0].path == f"/api/v1/runs/{launch_event_id(RUN)}/associate-commit"
    with TelemetryService(tmp_path / "t.sqlite") as service:
        deliver(service, EVENTS)
        app = make_app(service, None)
        assert [app.ask(*one).status for one in calls * 2] == [200] * 12
        found = service.runs({})["runs"]
    assert {one["commit_hash"] for one in found} == {"f" * 40}


@pytest.mark.parametrize(
    ("kind", "payload", "status"),
    [
        ("WORK_ITEM_FAILED", {**ITEM_PAYLOAD, "error": {"code": "TOOL_TIMEOUT", "message": "late"}}, "timeout"),
        ("WORK_ITEM_FAILED", {**ITEM_PAYLOAD, "error": {"code": "INTERNAL", "message": "x" * 9000}}, "failure"),
        ("WORK_ITEM_SKIPPED", {**ITEM_PAYLOAD, "reason": ""}, "success"),
        ("RUN_FAILED", {"failure": {"code": "INTERNAL", "message": "password=hunter2"}}, "failure"),
        ("RUN_CANCELLED", {"reason": "asked"}, "cancelled"),
    ],
)
def test_whatever_ends_says_how(tmp_path: Path, kind: str, payload: dict[str, Any], status: str) -> None:
    with TelemetryService(tmp_path / "t.sqlite") as service:
        deliver(service, [*EVENTS[:3], event(4, kind, payload)])
        job = "launch" if kind.startswith("RUN") else "worker"
        found = service.runs({"job_type": job})["runs"][0]

    assert found["status"] == status
    assert "hunter2" not in str(found)


def call_of(run_id: str | None, **changes: Any) -> dict[str, Any]:
    begun = datetime(2026, 1, 21, 10, tzinfo=UTC)
    given: dict[str, Any] = {"token": "hunter2", "path": "/home/me/secret.txt", "lone": "\ud800"}
    told = {"tool": "launch_get_status", "call_id": "c1", "request_id": "7", "arguments": given}
    return tool_call(run_id=run_id, begun=begun, ended=begun + timedelta(milliseconds=12), **{**told, **changes})


@pytest.mark.parametrize("run_id", [RUN, None, "x" * 5000, ""])
def test_a_call_of_a_tool_is_a_record_with_or_without_a_run(run_id: str | None) -> None:
    record = call_of(run_id, error={"code": "RUN_NOT_FOUND", "message": "no"}, result={"state": "DONE"})

    assert violations("telemetry_run", record) == []
    assert (record["parent_run_id"], record["duration_ms"], record["status"]) == (
        RUN if run_id == RUN else None,
        12,
        "failure",
    )
    assert "hunter2" not in str(record)
    assert "/home/me" not in str(record)
    assert record["error_summary"] == "RUN_NOT_FOUND: no"


def test_two_calls_without_a_run_are_two_traces() -> None:
    one, other = call_of(None)["context_json"], call_of(None, call_id="c2")["context_json"]

    assert one["trace_id"] != other["trace_id"]
    assert one["parent_span_id"] is None


def test_a_name_that_is_too_long_keeps_its_difference_in_a_digest() -> None:
    one, other = (child_run_id(RUN, "worker", "x" * 300 + end) for end in "ab")

    assert len(one) == len(other) == 200
    assert one != other


def test_what_is_too_large_to_send_is_left_out() -> None:
    calls = calls_for(event(1, "ISSUE_OPENED", {"text": "x" * 100_000}), CONFIG)

    assert calls[0].document["payload"] == {"left_out": "too large", "size": 100_012}
    assert len(summary_of(["x" * 9000])) == 2000
