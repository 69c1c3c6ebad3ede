"""Workers come and go: restarts and their budget, spares, planned replacements, how a worker is asked to end."""

import os
import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import code_of, error_of, is_retry_safe, payload_of
from tests.host.conftest import QUICK, Events, Start

from holdfast.errors import SessionError
from holdfast.host.records import list_hosts
from holdfast.host.remote import ask
from holdfast.settings import Settings
from holdfast.testing import Fault, HostUnderTest, Traces, script

# Notes what it is asked, in order: `eof`, then `term`. How much of that it heeds is up to its second argument.
STUBBORN = """
import signal, sys
notes, heeds = open(sys.argv[1], "a", buffering=1), sys.argv[2]
signal.signal(signal.SIGTERM, lambda *_: (notes.write("term\\n"), heeds == "term" and sys.exit(0)))
notes.write("ready\\n")
sys.stdin.read()
notes.write("eof\\n")
while heeds != "eof":
    signal.pause()
"""


def control(client: HostUnderTest, operation: str) -> dict[str, Any]:
    """Ask the host over its own socket."""
    (record,) = list_hosts(Settings(state_dir=client.folder / "state"))
    return ask(record, operation, 10.0)


# --- the budget --------------------------------------------------------------------------------------------------


def test_a_crash_loop_is_answered_at_once_retried_at_a_low_rate_and_recovered_from(
    host: Start, events: Events
) -> None:
    client = host(
        Fault.on_start("exit", generations=(2, 5)),
        options=("--restart-budget", "3"),
        knobs={"restart_slow": 0.4},
    )
    client.call("read")
    client.kill_worker()
    client.until(lambda: any(event["degraded"] for event in events("worker_lost")))

    refused = client.call("write", {"token": "t"})

    assert code_of(refused) == "NOT_READY"
    assert is_retry_safe(refused)
    assert 0 < error_of(refused)["retry"]["afterMs"] <= 500
    client.until(lambda: len(events("worker_ready")) == 2)
    assert payload_of(client.call("write", {"token": "u"}))["generation"] == 6
    assert [event["consecutive_failures"] for event in events("worker_lost")] == [1, 2, 3, 4, 5]
    assert control(client, "status")["degraded"] is False


def test_what_waits_when_the_budget_runs_out_is_answered(host: Start, traces: Traces, events: Events) -> None:
    client = host(Fault.on_start("exit", generations=(2, None)), options=("--restart-budget", "2"))
    client.call("read")
    client.kill_worker()
    client.until(lambda: events("worker_lost"))  # so that no worker is ever sent what follows
    numbers = [client.start_call("read"), client.start_call("write", {"token": "t"})]

    answers = [client.answer_of(number) for number in numbers]

    assert {code_of(answer) for answer in answers} == {"NOT_READY"}
    assert all(is_retry_safe(answer) for answer in answers)
    assert traces.effects() == []


def test_a_server_that_never_starts_is_told_to_the_client_that_waits_for_it(host: Start) -> None:
    client = host(Fault.on_start("exit", code=7), options=("--restart-budget", "2"), handshake=False)

    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    answer = client.answer_of(client.request("initialize", params))

    assert code_of(answer) in {"NOT_READY", "WORKER_LOST", "REPLAY_EXHAUSTED"}
    client.assert_nothing_left()


def test_recovery_does_not_wait_for_a_clock_to_tick(host: Start, events: Events) -> None:
    client = host(knobs={"restart_delay": 0})
    client.call("read")
    held = {len(os.listdir(f"/proc/{client.process.pid}/fd"))}
    for generation in range(2, 7):
        client.kill_worker()
        assert payload_of(client.call("read"))["generation"] == generation
        held.add(len(os.listdir(f"/proc/{client.process.pid}/fd")))
    client.assert_nothing_left()
    assert len(held) == 1  # nothing of a lost worker stays open

    times = {(e["event"], e.get("generation")): datetime.fromisoformat(e["ts"]) for e in events()}
    pauses = [(times["worker_started", n + 1] - times["worker_lost", n]).total_seconds() for n in range(1, 6)]
    assert min(pauses) < 0.25, pauses  # a poll of half a second could not have met it five times


# --- spares ------------------------------------------------------------------------------------------------------


