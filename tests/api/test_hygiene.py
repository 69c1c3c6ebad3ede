"""HTTP as an attacker or a broken client writes it: every byte of it on a real socket."""

import json
import socket
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest
from tests.api.client import Client, read_to_end, until
from tests.api.conftest import Start
from tests.api.running_front import RunningFront

pytestmark = pytest.mark.xdist_group("api")

BODY = b'{"query":"hi"}'


def head(front: Client, start_line: bytes = b"GET /health HTTP/1.1", *headers: bytes) -> bytes:
    lines = [start_line, b"Host: 127.0.0.1:%d" % front.port, *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def statuses(answers: bytes) -> list[int]:
    return [int(part[1:4]) for part in answers.split(b"HTTP/1.1")[1:]]


CLOSE = b"Connection: close"
JSON = b"Content-Type: application/json"
POST = b"POST /search HTTP/1.1"


@pytest.mark.parametrize(
    "headers",
    [
        [b"Content-Length: 14", b"Transfer-Encoding: chunked"],
        [b"Content-Length: 14", b"Content-Length: 15"],
        [b"Content-Length: 14", b"Content-Length: 14"],
        [b"Content-Length: 14, 14"],
        [b"Content-Length: +14"],
        [b"Content-Length: -1"],
        [b"Content-Length: 0x0e"],
        [b"Content-Length: 99999999999999999999999"],
        [b"Transfer-Encoding: xchunked"],
        [b"Transfer-Encoding: chunked, identity"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"],
        [b"Transfer-Encoding : chunked"],
        [b"Content-Length : 14"],
        [b" Folded: yes", b"Content-Length: 14"],
        [b"Bad Name: x", b"Content-Length: 14"],
        [b"NoColon"],
        [b"Null: a\0b", b"Content-Length: 14"],
    ],
)
def test_a_request_whose_length_can_be_read_in_two_ways_is_refused_and_cut_off(
    front: RunningFront, headers: list[bytes]
) -> None:
    smuggled = head(front, b"GET /status?smuggled HTTP/1.1")
    answer = front.exchange(head(front, POST, JSON, *headers) + BODY + smuggled)

    assert statuses(answer) == [400]
    assert b"connection: close" in answer.lower()
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["code"] == "INVALID_REQUEST"
    assert not any("smuggled" in json.dumps(request) for request in front.host.requests)


@pytest.mark.parametrize(
    "chunk", [b"zz\r\nhi\r\n0\r\n\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"2\r\nhiXX0\r\n\r\n"]
)
def test_broken_chunks_are_refused_and_cut_off(server: Client, chunk: bytes) -> None:
    answer = server.exchange(head(server, POST, JSON, b"Transfer-Encoding: chunked") + chunk)

    assert statuses(answer)[:1] == [400]


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"\0" * 64,
        b"HELLO THERE\r\n\r\n",
        b"GET /health HTTP/9.9\r\n\r\n",
        b"GET /he alth HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_one_refusal_in_the_envelope(server: Client, raw: bytes) -> None:
    answer = server.exchange(raw)

    assert statuses(answer) == [400]
    document = json.loads(answer.rpartition(b"\r\n\r\n")[2])
    assert (document["ok"], document["error"]["code"]) == (False, "INVALID_REQUEST")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([b"X-Huge: " + b"a" * 200_000], 431),
        ([b"X-%d: %b" % (number, b"a" * 500) for number in range(90)], 431),
        ([b"X-%d: a" % number for number in range(500)], 431),
    ],
    ids=["one", "some", "many"],
)
def test_a_head_that_is_too_large_is_refused(server: Client, headers: list[bytes], status: int) -> None:
    assert statuses(server.exchange(head(server, b"GET /health HTTP/1.1", *headers))) == [status]


def test_a_target_that_is_too_long_is_refused(server: Client) -> None:
    target = b"/search?q=" + b"a" * 20_000

    assert statuses(server.exchange(head(server, b"GET " + target + b" HTTP/1.1"))) == [414]


def test_a_head_that_never_ends_is_refused_before_it_fills_the_memory(server: Client) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nX-Endless: " + b"a" * 60_000)

        assert statuses(read_to_end(connection)) == [431]


def test_a_head_that_arrives_too_slowly_is_given_up(start: Start) -> None:
    front = start(headerTimeout=0.3)
    with front.connect() as dripping, front.connect() as silent:
        dripping.sendall(b"GET /health HTTP/1.1\r\nX-Slow: ")

        assert statuses(read_to_end(dripping)) == [408]
        assert read_to_end(silent) == b""


def test_a_second_head_on_a_kept_connection_is_bounded_too(start: Start) -> None:
    front = start(headerTimeout=0.3)
    with front.connect() as connection:
        connection.sendall(head(front) + b"GET /hea")

        assert statuses(read_to_end(connection)) == [200, 408]


def test_a_body_that_does_not_arrive_in_time_is_given_up(start: Start) -> None:
    front = start(bodyTimeout=0.3)
    answer = front.exchange(head(front, POST, JSON, b"Content-Length: 100") + b'{"que')

    assert statuses(answer) == [408]
    assert front.host.calls() == []


def test_an_idle_connection_is_closed(start: Start) -> None:
    front = start(idleTimeout=1)
    with front.connect() as connection:
        connection.sendall(head(front))

        assert statuses(read_to_end(connection)) == [200]


def test_pipelined_requests_are_answered_in_order(server: Client) -> None:
    search = head(server, POST, JSON, b"Content-Length: %d" % len(BODY)) + BODY
    answer = server.exchange(
        search + head(server, b"GET /nowhere HTTP/1.1") + head(server, b"GET /health HTTP/1.1", CLOSE)
    )

    assert statuses(answer) == [200, 404, 200]


def test_a_kept_connection_goes_on_after_errors(server: Client) -> None:
    bad = head(server, POST, JSON, b"Content-Length: 1") + b"{"
    wrong = head(server, POST, b"Content-Type: text/plain", b"Content-Length: 5") + b"hello"
    put = head(server, b"PUT /health HTTP/1.1")
    answer = server.exchange(bad + wrong + put + head(server, b"GET /health HTTP/1.1", CLOSE))

    assert statuses(answer) == [400, 415, 405, 200]


def test_head_is_get_without_a_body(server: Client) -> None:
    got, whole = server.request("HEAD", "/docs"), server.get("/docs")
    stream = server.request("HEAD", "/status/stream")

    assert (got.status, got.body) == (200, b"")
    assert got.headers["content-length"] == whole.headers["content-length"]
    assert (stream.status, stream.body) == (200, b"")
    assert server.request("HEAD", "/nowhere").status == 404


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/%68ealth", 200),
        ("/health/", 404),
        ("//health", 404),
        ("/HEALTH", 404),
        ("/health%00", 404),
        ("/health%2f..%2fstatus", 404),
        ("/../health", 404),
        ("/docs/../../etc/passwd", 404),
        ("/%ff", 404),
    ],
)
def test_a_path_is_what_it_decodes_to_and_nothing_is_resolved(server: Client, target: str, status: int) -> None:
    answer = server.exchange(head(server, b"GET %b HTTP/1.1" % target.encode(), CLOSE))

    assert statuses(answer) == [status]


