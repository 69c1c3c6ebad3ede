"""What a client of the real server notices when processes die, clients leave and time runs out: little.

A worker that is held up stands for one that is busy: what it is asked is under way for as long as a test wants.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.api.client import read_to_end, until
from tests.api.running_server import Place, RunningServer, running_server

pytestmark = pytest.mark.xdist_group("api-lives")

TIMEOUT = 2.0  # seconds; more than a new worker takes to be there


@pytest.fixture(scope="module")
def mortal(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose processes may be killed."""
    with running_server(place, tmp_path_factory.mktemp("mortal")) as running:
        yield running


@pytest.mark.parametrize("path", ["/search", "/search/stream"])
def test_a_worker_that_is_killed_during_a_search_is_not_noticed(mortal: RunningServer, path: str) -> None:
    replayed, generation = mortal.count("replayed"), mortal.host["generation"]
    with mortal.busy() as worker, mortal.begin(path, "budget") as waiting:
        mortal.wait_for_pending(1)
        os.kill(worker, signal.SIGKILL)
        answer = read_to_end(waiting)

    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"file":"src/budget.py"' in answer
    assert b'"ok":false' not in answer
    assert (mortal.count("replayed"), mortal.host["generation"]) == (replayed + 1, generation + 1)


def test_requests_that_come_while_there_is_no_worker_wait_for_the_next(mortal: RunningServer) -> None:
    os.kill(mortal.host["worker_pid"], signal.SIGKILL)
    got = [mortal.get("/search?q=budget"), mortal.get("/status"), mortal.get("/capabilities")]

    assert [one.status for one in got] == [200, 200, 200]


def test_a_front_that_is_killed_is_replaced_and_who_connects_meanwhile_waits(mortal: RunningServer) -> None:
    first = mortal.front_pid()
    os.kill(first, signal.SIGKILL)
    until(lambda: len(mortal.logged("front_lost")) > 0, "the loss is noticed")
    got = mortal.post("/search", {"query": "budget"})

    assert got.status == 200
    assert mortal.front_pid() != first
    assert "SIGKILL" in mortal.logged("front_lost")[-1]["reason"]


def test_what_a_front_that_is_killed_had_asked_for_is_cancelled(mortal: RunningServer) -> None:
    cancelled = mortal.count("cancelled")
    with mortal.busy(), mortal.begin("/search", "nobody") as waiting:
        mortal.wait_for_pending(1)
        os.kill(mortal.front_pid(), signal.SIGKILL)

        assert read_to_end(waiting) == b""
        until(lambda: mortal.count("cancelled") == cancelled + 1, "the search is cancelled")
        mortal.wait_for_pending(1)  # the next front asks who the server is
    assert mortal.get("/search?q=budget").status == 200


@pytest.mark.parametrize("path", ["/search", "/search/stream"])
def test_a_client_that_leaves_cancels_the_work_down_to_the_worker(mortal: RunningServer, path: str) -> None:
    def stopped() -> int:
        return [one["outcome"] for one in mortal.logged("tool_call")].count("cancelled")

    cancelled, before = mortal.count("cancelled"), stopped()
    with mortal.busy():
        with mortal.begin(path, "budget"):
            mortal.wait_for_pending(1)
        until(lambda: mortal.count("cancelled") == cancelled + 1, "the host hears of it")
        mortal.wait_for_pending(0)

    until(lambda: stopped() == before + 1, "the worker stops its work")
    assert mortal.get("/search?q=budget").status == 200


@pytest.mark.requirement("S1-7.2.3-done")
@pytest.mark.requirement("S1-7.2.3-envelopes")
@pytest.mark.requirement("S1-7.2.3-events")
def test_work_beyond_the_time_of_a_request_ends_in_an_error_and_a_stream_still_in_done(
    place: Place, tmp_path: Path
) -> None:
    timeout = ("--http-timeout", f"{TIMEOUT}")
    with running_server(place, tmp_path, *timeout) as server, server.busy(), ThreadPoolExecutor() as at_once:
        streaming = at_once.submit(server.events, "/status/stream")
        plain = server.post("/search", {"query": "budget"})
        events = streaming.result()

    assert (plain.status, plain.json["code"], plain.json["timeoutMs"]) == (504, "TOOL_TIMEOUT", TIMEOUT * 1000)
    assert [name for name, _ in events] == ["start", "error", "done"]
    assert (events[1][1]["ok"], events[1][1]["error"]["code"]) == (False, "TOOL_TIMEOUT")
    assert (events[2][1]["ok"], events[2][1]["result"], "error" in events[2][1]) == (True, {}, False)
    assert all(set(data["_meta"]) == {"schemaVersion", "toolVersion", "ts", "durationMs"} for _, data in events)


def test_a_server_that_is_told_to_end_tells_who_waits_and_leaves_no_process(place: Place, tmp_path: Path) -> None:
    brief = ("--drain", "0.2", "--kill-grace", "0.3")
    with running_server(place, tmp_path, *brief) as server, server.busy():
        waiting = server.begin("/search", "budget")
        server.wait_for_pending(1)
        server.process.terminate()
        with waiting:
            head, _, body = read_to_end(waiting).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in head
    assert (json.loads(body)["ok"], json.loads(body)["code"]) == (False, "CANCELLED")
    assert re.fullmatch(r"holdfast: HTTP on http://127.0.0.1:\d+ \(.*\)\n", (tmp_path / "stderr").read_text())
