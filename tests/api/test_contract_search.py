"""The contract of `/search` and `/search/stream`, held against the server as people start it."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from tests.api.running_front import ALIAS, RunningFront
from tests.api.running_server import SOURCE, RunningServer

from holdfast.search.library import open_index
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest
from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__

pytestmark = pytest.mark.xdist_group("api")


def timeless(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload of a search without what differs from time to time."""
    return {key: value for key, value in payload.items() if key != "elapsedMs"}


@pytest.mark.requirement("S1-4.1-http")
@pytest.mark.requirement("S1-7.1-envelope")
@pytest.mark.requirement("S1-7.2.4-search")
def test_a_search_answers_with_the_payload_of_the_search_under_repo_and_search(server: RunningServer) -> None:
    arguments = {"query": "retry budget", "top": 3}
    got = server.post("/search", arguments)
    with open_index(find_repository(server.place.project), server.place.cache) as index:
        expected = index.search(SearchRequest.from_arguments(arguments))

    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert set(got.json) == {"ok", "repo", "result", "_meta"}
    assert (got.json["ok"], got.json["repo"], got.json["result"]["repo"]) == (True, "project", "project")
    assert timeless(got.json["result"]["search"]) == timeless(json.loads(json.dumps(expected)))
    assert len(expected["code"]) == 3
    assert b"\n" not in got.body


@pytest.mark.requirement("S1-7.1-envelope")
def test_meta_tells_the_versions_the_time_and_how_long_it_took(server: RunningServer) -> None:
    meta = server.post("/search", {"query": "budget"}).json["_meta"]

    assert set(meta) == {"schemaVersion", "toolVersion", "ts", "durationMs"}
    assert (meta["schemaVersion"], meta["toolVersion"]) == (SCHEMA_VERSION, __version__)
    assert meta["ts"].endswith("Z")
    assert 0 < meta["durationMs"] < 20_000


def test_source_text_of_a_hit_stays_byte_for_byte_though_it_holds_paths(server: RunningServer) -> None:
    (hit,) = server.post("/search", {"query": "leave_alone", "mode": "code"}).json["result"]["search"]["code"]

    assert "\n".join(line["text"] for line in hit["snippet"]["lines"]) + "\n" == SOURCE


def test_the_arguments_reach_the_tool_as_they_are_with_the_real_repository(front: RunningFront) -> None:
    body = {"query": "as is", "meta": {"a": 1.50}, "path": ["x", "y"], "ann": None, "repo": ALIAS}
    front.post("/search", body)

    (sent,) = [call["arguments"] for call in front.host.calls() if call["arguments"].get("query") == "as is"]
    assert sent["repoPath"].endswith(f"/{ALIAS}")
    assert {**sent, "repoPath": ALIAS} == {key.replace("repo", "repoPath"): value for key, value in body.items()}


def test_requests_to_the_host_describe_themselves_and_carry_the_prefix(front: RunningFront) -> None:
    front.post("/search", {"query": "who asks"})

    (sent,) = [one for one in front.host.requests if "who asks" in json.dumps(one)]
    meta = sent["params"]["_meta"]
    assert sent["id"].startswith("http:")
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "holdfast-http"
    assert "progressToken" not in meta


@pytest.mark.requirement("S1-7.1-json-bodies")
@pytest.mark.requirement("S1-7.3-invalid")
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
        (b'{"query": "a AND ("}', "column 7 of the query"),
    ],
)
def test_a_body_that_is_no_usable_object_is_refused_with_the_reason(
    server: RunningServer, body: bytes, said: str
) -> None:
    got = server.post("/search", body)

    assert (got.status, got.json["code"], got.json["error"]["code"]) == (400, "INVALID_REQUEST", "INVALID_REQUEST")
    assert said in got.json["message"]


@pytest.mark.requirement("S1-4.1-http")
@pytest.mark.requirement("S1-7.1-errors")
@pytest.mark.requirement("S1-7.3-invalid")
def test_arguments_that_do_not_fit_are_refused_with_every_violation(server: RunningServer) -> None:
    got = server.post("/search", {"top": "ten", "mode": "nowhere", "extra": 1})

    assert got.status == 400
    assert got.json["ok"] is False
    assert (got.json["code"], got.json["message"]) == (got.json["error"]["code"], got.json["error"]["message"])
    keywords = [one["keyword"] for one in got.json["error"]["details"]["violations"]]
    assert sorted(keywords) == ["additionalProperties", "enum", "required", "type"]
    assert got.json["violations"] == got.json["error"]["details"]["violations"]


