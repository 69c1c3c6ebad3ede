"""The contract of the other routes: health, status, capabilities, metrics, the description and its page."""

import re

import jsonschema_rs
import pytest
from tests.api.conftest import Start
from tests.api.running_front import ALIAS, RunningFront


def test_health_tells_the_uptime_and_what_the_host_says(server: RunningFront) -> None:
    got = server.get("/health")

    assert got.status == 200
    assert got.json["ok"] is True
    assert got.json["result"]["uptimeMs"] >= 0
    assert got.json["result"]["host"]["state"] == "ready"
    assert set(got.json["_meta"]) == {"schemaVersion", "toolVersion", "ts", "durationMs"}


def test_health_is_told_even_when_the_host_says_nothing(start: Start) -> None:
    front = start()
    front.host.answers_health = False
    got = front.get("/health")

    assert (got.status, got.json["result"]["host"]) == (200, None)
    assert b"holdfast_host_up 0" in front.get("/metrics").body


@pytest.mark.parametrize("query", ["", f"?repo={ALIAS}"])
def test_status_is_the_report_of_the_repository_without_absolute_paths(server: RunningFront, query: str) -> None:
    got = server.get(f"/status{query}")

    assert got.status == 200
    assert got.json["repo"] == ALIAS
    status = {"repo": {"root": ALIAS}, "cacheRoot": "<redacted:absolute-path>", "files": 3}
    assert got.json["result"] == {"repo": ALIAS, "status": status}


@pytest.mark.parametrize("query", ["?bogus=1", f"?repo={ALIAS}&repo={ALIAS}", "?repo=%ff", "?repo="])
def test_status_takes_one_repository_and_nothing_else(server: RunningFront, query: str) -> None:
    for path in ("/status", "/status/stream"):
        got = server.get(path + query)
        assert (got.status, got.json["code"]) == (400, "INVALID_REQUEST")


def test_the_status_stream_starts_with_the_repository_and_ends_with_done(server: RunningFront) -> None:
    events = server.events("/status/stream")

    assert [name for name, _ in events] == ["start", "result", "done"]
    assert events[0][1]["result"] == {"repo": ALIAS}
    assert events[1][1]["result"]["status"]["files"] == 3


def test_with_paths_shown_the_repository_is_called_by_its_real_path(start: Start) -> None:
    front = start(showPaths=True)
    status = front.get("/status").json
    search = front.post("/search", {"query": "paths"}).json

    assert status["repo"].endswith(f"/{ALIAS}")
    assert status["repo"].startswith("/")
    assert status["result"]["status"]["cacheRoot"] == "/home/me/.cache"
    assert search["result"]["search"]["index"]["cacheRoot"] == "/nowhere/in particular"


def test_no_answer_holds_an_absolute_path_outside_of_source_text(server: RunningFront) -> None:
    root = server.host.calls()[0]["arguments"]["repoPath"] if server.host.calls() else "/tmp"
    search = server.post("/search", {"query": "paths"}).json["result"]["search"]
    forbidden = server.post("/search", {"query": "forbidden"})

    assert search["index"] == {"path": f"{ALIAS}/.cache", "cacheRoot": "<redacted:absolute-path>", "build": "b1"}
    assert search["warnings"][0]["message"] == f"skipped {ALIAS}/a.py and <redacted:absolute-path>"
    assert forbidden.json["path"] == ALIAS
    for path in ("/health", "/status", "/capabilities", "/metrics", "/openapi.json"):
        assert root.encode() not in server.get(path).body


def test_capabilities_name_versions_abilities_and_repositories(server: RunningFront) -> None:
    result = server.get("/capabilities").json["result"]

    assert result["schemaVersion"] == "1.0.0"
    assert result["serverInfo"]["name"] == "pairofcleats"
    assert result["capabilities"]["mcp"] == {"sdk": True}
    assert result["repositories"] == [ALIAS]


def test_metrics_count_requests_latency_and_what_the_host_counts(server: RunningFront) -> None:
    server.get("/nowhere")
    text = server.get("/metrics").body.decode()

    assert 'holdfast_http_requests_total{route="other",method="GET",status="404"}' in text
    assert re.search(r'holdfast_http_request_duration_seconds_bucket\{route="other",le="\+Inf"\} [1-9]', text)
    assert "holdfast_host_counters_requests 7\n" in text
    assert "holdfast_http_in_flight 1\n" in text
    line = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+|# (?:HELP|TYPE) [a-z_]+ .+')
    assert [one for one in text.splitlines() if not line.fullmatch(one)] == []


def test_the_description_tells_every_route_and_its_schemas_are_schemas(server: RunningFront) -> None:
    described = server.get("/openapi.json").json

    assert described["openapi"].startswith("3.1")
    server_paths = {"/capabilities", "/health", "/metrics", "/openapi.json"}
    assert set(described["paths"]) == {"/search", "/search/stream", "/status", "/status/stream"} | server_paths
    for schema in described["components"]["schemas"].values():
        jsonschema_rs.meta.validate({key: value for key, value in schema.items() if key != "$ref"})
    hits = described["components"]["schemas"]["SearchPayload"]["properties"]["code"]["items"]
    assert hits == {"$ref": "#/components/schemas/SearchPayload/$defs/Hit"}


def test_the_description_offers_every_field_of_a_search_both_ways(server: RunningFront) -> None:
    from holdfast.search.request_fields import FIELDS

    described = server.get("/openapi.json").json
    names = {field.name for field in FIELDS}
    body = set(described["components"]["schemas"]["SearchRequest"]["properties"])
    url = {parameter["name"] for parameter in described["paths"]["/search"]["get"]["parameters"]}

    assert body == names | {"repo"}
    assert url == names - {"query", "repoPath"} | {"q", "repo"}


def test_the_page_needs_nothing_from_elsewhere_and_lets_nothing_else_run(server: RunningFront) -> None:
    got = server.get("/docs")
    policy = got.headers["content-security-policy"]

    assert got.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(rb"https?://|@import|[: ]url\([\"'/]|src=", got.body)
    assert b"innerHTML" not in got.body
    assert got.headers["x-frame-options"] == "DENY"


def test_the_root_leads_to_the_page(server: RunningFront) -> None:
    got = server.get("/")

    assert (got.status, got.headers["location"]) == (307, "/docs")


def test_unknown_paths_and_methods_are_told_apart(server: RunningFront) -> None:
    nowhere = server.get("/nowhere")
    wrong = server.request("DELETE", "/search")
    stream = server.get("/search/stream")

    assert (nowhere.status, nowhere.json["code"]) == (404, "NOT_FOUND")
    assert (wrong.status, wrong.json["code"], wrong.headers["allow"]) == (
        405, "INVALID_REQUEST", "POST, GET, HEAD, OPTIONS",
    )  # fmt: skip
    assert (stream.status, stream.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/health", "application/json", 200),
        ("/health", "*/*", 200),
        ("/health", "text/html, application/*;q=0.5", 200),
        ("/health", "text/html", 406),
        ("/health", "application/json;q=0, */*", 406),
        ("/health", "*/*;q=nonsense", 406),
        ("/status/stream", "application/json", 406),
        ("/status/stream", "text/event-stream", 200),
        ("/docs", "application/json", 406),
    ],
)
def test_a_client_that_accepts_no_form_of_the_answer_is_told(
    server: RunningFront, path: str, accept: str, status: int
) -> None:
    assert server.get(path, Accept=accept).status == status
