"""Clients that send far more than is answered: the others have their turn, and memory stays as it was."""

import re
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from tests.api.client import read_to_end, until
from tests.api.conftest import Start
from tests.api.running_front import RunningFront

from holdfast.api.wrong_tokens import FREE, MOST_WAITING

pytestmark = pytest.mark.xdist_group("api-lives")

TOKEN = "t" * 40
MINE = {"Authorization": f"Bearer {TOKEN}"}
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
BURST = REQUEST * (257_000 // len(REQUEST))
FLOODING = 30
MOST_GROWTH = 100_000_000
STRANGE = str(Path(__file__).parent / "strange_front.py")


def answered(front: RunningFront) -> int:
    """How many requests were answered, besides those for what a test looks at."""
    page = front.get("/metrics", **MINE).body.decode()
    lines = re.findall(r'^holdfast_http_requests_total{route="([^"]+)".*} (\d+)$', page, re.MULTILINE)
    return sum(int(count) for route, count in lines if route not in {"/health", "/metrics"})


def in_flight(front: RunningFront) -> int:
    page = front.get("/metrics", **MINE).body.decode()
    return int(page.partition("\nholdfast_http_in_flight ")[2].split()[0])


def memory(front: RunningFront) -> int:
    return int(psutil.Process(front.process.pid).memory_info().rss)


def flood(front: RunningFront, stack: ExitStack, first: bytes = b"") -> int:
    """Pipeline a burst on a connection of its own, and read nothing; how many bytes were taken."""
    connection = stack.enter_context(front.connect())
    connection.sendall(first)
    connection.setblocking(False)
    return connection.send(BURST)


def test_health_is_answered_while_thirty_connections_pipeline_and_memory_stays(start: Start) -> None:
    front = start(token=TOKEN)
    before = memory(front)
    with ExitStack() as stack:
        sent = sum(flood(front, stack) for _ in range(FLOODING))
        replies = [front.get("/health", **MINE).status for _ in range(3)]
        done, growth = answered(front), memory(front) - before

    assert replies == [200, 200, 200]
    assert 0 < done < sent / len(REQUEST) / 2  # the flood had turns, and was not over
    assert growth < MOST_GROWTH


def test_what_is_pipelined_behind_a_request_is_not_parsed_before_that_is_answered(start: Start) -> None:
    front = start()
    body = b'{"query": "hang"}'
    head = f"POST /search HTTP/1.1\r\nHost: 127.0.0.1:{front.port}\r\nContent-Type: application/json\r\n"
    held = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with ExitStack() as stack:
        flood(front, stack, held)
        front.host.wait_for(lambda host: len(host.calls()) == 1)

        assert front.get("/health").status == 200
        assert answered(front) == 0


def test_one_address_has_so_many_connections_and_no_more(start: Start) -> None:
    front = start(program=STRANGE, clientConnections=3)
    with ExitStack() as stack:
        kept = [stack.enter_context(front.connect()) for _ in range(3)]
        with front.connect() as refused:
            answer = read_to_end(refused)
        assert answer.startswith(b"HTTP/1.1 429")
        assert b"too many connections from one address" in answer
        kept.pop().close()

        until(lambda: front.get("/health").status == 200, "there is room for another one")


def test_connections_of_a_trusted_proxy_are_not_those_of_one_address(start: Start) -> None:
    front = start(program=STRANGE, clientConnections=1, trustedProxies=["127.0.0.0/8"])
    with front.connect(), front.connect():
        assert front.get("/health").status == 200


def test_a_right_token_is_not_held_up_by_wrong_ones_from_its_address(start: Start) -> None:
    front = start(token=TOKEN)
    for _ in range(int(FREE)):
        assert front.get("/health", Authorization="Bearer wrong").status == 401
    held = [front.connect() for _ in range(MOST_WAITING)]
    for connection in held:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % front.port)
    until(lambda: in_flight(front) > MOST_WAITING, "they wait")

    assert front.get("/health", **MINE).status == 200
    assert front.get("/health", Authorization="Bearer wrong").headers["connection"] == "close"
    for connection in held:
        connection.close()
    reports = [note["params"] for note in front.host.notes if note["method"] == "holdfast/wrong_token"]
    assert reports == [{"address": "127.0.0.1", "count": 1}]
