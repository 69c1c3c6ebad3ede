"""Bodies, time, places, and clients that leave or do not read; the host sees what was given up."""

import json
import threading
from contextlib import suppress

import pytest
from tests.api.client import BOUND, Client, parse_events, until
from tests.api.conftest import Start
from tests.api.mcp_server import initialize_params
from tests.api.scripted_host import Message, ScriptedHost

pytestmark = pytest.mark.xdist_group("api-lives")


def metric(front: Client, name: str) -> float:
    line = next(line for line in front.get("/metrics").body.decode().splitlines() if line.startswith(f"{name} "))
    return float(line.split()[1])


@pytest.mark.requirement("S1-7.3-too-large")
def test_a_body_may_be_as_large_as_the_limit_and_no_larger(server: Client) -> None:
    empty = len(json.dumps({"query": "a", "meta": ""}))
    largest = json.dumps({"query": "a", "meta": "x" * (1_000_000 - empty)}).encode()
    too_large = server.post("/search", largest + b" ")

    assert len(largest) == 1_000_000
    assert server.post("/search", largest).status == 400  # the tool bounds its texts
    assert (too_large.status, too_large.json["code"], too_large.json["limitBytes"]) == (
        413, "INVALID_REQUEST", 1_000_000,
    )  # fmt: skip


def test_a_chunked_body_needs_no_length_and_has_the_same_limit(start: Start) -> None:
    front = start(maxBodyBytes=1000)
    head = f"POST /search HTTP/1.1\r\nHost: 127.0.0.1:{front.port}\r\nContent-Type: application/json\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
    small = front.exchange(chunked + b'e\r\n{"query":"hi"}\r\n0\r\n\r\n')
    large = front.exchange(
        chunked + b"100\r\n" + b" " * 256 + b"\r\n" + b"400\r\n" + b" " * 1024 + b"\r\n0\r\n\r\n"
    )

    assert small.startswith(b"HTTP/1.1 200")
    assert large.startswith(b"HTTP/1.1 413")


@pytest.mark.requirement("S1-7.1-other-bodies")
@pytest.mark.requirement("S1-7.3-media-type")
@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "multipart/form-data; boundary=application/json",
        "application/json-patch+json",
    ],
)
def test_a_body_that_is_not_json_is_an_unsupported_media_type(server: Client, kind: str) -> None:
    got = server.post("/search", b'{"query":"a"}', Content_Type=kind)

    assert (got.status, got.json["code"]) == (415, "INVALID_REQUEST")


@pytest.mark.requirement("S1-7.1-json-bodies")
def test_a_compressed_body_is_an_unsupported_media_type(server: Client) -> None:
    assert server.post("/search", b"x", Content_Encoding="gzip").status == 415
    assert server.post("/search", {"query": "a"}, Content_Type="Application/JSON; charset=utf-8").status == 200


def test_a_post_without_a_length_is_asked_for_one(server: Client) -> None:
    head = f"POST /search HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    answer = server.exchange(f"{head}Connection: close\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 411")


def test_work_that_takes_too_long_is_cancelled_and_told_with_the_timeout(start: Start) -> None:
    front = start(timeout=0.3)
    got = front.post("/search", {"query": "hang"})
    events = front.events("/search/stream", {"query": "hang"})

    assert (got.status, got.json["code"], got.json["timeoutMs"]) == (504, "TOOL_TIMEOUT", 300)
    assert [name for name, _ in events] == ["start", "error", "done"]
    assert events[1][1]["error"]["code"] == "TOOL_TIMEOUT"
    front.host.wait_for(lambda host: len(host.cancelled) == 2)


def _modern(query: str) -> bytes:
    told = {f"io.modelcontextprotocol/{name}": value for name, value in _ABOUT.items()}
    params = {"name": "search", "arguments": {"query": query}, "_meta": told}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


_ABOUT = {"protocolVersion": "2026-07-28", "clientInfo": {"name": "c", "version": "1"}, "clientCapabilities": {}}
_NAMES = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search"}
_HEAD_OF_MCP = "".join(
    f"{name}: {value}\r\n" for name, value in {"Accept": "text/event-stream", **_NAMES}.items()
).encode()


@pytest.mark.parametrize(
    ("path", "head", "body"),
    [
        (b"/search", b"", b'{"query":"large"}'),
        (b"/search/stream", b"", b'{"query":"large"}'),
        (b"/mcp", _HEAD_OF_MCP, _modern("large")),
    ],
    ids=["search", "stream", "mcp"],
)
def test_a_reader_that_does_not_read_keeps_no_place_once_the_work_is_done(
    start: Start, path: bytes, head: bytes, body: bytes
) -> None:
    front = start(concurrency=1, writeTimeout=600)
    request = (
        b"POST %b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n"
    )
    with front.connect(buffer=4096) as connection:
        connection.sendall(request % (path, front.port, head, len(body)) + body)
        front.host.wait_for(lambda host: len(host.calls()) == 1)

        until(lambda: front.post("/search", {"query": "others"}).status == 200, "others are served")


