"""The contract of `/search` and `/search/stream`: envelopes, arguments, refusals, and parity with the tool."""

import json
from urllib.parse import quote

import pytest
from tests.api.running_front import ALIAS, RunningFront
from tests.api.scripted_host import SOURCE, found


def test_a_search_answers_with_the_payload_of_the_tool_under_repo_and_search(server: RunningFront) -> None:
    got = server.post("/search", {"query": "retry budget"})

    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert {key: got.json[key] for key in ("ok", "repo", "result")} == {
        "ok": True,
        "repo": ALIAS,
        "result": {"repo": ALIAS, "search": found("retry budget")},
    }
    assert set(got.json["_meta"]) == {"schemaVersion", "toolVersion", "ts", "durationMs"}
    assert b"\n" not in got.body


def test_source_text_of_a_hit_stays_byte_for_byte_though_it_holds_paths(server: RunningFront) -> None:
    hit = server.post("/search", {"query": "x"}).json["result"]["search"]["code"][0]

    assert hit["snippet"]["lines"][0]["text"] == SOURCE


def test_the_arguments_reach_the_tool_as_they_are_with_the_real_repository(server: RunningFront) -> None:
    body = {"query": "as is", "meta": {"a": 1.50}, "path": ["x", "y"], "ann": None, "repo": ALIAS}
    server.post("/search", body)

    (sent,) = [call for call in server.host.calls() if call["arguments"].get("query") == "as is"]
    root = sent["arguments"].pop("repoPath")
    assert root.endswith(f"/{ALIAS}")
    assert sent["arguments"] == {key: value for key, value in body.items() if key != "repo"}


def test_requests_to_the_host_describe_themselves_and_carry_the_prefix(server: RunningFront) -> None:
    server.post("/search", {"query": "who asks"})

    (sent,) = [one for one in server.host.requests if "who asks" in json.dumps(one)]
    meta = sent["params"]["_meta"]
    assert sent["id"].startswith("http:")
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "holdfast-http"
    assert "progressToken" not in meta


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b"[1]", "the body is not a JSON object"),
        (b'"text"', "the body is not a JSON object"),
        (b'{"query": "a", "query": "b"}', "occurs twice"),
        (b'{"query": NaN}', "NaN is not a JSON value"),
        (b'{"query": 1e999}', "out of range"),
        (b'{"query": "\xff"}', "not UTF-8"),
        (b'{"query": "\\ud800"}', "lone surrogate"),
        (b'{"meta": ' + b"[" * 200 + b"]" * 200 + b"}", "nested deeper than 128"),
        (b'{"query": "a", "repo": 7}', "alias or the path"),
        (b'{"query": "a", "repoPath": null}', "alias or the path"),
        (b'{"query": "a", "repo": "x", "repoPath": "x"}', "mean the same"),
    ],
)
def test_a_body_that_is_no_usable_object_is_refused_with_the_reason(
    server: RunningFront, body: bytes, said: str
) -> None:
    got = server.post("/search", body)

    assert (got.status, got.json["code"], got.json["error"]["code"]) == (400, "INVALID_REQUEST", "INVALID_REQUEST")
    assert said in got.json["message"]


def test_arguments_that_do_not_fit_are_refused_with_every_violation(server: RunningFront) -> None:
    got = server.post("/search", {"top": "ten", "mode": "nowhere", "extra": 1})

    assert got.status == 400
    assert got.json["ok"] is False
    keywords = [one["keyword"] for one in got.json["error"]["details"]["violations"]]
    assert sorted(keywords) == ["additionalProperties", "enum", "required", "type"]
    assert got.json["violations"] == got.json["error"]["details"]["violations"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("no index", 409, "NO_INDEX"),
        ("internal", 500, "INTERNAL"),
        ("overload", 503, "QUEUE_OVERLOADED"),
        ("lost", 503, "WORKER_LOST"),
        ("too slow", 504, "TOOL_TIMEOUT"),
        ("forbidden", 403, "FORBIDDEN"),
        ("broken", 500, "INTERNAL"),
        ("endless", 500, "RESULT_TOO_LARGE"),
    ],
)
def test_a_failure_of_the_tool_has_the_status_of_its_code(
    server: RunningFront, query: str, status: int, code: str
) -> None:
    got = server.post("/search", {"query": query})

    assert (got.status, got.json["ok"], got.json["code"]) == (status, False, code)
    assert got.json["error"]["code"] == code
    assert "_meta" in got.json
    assert ("retry-after" in got.headers) == (status == 503)


