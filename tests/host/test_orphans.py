"""Nothing is left behind: no process, no temporary file, no socket and no record, however it ends."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import code_of, eventually, payload_of
from tests.host.conftest import QUICK, Events, Start

from holdfast.testing import Fault, HostUnderTest, Traces, marked_processes, script
from holdfast.testing.marked import command_line

KINDS: list[dict[str, Any]] = [
    {"kind": "group"},
    {"kind": "session", "keeps_pipes": True},
    {"kind": "daemon"},
    {"kind": "daemon", "stubborn": True, "keeps_pipes": True},
]

# A client that starts the host with its own pipes and then does nothing: whoever kills it leaves them open.
LAUNCHER = "import subprocess, sys; subprocess.run(sys.argv[1:])"


def records(client: HostUnderTest) -> list[Path]:
    """What running hosts have written down about themselves."""
    return list((client.folder / "state" / "hosts").iterdir())


def are_gone(client: HostUnderTest) -> bool:
    """Whether every process that carries the mark of this client ends in time."""
    return eventually(lambda: not marked_processes(client.mark))


@pytest.mark.parametrize("grandchild", KINDS[::2], ids=lambda grandchild: "-".join(map(str, grandchild.values())))
def test_a_client_that_leaves_politely_leaves_nothing(host: Start, grandchild: dict[str, Any]) -> None:
    client = host(Fault.on_tool("read", "grandchild", **grandchild), Fault.on_start("ignore_eof"))
    client.call("read")
    client.until(lambda: len(marked_processes(client.mark)) >= 4)  # host, keeper, worker, grandchild

    client.assert_nothing_left()

    assert records(client) == []


@pytest.mark.parametrize("grandchild", KINDS[1::2], ids=lambda grandchild: "-".join(map(str, grandchild.values())))
def test_a_worker_that_dies_takes_its_descendants_with_it(host: Start, grandchild: dict[str, Any]) -> None:
    faults = [
        Fault.on_tool("read", "grandchild", generations=(1, 1), **grandchild),
        Fault.on_tool("slow", "kill", generations=(1, 1)),
    ]
    client = host(*faults)
    client.call("read")
    before = set(marked_processes(client.mark)) - {client.process.pid}

    assert payload_of(client.call("slow"))["generation"] == 2
    assert not before & set(marked_processes(client.mark))


def test_a_client_that_is_gone_without_a_word_leaves_nothing(host: Start) -> None:
    client = host(Fault.on_tool("read", "grandchild", kind="daemon"))
    client.call("read")
    client.start_call("slow", {"seconds": 60})
    client.disconnect()

    client.assert_nothing_left(exit_code=None)
    assert records(client) == []


def test_a_client_process_that_is_killed_leaves_nothing_though_its_pipes_stay_open(tmp_path: Path) -> None:
    worker = script(Fault.on_tool("read", "grandchild", kind="daemon")).command(tmp_path / "worker")
    command = [sys.executable, "-c", LAUNCHER, sys.executable, "-m", "holdfast", "run", "--", *worker]
    with HostUnderTest(command, tmp_path, worker=worker, environment=QUICK) as client:
        client.handshake()
        client.call("read")
        client.process.kill()

        assert are_gone(client)
        assert records(client) == []
        assert client.leftovers() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_host_at_once_and_leaves_nothing(host: Start, number: signal.Signals) -> None:
    client = host(Fault.on_tool("read", "grandchild", kind="daemon"))
    client.call("read")
    running = client.start_call("slow", {"seconds": 60})
    client.process.send_signal(number)
    client.until(lambda: client.ended)

    assert client.process.wait(10) == 128 + number
    (answer,) = [message for message in client.messages if message.get("id") == running]
    assert code_of(answer) == "CANCELLED"
    client.assert_nothing_left(exit_code=None)
    assert records(client) == []


def test_a_host_that_is_killed_takes_everything_with_it_and_the_next_one_tidies_up(host: Start) -> None:
    client = host(Fault.on_tool("read", "grandchild", kind="daemon", stubborn=True))
    client.call("read")
    client.process.kill()
    assert are_gone(client)
    assert records(client)  # nobody was left to remove them

    successor = host()
    successor.call("read")
    successor.until(lambda: len([file for file in records(successor) if file.suffix == ".json"]) == 1)
    successor.assert_nothing_left()
    assert records(successor) == []
    assert client.leftovers() == []


def test_what_a_host_and_its_keeper_left_when_both_were_killed_is_ended_by_the_next_host(
    host: Start, traces: Traces, events: Events
) -> None:
    client = host(Fault.on_tool("read", "grandchild", kind="daemon", stubborn=True), knobs={"kill_grace": 0.1})
    client.call("read")
    client.until(traces.grandchildren)
    keepers = [pid for pid in marked_processes(client.mark) if any("keeper.py" in w for w in command_line(pid))]
    os.kill(client.process.pid, signal.SIGSTOP)  # so that it cannot see to what follows
    for pid in (*keepers, client.process.pid):
        os.kill(pid, signal.SIGKILL)
    client.process.wait(10)
    assert set(traces.grandchildren()) <= set(marked_processes(client.mark))

    successor = host(knobs={"kill_grace": 0.1})
    successor.until(lambda: events("leftovers_reaped"))

    assert are_gone(client)
    assert payload_of(successor.call("pid"))["generation"] == 2
    successor.assert_nothing_left()


def test_a_worker_behind_a_shell_wrapper_is_ended_with_its_wrapper(tmp_path: Path, events: Events) -> None:
    worker = script().command(tmp_path / "worker")
    wrapped = ["sh", "-c", 'exec 3<&0; "$@" <&3 & wait', "sh", *worker]
    with HostUnderTest.running(wrapped, tmp_path, environment=QUICK) as client:
        client.handshake()
        first = client.worker_pid()
        (wrapper,) = client.worker_pids()
        os.kill(wrapper, signal.SIGKILL)  # the worker itself does not notice
        client.until(lambda: events("worker_lost"))

        assert payload_of(client.call("pid"))["generation"] == 2
        assert first not in marked_processes(client.mark)
        client.assert_nothing_left()


def test_two_hosts_side_by_side_leave_each_other_alone(tmp_path: Path) -> None:
    command = script().command(tmp_path / "worker")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    shared = {**QUICK, "HOLDFAST_STATE_DIR": str(tmp_path / "state")}
    with (
        HostUnderTest.running(command, tmp_path / "a", environment=shared) as first,
        HostUnderTest.running(command, tmp_path / "b", environment=shared) as second,
    ):
        first.handshake()
        second.handshake()
        before = second.worker_pid()
        first.process.kill()
        assert are_gone(first)

        assert second.worker_pid() == before
        second.assert_nothing_left()
