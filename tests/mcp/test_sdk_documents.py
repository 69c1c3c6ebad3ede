"""The generated pages of the contract are what the live server says."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.official_client import OfficialClient

from holdfast.errors import CODES
from holdfast.search.promises import PROMISES
from holdfast.search.version import SCHEMA_VERSION
from holdfast.version import __version__

CONTRACTS = Path(__file__).parents[2] / "docs" / "contracts"
GENERATED = "run `make docs`"


@pytest.fixture(scope="module")
def snapshot() -> dict[str, Any]:
    path = CONTRACTS / "mcp-tools.schema.json"
    assert path.is_file(), GENERATED
    return dict(json.loads(path.read_text()))


@pytest.mark.requirement("OURS-1-top-level")
@pytest.mark.requirement("S1-10-snapshot")
def test_the_snapshot_of_the_tools_is_what_the_server_says(
    client: OfficialClient, snapshot: dict[str, Any]
) -> None:
    written = {tool["name"]: tool for tool in snapshot["tools"]}
    assert (snapshot["schemaVersion"], list(written)) == (SCHEMA_VERSION, sorted(client.tools)), GENERATED
    for name, live in client.tools.items():
        tool = written[name]
        assert {key: tool[key] for key in live} == live, GENERATED
        versions = live["_meta"]["io.holdfast/contract"]
        assert (tool["schemaVersion"], tool["toolingVersion"]) == (versions["schemaVersion"], __version__)


@pytest.mark.requirement("S1-4.2-documented")
def test_the_form_of_every_answer_is_documented(client: OfficialClient, snapshot: dict[str, Any]) -> None:
    written = {tool["name"]: tool["outputSchema"] for tool in snapshot["tools"]}
    assert written == {name: tool["outputSchema"] for name, tool in client.tools.items()}, GENERATED
    page = (CONTRACTS / "mcp-error-codes.md").read_text()
    told = client.call("show_file", path="no/such/file").payload
    assert f"`{told['code']}`" in page


@pytest.mark.requirement("S1-5.1-registry-page")
def test_every_code_that_a_tool_may_end_with_is_on_the_page_of_codes() -> None:
    page = (CONTRACTS / "mcp-error-codes.md").read_text()
    declared = {
        error if isinstance(error, str) else error.code for row in PROMISES.values() for error in row.errors
    }
    assert declared <= CODES.keys()
    assert [code for code in CODES if f"| `{code}`" not in page] == [], GENERATED