def test_a_failure_keeps_what_the_tool_said_beside_its_code(server: RunningFront) -> None:
    internal = server.post("/search", {"query": "internal"}).json
    lost = server.post("/search", {"query": "lost"})
    timeout = server.post("/search", {"query": "too slow"}).json

    assert internal["faultId"] == internal["error"]["details"]["faultId"] == "f00d"
    assert lost.headers["retry-after"] == "3"
    assert lost.json["retry"] == {"safe": True, "afterMs": 2500}
    assert timeout["timeoutMs"] == 1500


def test_everything_that_a_body_says_can_be_said_in_the_url(server: RunningFront) -> None:
    path = "/search?q=by+url&path=src%2F&path=lib&ext=.py&case=YES&lint=off&top=3&modifiedSince=1.5"
    got = server.get(f"{path}&meta=a%3D1&mode=code")

    assert got.status == 200
    (sent,) = [call["arguments"] for call in server.host.calls() if call["arguments"].get("query") == "by url"]
    assert {key: value for key, value in sent.items() if key != "repoPath"} == {
        "query": "by url", "path": ["src/", "lib"], "ext": ".py", "case": True, "lint": False, "top": 3,
        "modifiedSince": 1.5, "meta": "a=1", "mode": "code",
    }  # fmt: skip


@pytest.mark.parametrize(
    "query",
    ["", "q=a&q=b", "q=a&query=b", "q=a&top=1&top=2", "q=a&bogus=1", "q=a&top=many", "q=a&case=perhaps", "q=%ff",
     "q=a&repo=x&repoPath=y", "q=a&token=secret", "q=+"],
)  # fmt: skip
def test_a_query_string_that_says_something_wrong_is_refused(server: RunningFront, query: str) -> None:
    got = server.get(f"/search?{query}")

    assert (got.status, got.json["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("where", ["/etc", "/nonexistent", "..", "other", "/tmp\0", "~", "/"])
def test_a_repository_that_is_not_served_is_forbidden_whether_it_exists_or_not(
    server: RunningFront, where: str
) -> None:
    posted = server.post("/search", {"query": "a", "repo": where})
    asked = server.get(f"/status?repo={quote(where)}")

    assert (posted.status, posted.json["code"]) == (asked.status, asked.json["code"]) == (403, "FORBIDDEN")
    assert posted.json["message"] == "this repository is not served here"


def test_a_stream_starts_reports_answers_and_is_done(server: RunningFront) -> None:
    events = server.events("/search/stream", {"query": "slow"})

    assert [name for name, _ in events] == ["start", "progress", "progress", "progress", "result", "done"]
    assert all(data["ok"] is True and "_meta" in data for _, data in events)
    assert [data["result"] for name, data in events if name in {"start", "done"}] == [{}, {}]
    assert events[1][1]["result"] == {
        "phase": "search", "message": f"step 1 in {ALIAS}/src ", "progress": 1, "total": 3,
    }  # fmt: skip
    assert events[4][1]["result"] == {"repo": ALIAS, "search": found("slow")}


def test_a_stream_has_headers_that_keep_it_flowing(server: RunningFront) -> None:
    got = server.post("/search/stream", {"query": "x"})

    assert got.headers["content-type"].startswith("text/event-stream")
    assert "no-cache" in got.headers["cache-control"]
    assert got.headers["x-accel-buffering"] == "no"


def test_a_stream_that_fails_tells_the_error_and_is_done_without_one(server: RunningFront) -> None:
    events = server.events("/search/stream", {"query": "no index"})

    assert [name for name, _ in events] == ["start", "error", "done"]
    assert (events[1][1]["ok"], events[1][1]["error"]["code"]) == (False, "NO_INDEX")
    assert (events[2][1]["ok"], events[2][1]["result"]) == (True, {})


def test_what_is_wrong_before_a_stream_begins_is_a_plain_answer(server: RunningFront) -> None:
    broken = server.post("/search/stream", b"{")
    forbidden = server.post("/search/stream", {"query": "a", "repo": "/etc"})
    invalid = server.post("/search/stream", {"query": "a", "extra": 1})
    overloaded = server.post("/search/stream", {"query": "overload"})

    assert (invalid.status, invalid.json["violations"][0]["keyword"]) == (400, "additionalProperties")
    assert (overloaded.status, overloaded.headers["retry-after"]) == (503, "1")
    assert (broken.status, broken.headers["content-type"]) == (400, "application/json")
    assert (forbidden.status, forbidden.json["code"]) == (403, "FORBIDDEN")
