"""The front beside the worker: its requests are served like the client's, and nobody mixes them up."""

import asyncio
import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import payload_of
from tests.host.conftest import QUICK, Events

from holdfast.errors import UsageError
from holdfast.host.front import Front, FrontPlan
from holdfast.host.listener import is_loopback, listen, parse_address
from holdfast.observe.event_log import NullEventLog
from holdfast.testing import Fault, HostUnderTest, Traces, script
from holdfast.testing.marked import command_line, marked_processes
from holdfast.vocabulary.events import Event, FaultRecorded, FrontLost

Start = Callable[..., HostUnderTest]
HOST = str(Path(__file__).with_name("front_host.py"))
ONCE = (1, 1)
MIB = 1024 * 1024
BOUND = 20.0
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdin.readline()
print("x" * 5000, flush=True)
sys.stdin.read()
open({told!r}, "w").write(str(os.getpid()))
time.sleep(60)
"""


@pytest.fixture
def fronted(tmp_path: Path) -> Iterator[Start]:
    """Starts a host with a front in front of a worker with these faults."""
    with ExitStack() as stack:

        def start(*faults: Fault, **environment: str) -> HostUnderTest:
            worker = script(*faults).command(tmp_path / "worker")
            command = [sys.executable, HOST, str(tmp_path / "port"), *worker]
            running = HostUnderTest(command, tmp_path, worker=worker, environment={**QUICK, **environment})
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


def test_a_client_that_reads_nothing_does_not_hold_up_the_front(fronted: Start, call: Call) -> None:
    host = fronted()
    host.handshake()
    caller = call(host)
    numbers = [host.start_call("big", {"bytes": 2 * MIB}) for _ in range(30)]
    while host.unsent:
        host._write()

    for value in range(40):  # the first of them wait behind the large answers
        caller.call("read", value=value)
        assert payload_of(caller.answer())["value"] == value
    assert all("result" in host.answer_of(number) for number in numbers)


def test_a_front_that_hangs_is_replaced(fronted: Start, call: Call, events: Events) -> None:
    host = fronted(FRONT_SILENCE="0.5")
    first = call(host)

    first.ask(hang=True)
    host.until(lambda: events("front_lost") != [], what="that it is noticed")

    second = call(host)
    second.ask(method="holdfast/health")
    assert second.answer()["result"]["name"] == "fronted"
    assert [event["reason"] for event in events("front_lost")] == ["it has said nothing for 0.5 seconds"]


def test_a_front_that_shows_no_life_at_all_is_left_alone(fronted: Start, call: Call, events: Events) -> None:
    host = fronted(FRONT_SILENCE="0.05")
    caller = call(host)
    for value in range(50):
        caller.call("read", value=value)
        caller.answer()

    assert events("front_lost") == []


def test_a_front_that_refuses_its_options_ends_the_host_with_its_code_and_words(
    fronted: Start, tmp_path: Path, events: Events
) -> None:
    host = fronted(FRONT_SECRET="refused")

    assert host.process.wait(BOUND) == 2
    assert "front: that is no secret" in (tmp_path / "stderr").read_text()
    assert len(events("front_started")) == 1


def test_a_request_that_is_too_long_is_answered(fronted: Start, call: Call) -> None:
    caller = call(fronted(HOLDFAST_MAX_MESSAGE_BYTES="4096"))

    caller.call("read", value="x" * 5000)

    error = caller.answer()["error"]
    assert (error["message"], error["data"]["code"]) == (
        "the message is longer than 4096 bytes",
        "INVALID_REQUEST",
    )


def test_a_front_whose_long_message_nobody_can_answer_is_replaced(
    fronted: Start, call: Call, events: Events
) -> None:
    host = fronted(HOLDFAST_MAX_MESSAGE_BYTES="4096")
    first = call(host)

    first.ask(say="x" * 5000)

    assert first.is_closed()
    second = call(host)
    second.ask(method="holdfast/health")
    second.answer()
    assert "cannot be answered" in events("front_lost")[0]["reason"]


def test_a_front_that_is_being_ended_is_gone_when_the_host_is(tmp_path: Path) -> None:
    told = tmp_path / "told"
    asyncio.run(_end_twice(told))

    assert not Path(f"/proc/{told.read_text()}").exists()


async def _end_twice(told: Path) -> None:
    """Close a front while it is being ended for what it said; it stays on for as long as it can."""
    program = STUBBORN.format(told=str(told))
    front = Front(
        FrontPlan([sys.executable, "-c", program], listen("127.0.0.1", 0), {}),
        grace=0.5,
        max_bytes=1024,
        log=NullEventLog(),
        take=lambda _: None,
        pending=list,
        health=dict,
        on_refusal=lambda: None,
    )
    front.start()
    async with asyncio.timeout(BOUND):
        await asyncio.to_thread(_wait_for_words, told)
        await front.close()


def test_a_front_that_fails_in_a_way_nobody_thought_of_is_told_and_started_again() -> None:
    faults, losses = asyncio.run(_failing())

    assert {fault.cause_class for fault in faults} == {"TypeError"}
    assert [loss.losses for loss in losses[:2]] == [1, 2]
    assert faults[0].fault_id in losses[0].reason


async def _failing() -> tuple[list[FaultRecorded], list[FrontLost]]:
    """What is told of a front whose options cannot be written down, until it was lost twice."""
    told: list[Event] = []
    twice = asyncio.Event()

    class Log(NullEventLog):
        def emit(self, event: Event) -> None:
            told.append(event)
            if sum(isinstance(one, FrontLost) for one in told) == 2:
                twice.set()

    plan = FrontPlan([sys.executable, "-c", "input()"], listen("127.0.0.1", 0), {"secret": object()})
    front = Front(
        plan, grace=0.5, max_bytes=1024, log=Log(), take=lambda _: None, pending=list, health=dict,
        on_refusal=lambda: None,
    )  # fmt: skip
    front.start()
    async with asyncio.timeout(BOUND):
        await twice.wait()
        await front.close()
    return (
        [one for one in told if isinstance(one, FaultRecorded)],
        [one for one in told if isinstance(one, FrontLost)],
    )


def _wait_for_words(file: Path) -> None:
    end = time.monotonic() + BOUND
    while not (file.exists() and file.read_text()) and time.monotonic() < end:
        select.select([], [], [], 0.01)


def test_a_front_cannot_speak_for_anybody_else(fronted: Start, call: Call) -> None:
    host = fronted()
    host.handshake()
    caller = call(host)

    caller.ask(id="77", method="tools/call", params={"name": "read", "arguments": {"value": 1}})
    caller.call("read", value=2)

    assert payload_of(caller.answer())["value"] == 2
    assert host.log.broken_laws() == []


def test_health_is_told_by_the_host_itself(fronted: Start, call: Call) -> None:
    host = fronted()
    caller = call(host)

    def health() -> dict[str, Any]:
        caller.ask(method="holdfast/health")
        told: dict[str, Any] = caller.answer()["result"]
        return told

    assert health()["name"] == "fronted"
    host.until(lambda: health()["state"] == "ready", what="readiness")


def test_what_the_front_asks_for_itself_is_no_request_of_a_client(fronted: Start, call: Call) -> None:
    host = fronted()
    caller = call(host)
    caller.ask(own=True, method="no/such")
    refused = caller.answer()
    caller.call("read", value=1)
    caller.answer()
    caller.ask(method="holdfast/health")
    counters = caller.answer()["result"]["counters"]

    assert refused["error"]["code"] == -32601
    assert (counters["requests"], counters["answered"]) == (1, 1)
    figures = json.loads(_holdfast(host, "telemetry", "--json").stdout)
    assert [(one["method"], one["error_count"]) for one in figures["methods"]] == [("tools/call", 0)]


def _holdfast(host: HostUnderTest, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "holdfast", *words, "--state-dir", str(host.folder / "state")]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


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
