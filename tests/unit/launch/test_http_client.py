"""One HTTP request against servers that drip, lie, hang, flood and leave."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from holdfast.launch.http_client import Unreachable, call


@contextmanager
def server(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def live() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                behave(connection)

        thread = threading.Thread(target=live, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/secret?key=hidden"
        thread.join(10)


def failing(behave: Callable[[socket.socket], None], **options: float) -> Unreachable:
    with server(behave) as url, pytest.raises(Unreachable) as caught:
        call("GET", url, max_bytes=int(options.pop("max_bytes", 1000)), **options)  # type: ignore[arg-type]
    return caught.value


def says(answer: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(answer)


def test_an_answer_is_read_to_its_end_whatever_its_status() -> None:
    with server(says(b"HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}")) as url:
        answer = call("POST", url, json={"a": "ü"}, token="t")

    assert (answer.status, answer.headers["retry-after"], answer.json()) == (503, "3", {})


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with server(says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n")) as url:
        assert call("GET", url).status == 302


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    with server(says(b"HTTP/1.1 200 OK\r\n\r\nall of it")) as url:
        assert call("GET", url).body == b"all of it"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "connection"),
        (b"SSH-2.0-hello\r\n", "no_http"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf", "no_http"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000, "too_large"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "no_http"),
    ],
)
def test_half_an_answer_is_none(answer: bytes, reason: str) -> None:
    error = failing(says(answer))

    assert error.reason == reason
    assert "hidden" not in str(error)


def test_a_server_that_hangs_is_given_up_on() -> None:
    over = threading.Event()

    def hang(_: socket.socket) -> None:
        over.wait(60)

    with server(hang) as url:
        with pytest.raises(Unreachable) as caught:
            call("GET", url, timeout=0.2)
        over.set()  # had the client waited for the server, it would have waited for ever

    assert caught.value.reason == "timeout"


def test_a_server_that_drips_is_given_up_on_as_a_whole() -> None:
    def drip(connection: socket.socket) -> None:
        pause = threading.Event()
        try:
            for _ in range(200):
                connection.sendall(b"H")
                pause.wait(0.05)
        except OSError:
            return  # the client had enough, as it should

    # A time for each piece would never be over, and the end would be that the server hangs up.
    assert failing(drip, timeout=0.3).reason == "timeout"


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(Unreachable) as caught:
        call("GET", f"http://127.0.0.1:{port}/")
    assert caught.value.reason == "connection"


def test_a_server_that_does_not_speak_tls_cannot_prove_who_it_is() -> None:
    with server(says(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as url, pytest.raises(Unreachable) as caught:
        call("GET", url.replace("http:", "https:"))
    assert caught.value.reason == "tls"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "none:",
        "embedded:",
        "file:///etc/passwd",
        "ftp://host/",
        "http://",
        "http://user:pass@127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nX: y",
        "http://[::1",
        "//127.0.0.1/",
    ],
)
def test_what_is_no_address_is_refused_without_asking_anybody(url: str) -> None:
    with pytest.raises(Unreachable) as caught:
        call("GET", url)
    assert caught.value.reason == "address"


def test_a_token_that_would_be_two_headers_is_not_sent_and_not_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(Unreachable) as caught:
        call("GET", f"http://127.0.0.1:{listener.getsockname()[1]}/", token="a\r\nX-Evil: b")
    assert "Evil" not in str(caught.value)
