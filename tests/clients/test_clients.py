"""What real MCP clients can rely on: each promise for each client, mode and revision that they agree on."""

import json
from pathlib import Path

import psutil
import pytest
from tests.clients.journeys import LATEST, Seen, package


def test_client_and_server_agree_on_the_revision(seen: Seen) -> None:
    assert seen.journal["revision"] == seen.journey.revision
    assert seen.journal["server"] == {"name": "harbour", "version": "1.2.0"}
    assert {event["mode"] for event in seen.events("server_started")} == {seen.journey.mode}


def test_the_client_sees_every_tool_in_order(seen: Seen) -> None:
    names = [tool["name"] for tool in seen.journal["tools"]]
    first, last = ["describe", "restock", "count", "walk", "open_gate", "hold"], ["attend", "identify"]
    assert names == [*first, "stall", "fragile", *last]


def test_the_versions_of_a_tool_reach_the_client(seen: Seen) -> None:
    describe = seen.journal["tools"][0]
    assert describe["_meta"]["io.holdfast/contract"] == {
        "version": "1.4.0",
        "schemaVersion": 5,
        "toolingVersion": "1.2.0",
        "surfaceVersion": "3.0.0",
    }


def test_a_result_arrives_as_structured_content_and_as_lines_to_read(seen: Seen) -> None:
    result = seen.result("success")
    assert result["isError"] is False
    assert result["structuredContent"]["shelves"] == [{"row": 1, "label": "left"}, {"row": 2, "label": None}]
    assert seen.text("success").splitlines()[:2] == ['sku: "A-1"', 'kind: "part"']


def test_the_caller_chooses_json_as_the_text_of_a_result(seen: Seen) -> None:
    assert json.loads(seen.text("json")) == seen.result("json")["structuredContent"]


def test_nested_arguments_arrive_as_what_they_were_declared(seen: Seen) -> None:
    article = seen.result("nested")["structuredContent"]
    assert article["shelves"] == [{"row": 3, "label": None}]
    assert article["stock"] == {"soon": 2026}


def test_a_result_that_is_no_object_is_wrapped_as_its_schema_says(seen: Seen) -> None:
    assert seen.result("scalar")["structuredContent"] == {"status": "success", "result": 2}
    assert seen.text("scalar") == "2"


def test_the_client_itself_checks_results_against_the_published_schema(seen: Seen) -> None:
    assert "sku" in seen.error("tampered")["message"]


def test_a_declared_error_arrives_as_a_tool_error(seen: Seen) -> None:
    assert seen.result("refused")["isError"] is True
    assert seen.text("refused").startswith("error NOT_FOUND: no such article")
    assert "hint: Try A-1." in seen.text("refused")


def test_every_violation_of_invalid_arguments_reaches_the_client(seen: Seen) -> None:
    if seen.journey.revision >= LATEST:
        assert seen.result("invalid")["isError"] is True
        told = seen.text("invalid")
        assert told.startswith("error INVALID_REQUEST")
    else:
        error = seen.error("invalid")
        assert (error["code"], error["data"]["code"], len(error["data"]["details"])) == (
            -32602,
            "INVALID_REQUEST",
            3,
        )
        told = json.dumps(error["data"]["details"])
    assert all(word in told for word in ("sku", "limit", "colour"))


def test_an_unknown_tool_is_a_protocol_error(seen: Seen) -> None:
    error = seen.error("unknown")
    assert (error["code"], error["data"]["code"]) == (-32602, "NOT_FOUND")


def test_progress_reaches_the_client_while_the_tool_runs(seen: Seen) -> None:
    steps = [(note["progress"], note["total"], note["message"]) for note in seen.journal["walk"]["heard"]]
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert seen.result("walk")["structuredContent"]["steps"] == 3


def test_cancelling_a_call_stops_the_tool_and_its_program(seen: Seen) -> None:
    assert "error" in seen.journal["cancelled"]
    assert seen.journal["cancelled"]["ended"], "the tool was not interrupted, or its program is still there"
    assert (seen.directory / "cancelled").read_text() == "interrupted\n"


def test_a_timeout_tells_the_client_how_long_the_tool_had(seen: Seen) -> None:
    assert seen.result("timeout")["isError"] is True
    assert seen.text("timeout").startswith("error TOOL_TIMEOUT: stall did not finish within 300 ms")


def test_a_crash_of_an_isolated_tool_leaves_the_server_working(seen: Seen) -> None:
    assert seen.result("crashed")["isError"] is True
    assert "(signal 9)" in seen.text("crashed")
    worker = seen.result("afterCrash")["structuredContent"]["pid"]
    assert worker != seen.result("process")["structuredContent"]["pid"]


def test_a_client_that_leaves_with_a_call_in_flight_leaves_no_process_behind(seen: Seen) -> None:
    server = seen.result("process")["structuredContent"]["pid"]
    assert not psutil.pid_exists(server)
    assert seen.journal["left"]["pid"] is not None
    assert not psutil.pid_exists(seen.journal["left"]["pid"])
    assert (seen.directory / "left").read_text() == "interrupted\n"
    assert seen.survivors == []


def test_the_server_ends_by_itself_when_the_client_leaves(seen: Seen) -> None:
    server = seen.result("process")["structuredContent"]["pid"]
    (stopped,) = (event for event in seen.events("server_stopped") if event["pid"] == server)
    assert stopped["reason"] == "eof"


def test_a_missing_client_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tests.clients.journeys.PACKAGES", tmp_path)
    with pytest.raises(pytest.fail.Exception, match=r"1\.32\.2 is needed, but is not installed.*make suite"):
        package("@modelcontextprotocol/sdk")
