"""What the tests of the HTTP API ask: the real server, and fronts whose host is played.

`server` is the search server as people start it. `front` and `start` have the scripted host behind them, for
answers that the real one does not give on demand. `harbour` and `younger` speak MCP over HTTP.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.api.mcp_server import HARBOUR, YOUNGER, McpServer, serving
from tests.api.running_front import RunningFront, running_front
from tests.api.running_server import Place, RunningServer, running_server, write_place

Start = Callable[..., RunningFront]


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """What is served; tests leave it as it is."""
    return write_place(tmp_path_factory.mktemp("place"))


@pytest.fixture(scope="session")
def server(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server whose contract is checked; the same for all tests, none of which leaves anything behind."""
    with running_server(place, tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFront]:
    """A front before the scripted host; the same for all tests."""
    with running_front(tmp_path_factory.mktemp("front")) as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a front before the scripted host, with options of the test's own."""
    with ExitStack() as stack:

        def begin(**options: Any) -> RunningFront:
            return stack.enter_context(running_front(tmp_path, **options))

        yield begin


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A server of our own toolkit."""
    with serving(tmp_path_factory.mktemp("harbour"), HARBOUR) as server:
        yield server


@pytest.fixture(scope="module")
def younger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A foreign server behind the host that asks, logs and tells of changes; it writes down what it hears."""
    place = tmp_path_factory.mktemp("younger")
    words = ["run", "--", sys.executable, YOUNGER, str(place / "record")]
    with serving(place / "served", words) as server:
        yield server
