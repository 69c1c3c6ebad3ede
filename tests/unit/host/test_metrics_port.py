"""The port for Prometheus: what it answers, whom it turns away, and that nobody can hold it up."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.host.metrics_port import MAX_CONNECTIONS, MAX_HEAD_BYTES, MetricsPort, bind_metrics

PAGE = b"# HELP a b\na 1\n"
HEALTH: dict[str, Any] = {
    "state": "ready",
    "last_fault": {"message": "token=abcdef123456 in /home/me/x.py", "stderr": "the words of a stranger"},
}


def with_port(
    work: Callable[[MetricsPort], Awaitable[Any]],
    *,
    page: Callable[[], bytes] = lambda: PAGE,
    health: dict[str, Any] = HEALTH,
    patience: float = 5.0,
) -> Any:
    """What `work` finds at a port that is open meanwhile."""

    async def run() -> Any:
        port = MetricsPort(bind_metrics("0"), page, lambda: health, patience=patience)
        await port.start()
        try:
            return await asyncio.wait_for(work(port), 20)
        finally:
            await port.close()

    return asyncio.run(run())


async def exchange(port: MetricsPort, request: bytes, *, end: bool = False) -> bytes:
    """Everything that is answered to some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port.port)
    try:
        writer.write(request.replace(b"PORT", str(port.port).encode()))
        if end:
            writer.write_eof()
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def ask(request: bytes, **more: Any) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to one request."""
    answer: bytes = with_port(lambda port: exchange(port, request), **more)
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in rest), body


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1:PORT", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_the_page_is_told_as_prometheus_wants_it() -> None:
    status, headers, body = ask(get("/metrics?x=1"))

    assert (status, body) == (200, PAGE)
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert (headers["content-length"], headers["connection"]) == (str(len(PAGE)), "close")


def test_a_head_has_the_length_of_the_page_and_nothing_of_it() -> None:
    status, headers, body = ask(get("/metrics", method="HEAD"))
    assert (status, headers["content-length"], body) == (200, str(len(PAGE)), b"")


def test_health_is_told_without_secrets_and_without_what_a_stranger_printed() -> None:
    status, headers, body = ask(get("/health"))

    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body)["last_fault"] == {"message": "token=[redacted] in <path>/x.py"}
    assert HEALTH["last_fault"]["stderr"] == "the words of a stranger"


def test_a_host_that_is_not_ready_is_unavailable() -> None:
    for admits in (True, False):
        told = {"state": "recovering", "last_fault": None, "admits": admits}
        assert ask(get("/health"), health=told)[0] == 200
        assert ask(get("/ready"), health=told)[0] == (200 if admits else 503)


@pytest.mark.parametrize(
    "name", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "localhost.:PORT"]
)
def test_every_name_of_this_machine_is_answered(name: str) -> None:
    assert ask(f"GET /metrics HTTP/1.1\r\nhost:{name}\r\n\r\n".encode())[0] == 200


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /metrics HTTP/1.1\r\nHost: rebound.example:PORT\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1.example:PORT\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: 192.168.0.1:PORT\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: a@127.0.0.1:PORT\r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\nHost: \r\n\r\n", 403),
        (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        (get("/metrics", "Origin: http://127.0.0.1:PORT"), 403),
        (get("/metrics", "Content-Length: 5") + b"hello", 400),
        (get("/metrics", "Transfer-Encoding: chunked"), 400),
        (get("/metrics", "Host : 127.0.0.1:PORT"), 400),
        (get("/metrics", " folded: yes"), 400),
        (get("/metrics", method="POST"), 405),
        (get("/metrics", method="get"), 400),
        (get("/"), 404),
        (get("/metrics/../health"), 404),
        (get("http://127.0.0.1/metrics"), 404),
        (b"GET /metrics HTTP/2.0\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400),
        (b"GET /metrics\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
    ],
)  # fmt: skip
def test_what_is_not_meant_for_it_is_refused(request_: bytes, status: int) -> None:
    assert ask(request_)[0] == status


def test_a_head_without_end_is_refused_at_its_bound() -> None:
    assert ask(b"GET /metrics HTTP/1.1\r\nx: " + b"y" * (2 * MAX_HEAD_BYTES))[0] == 431


def test_half_a_request_is_refused_when_it_ends_and_nothing_is_answered_with_nothing() -> None:
    assert b" 400 " in with_port(lambda port: exchange(port, b"GET /met", end=True))
    assert with_port(lambda port: exchange(port, b"", end=True)) == b""


def test_whoever_says_nothing_is_sent_away_in_time() -> None:
    assert b" 408 " in with_port(lambda port: exchange(port, b"GET /"), patience=0.05)


def test_more_connections_than_are_answered_are_turned_away_and_then_it_goes_on() -> None:
    async def crowd(port: MetricsPort) -> tuple[bytes, bytes]:
        silent = [await asyncio.open_connection("127.0.0.1", port.port) for _ in range(MAX_CONNECTIONS)]
        refused = await exchange(port, get("/metrics"))
        for _, writer in silent:
            writer.close()
            await writer.wait_closed()
        await _until(lambda: not port._talks)
        return refused, await exchange(port, get("/metrics"))

    refused, answered = with_port(crowd)
    assert b" 200 " not in refused
    assert answered.endswith(PAGE)


def test_whoever_does_not_read_is_cut_off() -> None:
    async def stubborn(port: MetricsPort) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port.port, limit=1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(get("/metrics").replace(b"PORT", str(port.port).encode()))
        await asyncio.wait_for(_until(lambda: bool(port._talks)), 5)
        await asyncio.wait_for(_until(lambda: not port._talks), 5)
        writer.transport.abort()

    with_port(stubborn, page=lambda: b"x" * 50_000_000, patience=0.2)


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - its callers set the bound
        await asyncio.sleep(0)


def test_a_page_that_cannot_be_made_is_told_and_the_next_one_may_be() -> None:
    def broken() -> bytes:
        raise RuntimeError("a secret")

    status, _, body = ask(get("/metrics"), page=broken)
    assert (status, body) == (500, b"RuntimeError\n")


def test_closing_cuts_off_whoever_is_talking() -> None:
    async def closing(port: MetricsPort) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port.port)
        await _until(lambda: bool(port._talks))
        await port.close()
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    assert with_port(closing) == b""


def test_a_port_that_was_never_opened_can_be_closed() -> None:
    bound = bind_metrics("0")
    asyncio.run(MetricsPort(bound, lambda: PAGE, lambda: HEALTH).close())
    assert bound.fileno() == -1


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    port = MetricsPort.__new__(MetricsPort)
    port.port = 1
    reply = port._reply(data + b"\r\n\r\n")
    assert reply.status in {400, 403, 404, 405}


@pytest.mark.parametrize(
    "text", ["0.0.0.0:1", "192.0.2.1:9", "[::]:0", "example.com:80", "x", "127.0.0.1:99999", "-1"]
)
def test_an_address_that_others_could_reach_or_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        bind_metrics(text)
    assert refused.value.remedy


def test_where_any_port_will_do_it_is_the_one_before_if_that_is_free() -> None:
    with bind_metrics("0") as first:
        number = first.getsockname()[1]
        with bind_metrics("0", number) as other:
            assert other.getsockname()[1] != number
    with bind_metrics("0", number) as again:
        assert again.getsockname()[1] == number


def test_a_port_that_is_taken_is_told() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(UsageError, match="something else listens"),
    ):
        bind_metrics(str(taken.getsockname()[1]))


def test_an_address_of_the_sixth_kind_is_told_as_a_browser_wants_it() -> None:
    bound = bind_metrics("[::1]:0")
    port = MetricsPort(bound, lambda: PAGE, lambda: HEALTH)
    bound.close()
    assert port.address == f"[::1]:{port.port}"
