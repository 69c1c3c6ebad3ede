"""build_index through the server: it is followed, stopped, killed and overtaken, and no search ever suffers."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.search.sample import write_sample
from tests.search.serving import CHILD, WORKER, SearchServer, write_many

from holdfast.search.home import IndexHome
from holdfast.search.library import build_index
from holdfast.search.repository import Repository, find_repository, index_home

pytestmark = pytest.mark.xdist_group("tools-build")

Serve = Callable[..., SearchServer]
FUNCTIONS = 15  # of each of the hundred files that make a build long


def assert_ended_well(server: SearchServer) -> None:
    """It ends as it should, and leaves nothing behind."""
    is_alive = server.process.poll() is None  # or the test itself has ended it
    server.assert_nothing_left(exit_code=0 if is_alive else None)
    assert server.log.broken_laws(is_over=is_alive) == []
    assert "Traceback" not in server.stderr()


@pytest.fixture
def serve(repository: Repository, cache: Path, tmp_path: Path) -> Iterator[Serve]:
    """Starts servers of one repository; at the end each ends well, and leaves nothing behind."""
    with ExitStack() as stack:
        started: list[SearchServer] = []

        def start(*words: str) -> SearchServer:
            folder = tmp_path / f"server{len(started)}"
            started.append(stack.enter_context(SearchServer(repository.root, cache, folder, *words)))
            return started[-1]

        yield start
        for server in started:
            assert_ended_well(server)


@pytest.fixture
def indexed(repository: Repository, cache: Path) -> Path:
    """The index of the sample, which is small; to build it again takes long."""
    build_index(repository, cache)
    write_many(repository.root, functions=FUNCTIONS)
    return index_home(repository, cache)


@dataclass(frozen=True)
class Place:
    """What the server serves that most tests share: each leaves it alive, and the index whole."""

    repository: Repository
    cache: Path

    @property
    def home(self) -> Path:
        """Where its index is."""
        return index_home(self.repository, self.cache)

    def change(self) -> None:
        """Give the next build something to do."""
        (self.repository.root / "changed.py").write_text(f"def changed_{time.monotonic_ns()}():\n    return 1\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    directory = tmp_path_factory.mktemp("builds")
    place = Place(find_repository(write_sample(directory / "repo")), directory / "cache")
    build_index(place.repository, place.cache)
    write_many(place.repository.root, functions=FUNCTIONS)
    return place


@pytest.fixture(scope="module")
def server(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchServer]:
    with SearchServer(place.repository.root, place.cache, tmp_path_factory.mktemp("server")) as server:
        yield server
        assert_ended_well(server)


@contextmanager
def another_writer(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the writer's lock until its input ends."""
    program = (
        "import sys; from pathlib import Path; from holdfast.search.home import IndexHome\n"
        "with IndexHome(Path(sys.argv[1])).writing():\n    print('held', flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", program, str(home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process


def builds(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "builds").iterdir())


def test_a_build_tells_how_far_it_is_and_searches_go_on_meanwhile_and_then_see_the_new_index(
    server: SearchServer,
) -> None:
    old = server.search("retry budget")["index"]["build"]
    number = server.start_call("build_index", {}, {"progressToken": "t"})
    seen = [old]
    while not server.log.entries[str(number)].answers:
        seen.append(server.search("retry budget")["index"]["build"])
    new = server.answer_of(number)["result"]["structuredContent"]["build"]

    assert len(seen) > 10
    assert set(seen) <= {old, new}
    assert server.search("many_3_3")["index"]["build"] == new
    told = server.progress_of("t")
    numbers = [notice["progress"] for notice in told]
    assert numbers == sorted(set(numbers))  # how many there are is a matter of speed: four in a second at most
    assert [*dict.fromkeys(notice["phase"] for notice in told)][:2] == ["discover", "index"]
    counted = [(notice["progress"], notice["total"]) for notice in told if notice["phase"] == "index"]
    totals = {total for _, total in counted}
    assert len(totals) == 1  # how many files there are is known once they were found
    assert all(number <= totals.copy().pop() and number == int(number) for number, _ in counted)
    files = [notice["message"] for notice in told if notice["phase"] == "index"]
    assert all(re.fullmatch(r"\S+\.\w+ \(\d+ of \d+\)", file) for file in files), files
    assert {notice["tool"] for notice in told} == {"build_index"}


def test_a_build_that_is_cancelled_answers_once_within_two_seconds_and_the_old_index_serves_on(
    server: SearchServer,
) -> None:
    before = server.search("retry budget")["index"]
    number = server.begin("build_index", "index")
    began = time.monotonic()
    server.notify("$/cancelRequest", {"id": number})

    assert server.failure(server.answer_of(number))["code"] == "CANCELLED"
    assert time.monotonic() - began < 2
    server.until(lambda: not server.below(CHILD), 2, "the end of the child")
    after = server.search("retry budget")
    assert (after["index"]["build"], after["index"]["generation"]) == (before["build"], before["generation"])
    assert after["code"]


def test_a_build_that_nobody_waits_for_ends_in_silence_within_two_seconds(
    server: SearchServer, place: Place
) -> None:
    number = server.begin("build_index", "index")
    server.cancel(number)

    server.until(lambda: not server.below(CHILD), 2, "the end of the child")
    assert server.search("retry budget")["code"]
    assert [answer["id"] for answer in server.drain() if answer["id"] == number] == []
    assert server.done("build_index", {"incremental": True})["files"] > 90
    assert len(builds(place.home)) == 1  # what was left half built is gone


def test_a_build_whose_worker_is_killed_is_done_again_by_the_next_worker(
    server: SearchServer, place: Place
) -> None:
    number = server.begin("build_index", "index")
    server.kill(WORKER)

    answer = server.answer_of(number, 40)["result"]
    assert answer["structuredContent"]["action"] == "built"
    assert server.search("many_7_7")["code"][0]["file"] == "many_7.py"
    assert len(builds(place.home)) == 1


def test_a_build_whose_own_process_is_killed_is_done_again_and_harms_nobody(
    server: SearchServer, place: Place
) -> None:
    place.change()
    number = server.begin("build_index", "index")
    server.kill(CHILD)

    assert server.search("retry budget")["code"]
    assert server.answer_of(number, 40)["result"]["structuredContent"]["action"] == "built"
    assert server.search("retry budget")["code"]


def test_a_build_that_takes_longer_than_its_repository_allows_ends_as_a_timeout(
    serve: Serve, indexed: Path, repository: Repository
) -> None:
    limits = {"mcp": {"toolTimeouts": {"build_index": 700}}}
    (repository.root / ".pairofcleats.json").write_text(json.dumps(limits))
    server = serve()
    began = time.monotonic()
    told = server.refused("build_index")

    assert told["code"] == "TOOL_TIMEOUT"
    assert told["timeoutMs"] == 700
    assert time.monotonic() - began < 2.7
    assert server.search("retry budget")["code"]


def test_a_second_build_waits_for_the_first_one_and_says_so(server: SearchServer, place: Place) -> None:
    place.change()
    with another_writer(place.home) as other:
        number = server.begin("build_index", "wait", incremental=True)
        assert server.search("retry budget")["code"]
        notice = [told for told in server.messages if told.get("params", {}).get("phase") == "wait"][-1]
        assert f"process {other.pid}" in notice["params"]["message"]
        assert not server.log.entries[str(number)].answers

    assert server.answer_of(number, 40)["result"]["structuredContent"]["action"] == "updated"


def test_a_build_that_waits_can_be_cancelled(server: SearchServer, place: Place) -> None:
    with another_writer(place.home):
        number = server.begin("build_index", "wait")
        began = time.monotonic()
        server.notify("$/cancelRequest", {"id": number})
        assert server.failure(server.answer_of(number))["code"] == "CANCELLED"
        assert time.monotonic() - began < 2


def test_two_servers_of_one_repository_do_not_disturb_each_other(serve: Serve, indexed: Path) -> None:
    one, other = serve(), serve()
    assert one.search("retry budget")["code"] == other.search("retry budget")["code"]
    first, second = one.start_call("build_index"), other.start_call("build_index", {"incremental": True})
    built = one.answer_of(first, 40)["result"]["structuredContent"]
    after = other.answer_of(second, 40)["result"]["structuredContent"]

    assert built["files"] == after["files"]
    assert one.search("many_3_3")["index"] == other.search("many_3_3")["index"]
    one.process.send_signal(signal.SIGKILL)
    one.process.wait(10)
    assert other.search("many_4_4")["code"][0]["file"] == "many_4.py"


def test_arguments_that_do_not_go_together_are_refused_before_anything_is_built(
    server: SearchServer, place: Place
) -> None:
    before = builds(place.home)
    told = server.refused("build_index", {"mode": "records", "sqlite": True, "artifactsDir": "x"})

    assert told["code"] == "INVALID_REQUEST"
    assert len(told["problems"]) == 2
    assert builds(place.home) == before


def test_a_client_that_goes_away_takes_its_build_with_it(serve: Serve, indexed: Path) -> None:
    server = serve()
    server.begin("build_index", "index")
    server.disconnect()

    server.assert_nothing_left(exit_code=None)
    with IndexHome(indexed).writing():  # nobody holds the lock any more
        assert IndexHome(indexed).current() is not None


def test_a_repository_that_is_named_by_its_path_is_built_as_well(
    server: SearchServer, place: Place, tmp_path: Path
) -> None:
    other = write_sample(tmp_path / "other")
    assert server.refused("search", {"query": "retry", "repoPath": str(other)})["code"] == "NO_INDEX"
    before = builds(place.home)
    built = server.done("index_build", {"repoPath": str(other)})

    assert built["repoPath"] == str(find_repository(other).root)
    assert server.search("retry budget", repoPath=str(other))["code"]
    assert builds(place.home) == before