def test_an_absolute_target_must_name_the_same_server_as_host(server: Client) -> None:
    ours = b"GET http://127.0.0.1:%d/health HTTP/1.1" % server.port

    assert statuses(server.exchange(head(server, ours, CLOSE))) == [200]
    for other in (b"http://evil.example/health", b"ftp://127.0.0.1/health", b"*", b"evil.example:443", b"health"):
        assert statuses(server.exchange(head(server, b"GET " + other + b" HTTP/1.1", CLOSE))) == [400]


def test_connect_and_upgrades_lead_nowhere(server: Client) -> None:
    connect = b"CONNECT 127.0.0.1:%d HTTP/1.1" % server.port
    upgrade = head(
        server,
        b"GET /health HTTP/1.1",
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
    )

    assert statuses(server.exchange(head(server, connect))) == [400]
    assert statuses(server.exchange(upgrade + head(server, b"GET /smuggled HTTP/1.1"))) == [200]


def test_letters_beyond_ascii_in_headers_harm_nobody(server: Client) -> None:
    answer = server.exchange(head(server, b"GET /health HTTP/1.1", b"X-Name: \xc3\xbc\xff", CLOSE))

    assert statuses(answer) == [200]


def test_http_1_0_is_answered_and_closed(server: Client) -> None:
    answer = server.exchange(head(server, b"GET /health HTTP/1.0"))

    assert statuses(answer) == [200]


def test_a_client_that_asks_whether_to_send_its_body_is_told(server: Client) -> None:
    with server.connect() as connection:
        connection.sendall(
            head(server, POST, JSON, b"Content-Length: %d" % len(BODY), b"Expect: 100-continue", CLOSE)
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(BODY)

        assert statuses(read_to_end(connection)) == [200]


def test_connections_beyond_the_limit_are_turned_away_and_the_others_are_served(start: Start) -> None:
    front = start(maxConnections=8)
    with ExitStack() as stack:
        held = [stack.enter_context(closing(HTTPConnection("127.0.0.1", front.port))) for _ in range(8)]
        assert [_asked(connection) for connection in held] == [200] * 8
        answer = read_to_end(stack.enter_context(front.connect()))

        assert statuses(answer) == [503]
        assert b"retry-after: " in answer
        assert _asked(held[0]) == 200
    until(lambda: _is_served(front), "places become free again")


def _asked(connection: HTTPConnection) -> int:
    connection.request("GET", "/health")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_two_thousand_connections_do_not_end_the_server(start: Start) -> None:
    front = start(maxConnections=32)
    for _ in range(200):
        burst = [front.connect() for _ in range(10)]
        for connection in burst:
            connection.close()

    until(lambda: _is_served(front), "the server still answers")


def _is_served(front: Client) -> bool:
    try:
        return front.get("/health").status == 200
    except OSError:
        return False


def test_a_connection_that_is_reset_in_the_middle_is_forgotten(server: Client) -> None:
    for part in (1, 20, 60):
        connection = server.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.sendall((head(server, POST, JSON, b"Content-Length: 100") + BODY)[:part])
        connection.close()

    assert server.get("/health").status == 200
