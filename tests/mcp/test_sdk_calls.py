"""What calls of the search server come to, over each mode: answers by their schema, refusals by the book."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.mcp.official_client import Answer, OfficialClient, connected
from tests.mcp.search_place import SearchPlace, make_place
from tests.mcp.tool_bench import bench_at

from holdfast.search.promises import PROMISES
from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__

# Calls that need no network, in an order in which each finds what it needs; `{id}` is the finding taken in.
READS: dict[str, dict[str, Any]] = {
    "search": {"query": "budget"},
    "show_file": {"path": "src/budget.py", "endLine": 3},
    "index_status": {},
    "config_status": {},
    "check_status": {},
    "workspace_status": {"workspacePath": "workspace.jsonc"},
    "report_artifacts": {},
    "cache_gc": {"dryRun": True},
    "clean_artifacts": {"dryRun": True},
}
WRITES: dict[str, dict[str, Any]] = {
    "build_index": {"incremental": True},
    "build_sqlite_index": {},
    "compact_sqlite_index": {"dryRun": True},
    "download_models": {"model": "small", "url": "{repo}/words.txt"},
    "verify_extensions": {"load": False},
    "triage_ingest": {"source": "generic", "inputPath": "findings.json"},
    "triage_decision": {"finding": "{id}", "status": "accept", "justification": "it is refilled elsewhere"},
    "triage_context_pack": {"recordId": "{id}"},
}
# Tools that get a process of their own, like some of the above: these are called without it, which is as good for
# what they answer.
WRITES_HERE: dict[str, dict[str, Any]] = {
    "index_build": {"incremental": True},
    "bootstrap": {"skipDicts": True, "skipIndex": True},
    "download_dictionaries": {"url": "de={repo}/words.txt"},
    "download_extensions": {"url": "{repo}/library.so", "platform": "linux"},
}


def fits(client: OfficialClient, tool: str, answer: Answer) -> None:
    """An answer is one text of compact JSON, the same as structured content, and fits the published schema."""
    assert answer.result.is_error is False, answer.text
    payload = json.loads(answer.text)
    assert answer.text == json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    assert answer.result.structured_content == payload
    jsonschema_rs.Draft202012Validator(client.tools[tool]["outputSchema"]).validate(payload)


@pytest.mark.parametrize("tool", READS)
def test_the_answer_is_one_line_of_json_by_its_schema(client: OfficialClient, tool: str) -> None:
    fits(client, tool, client.call(tool, **READS[tool]))


@pytest.mark.xdist_group("mcp-native")
def test_the_answers_of_tools_that_write_are_by_their_schema(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    place.add_inputs()
    finding = ""
    with connected(place, "native") as client:
        for tool, arguments in WRITES.items():
            text = json.dumps(arguments).replace("{repo}", str(place.repo)).replace("{id}", finding)
            answer = client.call(tool, **json.loads(text))
            fits(client, tool, answer)
            finding = answer.payload["recordIds"][0] if tool == "triage_ingest" else finding
        assert READS.keys() | WRITES.keys() | WRITES_HERE.keys() == client.tools.keys()
    with bench_at(place) as bench:
        for tool, arguments in WRITES_HERE.items():
            payload = bench.call(tool, **json.loads(json.dumps(arguments).replace("{repo}", str(place.repo))))
            assert isinstance(payload, dict), (
                tool,
                payload,
            )  # and it is by its schema, or the bench had refused it


@pytest.mark.requirement("S1-10-validation")
def test_every_tool_refuses_what_it_does_not_know_and_lists_all_of_it(client: OfficialClient) -> None:
    for tool, schema in ((name, item["inputSchema"]) for name, item in client.tools.items()):
        error = client.call(tool, nonsense=1, other={"more": []}).error
        assert error is not None, tool
        assert (error.code, error.data["code"]) == (-32602, "INVALID_REQUEST")
        found = [(one["instancePath"], one["keyword"], *one["params"].values()) for one in error.data["details"]]
        unknown = [("", "additionalProperties", name) for name in ("nonsense", "other")]
        missing = [("", "required", name) for name in schema.get("required", ())]
        assert sorted(found) == sorted(unknown + missing)
        assert all(one.keys() >= {"schemaPath", "message"} for one in error.data["details"])


@pytest.mark.requirement("S1-10-validation")
def test_every_argument_of_every_tool_refuses_a_value_of_a_wrong_type(client: OfficialClient) -> None:
    for tool, schema in ((name, item["inputSchema"]) for name, item in client.tools.items()):
        arguments = {name: wrong_value(schema, name) for name in schema["properties"]}
        error = client.call(tool, **arguments).error
        assert error is not None, tool
        assert {one["instancePath"].split("/")[1] for one in error.data["details"]} == arguments.keys()


def wrong_value(schema: dict[str, Any], name: str) -> Any:
    """A value that an argument cannot have."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    values: tuple[Any, ...] = ([[]], {"": [[]]}, -0.5)
    for value in values:
        if any(list(error.instance_path)[:1] == [name] for error in validator.iter_errors({name: value})):
            return value
    raise AssertionError(f"{name} takes anything")


def test_an_error_of_a_tool_has_the_form_that_programs_rely_on(client: OfficialClient) -> None:
    answer = client.call("show_file", path="no/such/file.py")
    assert answer.result.is_error is True
    told = json.loads(answer.text)
    assert answer.text == json.dumps(told, separators=(",", ":"), ensure_ascii=False)
    assert (told["ok"], told["code"], told["message"] != "") == (False, "NOT_FOUND", True)
    assert (told["error"]["code"], told["error"]["message"]) == (told["code"], told["message"])
    assert (told["_meta"]["schemaVersion"], told["_meta"]["toolVersion"]) == (SCHEMA_VERSION, __version__)
    assert told["_meta"].keys() == {"schemaVersion", "toolVersion", "ts", "durationMs"}
    assert answer.result.structured_content is None


def test_a_repository_without_an_index_is_told_how_to_get_one(client: OfficialClient, place: SearchPlace) -> None:
    answer = client.call("search", query="budget", repoPath=str(place.bare))
    assert (answer.code, "index build" in answer.payload["hint"]) == ("NO_INDEX", True)
    assert client.call("search", query="budget", repoPath="bare").code == "NO_INDEX"
    assert client.call("search", query="budget", repoPath="repo").code is None


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> SearchPlace:
    """A place whose configuration is not valid TOML."""
    place = make_place(tmp_path_factory.mktemp("broken"), indexed=False)
    place.add_inputs()
    (place.repo / "holdfast.toml").write_text("[search")
    return place


@pytest.mark.xdist_group("mcp-native")
def test_a_broken_configuration_is_told_by_every_tool_and_the_server_lives_on(broken: SearchPlace) -> None:
    with bench_at(broken) as bench:
        told = {tool: bench.outcome(tool, promise.examples[0]) for tool, promise in PROMISES.items()}
    assert {tool: error.code for tool, error in told.items()} == dict.fromkeys(PROMISES, "INVALID_REQUEST")
    assert all("holdfast.toml" in error.message for error in told.values())
    with connected(broken, "native") as client:
        calls = [(tool, PROMISES[tool].examples[0]) for tool in ("search", "build_index", "index_status")]
        answers = client.call_all(calls)
        assert {answer.code for answer in answers} == {"INVALID_REQUEST"}
        assert all("holdfast.toml" in answer.payload["message"] for answer in answers)
        (broken.repo / "holdfast.toml").unlink()
        assert client.call("search", query="budget").code == "NO_INDEX"
