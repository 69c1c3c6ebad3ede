"""Following a run: one trace through its events and its telemetry, and one record for every call of a tool."""

import re
from collections import Counter
from typing import Any

import pytest
from tests.launch.runs import GONE, UNKNOWN, Place, Published, error_of, refused, succeeded, until

from holdfast.launch.documents import encode
from holdfast.launch.identifiers import trace_id
from holdfast.launch.store.export import replay

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]

TRACE, SPAN = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{16}")


def calls_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["job_type"] == "mcp_tool_call"]


@pytest.mark.requirement("S4-acceptance-traced")
def test_all_events_and_records_of_a_run_are_in_one_trace(published: Published) -> None:
    events, records = published.place.events(), published.records
    trace = trace_id(published.place.run_id)

    assert TRACE.fullmatch(trace)
    assert {event.trace_id for event in events} == {trace}
    assert {event.run_id for event in events} == {published.place.run_id}
    assert {record["context_json"]["trace_id"] for record in records} == {trace}
    spans = [event.span_id for event in events] + [record["context_json"]["span_id"] for record in records]
    assert all(SPAN.fullmatch(span) for span in spans)
    assert {
        record["run_id"] if record["job_type"] == "launch" else record["parent_run_id"] for record in records
    } == {published.place.run_id}


@pytest.mark.requirement("S4-conventions-work-events")
def test_all_work_is_told_as_started_and_then_as_finished_or_failed(published: Published) -> None:
    told: dict[str, list[str]] = {}
    for event in published.place.events():
        if event.type.startswith("WORK_ITEM"):
            told.setdefault(event.payload["work_item_id"], []).append(event.type.removeprefix("WORK_ITEM_"))

    workers = {item.split(":")[1] for item in told}
    assert {"repo_scout", "facts_builder", "ia_planner", "section_writer", "validator", "pr_manager"} < workers
    assert {tuple(life) for life in told.values()} == {("QUEUED", "STARTED", "FINISHED")}


@pytest.mark.requirement("S4-conventions-telemetry")
def test_telemetry_has_a_record_of_the_launch_and_of_everything_that_was_done_in_it(published: Published) -> None:
    records, events = published.records, published.place.events()
    kinds = Counter(record["job_type"] for record in records)
    types = Counter(event.type for event in events)

    assert (kinds["launch"], kinds["commit_service"], kinds["mcp_tool_call"]) == (1, 1, 1)
    assert kinds["worker"] == types["WORK_ITEM_STARTED"]
    assert kinds["gate"] == types["GATE_RUN_FINISHED"]
    assert {record["status"] for record in records} == {"success"}
    about = [record for record in records if record["job_type"] != "mcp_tool_call"]
    assert {record["commit_hash"] for record in about} == {published.answer["commit_sha"]}


def test_a_run_that_was_interrupted_after_its_pull_request_still_tells_its_commit(
    place: Place, published: Published
) -> None:
    place.keep("pr.json", encode("pr", published.place.document("pr.json")), "pr")
    place.put_in("PR_OPENED")

    assert succeeded(place.run_call("launch_resume"))["status"]["state"] == "DONE"

    launch = next(record for record in place.records() if record["job_type"] == "launch")
    assert (launch["commit_hash"], launch["status"]) == (published.answer["commit_sha"], "success")


@pytest.mark.requirement("S4-conventions-telemetry")
@pytest.mark.requirement("S4-acceptance-traced")
def test_every_call_leaves_one_record_also_where_it_is_refused(place: Place) -> None:
    succeeded(place.run_call("launch_get_status"))
    refused(place.run_call("launch_fix_next"))
    refused(place.call("launch_get_status", run_id=UNKNOWN))
    refused(place.call("launch_get_status", run_id="../..", secret="s3cr3t"))
    refused(place.call("launch_start_run", run_config={"bogus": 1}))
    succeeded(place.call("launch_list_runs"))

    records = until(lambda: len(found := calls_of(place.records())) == 6 and found, what="six records")

    told = Counter((record["item_name"], record["status"]) for record in records)
    assert told == {
        ("launch_get_status", "success"): 1,
        ("launch_get_status", "failure"): 2,
        ("launch_fix_next", "failure"): 1,
        ("launch_start_run", "failure"): 1,
        ("launch_list_runs", "success"): 1,
    }
    ours = [record for record in records if record["parent_run_id"] == place.run_id]
    assert {record["context_json"]["trace_id"] for record in ours} == {trace_id(place.run_id)}
    assert {record["item_name"] for record in ours} == {"launch_get_status", "launch_fix_next"}
    errors = {record["error_summary"].split(":")[0] for record in records if record.get("error_summary")}
    assert errors == {"ILLEGAL_STATE", "RUN_NOT_FOUND", "INVALID_INPUT", "SCHEMA_VALIDATION_FAILED"}


@pytest.mark.requirement("S4-conventions-telemetry")
def test_a_call_that_fails_unexpectedly_leaves_its_record_too(place: Place) -> None:
    with place.database() as connection:
        connection.execute("DROP TABLE launch_artifacts")
    assert error_of(place.run_call("launch_get_status"))["code"] == "INTERNAL"

    (record,) = until(lambda: calls_of(place.records()), what="the record")

    assert (record["item_name"], record["status"]) == ("launch_get_status", "failure")
    assert record["error_summary"].startswith("INTERNAL")


def test_a_telemetry_service_that_is_away_changes_nothing_about_a_run(place: Place) -> None:
    config = {**place.origin.config, "telemetry": {"endpoint_url": GONE, "project": "launch-tests"}}
    run_id = place.service.start(config, drive=False)[0].run_id

    assert succeeded(place.call("launch_resume", run_id=run_id))["status"]["state"] == "CLONED_INPUTS"
    assert succeeded(place.call("launch_cancel", run_id=run_id))["state"] == "CANCELLED"

    assert replay(place.service.store, run_id).ok
    with place.database() as connection:
        (owed,) = connection.execute("SELECT count(*) FROM launch_outbox WHERE run_id = ?", (run_id,)).fetchone()
    assert owed > 0, "what could not be said is still to be said"
