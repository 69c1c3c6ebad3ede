"""Clients that send far more than is answered: the others have their turn, and memory stays as it was."""

import re
from contextlib import ExitStack

import psutil
import pytest
from tests.api.conftest import Start
from tests.api.running_front import RunningFront

pytestmark = pytest.mark.xdist_group("api-lives")

TOKEN = "t" * 40
MINE = {"Authorization": f"Bearer {TOKEN}"}
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
BURST = REQUEST * (257_000 // len(REQUEST))
FLOODING = 30
MOST_GROWTH = 100_000_000


def answered(front: RunningFront) -> int:
    """How many requests were answered, besides those for what a test looks at."""
    page = front.get("/metrics", **MINE).body.decode()
    lines = re.findall(r'^holdfast_http_requests_total{route="([^"]+)".*} (\d+)$', page, re.MULTILINE)
    return sum(int(count) for route, count in lines if route not in {"/health", "/metrics"})


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
