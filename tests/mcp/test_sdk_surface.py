"""What the search server says of itself to the official client: name, revision, capabilities, tools."""

import asyncio
import json
from typing import Any, TextIO

import jsonschema_rs
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest
from tests.mcp.official_client import OfficialClient, content_length_client
from tests.mcp.search_place import SearchPlace

from holdfast.search.promises import PROMISES
from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__

BOUND = 20.0
LONG_STANDING = {"index_build", "index_status", "search", "show_file", "check_status", "workspace_status"}
REQUIRED = {
    "index_status", "config_status", "build_index", "search", "download_models", "download_dictionaries",
    "download_extensions", "verify_extensions", "build_sqlite_index", "compact_sqlite_index", "cache_gc",
    "clean_artifacts", "bootstrap", "report_artifacts", "triage_ingest", "triage_decision", "triage_context_pack",
}  # fmt: skip
MINUTE = 60_000
TIMEOUTS = {
    **dict.fromkeys(("build_index", "index_build", "build_sqlite_index", "bootstrap"), 10 * MINUTE),
    **dict.fromkeys(("download_models", "download_dictionaries", "download_extensions"), 10 * MINUTE),
    "triage_ingest": 5 * MINUTE,
}


@pytest.mark.requirement("S0-3.2-tool-set")
@pytest.mark.requirement("S1-6.5.2-tool-set")
def test_all_tools_are_there_and_no_other(client: OfficialClient) -> None:
    assert client.tools.keys() == REQUIRED | LONG_STANDING
    assert len(client.tools) == 21


@pytest.mark.requirement("S0-3.2-tool-set")
def test_the_older_name_of_a_tool_works_and_is_marked_deprecated(client: OfficialClient) -> None:
    alias, tool = client.tools["index_build"], client.tools["build_index"]
    assert alias["_meta"]["io.holdfast/contract"]["deprecated"]["replacement"] == "build_index"
    assert "Use `build_index` instead." in alias["description"]
    assert (alias["inputSchema"], alias["outputSchema"]) == (tool["inputSchema"], tool["outputSchema"])
    others = [item for name, item in client.tools.items() if name != "index_build"]
    assert not any("deprecated" in item["_meta"]["io.holdfast/contract"] for item in others)


@pytest.mark.requirement("S1-3.4-package-version")
def test_the_server_introduces_itself_with_the_version_of_the_package(client: OfficialClient) -> None:
    info = client.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("pairofcleats", __version__)
    assert client.client.protocol_version == "2024-11-05"


@pytest.mark.requirement("S1-6.4-content")
@pytest.mark.requirement("S1-3.4-package-version")
def test_the_capabilities_are_told_under_the_name_of_the_server(client: OfficialClient) -> None:
    said = client.client.server_capabilities
    assert said.tools is not None
    assert said.tools.list_changed is False
    block: dict[str, Any] = (said.experimental or {})["pairofcleats"]
    assert (block["schemaVersion"], block["toolVersion"]) == (SCHEMA_VERSION, __version__)
    can = block["capabilities"]
    named = [can["docs"]["pdfjsDist"], can["docs"]["mammoth"], can["vector"]["sqliteVec"], can["vector"]["hnsw"]]
    assert all(isinstance(value, bool) for value in named)
    assert can["mcp"]["sdk"] is True


# What is older, newer and nonsense is told apart by one piece of code; the framing only has to carry it.
ASKED = [("native", "2025-06-18"), ("legacy", "tomorrow")]


@pytest.mark.parametrize(
    ("mode", "asked"), [pytest.param(*one, marks=pytest.mark.xdist_group(f"mcp-{one[0]}")) for one in ASKED]
)
def test_the_revision_is_the_same_whatever_is_asked(place: SearchPlace, mode: str, asked: str) -> None:
    with place.stderr(f"{mode}-asked").open("w") as errors:
        assert asyncio.run(negotiated(place, mode, asked, errors)) == "2024-11-05"


async def negotiated(place: SearchPlace, mode: str, asked: str, errors: TextIO) -> str:
    """The revision that the server answers to a handshake that asks for another."""
    command, *arguments = place.command(mode)
    server = StdioServerParameters(command=command, args=arguments, env=place.environment())
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "test", "version": "1.0.0"}}
    hello = JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=params)
    transport = content_length_client(server, errors) if mode == "legacy" else stdio_client(server, errors)
    async with asyncio.timeout(BOUND), transport as (read, write):
        await write.send(SessionMessage(hello))
        answer: Any = await read.receive()
    return str(answer.message.result["protocolVersion"])


@pytest.mark.requirement("S1-6.10.2-per-tool")
def test_long_tools_have_a_time_of_their_own_and_the_others_that_of_the_server(client: OfficialClient) -> None:
    supervision = {name: tool["_meta"]["io.holdfast/supervision"] for name, tool in client.tools.items()}
    assert {name: rule["timeoutMs"] for name, rule in supervision.items() if "timeoutMs" in rule} == TIMEOUTS


def test_every_tool_says_its_versions_its_effect_and_what_it_is_for(client: OfficialClient) -> None:
    promised = PROMISES | {alias: one for one in PROMISES.values() for alias in one.aliases}
    for name, tool in client.tools.items():
        versions = tool["_meta"]["io.holdfast/contract"]
        assert (versions["surfaceVersion"], versions["toolingVersion"]) == (SCHEMA_VERSION, __version__)
        assert (tool["title"] != "", tool["description"] != "") == (True, True), name
        assert versions["schemaVersion"] == promised[name].schema_version, name
        assert tool["_meta"]["io.holdfast/effect"]["recovery"]["kind"] in {"replay_safe", "at_most_once"}


def fields(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(schema.get("properties", {}).items())


def test_every_argument_and_every_field_of_an_answer_is_explained(client: OfficialClient) -> None:
    for name, tool in client.tools.items():
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False), name
        for argument, rule in schema["properties"].items():
            assert rule.get("description") or rule == {"not": {}} or rule.get("not") == {}, (name, argument)
        jsonschema_rs.meta.validate(tool["outputSchema"])
        parts = tool["outputSchema"].get("$defs", {})
        for field, rule in [pair for one in (tool["outputSchema"], *parts.values()) for pair in fields(one)]:
            told = rule.get("description") or parts[rule["$ref"].rpartition("/")[2]].get("description")
            assert told, (name, field)


def test_the_examples_of_every_tool_are_good_arguments(client: OfficialClient) -> None:
    for name, promise in PROMISES.items():
        validator = jsonschema_rs.Draft202012Validator(client.tools[name]["inputSchema"])
        assert promise.examples, name
        assert all(validator.is_valid(example) for example in promise.examples), name


def test_no_tool_is_described_in_more_than_a_model_can_read_at_once(client: OfficialClient) -> None:
    assert len(json.dumps([tool["inputSchema"] for tool in client.tools.values()])) < 60_000
    assert len(json.dumps(list(client.tools.values()))) < 160_000
