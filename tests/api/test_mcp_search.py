"""The search server over `/mcp`, beside its own API: the same answers, and nothing outside of what is served."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.client import Got
from tests.api.mcp_server import BOTH, meta
from tests.api.running_server import SOURCE, RunningServer


def call(server: RunningServer, tool: str, **arguments: Any) -> Got:
    params = {"name": tool, "arguments": arguments, "_meta": meta()}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Accept": BOTH, "MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": tool}
    return server.post("/mcp", message, **headers)


def test_a_search_finds_the_same_as_over_the_api(server: RunningServer) -> None:
    told = call(server, "search", query="budget", top=2)
    asked = server.post("/search", {"query": "budget", "top": 2})

    found = json.loads(told.json["result"]["content"][0]["text"])
    assert told.status == 200
    names = [hit["name"] for hit in found["code"]]
    assert names
    assert names == [hit["name"] for hit in asked.json["result"]["search"]["code"]]


def test_a_repository_is_named_by_its_alias_or_its_path(server: RunningServer) -> None:
    for name in ("project", str(server.place.project)):
        assert call(server, "index_status", repoPath=name).json["result"]["isError"] is False


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "one", "repoPath": "/"}),
        ("search", {"query": "one", "repoPath": "../confidential"}),
        ("index_status", {"repoPath": "/etc"}),
        ("workspace_status", {"workspacePath": "/etc/passwd"}),
        ("build_sqlite_index", {"out": "/tmp/copy.sqlite"}),
        ("build_sqlite_index", {"out": "../copy.sqlite"}),
        ("triage_ingest", {"source": "generic", "inputPath": "/etc/passwd"}),
        ("download_models", {"model": "m", "url": "/etc/passwd"}),
        ("download_models", {"cacheDir": "~/models"}),
        ("clean_artifacts", {"all": True}),
    ],
)
def test_nothing_outside_of_what_is_served_can_be_named(
    server: RunningServer, tool: str, arguments: dict[str, Any]
) -> None:
    got = call(server, tool, **arguments)
    assert (got.status, got.json["error"]["data"]["code"]) == (403, "FORBIDDEN")


def test_there_is_no_head_of_a_stream(server: RunningServer) -> None:
    assert server.request("HEAD", "/mcp").status == 405


def told_by(server: RunningServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """The payload of a call; its text and its structured content say the same."""
    result = call(server, tool, **arguments).json["result"]
    payload: dict[str, Any] = json.loads(result["content"][0]["text"])
    assert payload == result.get("structuredContent", payload)
    return payload


@pytest.mark.parametrize("repositories", ["*", ["project", "bare"]])
def test_several_repositories_are_searched_as_over_the_api(server: RunningServer, repositories: Any) -> None:
    told = told_by(server, "search", query="budget", repoPath=repositories)
    asked = server.post("/search", {"query": "budget", "repo": repositories}).json["result"]["search"]
    assert [one["repo"] for one in told["repos"]] == [one["repo"] for one in asked["repos"]]
    assert [hit["id"] for hit in told["code"]] == [hit["id"] for hit in asked["code"]] != []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("download_extensions", {"url": "http://127.0.0.1:9/vec0.zip"}),
        ("download_models", {"model": "m", "url": "pypi:wheel"}),
        ("download_dictionaries", {"url": ["en=https://example.org/words"]}),
        ("verify_extensions", {"path": "src/vec0.so"}),
        ("verify_extensions", {"dir": "src"}),
        ("build_sqlite_index", {"out": ".git/hooks/post-commit"}),
        ("build_index", {"useArtifacts": True, "artifactsDir": "src"}),
        ("triage_context_pack", {"recordId": "r", "outPath": "package.json"}),
        ("bootstrap", {"skipInstall": False}),
    ],
)
def test_nobody_says_over_http_where_things_are_fetched_loaded_or_written(
    server: RunningServer, tool: str, arguments: dict[str, Any]
) -> None:
    got = call(server, tool, **arguments)
    assert (got.status, got.json["error"]["data"]["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("download_models", {"model": "all-MiniLM-L6-v2"}),
        ("download_dictionaries", {}),
        ("download_dictionaries", {"lang": "en", "repoPath": "project"}),
        ("download_extensions", {}),
        ("bootstrap", {"skipIndex": True}),
        ("bootstrap", {"skipIndex": True, "skipDicts": False}),
        ("bootstrap", {"skipInstall": False, "skipDicts": True}),
    ],
)
def test_nothing_over_http_starts_a_package_manager(
    server: RunningServer, tool: str, arguments: dict[str, Any]
) -> None:
    error = call(server, tool, **arguments).json["error"]
    assert (error["data"]["code"], "package manager" in error["message"]) == ("FORBIDDEN", True)
    assert f"holdfast call search {tool}" in str(error), "what the operator can type instead"


def test_a_repository_is_set_up_over_http_without_what_is_downloaded(server: RunningServer) -> None:
    told = told_by(server, "bootstrap", skipDicts=True, skipIndex=True, skipTooling=True)
    assert {step["status"] for step in told["steps"]} == {"skipped"}


def test_what_triage_writes_can_be_read_by_the_path_that_is_told(server: RunningServer) -> None:
    found = server.place.project / "found.json"
    found.write_text(json.dumps([{"id": "one", "vulnId": "CVE-2020-14343", "packageName": "PyYAML"}]))
    try:
        taken = told_by(server, "triage_ingest", source="generic", inputPath=found.name)
    finally:
        found.unlink()
    [record] = taken["recordIds"]
    text = told_by(server, "show_file", path=taken["records"][0]["mdPath"])["text"]
    pack = told_by(server, "triage_context_pack", recordId=record)
    written = told_by(server, "show_file", path=pack["outPath"])

    assert record in text
    assert pack["outPath"] == written["file"] == f".triage/context-packs/{record}.json"
    assert json.loads(written["text"])["finding"]["recordId"] == record


def test_a_workspace_file_in_a_repository_opens_no_way_to_others(server: RunningServer) -> None:
    listed = {"schemaVersion": 1, "repos": [{"root": str(server.place.project.parent / "confidential")}]}
    file = server.place.project / ".pairofcleats-workspace.jsonc"
    file.write_text(json.dumps(listed))
    try:
        for got in (
            call(server, "search", query="one", workspacePath=file.name),
            call(server, "workspace_status", workspacePath=file.name),
            call(server, "workspace_status"),
        ):
            assert (got.status, got.json["error"]["data"]["code"]) == (403, "FORBIDDEN")
    finally:
        file.unlink()


def test_a_link_in_a_repository_leads_to_no_file_outside_of_it(server: RunningServer, tmp_path: Path) -> None:
    outside = tmp_path / "findings.json"
    outside.write_text('[{"id": "secret", "title": "t"}]')
    link = server.place.project / "findings.json"
    link.symlink_to(outside)
    try:
        got = call(server, "triage_ingest", source="generic", inputPath=link.name)
    finally:
        link.unlink()
    assert (got.status, got.json["error"]["data"]["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    "tool",
    ["index_status", "config_status", "report_artifacts", "clean_artifacts", "cache_gc", "verify_extensions"],
)
@pytest.mark.parametrize("render", ["json", "porcelain"])
def test_no_answer_tells_where_the_machine_keeps_its_files(server: RunningServer, tool: str, render: str) -> None:
    dry = {"dryRun": True} if tool in {"clean_artifacts", "cache_gc"} else {}
    params = {"name": tool, "arguments": dry, "_meta": {**meta(), "io.holdfast/render": render}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Accept": BOTH, "MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": tool}
    got = server.post("/mcp", message, **headers)

    assert got.json["result"]["isError"] is False
    assert str(server.place.project.parent).encode() not in got.body
    assert b"confidential" not in got.body, "a repository that is not served is not named"


def test_an_error_names_no_place_of_the_machine_either(server: RunningServer) -> None:
    got = call(server, "index_status", repoPath="broken")
    assert got.json["result"]["isError"] is True
    assert str(server.place.project.parent).encode() not in got.body


def test_text_of_files_stays_as_it_is(server: RunningServer) -> None:
    shown = told_by(server, "show_file", path="src/paths.py")
    assert (shown["repoPath"], shown["text"]) == ("project", SOURCE)


def test_a_session_is_told_no_more_than_a_request_that_stands_alone(server: RunningServer) -> None:
    beginning = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = server.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": beginning}, Accept=BOTH
    )
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "report_artifacts"}}
    got = server.post("/mcp", asked, Accept=BOTH, Mcp_Session_Id=begun.headers["mcp-session-id"])
    assert b'"isError":false' in got.body
    assert str(server.place.project.parent).encode() not in got.body
    assert b"confidential" not in got.body


def test_a_filter_is_no_path_of_the_machine(server: RunningServer) -> None:
    assert "code" in told_by(server, "search", query="budget", path="/src")
