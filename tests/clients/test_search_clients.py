"""What real MCP clients do with the search server: find, read, learn what is wrong, and change their mind."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.journeys import MODERN, node, package
from tests.clients.search_journeys import SEARCH_JOURNEYS, SearchSeen, served, server_of, take_together

from holdfast.version import __version__

ALBUM: dict[Any, SearchSeen] = {}


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served(tmp_path_factory.mktemp("search-journeys"))


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(journey, id=journey.name, marks=pytest.mark.xdist_group(f"search-{journey.client}"))
        for journey in SEARCH_JOURNEYS
    ],
)
def seen(request: pytest.FixtureRequest, place: Path) -> SearchSeen:
    """One journey, taken together with the others of its client."""
    if request.param not in ALBUM:
        ALBUM.update(take_together(request.param.client, place))
    return ALBUM[request.param]


def payload(seen: SearchSeen, step: str) -> dict[str, Any]:
    """What the one text of a result says."""
    entry = seen.journal[step]
    assert "result" in entry, entry
    (content,) = entry["result"]["content"]
    return dict(json.loads(content["text"]))


def test_the_client_sees_all_tools_of_the_server(seen: SearchSeen) -> None:
    assert seen.journal["revision"] == seen.journey.revision
    assert seen.journal["server"] == {"name": "pairofcleats", "version": __version__}
    names = [tool["name"] for tool in seen.journal["tools"]]
    assert (len(names), names[0], "index_build" in names) == (21, "search", True)


def test_the_client_finds_code_and_shows_the_file(seen: SearchSeen) -> None:
    found = payload(seen, "search")
    assert {hit["file"] for hit in found["code"]} <= {"src/budget.py", "src/errors.py", "tests/test_budget.py"}
    assert seen.journal["search"]["result"]["structuredContent"] == found
    assert "Budgets for retries" in payload(seen, "shown")["text"]


def test_the_client_is_told_everything_that_is_wrong(seen: SearchSeen) -> None:
    entry = seen.journal["invalid"]
    if seen.journey.revision == MODERN:
        assert entry["result"]["isError"] is True
        told = payload(seen, "invalid")
    else:
        assert entry["error"]["code"] == -32602
        told = entry["error"]["data"]
    assert told["code"] == "INVALID_REQUEST"
    assert all(word in json.dumps(told) for word in ("/top", "nonsense"))


def test_the_client_is_told_that_there_is_no_index(seen: SearchSeen) -> None:
    assert seen.journal["refused"]["result"]["isError"] is True
    assert payload(seen, "refused")["code"] == "NO_INDEX"


def test_a_build_that_the_client_gives_up_has_told_its_progress_and_leaves_nothing(seen: SearchSeen) -> None:
    assert "error" in seen.journal["cancelled"]
    assert seen.journal["cancelled"]["heard"][0]["message"] != ""
    assert payload(seen, "afterwards")["index"]["code"]["exists"] is False
    assert seen.survivors == []


def inspected(place: Path, name: str, *asked: str) -> tuple[dict[str, Any], str]:
    """What the Inspector makes of an answer, and its remarks."""
    program = package("@modelcontextprotocol/inspector") / "clients" / "launcher" / "build" / "index.js"
    server = server_of(SEARCH_JOURNEYS[0]._replace(client=name), place)
    settings = [word for pair in server["env"].items() for word in ("-e", "=".join(pair))]
    command = [server["command"], *server["args"]]
    done = node(str(program), "--cli", *asked, *settings, "--format", "json", "--", *command)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.xdist_group("search-inspector")
def test_the_inspector_searches(place: Path) -> None:
    asked = ("--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=budget", "top=1")
    answer, remarks = inspected(place, "inspector-search", *asked)
    (content,) = answer["result"]["content"]
    assert (len(json.loads(content["text"])["code"]), remarks) == (1, "")


@pytest.mark.xdist_group("search-inspector")
def test_the_inspector_finds_no_error_in_the_schemas(place: Path) -> None:
    answer, remarks = inspected(place, "inspector-list", "--method", "tools/list", "--strict")
    assert len(answer["result"]["tools"]) == 21
    assert "Error" not in remarks