def test_a_spare_takes_over_without_a_start(host: Start, events: Events) -> None:
    client = host(options=("--spare", "1"))
    client.answer_of(client.request("logging/setLevel", {"level": "error"}))
    active = client.worker_pid()
    client.until(lambda: [e["role"] for e in events("worker_ready")] == ["active", "spare"])
    number = client.start_call("slow", {"seconds": 0.2})
    client.answer_of(client.request("ping"))  # by now the call is with the worker
    os.kill(active, signal.SIGKILL)

    assert payload_of(client.answer_of(number))["generation"] == 2
    told = payload_of(client.call("pid"))
    assert (told["generation"], told["level"]) == (2, "error")
    client.until(lambda: len(events("worker_ready")) == 3)
    story = [(event["event"], event["generation"]) for event in events() if "generation" in event]
    lost = story.index(("worker_lost", 1))
    assert story.index(("call_replayed", 2)) < story.index(("worker_ready", 3))
    assert ("worker_started", 2) in story[:lost]
    assert [event["role"] for event in events("worker_started")] == ["active", "spare", "spare"]


def test_a_spare_that_dies_is_replaced_and_nobody_notices(host: Start, events: Events, traces: Traces) -> None:
    client = host(options=("--spare", "1"))
    active = client.worker_pid()
    client.until(lambda: len(events("worker_ready")) == 2)
    (spare,) = set(traces.pids()) - {active}
    os.kill(spare, signal.SIGKILL)
    client.until(lambda: len(events("worker_ready")) == 3)

    assert client.worker_pid() == active
    assert events("worker_lost")[0]["role"] == "spare"
    client.assert_nothing_left()


def test_a_spare_never_speaks_to_the_client(host: Start, events: Events) -> None:
    asks = Fault.on_method("tools/list", "ask_client", generations=(2, None))
    changes = Fault.on_method("tools/list", "list_changed", generations=(2, None))
    client = host(asks, changes, options=("--spare", "1"))
    client.call("read")
    client.until(lambda: len(events("worker_ready")) == 2)
    client.call("read")

    assert [message["method"] for message in client.messages if "method" in message] == []


# --- planned replacements ----------------------------------------------------------------------------------------


def test_a_restart_lets_the_old_worker_finish_and_loses_nothing(
    host: Start, traces: Traces, events: Events
) -> None:
    client = host()
    client.answer_of(client.request("resources/subscribe", {"uri": "file:///a"}))
    running = client.start_call("write", {"token": "t", "seconds": 0.3})
    client.until(traces.effects)

    told = control(client, "restart")
    assert (told["generation"], told["worker_pid"]) == (2, client.worker_pid())
    assert payload_of(client.answer_of(running)) == {"token": "t", "generation": 1}
    assert payload_of(client.call("pid"))["subscriptions"] == ["file:///a"]
    assert not events("worker_lost")
    client.assert_nothing_left()


def test_a_restart_whose_successor_fails_keeps_the_old_worker(host: Start) -> None:
    client = host(Fault.on_start("exit", generations=(2, 2)))
    client.call("read")

    with pytest.raises(SessionError, match="successor was lost"):
        control(client, "restart")

    assert payload_of(client.call("read"))["generation"] == 1


def test_a_restart_of_a_server_that_cannot_run_twice_says_why_and_what_to_do(tmp_path: Path) -> None:
    program = 'mkdir "$0" 2>/dev/null || { echo "the port 8080 is in use" >&2; exit 1; }; exec "$@"'
    worker = ["sh", "-c", program, str(tmp_path / "lock"), *script().command(tmp_path / "worker")]
    with HostUnderTest.running(worker, tmp_path, environment=QUICK) as client:
        client.handshake()
        client.call("read")
        with pytest.raises(SessionError) as told:
            control(client, "restart")

    assert "exit code 1): the port 8080 is in use; if the server cannot run twice at once: holdfast stop" in str(
        told.value
    )


# --- how a worker is asked to end --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heeds", "asked"),
    [("eof", ["ready", "eof"]), ("term", ["ready", "eof", "term"]), ("nothing", ["ready", "eof", "term"])],
)
def test_a_worker_is_asked_by_the_end_of_its_input_then_by_term_and_then_killed(
    tmp_path: Path, heeds: str, asked: list[str]
) -> None:
    notes = tmp_path / "notes"
    worker = [sys.executable, "-I", "-S", "-c", STUBBORN, str(notes), heeds]
    with HostUnderTest.running(worker, tmp_path, environment={**QUICK, "HOLDFAST_KILL_GRACE": "0.3"}) as client:
        client.until(lambda: notes.exists() and notes.read_text() == "ready\n")
        client.assert_nothing_left()

    assert notes.read_text().split() == asked
