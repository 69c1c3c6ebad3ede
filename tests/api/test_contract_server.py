"""The contract of the other routes: health, status, capabilities, metrics, the description and its page."""

import re

import jsonschema_rs
import pytest
from tests.api.conftest import Start
from tests.api.running_front import ALIAS, RunningFront
from tests.api.running_server import RunningServer

from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__

pytestmark = pytest.mark.xdist_group("api")


@pytest.mark.requirement("S1-7.1-envelope")
@pytest.mark.requirement("S1-7.2.1-health")
def test_health_tells_the_uptime_and_what_the_host_says(server: RunningServer) -> None:
    first, got = server.get("/health").json, server.get("/health")

    assert got.status == 200
    assert set(got.json) == {"ok", "result", "_meta"}
    assert got.json["ok"] is True
    assert got.json["result"]["uptimeMs"] >= first["result"]["uptimeMs"] >= 0
    assert (got.json["result"]["host"]["name"], got.json["result"]["host"]["state"]) == ("search", "ready")
    assert set(got.json["_meta"]) == {"schemaVersion", "toolVersion", "ts", "durationMs"}


def test_health_is_told_even_when_the_host_says_nothing(start: Start) -> None:
    front = start()
    front.host.answers_health = False
    got = front.get("/health")

    assert (got.status, got.json["result"]["host"]) == (200, None)
    assert b"holdfast_host_up 0" in front.get("/metrics").body


def test_ready_says_whether_a_call_would_be_taken_and_health_stays_200(start: Start) -> None:
    front = start()
    told = [front.get(path).status for path in ("/ready", "/health")]
    front.host.admits = False
    refused = front.get("/ready")

    assert told == [200, 200]
    assert (refused.status, refused.json["code"]) == (503, "NOT_READY")
    assert "worker_unknown" in refused.json["message"]
    assert front.get("/health").status == 200


@pytest.mark.requirement("OURS-15-repo")
@pytest.mark.requirement("S1-4.1-http")
@pytest.mark.requirement("S1-7.2.2-status")
@pytest.mark.parametrize("query", ["", "?repo=project"])
def test_status_is_the_report_of_the_repository_without_absolute_paths(server: RunningServer, query: str) -> None:
    got = server.get(f"/status{query}")

    assert got.status == 200
    assert (got.json["ok"], got.json["repo"], got.json["result"]["repo"]) == (True, "project", "project")
    status = got.json["result"]["status"]
    assert set(got.json["result"]) == {"repo", "status"}
    assert (status["repo"]["root"], status["repo"]["cacheRoot"]) == ("project", "<redacted:absolute-path>")
    assert status["repo"]["totalBytes"] > 0
    assert status["health"] == {"issues": [], "hints": []}


def test_status_tells_of_a_repository_without_an_index(server: RunningServer) -> None:
    got = server.get("/status?repo=bare")

    assert (got.status, got.json["repo"]) == (200, "bare")
    assert got.json["result"]["status"]["repo"]["builds"] == []
    assert got.json["result"]["status"]["health"]["issues"] == ["there is no index of this repository yet"]


def test_other_repositories_of_the_cache_are_not_told_of(server: RunningServer) -> None:
    got = server.get("/status")

    assert [one["root"] for one in got.json["result"]["status"]["allRepos"]] == ["project"]
    assert b"confidential" not in got.body


@pytest.mark.requirement("S1-7.3-invalid")
def test_a_parameter_where_there_is_none_is_refused_and_not_ignored(server: RunningServer) -> None:
    asked = [server.get("/health?repo=bare"), server.get("/capabilities?repo=bare")]
    asked += [server.post(f"{path}?repo=bare", {"query": "budget"}) for path in ("/search", "/search/stream")]

    assert [(got.status, got.json["code"]) for got in asked] == [(400, "INVALID_REQUEST")] * 4


