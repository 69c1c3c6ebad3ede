"""Arguments that a tool refuses itself are answered in the one form of every violation, with paths that exist."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.parity_requests import INVALID
from tests.search.serving import SearchServer

from holdfast.search.promises import PROMISES
from holdfast.search.repository import Repository

INVALID_PARAMS = -32602
KEYS = {"instancePath", "schemaPath", "keyword", "params", "message"}
# By tool: arguments that the published schema accepts, or refuses, and that no schema could refuse.
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("build_index", {"stubEmbeddings": True}),
    ("triage_ingest", {"source": "nothing", "inputPath": "x"}),
    ("triage_ingest", {"source": "generic", "inputPath": "x", "meta": {"exposure.internetExposed": 7}}),
    ("triage_ingest", {"source": "generic", "inputPath": "x", "stubEmbeddings": True}),
    ("triage_decision", {"finding": "../x", "status": "fix"}),
    ("triage_decision", {"finding": "x", "status": "fix", "expires": "never"}),
    ("triage_context_pack", {"recordId": "a/b"}),
    ("triage_context_pack", {"recordId": "x", "outPath": "pack.txt"}),
    ("show_file", {"path": " "}),
    ("cache_gc", {"maxBytes": -1}),
]


@pytest.fixture
def server(repository: Repository, cache: Path, tmp_path: Path) -> Iterator[SearchServer]:
    """A server whose repository has no index: no request here gets that far."""
    with SearchServer(repository.root, cache, tmp_path / "server") as server:
        yield server


def resolves(pointer: str, schema: Any) -> bool:
    """Whether a JSON Pointer, as a fragment, leads to something in a schema."""
    assert pointer.startswith("#"), pointer
    for part in pointer[1:].split("/")[1:]:
        word = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and word.isdigit() and int(word) < len(schema):
            schema = schema[int(word)]
        elif isinstance(schema, dict) and word in schema:
            schema = schema[word]
        else:
            return False
    return True


def test_every_violation_has_the_one_form_and_a_schema_path_that_is_published(server: SearchServer) -> None:
    listed = server.answer_of(server.request("tools/list", {}))["result"]["tools"]
    schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
    # The language of a query and a missing index are refusals of another kind.
    searches = [("search", one) for one in INVALID if " AND" not in str(one) and "repoPath" not in one]
    seen = set()
    for tool, arguments in [*searches, *OTHERS]:
        answer = server.call(tool, arguments)
        if "error" not in answer:
            assert "violations" not in answer["result"]["content"][0]["text"], (tool, arguments)
            continue
        error = answer["error"]
        assert (error["code"], error["data"]["code"]) == (INVALID_PARAMS, "INVALID_REQUEST"), arguments
        for item in error["data"]["details"]:
            assert item.keys() == KEYS
            assert resolves(item["schemaPath"], schemas[tool]), (tool, item)
            seen.add((tool, item["keyword"]))
    wanted = {("search", word) for word in ("format", "conditions", "regex", "pattern", "type")}
    assert seen >= wanted | {("build_index", "reserved"), ("triage_context_pack", "pattern")}


def test_a_repository_that_is_not_there_is_not_found_by_every_tool(server: SearchServer, tmp_path: Path) -> None:
    for tool, promise in PROMISES.items():
        if tool == "workspace_status":  # it names a workspace file
            continue
        answer = server.call(tool, {**promise.examples[0], "repoPath": str(tmp_path / "nowhere")})
        assert json.loads(answer["result"]["content"][0]["text"])["code"] == "NOT_FOUND", tool