@pytest.mark.requirement("S1-7.3-no-index")
def test_a_repository_without_an_index_is_a_conflict_with_the_remedy(server: RunningServer) -> None:
    got = server.post("/search", {"query": "one", "repo": "bare"})

    assert (got.status, got.json["ok"], got.json["code"]) == (409, False, "NO_INDEX")
    assert got.json["error"] == {"code": "NO_INDEX", "message": got.json["message"]}
    assert "holdfast index build" in got.json["hint"]


@pytest.mark.parametrize("path", ["/search?q=a&repo=broken", "/status?repo=broken", "/status/stream?repo=broken"])
def test_a_broken_configuration_is_told_by_every_request_and_harms_no_other_repository(
    server: RunningServer, path: str
) -> None:
    got = server.get(path)

    assert (got.status, got.json["code"]) == (400, "INVALID_REQUEST")
    assert got.json["violations"][0]["params"]["file"] == "holdfast.toml"
    assert server.get("/search?q=budget").status == 200


@pytest.mark.requirement("S1-7.1-errors")
@pytest.mark.requirement("S1-7.3-internal")
@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("internal", 500, "INTERNAL"),
        ("overload", 503, "QUEUE_OVERLOADED"),
        ("lost", 503, "WORKER_LOST"),
        ("too slow", 504, "TOOL_TIMEOUT"),
        ("forbidden", 403, "FORBIDDEN"),
        ("broken", 500, "INTERNAL"),
        ("endless", 422, "RESULT_TOO_LARGE"),
    ],
)
def test_a_failure_of_the_tool_has_the_status_of_its_code(
    front: RunningFront, query: str, status: int, code: str
) -> None:
    got = front.post("/search", {"query": query})

    assert (got.status, got.json["ok"], got.json["code"]) == (status, False, code)
    assert got.json["error"]["code"] == code
    assert "_meta" in got.json
    assert ("retry-after" in got.headers) == (status == 503)
    assert ("Ask for less" in got.json.get("hint", "")) == (code == "RESULT_TOO_LARGE")


def test_a_failure_keeps_what_the_tool_said_beside_its_code(front: RunningFront) -> None:
    internal = front.post("/search", {"query": "internal"}).json
    lost = front.post("/search", {"query": "lost"})
    timeout = front.post("/search", {"query": "too slow"}).json

    assert internal["faultId"] == internal["error"]["details"]["faultId"] == "f00d"
    assert lost.headers["retry-after"] == "3"
    assert lost.json["retry"] == {"safe": True, "afterMs": 2500}
    assert timeout["timeoutMs"] == 1500


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("q=budget&path=src%2F&path=pkg&ext=.py", {"query": "budget", "path": ["src/", "pkg"], "ext": ".py"}),
        ("q=Budget&case=YES&top=2&mode=code", {"query": "Budget", "case": True, "top": 2, "mode": "code"}),
        ("query=budget&modifiedSince=1.5&lint=off", {"query": "budget", "modifiedSince": 1.5, "lint": False}),
        (
            "q=budget&mode=records&meta=level%3Derror",
            {"query": "budget", "mode": "records", "meta": "level=error"},
        ),
    ],
)
def test_everything_that_a_body_says_can_be_said_in_the_url(
    server: RunningServer, url: str, body: dict[str, Any]
) -> None:
    asked, posted = server.get(f"/search?{url}"), server.post("/search", body)

    assert asked.status == posted.status == 200
    assert timeless(asked.json["result"]["search"]) == timeless(posted.json["result"]["search"])


@pytest.mark.requirement("S1-7.3-invalid")
@pytest.mark.parametrize(
    "query",
    ["", "q=a&q=b", "q=a&query=b", "q=a&top=1&top=2", "q=a&bogus=1", "q=a&top=many", "q=a&case=perhaps", "q=%ff",
     "q=a&repo=x&repoPath=y", "q=a&token=secret", "q=+", "q=a&modifiedAfter=yesterday"],
)  # fmt: skip
def test_a_query_string_that_says_something_wrong_is_refused(server: RunningServer, query: str) -> None:
    got = server.get(f"/search?{query}")

    assert (got.status, got.json["code"]) == (400, "INVALID_REQUEST")


def test_words_that_were_typed_into_the_url_as_they_are_get_the_remedy(server: RunningServer) -> None:
    """As curl sends them: it encodes nothing."""
    head = f"Host: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
    answer = server.exchange(f"GET /search?q=wörter HTTP/1.1\r\n{head}".encode())
    told = json.loads(answer.partition(b"\r\n\r\n")[2])

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert (told["code"], told["message"]) == (
        "INVALID_REQUEST", "the request target holds characters that a URL cannot have",
    )  # fmt: skip
    assert "--data-urlencode" in told["hint"]