@pytest.mark.requirement("S1-7.3-invalid")
@pytest.mark.parametrize("query", ["?bogus=1", "?repo=project&repo=project", "?repo=%ff", "?repo=", "?repo=*"])
def test_status_takes_one_repository_and_nothing_else(server: RunningServer, query: str) -> None:
    for path in ("/status", "/status/stream"):
        got = server.get(path + query)
        assert (got.status, got.json["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.requirement("S1-7.2.3-envelopes")
@pytest.mark.requirement("S1-7.2.3-events")
def test_the_status_stream_starts_with_the_repository_and_ends_with_done(server: RunningServer) -> None:
    events = server.events("/status/stream")

    assert [name for name, _ in events] == ["start", "result", "done"]
    assert all(data["ok"] is True and "_meta" in data for _, data in events)
    assert events[0][1]["result"] == {"repo": "project"}
    assert events[1][1]["result"]["repo"] == "project"
    assert events[1][1]["result"]["status"]["repo"]["totalBytes"] > 0
    assert events[2][1]["result"] == {}


@pytest.mark.requirement("OURS-15-repo")
def test_with_paths_shown_every_path_is_told_as_it_is(start: Start) -> None:
    front = start(showPaths=True)
    status = front.get("/status").json
    search = front.post("/search", {"query": "paths"}).json

    assert status["repo"].endswith(f"/{ALIAS}")
    assert status["repo"].startswith("/")
    assert status["result"]["status"]["cacheRoot"] == "/home/me/.cache"
    assert search["result"]["search"]["index"]["cacheRoot"] == "/nowhere/in particular"


def test_whatever_a_tool_says_its_absolute_paths_are_not_passed_on(front: RunningFront) -> None:
    search = front.post("/search", {"query": "paths"}).json["result"]["search"]
    forbidden = front.post("/search", {"query": "forbidden"})

    assert search["index"] == {"path": f"{ALIAS}/.cache", "cacheRoot": "<redacted:absolute-path>", "build": "b1"}
    assert search["warnings"][0]["message"] == f"skipped {ALIAS}/a.py and <redacted:absolute-path>"
    assert forbidden.json["path"] == ALIAS


def test_capabilities_name_versions_abilities_and_repositories(server: RunningServer) -> None:
    result = server.get("/capabilities").json["result"]

    assert (result["schemaVersion"], result["toolVersion"]) == (SCHEMA_VERSION, __version__)
    assert result["serverInfo"]["name"] == "pairofcleats"
    for area, names in {"docs": {"pdfjsDist", "mammoth"}, "vector": {"sqliteVec", "hnsw"}, "mcp": {"sdk"}}.items():
        assert {type(result["capabilities"][area][name]) for name in names} == {bool}
    assert result["repositories"] == ["project", "bare", "broken"]


def test_metrics_count_requests_latency_and_what_the_host_counts(server: RunningServer) -> None:
    server.get("/status")
    server.get("/nowhere")
    text = server.get("/metrics").body.decode()

    assert 'holdfast_http_requests_total{route="other",method="GET",status="404"}' in text
    assert re.search(r'holdfast_http_request_duration_seconds_bucket\{route="other",le="\+Inf"\} [1-9]', text)
    assert re.search(r"^holdfast_host_counters_requests [0-9]+$", text, re.MULTILINE)
    assert "holdfast_host_tools 21\n" in text
    assert "holdfast_http_in_flight 1\n" in text
    line = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+|# (?:HELP|TYPE) [a-z_]+ .+')
    assert [one for one in text.splitlines() if not line.fullmatch(one)] == []


def test_the_description_tells_every_route_and_its_schemas_are_schemas(server: RunningServer) -> None:
    described = server.get("/openapi.json").json

    assert described["openapi"].startswith("3.1")
    server_paths = {"/capabilities", "/health", "/metrics", "/openapi.json", "/ready"}
    assert set(described["paths"]) == {"/search", "/search/stream", "/status", "/status/stream"} | server_paths
    for schema in described["components"]["schemas"].values():
        jsonschema_rs.meta.validate({key: value for key, value in schema.items() if key != "$ref"})
    hits = described["components"]["schemas"]["SearchPayload"]["properties"]["code"]["items"]
    assert hits == {"$ref": "#/components/schemas/SearchPayload/$defs/Hit"}


def test_the_description_offers_every_field_of_a_search_both_ways(server: RunningServer) -> None:
    from holdfast.search.request_fields import FIELDS

    described = server.get("/openapi.json").json
    names = {field.name for field in FIELDS}
    body = set(described["components"]["schemas"]["SearchRequest"]["properties"])
    url = {parameter["name"] for parameter in described["paths"]["/search"]["get"]["parameters"]}

    assert body == names | {"repo"}
    assert url == names - {"query", "repoPath"} | {"q", "repo"}


def test_the_page_needs_nothing_from_elsewhere_and_lets_nothing_else_run(server: RunningServer) -> None:
    got = server.get("/docs")
    policy = got.headers["content-security-policy"]

    assert got.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(rb"https?://|@import|[: ]url\([\"'/]|src=", got.body)
    assert b"innerHTML" not in got.body
    assert got.headers["x-frame-options"] == "DENY"


def test_the_root_leads_to_the_page(server: RunningServer) -> None:
    got = server.get("/")

    assert (got.status, got.headers["location"]) == (307, "/docs")


def test_unknown_paths_and_methods_are_told_apart(server: RunningServer) -> None:
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
    server: RunningServer, path: str, accept: str, status: int
) -> None:
    assert server.get(path, Accept=accept).status == status
