"""How a front begins and ends: its options, the end of its host, signals, and a clean stdout."""

import json
import signal
import socket
import subprocess
import tempfile
from typing import Any

import pytest
from tests.api.client import BOUND, read_to_end
from tests.api.conftest import Start
from tests.api.running_front import start_process

GOOD: dict[str, Any] = {"schemaVersion": "1.0.0", "repositories": [{"alias": "a", "root": "/tmp"}]}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no json\n",
        json.dumps({**GOOD, "surprise": 1}).encode() + b"\n",
        json.dumps({**GOOD, "concurrency": 0}).encode() + b"\n",
        json.dumps({**GOOD, "tokens": ["hunter2"], "timeout": "long"}).encode() + b"\n",
    ],
)
def test_options_that_cannot_be_used_are_refused_and_not_repeated(line: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryFile() as stderr:
        process = start_process(listener.fileno(), stderr)
        out, _ = process.communicate(line, timeout=BOUND)
        stderr.seek(0)
        said = stderr.read()

    assert (process.returncode, out) == (2, b"")
    assert b"options of the HTTP front" in said
    assert b"hunter2" not in said


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_an_address_that_others_can_reach_needs_a_token(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as listener, tempfile.TemporaryFile() as stderr:
        process = start_process(listener.fileno(), stderr)
        process.communicate(json.dumps(GOOD).encode() + b"\n", timeout=BOUND)
        stderr.seek(0)

        assert process.returncode == 2
        assert b"needs a token" in stderr.read()


def test_when_the_host_is_gone_running_requests_are_answered_and_the_front_ends(start: Start) -> None:
    front = start()
    with front.begin("/search", "hang") as waiting, front.begin("/search/stream", "hang") as streaming:
        front.host.wait_for(lambda host: len(host.calls()) == 2)
        assert b"event: start" in streaming.recv(4096) + streaming.recv(4096)
        assert front.process.stdin is not None
        front.process.stdin.close()

        assert b'"code":"NOT_READY"' in read_to_end(waiting)
        assert b"event: error" in read_to_end(streaming)
    assert front.process.wait(BOUND) == 0


def test_a_signal_lets_running_requests_finish_within_the_bound(start: Start) -> None:
    front = start(drain=10)
    with front.begin("/search", "hang") as waiting:
        front.host.wait_for(lambda host: len(host.calls()) == 1)
        front.process.send_signal(signal.SIGTERM)
        front.host.answer(front.host.requests[-1], {"code": [], "query": "late"})

        assert b'"query":"late"' in read_to_end(waiting)
    assert front.process.wait(BOUND) == 0


def test_a_signal_ends_the_front_though_a_request_never_finishes(start: Start) -> None:
    front = start(drain=0.2)
    with front.begin("/search", "hang") as waiting:
        front.host.wait_for(lambda host: len(host.calls()) == 1)
        front.process.send_signal(signal.SIGINT)

        assert b'"code":"NOT_READY"' in read_to_end(waiting)
    assert front.process.wait(BOUND) == 0
    assert front.host.cancelled == [front.host.requests[-1]["id"]]


def test_a_front_that_is_killed_is_replaced_on_the_same_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        first = start_process(listener.fileno(), subprocess.DEVNULL)
        first.kill()
        first.communicate(timeout=BOUND)
        second = start_process(listener.fileno(), subprocess.DEVNULL)
        with socket.create_connection(listener.getsockname(), timeout=BOUND) as client:
            client.sendall(b"GET /docs HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % listener.getsockname()[1])
            assert second.stdin is not None
            second.stdin.write(json.dumps(GOOD).encode() + b"\n")
            second.stdin.flush()

            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        second.communicate(timeout=BOUND)


def test_nothing_but_messages_to_the_host_is_written_to_stdout(start: Start) -> None:
    front = start()
    front.get("/health")
    front.exchange(b"rubbish\r\n\r\n")
    front.get("/nowhere")

    assert {message["jsonrpc"] for message in front.host.requests} == {"2.0"}
    assert front.stderr() == ""


def test_answers_nobody_waits_for_and_rubbish_from_the_host_are_ignored(start: Start) -> None:
    front = start()
    for line in (
        b"rubbish",
        b"[]",
        b'{"jsonrpc":"2.0","id":"http:99","result":{}}',
        b'{"jsonrpc":"2.0","method":"x"}',
    ):
        front.host.write(line)
    front.host.send({"id": 7, "method": "sampling/createMessage", "params": {}})

    assert front.get("/health").status == 200
    front.host.wait_for(lambda host: any(one.get("id") == 7 and "error" in one for one in host.requests))


def test_the_host_hears_again_and_again_that_the_front_is_alive(start: Start) -> None:
    front = start()

    front.host.wait_for(lambda host: [one["method"] for one in host.notes].count("holdfast/alive") >= 2)