@pytest.mark.parametrize("path", ["/search", "/search/stream"])
def test_a_client_that_leaves_cancels_its_search(start: Start, path: str) -> None:
    front = start()
    connection = front.begin(path, "hang")
    front.host.wait_for(lambda host: len(host.calls()) == 1)
    connection.close()

    front.host.wait_for(lambda host: host.cancelled == [host.requests[-1]["id"]])
    until(lambda: metric(front, "holdfast_http_in_flight") == 1, "the request is forgotten")


def test_a_client_that_leaves_in_its_handshake_holds_no_place(start: Start) -> None:
    front = start(concurrency=1)
    front.host.answers_discovery = False
    shaken = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25")}
    connection = front.begin_post("/mcp", shaken)
    # The first one is the front's own, which nobody waits for.
    front.host.wait_for(lambda host: len(_asked(host, "server/discover")) == 2)
    assert front.post("/search", {"query": "a"}).status == 503
    connection.close()

    front.host.wait_for(lambda host: host.cancelled == [_asked(host, "server/discover")[1]["id"]])
    until(lambda: front.post("/search", {"query": "a"}).status == 200, "the place is free again")


def _asked(host: ScriptedHost, method: str) -> list[Message]:
    return [request for request in host.requests if request["method"] == method]


def test_a_client_that_leaves_cancels_what_it_pipelined_too(start: Start) -> None:
    front = start()
    connection = front.begin("/search", "hang", is_last=False)
    front.host.wait_for(lambda host: len(host.calls()) == 1)
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % front.port)
    connection.close()

    front.host.wait_for(lambda host: len(host.cancelled) == 1)


def test_requests_beyond_the_places_are_told_to_come_back_but_health_never_waits(start: Start) -> None:
    front = start(concurrency=2)
    held = [front.begin("/search", "hang"), front.begin("/search/stream", "hang")]
    front.host.wait_for(lambda host: len(host.calls()) == 2)
    refused = front.post("/search", {"query": "a"})

    assert (refused.status, refused.json["code"]) == (503, "QUEUE_OVERLOADED")
    assert refused.json["queue"] == {"max": 2, "size": 2}
    assert int(refused.headers["retry-after"]) >= 1
    assert front.post("/search/stream", {"query": "a"}).status == 503
    assert front.get("/health").status == 200
    for connection in held:
        connection.close()
    until(lambda: front.post("/search", {"query": "a"}).status == 200, "places become free again")


def test_a_silent_stream_shows_that_it_is_alive(start: Start) -> None:
    front = start(keepAlive=0.1)
    with front.begin("/search/stream", "hang") as connection:
        received = b""
        while received.count(b": keep-alive\n\n") < 2:
            received += connection.recv(4096)

    assert b"event: start" in received


def test_a_reader_that_does_not_read_loses_old_progress_and_then_its_connection(start: Start) -> None:
    front = start(writeTimeout=0.5)
    with front.connect(buffer=4096) as connection:
        body = b'{"query":"flood"}'
        head = (
            b"POST /search/stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
            % front.port
        )
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        until(lambda: metric(front, "holdfast_http_sse_progress_dropped_total") > 50, "progress is dropped")
        until(lambda: metric(front, "holdfast_http_sse_streams") == 0, "the stream is given up")

    assert front.post("/search", {"query": "others"}).status == 200


def test_a_reader_that_does_not_read_a_large_answer_is_given_up(start: Start) -> None:
    front = start(writeTimeout=0.3)
    with front.connect(buffer=4096) as connection:
        body = b'{"query":"huge"}'
        head = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % front.port
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        until(lambda: metric(front, "holdfast_http_connections") == 1, "the connection is cut")


@pytest.mark.parametrize("path", ["/search", "/search/stream"])
def test_a_reader_that_takes_it_by_drops_is_given_up(start: Start, path: str) -> None:
    front = start(writeTimeout=1.0)
    pause = threading.Event()
    with front.connect(buffer=4096) as connection:
        body = b'{"query":"huge"}'
        head = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (path.encode(), front.port)
        lines = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        connection.sendall(head + lines + body)
        with suppress(ConnectionResetError):
            for _ in range(50):
                connection.recv(500)
                pause.wait(0.1)
                if b'reason="slow_reader"' in front.get("/metrics").body:
                    break

    assert b'reason="slow_reader"} 1' in front.get("/metrics").body
    assert metric(front, "holdfast_http_sse_streams") == 0


def test_a_slow_reader_that_does_read_gets_everything(start: Start) -> None:
    front = start(writeTimeout=5)
    got = front.post("/search", {"query": "large"})

    assert len(got.json["result"]["search"]["filler"]) == 4_000_000


def test_many_streams_at_once_get_their_own_answers(server: Client) -> None:
    ends: list[tuple[int, str]] = []

    def ask(number: int) -> None:
        events = server.events("/search/stream", {"query": f"number {number}"})
        ends.append((number, events[-2][1]["result"]["search"]["query"]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND)
    assert sorted(ends) == [(number, f"number {number}") for number in range(16)]


def test_a_stream_is_flushed_event_by_event(start: Start) -> None:
    front = start()
    with front.begin("/search/stream", "hang") as connection:
        received = b""
        while b"\n\n" not in received.partition(b"event: start")[2]:
            received += connection.recv(4096)
        body = received.partition(b"\r\n\r\n")[2].partition(b"\r\n")[2]

    assert parse_events(body.rstrip(b"\r\n"))[0][0] == "start"