@pytest.mark.requirement("S1-7.3-forbidden")
@pytest.mark.parametrize("where", ["/etc", "/nonexistent", "..", "confidential", "/tmp\0", "~", "/"])
def test_a_repository_that_is_not_served_is_forbidden_whether_it_exists_or_not(
    server: RunningServer, where: str
) -> None:
    posted = server.post("/search", {"query": "a", "repo": where})
    asked = server.get(f"/status?repo={quote(where)}")

    assert (posted.status, posted.json["code"]) == (asked.status, asked.json["code"]) == (403, "FORBIDDEN")
    assert posted.json["message"] == "this repository is not served here"


@pytest.mark.requirement("S1-7.3-forbidden")
def test_a_repository_is_named_by_alias_or_by_any_path_inside_of_it(server: RunningServer) -> None:
    place = server.place
    for name in ("project", str(place.project), f"{place.project}/src/budget.py"):
        assert server.post("/search", {"query": "a", "repo": name}).json["repo"] == "project"
    beside = server.post("/search", {"query": "a", "repoPath": str(place.project.parent / "confidential")})

    assert (beside.status, beside.json["code"]) == (403, "FORBIDDEN")


@pytest.mark.requirement("S1-7.2.5-envelopes")
@pytest.mark.requirement("S1-7.2.5-events")
def test_a_stream_starts_reports_answers_and_is_done(server: RunningServer) -> None:
    events = server.events("/search/stream", {"query": "budget"})
    plain = server.post("/search", {"query": "budget"}).json["result"]["search"]

    assert [name for name, _ in events] == ["start", "progress", "result", "done"]
    assert all(data["ok"] is True and set(data["_meta"]) >= {"ts", "durationMs"} for _, data in events)
    start, progress, result, done = (data["result"] for _, data in events)
    assert (start, done) == ({}, {})
    assert progress == {"phase": "search", "message": "searching"}
    assert result["repo"] == "project"
    assert timeless(result["search"]) == timeless(plain)


def test_progress_with_a_total_is_told_with_its_numbers(front: RunningFront) -> None:
    events = front.events("/search/stream", {"query": "slow"})

    assert [name for name, _ in events] == ["start", "progress", "progress", "progress", "result", "done"]
    assert events[1][1]["result"] == {
        "phase": "search", "message": f"step 1 in {ALIAS}/src ", "progress": 1, "total": 3,
    }  # fmt: skip
    assert [data["result"].get("hits") for _, data in events[1:4]] == [None, [{"file": "src/a.py"}], None]


def test_a_stream_has_headers_that_keep_it_flowing(server: RunningServer) -> None:
    got = server.post("/search/stream", {"query": "x"})

    assert got.headers["content-type"].startswith("text/event-stream")
    assert "no-cache" in got.headers["cache-control"]
    assert got.headers["x-accel-buffering"] == "no"


@pytest.mark.requirement("S1-7.2.5-envelopes")
@pytest.mark.requirement("S1-7.2.5-events")
def test_a_stream_that_fails_tells_the_error_and_is_done_without_one(server: RunningServer) -> None:
    events = server.events("/search/stream", {"query": "one", "repo": "bare"})

    assert [name for name, _ in events if name != "progress"] == ["start", "error", "done"]
    error, done = events[-2][1], events[-1][1]
    assert (error["ok"], error["code"], error["error"]["code"]) == (False, "NO_INDEX", "NO_INDEX")
    assert (done["ok"], done["result"], "error" in done) == (True, {}, False)
    assert "_meta" in error


def test_what_is_wrong_before_a_stream_begins_is_a_plain_answer(server: RunningServer) -> None:
    broken = server.post("/search/stream", b"{")
    forbidden = server.post("/search/stream", {"query": "a", "repo": "/etc"})
    invalid = server.post("/search/stream", {"query": "a", "extra": 1})

    assert (invalid.status, invalid.json["violations"][0]["keyword"]) == (400, "additionalProperties")
    assert (broken.status, broken.headers["content-type"]) == (400, "application/json")
    assert (forbidden.status, forbidden.json["code"]) == (403, "FORBIDDEN")


def test_a_stream_that_the_host_has_no_place_for_is_a_plain_answer_too(front: RunningFront) -> None:
    overloaded = front.post("/search/stream", {"query": "overload"})

    assert (overloaded.status, overloaded.headers["retry-after"]) == (503, "1")
