"""What comes together badly: a client that leaves early, does not read or floods; a server that is edited."""

import json
import os
import signal
import sys
from pathlib import Path

from tests.host.answers import code_of, eventually, payload_of
from tests.host.conftest import QUICK, Events, Start

from holdfast.testing import Fault, HostUnderTest, Traces, script

MIB = 1024 * 1024
OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


def test_a_client_that_closes_its_end_right_after_asking_still_gets_its_answers(host: Start) -> None:
    client = host(handshake=False, knobs={"drain": 60})
    opening = client.request("initialize", OPENING)
    client.notify("notifications/initialized")
    numbers = [client.start_call("slow", {"value": n, "seconds": 0.1}) for n in range(3)]

    assert client.close() == 0

    assert client.answer_of(opening)["result"]["serverInfo"]
    assert [payload_of(client.answer_of(number))["value"] for number in numbers] == [0, 1, 2]
    client.assert_nothing_left()


def test_a_worker_lost_after_the_client_closed_its_end_is_replaced_for_what_is_owed(host: Start) -> None:
    client = host(Fault.on_tool("slow", "kill_before_answer", generations=(1, 1)), knobs={"drain": 10})
    number = client.start_call("slow", {"seconds": 0.1})

    assert client.close() == 0
    assert payload_of(client.answer_of(number))["generation"] == 2


def test_a_call_that_is_not_done_when_the_client_has_left_is_told_to_be_cancelled(host: Start) -> None:
    client = host(knobs={"drain": 0.2})
    client.call("read")
    number = client.start_call("slow", {"seconds": 60})

    assert client.close() == 0
    assert code_of(client.answer_of(number)) == "CANCELLED"
    client.assert_nothing_left()


def test_a_cancelled_call_does_not_hold_up_its_batch(host: Start) -> None:
    client = host(handshake=False)
    client.handshake("2025-03-26")
    client.call("read")
    slow = {"name": "slow", "arguments": {"seconds": 60}}
    batch = [
        {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": slow},
        {"jsonrpc": "2.0", "id": "read", "method": "tools/call", "params": {"name": "read"}},
    ]
    client.send_raw(json.dumps(batch).encode() + b"\n")
    client.notify("notifications/cancelled", {"requestId": "slow"})
    client.until(lambda: any(isinstance(message, list) for message in client.messages))

    (answers,) = [message for message in client.messages if isinstance(message, list)]
    assert [answer["id"] for answer in answers] == ["read"]


def test_a_client_that_does_not_read_bounds_what_the_host_keeps_for_it(host: Start) -> None:
    client = host()
    client.call("read")
    before = client.memory()
    numbers = [client.start_call("big", {"bytes": 4 * MIB}) for _ in range(25)]
    while client.unsent:
        client._write()
    grown: list[int] = []

    def is_steady() -> bool:
        grown.append(client.memory() - before)
        return len(grown) > 20 and len({size // (2 * MIB) for size in grown[-15:]}) == 1

    assert eventually(is_steady)
    assert max(grown) < 75 * MIB  # of 100 that were asked for
    assert all("result" in client.answer_of(number) for number in numbers)
    assert payload_of(client.call("read"))["generation"] == 1


def test_a_worker_that_does_not_read_bounds_what_the_host_keeps_for_it(host: Start) -> None:
    client = host(knobs={"ping_interval": 0})
    client.call("read")
    before = client.memory()
    client.kill_worker(signal.SIGSTOP)
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": "x" * MIB}}).encode() + b"\n"
    for _ in range(110):
        client.send_raw(note)
        client.until(lambda: client.unsent < 4 * MIB)
    client.until(lambda: client.unsent == 0)
    assert client.answer_of(client.request("ping"))["result"] == {}

    assert client.memory() - before < 90 * MIB
    client.kill_worker()
    assert payload_of(client.call("read"))["generation"] == 2


def test_a_server_of_our_own_that_is_broken_while_it_runs_does_not_end_the_session(tmp_path: Path) -> None:
    good = (
        "import os\nfrom holdfast import Server, effect\nserver = Server('shop', version='1.0.0')\n"
        "@server.tool(effect=effect.replay_safe())\ndef pid() -> int:\n    '''The process.'''\n"
        "    return os.getpid()\n"
    )
    file = tmp_path / "shop.py"
    file.write_text(good)
    command = [sys.executable, "-m", "holdfast", "serve", str(file)]
    hasty = {**QUICK, "HOLDFAST_RESTART_BUDGET": "1", "HOLDFAST_RESTART_SLOW": "0.2"}
    with HostUnderTest(command, tmp_path, environment=hasty) as client:
        client.handshake()
        pid = client.call("pid")["result"]["structuredContent"]
        file.write_text("def")
        (worker,) = [int(str(value)) for value in pid.values() if isinstance(value, int)]
        os.kill(worker, signal.SIGKILL)
        client.until(lambda: code_of(client.call("pid")) == "NOT_READY")
        file.write_text(good)
        client.until(lambda: "error" not in client.call("pid"))


def test_a_program_that_is_gone_for_a_while_is_found_again(tmp_path: Path, events: Events, traces: Traces) -> None:
    program = tmp_path / "server"
    inner = script().command(tmp_path / "worker")
    program.write_text("#!/bin/sh\nexec " + " ".join(inner) + "\n")
    program.chmod(0o755)
    hasty = {**QUICK, "HOLDFAST_RESTART_SLOW": "0.1"}
    options = ("--restart-budget", "1")
    with HostUnderTest.running([str(program)], tmp_path, *options, environment=hasty) as client:
        client.handshake()
        pid = client.worker_pid()
        program.rename(tmp_path / "moved")
        os.kill(pid, signal.SIGKILL)
        client.until(lambda: any(event["code"] == "WORKER_NOT_STARTED" for event in events("worker_lost")))
        (tmp_path / "moved").rename(program)
        client.until(lambda: len(events("worker_ready")) == 2)
        assert payload_of(client.call("read"))["generation"] == 2
