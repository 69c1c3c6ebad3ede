"""The real server among others: exposed addresses, two servers on one repository, searches during a build, and no
path of the machine in anything that it says."""

import json
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.api.client import BOUND, Client
from tests.api.running_server import (
    Place,
    RunningServer,
    command,
    own_environment,
    port_of,
    running_server,
    write_place,
)

from holdfast.testing import HostUnderTest

pytestmark = pytest.mark.xdist_group("api-lives")

TOKEN = "correct-horse-battery-staple"


# --- who may ask -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_an_address_that_others_can_reach_is_refused_without_a_token(
    place: Place, tmp_path: Path, address: str
) -> None:
    ended = subprocess.run(
        command(place, "--http", address),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=BOUND,
        env=own_environment(tmp_path, uuid.uuid4().hex),
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"there is no token" in ended.stderr
    assert b"HOLDFAST_HTTP_TOKEN" in ended.stderr


def test_with_a_token_it_is_served_to_whoever_has_it(place: Place, tmp_path: Path) -> None:
    secret = {"HOLDFAST_HTTP_TOKEN": TOKEN}
    with running_server(place, tmp_path, "--http", "0.0.0.0:0", environment=secret) as server:
        without = server.get("/search?q=budget")
        wrong = server.get("/search?q=budget", Authorization="Bearer wrong")
        right = server.get("/search?q=budget", Authorization=f"Bearer {TOKEN}")
        health = server.get("/health", Authorization=f"Bearer {TOKEN}")

    assert [one.status for one in (without, wrong, right)] == [401, 401, 200]
    assert without.json["code"] == "UNAUTHORIZED"
    assert TOKEN.encode() not in health.body + without.body + wrong.body
    assert TOKEN not in (tmp_path / "stderr").read_text()


# --- nothing of the machine --------------------------------------------------------------------------------------

PATHS = [
    "/health", "/status", "/status?repo=bare", "/status?repo=broken", "/status?repo=/etc", "/status?nonsense=1",
    "/status/stream", "/status/stream?repo=bare", "/capabilities", "/metrics", "/openapi.json", "/docs",
    "/search?q=budget", "/search?q=budget&repo=bare", "/search?q=budget&repo=broken", "/search?q=a+AND+(",
    "/search?q=/(/", "/search?q=budget&ext=.nothing", "/search?q=budget&backend=sqlite-fts", "/search?q=%ff",
    "/search?q=budget&repo=*",
    "/search?q=budget&backend=nonsense", "/search?q=budget&modifiedAfter=never", "/search?q=a&q=b", "/nowhere",
]  # fmt: skip
BODIES: list[Any] = [
    {"query": "budget", "output": "json", "context": 3},
    {"query": "one", "repo": "bare"},
    {"query": "budget", "repo": "broken"},
    {"query": "budget", "repo": ".."},
    {"query": "budget", "metaJson": "{", "top": "x"},
    {"query": "budget", "path": "/", "file": "/etc/passwd"},
    b"{",
]


def everything_said(server: RunningServer) -> Iterator[tuple[str, bytes]]:
    """The whole answer to every kind of request, head and body."""
    for path in PATHS:
        got = server.get(path)
        yield path, json.dumps(got.headers).encode() + got.body
    for route in ("/search", "/search/stream"):
        for body in [*BODIES, {"query": "budget", "repo": str(server.place.project.parent)}]:
            got = server.post(route, body)
            yield f"{route} {body!r}", json.dumps(got.headers).encode() + got.body
    yield "no request", server.exchange(b"\0\r\n\r\n")
    yield "other method", server.request("DELETE", "/search").body


def strings_of(value: Any) -> Iterator[str]:
    """Every text of a JSON value, keys included."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, str):
        yield value


def test_no_answer_of_any_route_holds_a_path_of_the_machine(server: RunningServer) -> None:
    place = server.place
    ours = [
        *place,
        place.project.parent,
        Path.home(),
        Path.cwd(),
        Path(tempfile.gettempdir()),
        Path(sys.executable),
    ]
    hidden = {str(path) for path in [*ours, *(path.resolve() for path in ours)]} - {"/"}
    told = list(everything_said(server))

    assert [(path, one) for path, said in told for one in hidden if one in said.decode(errors="replace")] == []
    bodies = [server.get(path) for path in PATHS]
    parsed = [got.json for got in bodies if got.headers["content-type"] == "application/json"]
    texts = [text for body in parsed for text in strings_of(body)]
    assert [text for text in texts if any(one in text for one in hidden)] == []
    assert len(told) > 40
    assert len(texts) > 1000


# --- not alone ---------------------------------------------------------------------------------------------------


def build_of(client: Client) -> str:
    got = client.get("/search?q=budget&top=1")
    assert got.status == 200, got.body
    build: str = got.json["result"]["search"]["index"]["build"]
    return build


def with_mcp(place: Place, folder: Path) -> HostUnderTest:
    """The same server with an MCP client on its stdin."""
    folder.mkdir()
    return HostUnderTest(command(place), folder, worker=[])


@pytest.fixture(scope="module")
def own_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place that may be built again, with enough in it that this takes a while."""
    place = write_place(tmp_path_factory.mktemp("own"))
    for number in range(60):
        functions = "".join(f"def f{number}_{one}(x):\n    return x + {one}\n\n\n" for one in range(15))
        (place.project / "src" / f"many_{number}.py").write_text(functions)
    return place


class Searching:
    """Searches one after the other in a thread, until it is told to stop."""

    def __init__(self, client: Client) -> None:
        self.builds: list[str] = []
        self._failures: list[str] = []
        self._client = client
        self._last = threading.Event()
        self._wanted = ""
        self._thread = threading.Thread(target=self._search)
        self._thread.start()

    def stop_after(self, build: str) -> list[str]:
        """Stop once this build answers; what failed until then."""
        self._wanted = build
        self._last.set()
        self._thread.join(BOUND)
        return self._failures

    def _search(self) -> None:
        while not (self._last.is_set() and self.builds[-1:] == [self._wanted]) and not self._failures:
            try:
                self.builds.append(build_of(self._client))
            except Exception as error:
                self._failures.append(repr(error))


@dataclass(frozen=True)
class Day:
    """What happened while an index was built over MCP: two servers of it were searched, the first all the time."""

    answer: dict[str, Any]
    builds: list[str]
    failures: list[str]
    first: tuple[str, str]  # the builds that the servers answered from, before and after
    second: tuple[str, str]
    told: Any


@pytest.fixture(scope="module")
def day(own_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Day:
    folder = tmp_path_factory.mktemp("day")
    with (
        with_mcp(own_place, folder / "one") as host,
        running_server(own_place, folder / "two", "--http-paths") as second,
    ):
        first = Client(port_of(folder / "one" / "stderr"))
        host.handshake()
        before = build_of(first), build_of(second)
        searching = Searching(first)
        answer = host.call("build_index", bound=40.0)
        after = build_of(first), build_of(second)
        failures = searching.stop_after(after[0])
        host.assert_nothing_left()
        told = second.get("/search?q=budget&top=1").json
    return Day(answer, searching.builds, failures, (before[0], after[0]), (before[1], after[1]), told)


def test_searches_go_on_during_a_build_over_mcp_and_switch_to_it_without_a_failure(day: Day) -> None:
    before, after = day.first

    assert not day.answer["result"].get("isError"), day.answer
    assert day.failures == []
    assert (day.builds[0], set(day.builds)) == (before, {before, after})
    assert day.builds == sorted(day.builds, key=[before, after].index)
    assert day.builds.count(before) > 3


def test_two_servers_on_one_repository_see_each_others_builds_and_do_not_disturb_each_other(
    day: Day, own_place: Place
) -> None:
    assert day.first == day.second
    assert day.first[0] != day.first[1]
    assert day.told["repo"] == day.told["result"]["repo"] == str(own_place.project)
