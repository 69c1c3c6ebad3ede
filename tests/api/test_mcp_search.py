"""The search server over `/mcp`, beside its own API: the same answers, and nothing outside of what is served."""

import json
from typing import Any

import pytest
from tests.api.client import Got
from tests.api.mcp_server import BOTH, meta
from tests.api.running_server import RunningServer


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
