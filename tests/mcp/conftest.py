"""Search servers for the tests of their contract: one of each mode, all of the same repository."""

from collections.abc import Iterator

import pytest
from tests.mcp.official_client import OfficialClient, connected
from tests.mcp.search_place import SearchPlace, make_place


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> SearchPlace:
    """A repository with an index, and with files for every tool that takes one."""
    place = make_place(tmp_path_factory.mktemp("served"))
    place.add_inputs()
    return place


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(mode, marks=pytest.mark.xdist_group(f"mcp-{mode}")) for mode in ("native", "sdk", "legacy")
    ],
)
def client(request: pytest.FixtureRequest, place: SearchPlace) -> Iterator[OfficialClient]:
    """The official client in front of a server of each mode."""
    with connected(place, request.param) as client:
        yield client
