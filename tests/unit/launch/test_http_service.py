"""The small HTTP service: what it routes, refuses and survives, over real sockets."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError, UsageError
from holdfast.launch.documents import DocumentError
from holdfast.launch.http_client import Answer, call
from holdfast.launch.http_service import Application, HttpFault, Reply, Request, application, running, serve
from holdfast.launch.http_serving import served_in_a_thread

TOKEN = "swordfish"


def echo(request: Request) -> Reply:
    return Reply(200, {"parameters": dict(request.parameters), "query": dict(request.query)})


def word(_: Request) -> Reply:
    return Reply(200, "the word itself", content_type="text/plain")


def take(request: Request) -> Reply:
    return Reply(201, request.json(), {"X-Taken": "yes"})


FAULTS: dict[str, Exception] = {
    "fault": HttpFault(409, "KEY_CONFLICT", "the other one", details={"key": "k"}),
    "tool": ToolError("ALLOWED_PATHS_VIOLATION", "not there"),
    "document": DocumentError("pr", [{"instancePath": "/x", "keyword": "type", "message": "no"}]),
    "bug": ZeroDivisionError("secret words"),
}


def fail(request: Request) -> Reply:
    raise FAULTS[request.parameters["how"]]


def made(token: str | None = None, **more: Any) -> Application:
    routes = [
        ("GET", "/things/{name}", echo),
        ("GET", "/things/word", word),
        ("POST", "/things", take),
        ("GET", "/fail/{how}", fail),
        ("GET", "/nan", lambda _: Reply(200, float("nan"))),
        ("GET", "/health", lambda _: Reply(200, {"ok": True})),
    ]
    return application(routes, token=token, **more)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(made(max_body=1000)) as found:
        yield found


def raw(url: str, message: bytes) -> bytes:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        sock.sendall(message)
        received = b""
        while part := sock.recv(65536):
            received += part
    return received


def refused(answer: Answer) -> tuple[int, str]:
    document = answer.json()
    assert set(document) == {"schema_version", "code", "message", "details"}
    return answer.status, document["code"]


def test_names_in_the_path_may_hold_any_character(url: str) -> None:
    answer = call("GET", f"{url}/things/a%2Fb%20%C3%BC?x=1&y=%26")

    assert answer.json() == {"parameters": {"name": "a/b ü"}, "query": {"x": "1", "y": "&"}}


def test_a_word_in_the_path_wins_over_a_name_in_braces(url: str) -> None:
    answer = call("GET", f"{url}/things/word")

    assert (answer.body, answer.headers["content-type"]) == (b"the word itself", "text/plain")


def test_a_document_travels_there_and_back(url: str) -> None:
    answer = call("POST", f"{url}/things", json={"ü": [1, None]})

    assert (answer.status, answer.json(), answer.headers["x-taken"]) == (201, {"ü": [1, None]}, "yes")


@pytest.mark.parametrize("path", ["/", "/thing", "/things/", "/things/a/b", "//things", "/health/"])
def test_a_path_that_leads_nowhere_is_not_found(url: str, path: str) -> None:
    assert refused(call("GET", url + path)) == (404, "NOT_FOUND")


def test_another_method_is_told_which_ones_work(url: str) -> None:
    answer = call("DELETE", f"{url}/things")

    assert refused(answer) == (405, "INVALID_REQUEST")
    assert answer.headers["allow"] == "POST"


def test_head_is_answered_as_get_without_the_body(url: str) -> None:
    answer = call("HEAD", f"{url}/health")

    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("fault", (409, "KEY_CONFLICT")),
        ("tool", (403, "ALLOWED_PATHS_VIOLATION")),
        ("document", (400, "SCHEMA_VALIDATION_FAILED")),
        ("bug", (500, "INTERNAL")),
    ],
)
def test_every_failure_of_a_handler_has_one_shape(url: str, how: str, expected: tuple[int, str]) -> None:
    answer = call("GET", f"{url}/fail/{how}")

    assert refused(answer) == expected
    assert b"secret words" not in answer.body


def test_an_answer_that_json_cannot_say_is_an_internal_error(url: str) -> None:
    assert refused(call("GET", f"{url}/nan")) == (500, "INTERNAL")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"a":1,"a":2}', b"NaN", b"[" * 400, b'"\\ud800"'], ids=range(7)
)
def test_a_body_that_is_no_document_is_refused(url: str, body: bytes) -> None:
    head = b"POST /things HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n" % port_of(url)
    received = raw(url, head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    assert received.startswith(b"HTTP/1.1 400")
    assert b'"schema_version":"1.0"' in received


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_request_that_a_foreign_page_could_send_is_refused(
    url: str, headers: dict[str, str], status: int
) -> None:
    assert call("POST", f"{url}/things", json={}, headers=headers).status == status


def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_bytes(url: str) -> None:
    assert refused(call("POST", f"{url}/things", json="x" * 1000)) == (413, "INVALID_REQUEST")

    head = b"POST /things HTTP/1.1\r\nHost: localhost:%d\r\nTransfer-Encoding: chunked\r\n" % port_of(url)
    received = raw(url, head + b"Connection: close\r\n\r\n400\r\n" + b"x" * 1024 + b"\r\n0\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("query", ["a=1&a=2", "a=%ff", "&".join(f"p{i}=" for i in range(60))])
def test_a_query_that_says_two_things_or_nothing_is_refused(url: str, query: str) -> None:
    assert refused(call("GET", f"{url}/things/x?{query}")) == (400, "INVALID_REQUEST")


def test_bytes_that_are_no_request_are_refused_in_the_same_shape(url: str) -> None:
    received = raw(url, b"NONSENSE\r\n\r\n")

    assert received.startswith(b"HTTP/1.1 400")
    assert json.loads(received.partition(b"\r\n\r\n")[2])["code"] == "INVALID_REQUEST"


def test_only_the_right_token_opens_what_is_not_open() -> None:
    with running(made(TOKEN)) as url:
        assert call("GET", f"{url}/health").status == 200
        answer = call("GET", f"{url}/things/x")
        assert refused(answer) == (401, "UNAUTHORIZED")
        assert "www-authenticate" in answer.headers
        assert call("GET", f"{url}/things/x", token=TOKEN + "x").status == 401
        assert call("GET", f"{url}/missing", token="x").status == 401  # nobody learns what is there
        assert call("GET", f"{url}/things/x", token=TOKEN).status == 200


def test_more_requests_than_there_are_places_are_told_to_come_back() -> None:
    inside, leave = threading.Semaphore(0), threading.Event()

    def wait(_: Request) -> Reply:
        inside.release()
        leave.wait(20)
        return Reply(200, {})

    app = application([("GET", "/wait", wait)], token=None)
    with running(app) as url, contextlib.ExitStack() as waiting:
        for _ in range(16):
            thread = threading.Thread(target=call, args=["GET", f"{url}/wait"], kwargs={"timeout": 30})
            thread.start()
            waiting.callback(thread.join)
        waiting.callback(leave.set)
        assert all(inside.acquire(timeout=20) for _ in range(16))
        assert refused(call("GET", f"{url}/wait")) == (503, "QUEUE_OVERLOADED")


def test_an_address_for_other_machines_needs_a_token() -> None:
    with pytest.raises(UsageError, match="needs a token"):
        serve(made(), "0.0.0.0", 0, on_ready=print)


def test_a_port_that_is_taken_is_said_so(url: str) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        serve(made(), "127.0.0.1", port_of(url), on_ready=print)


# Whoever runs the tests in the background has SIGINT ignored, which a service heeds like nohup.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from holdfast.launch.http_service import Reply, application, serve
app = application([("GET", "/health", lambda _: Reply(200, {"ok": True}))], token=None)
sys.exit(serve(app, "127.0.0.1", 0, on_ready=lambda url: print(url, flush=True)))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_with_its_exit_code(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        try:
            assert call("GET", process.stdout.readline().strip() + "/health").json() == {"ok": True}
            os.kill(process.pid, number)
            assert process.wait(40) == 128 + number
        finally:
            process.kill()


def test_a_service_that_cannot_begin_is_told_and_not_waited_for() -> None:
    with pytest.raises(RuntimeError, match="no room"), served_in_a_thread(Unmade()):
        pass


class Unmade:
    """An application that cannot be put together."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("no room")
