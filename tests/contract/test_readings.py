"""What was decided where the contracts disagree or are silent, as far as it shows in no exchange."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Server
from holdfast.launch.tools import server as launch_server
from holdfast.present.error_numbers import HANDSHAKE_NUMBERS, host_error_number
from holdfast.search.tools import server as search_server
from holdfast.search.version import SCHEMA_VERSION
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.version import __version__
from holdfast.vocabulary.meta import META_CONTRACT

ROOT = Path(__file__).parents[2]
QUIET = replace(Settings(), event_log=False)

OURS = pytest.mark.parametrize(
    ("server", "name"), [(search_server, "pairofcleats"), (launch_server, "launch")], ids=["search", "launch"]
)


def _introduced(server: Server, asked: str, **settings: Any) -> dict[str, Any]:
    """What the server answers to a handshake."""

    async def scenario() -> dict[str, Any]:
        async with connect(server, settings=replace(QUIET, **settings), revision=None) as client:
            return dict((await client.handshake(asked))["result"])

    return asyncio.run(scenario())


@pytest.mark.requirement("OURS-4-names")
@OURS
def test_a_server_of_ours_has_its_name_and_its_block_on_the_wire(server: Server, name: str) -> None:
    told = _introduced(server, "2024-11-05")

    assert told["serverInfo"] == {"name": name, "version": __version__}
    assert told["capabilities"]["experimental"][name]["toolVersion"] == __version__


@pytest.mark.requirement("OURS-5-negotiated")
def test_only_the_search_server_answers_the_oldest_revision_whatever_is_asked() -> None:
    answered = {server.name: _introduced(server, "2025-06-18") for server in (search_server, launch_server)}

    assert {name: told["protocolVersion"] for name, told in answered.items()} == {
        "pairofcleats": "2024-11-05",
        "launch": "2025-06-18",
    }


@pytest.mark.requirement("OURS-5-switch")
def test_whoever_runs_a_server_decides_whether_it_negotiates() -> None:
    assert _introduced(search_server, "2025-06-18", protocol="negotiate")["protocolVersion"] == "2025-06-18"
    assert _introduced(launch_server, "2025-06-18", protocol="pinned")["protocolVersion"] == "2024-11-05"


@pytest.mark.requirement("OURS-14-choice")
@OURS
def test_a_server_of_ours_answers_json_and_takes_no_arguments_about_the_form(server: Server, name: str) -> None:
    assert server.default_presentation(QUIET).render.value == "json", name
    for tool in server.surface.tools:
        assert not {"render", "detail"} & set(tool.input_schema["properties"]), tool.name


@pytest.mark.requirement("OURS-14b-none")
@OURS
def test_a_server_of_ours_declares_no_other_spellings(server: Server, name: str) -> None:
    assert [tool.name for tool in server.surface.tools if tool.normalization] == [], name


@pytest.mark.requirement("OURS-18-numbers")
@pytest.mark.parametrize(
    ("code", "older", "newer"),
    [
        ("QUEUE_OVERLOADED", -32001, 1001),
        ("WORKER_LOST", -32010, 1010),
        ("AMBIGUOUS_OUTCOME", -32011, 1011),
        ("REPLAY_EXHAUSTED", -32012, 1012),
        ("ROLLOUT_DISRUPTED", -32013, 1013),
        ("NOT_READY", -32014, 1014),
        ("STATE_LOST", -32015, 1015),
        ("QUARANTINED", -32016, 1016),
    ],
)
def test_an_error_of_the_host_has_one_number_per_era(code: str, older: int, newer: int) -> None:
    assert (host_error_number(code, modern=False), host_error_number(code, modern=True)) == (older, newer)
    assert HANDSHAKE_NUMBERS[newer] == older


@pytest.mark.requirement("OURS-1-one-version")
def test_every_tool_of_the_search_server_names_the_version_of_its_surface() -> None:
    said = {tool["_meta"][META_CONTRACT]["surfaceVersion"] for tool in search_server.tool_definitions()}

    assert said == {SCHEMA_VERSION}


@pytest.mark.requirement("OURS-32-places")
@pytest.mark.parametrize(
    "place",
    [
        "src/holdfast/errors.py",
        "src/holdfast/search/version.py",
        "src/holdfast/search/tools.py",
        "src/holdfast/worker/validate.py",
        "docs/contracts/mcp-tools.schema.json",
        "docs/contracts/mcp-error-codes.md",
        "tests/mcp/test_sdk_*.py",
        "tests/api/test_contract_*.py",
    ],
)
def test_what_the_contract_asks_for_in_a_place_is_there(place: str) -> None:
    assert list(ROOT.glob(place)), place
