"""The front beside the worker: its requests are served like the client's, and nobody mixes them up."""

import json
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import payload_of
from tests.host.conftest import QUICK, Events

from holdfast.errors import UsageError
from holdfast.host.listener import is_loopback, listen, parse_address
from holdfast.testing import Fault, HostUnderTest, Traces, script
from holdfast.testing.marked import command_line, marked_processes

Start = Callable[..., HostUnderTest]
HOST = str(Path(__file__).with_name("front_host.py"))
ONCE = (1, 1)


@pytest.fixture
def fronted(tmp_path: Path) -> Iterator[Start]:
    """Starts a host with a front in front of a worker with these faults."""
    with ExitStack() as stack:

        def start(*faults: Fault) -> HostUnderTest:
            worker = script(*faults).command(tmp_path / "worker")
            command = [sys.executable, HOST, str(tmp_path / "port"), *worker]
            running = HostUnderTest(command, tmp_path, worker=worker, environment=QUICK)
            stack.enter_context(running)
            return running

        yield start


Call = Callable[[HostUnderTest], "Caller"]


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Call]:
    """Connects to the front of a host."""
    with ExitStack() as stack:

        def connect(host: HostUnderTest) -> Caller:
            caller = Caller(host, tmp_path)
            stack.enter_context(caller.connection)
            stack.enter_context(caller.lines)
            return caller

        yield connect


class Caller:
    """A connection to the front."""

    def __init__(self, host: HostUnderTest, folder: Path) -> None:
        port = folder / "port"
        host.until(lambda: port.exists() and port.read_text() != "", what="the port")
        self.connection = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=20)
        self.lines = self.connection.makefile("rb")

    def ask(self, **message: Any) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def call(self, tool: str, **arguments: Any) -> None:
        self.ask(method="tools/call", params={"name": tool, "arguments": arguments})

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.lines.readline())
        return heard

    def answer(self) -> dict[str, Any]:
        while "id" not in (heard := self.hear()):
            pass
        return heard

    def is_closed(self) -> bool:
        try:
            return self.lines.read(1) == b""
        except ConnectionError:
            return True


def test_the_front_and_the_client_call_tools_side_by_side(fronted: Start, call: Call) -> None:
    host = fronted()
    host.handshake()
    caller = call(host)

    caller.call("read", value=1)
    mine = host.call("read", {"value": 2})

    assert payload_of(caller.answer())["value"] == 1
    assert payload_of(mine)["value"] == 2
    assert host.log.broken_laws() == []


def test_a_front_is_served_though_no_client_ever_comes(fronted: Start, call: Call) -> None:
    host = fronted()
    host.process.stdin.close()  # type: ignore[union-attr]
    caller = call(host)

    caller.call("read", value=1)

    assert payload_of(caller.answer())["value"] == 1
    assert host.process.poll() is None


def test_a_client_that_was_there_and_leaves_ends_the_front_too(fronted: Start, call: Call) -> None:
    host = fronted()
    host.handshake()
    caller = call(host)
    caller.call("read", value=1)
    caller.answer()

    host.assert_nothing_left()

    assert caller.is_closed()


def test_a_call_of_the_front_survives_the_loss_of_its_worker(fronted: Start, call: Call) -> None:
    host = fronted(Fault.on_tool("read", "kill", generations=ONCE))
    caller = call(host)

    caller.call("read", value=5)

    assert payload_of(caller.answer()) == {"value": 5, "generation": 2}


def test_a_front_that_dies_is_replaced_and_its_calls_are_withdrawn(
    fronted: Start, call: Call, tmp_path: Path, events: Events
) -> None:
    host = fronted(Fault.on_tool("read", "never_answer", generations=ONCE))
    first, second = call(host), call(host)
    first.call("read", value=1)
    host.until(lambda: Traces(tmp_path / "worker").fired() != [], what="the call")

    second.ask(die=True)

    third = call(host)
    third.ask(method="holdfast/health")
    health = third.answer()["result"]
    assert health["counters"]["cancelled"] == 1
    assert [event["losses"] for event in events("front_lost")] == [1]


def test_a_front_cannot_speak_for_anybody_else(fronted: Start, call: Call) -> None:
    host = fronted()
    host.handshake()
    caller = call(host)

    caller.ask(id="77", method="tools/call", params={"name": "read", "arguments": {"value": 1}})
    caller.call("read", value=2)

    assert payload_of(caller.answer())["value"] == 2
    assert host.log.broken_laws() == []


def test_health_is_told_by_the_host_itself(fronted: Start, call: Call) -> None:
    caller = call(fronted())

    caller.ask(method="holdfast/health")

    health = caller.answer()["result"]
    assert health["name"] == "fronted"
    assert health["state"] == "ready"


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:7345", ("127.0.0.1", 7345)), ("[::1]:0", ("::1", 0)), ("localhost:80", ("localhost", 80))],
)
def test_an_address_is_read_as_people_write_it(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address
    assert is_loopback(address[0])


@pytest.mark.parametrize(
    "text", ["", "7345", ":7345", "host", "host:", "host:port", "host:70000", "a b:1", "::1:x"]
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_address(text)


def test_a_port_that_is_taken_is_told_in_one_line() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(UsageError, match="listens there already"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_an_address_of_another_machine_is_told_in_one_line() -> None:
    with pytest.raises(UsageError, match="no such address"):
        listen("203.0.113.1", 1)


def test_the_secret_of_a_front_is_on_no_command_line(fronted: Start, call: Call) -> None:
    host = fronted()
    caller = call(host)
    caller.ask(method="holdfast/health")
    caller.answer()

    lines = [command_line(pid) for pid in marked_processes(host.mark)]

    assert any("front_program.py" in " ".join(line) for line in lines)
    assert not any("sesame" in " ".join(line) for line in lines)
