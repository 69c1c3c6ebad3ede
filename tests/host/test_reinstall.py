"""The host replaces itself: another program in the same process, the same client, and every request answered."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import payload_of
from tests.host.conftest import QUICK, Events, Start

import holdfast.version as holdfast_version
from holdfast.errors import SessionError
from holdfast.host.records import list_hosts
from holdfast.host.remote import ask
from holdfast.settings import Settings
from holdfast.testing import HostUnderTest, Traces, script
from holdfast.testing.marked import command_line, marked_processes


def records(client: HostUnderTest) -> list[Any]:
    return list_hosts(Settings(state_dir=client.folder / "state"))


def meanwhile(client: HostUnderTest, work: Callable[[], Any]) -> Any:
    """What the work returns; the client's side goes on meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        client.until(done.done, 30.0)
    return done.result()


def reinstall(client: HostUnderTest) -> None:
    """Ask for it, and wait until the next host is there."""
    (before,) = records(client)
    meanwhile(client, lambda: ask(before, "reinstall", 30.0))
    client.until(lambda: [one for one in records(client) if one.host != before.host], 30.0)


@pytest.mark.requirement("S3-rollout-reinstall")
def test_the_session_goes_on_in_the_same_process_with_the_same_facts(host: Start, events: Events) -> None:
    client = host()
    client.answer_of(client.request("resources/subscribe", {"uri": "file:///a"}))
    client.call("read")
    reinstall(client)

    assert client.process.poll() is None
    assert records(client)[0].pid == client.process.pid
    assert payload_of(client.call("pid"))["subscriptions"] == ["file:///a"]
    assert [event["reason"] for event in events("host_stopped")] == ["reinstalled"]
    assert len(events("host_started")) == 2
    client.assert_nothing_left()


def test_calls_in_flight_are_answered_once_each_and_take_effect_once(host: Start, traces: Traces) -> None:
    client = host()
    once = client.start_call("write", {"token": "t", "seconds": 0.5})
    again = client.start_call("read", {"seconds": 3.0})
    client.until(lambda: traces.effects("write"))
    reinstall(client)
    late = client.start_call("write", {"token": "u"})

    assert payload_of(client.answer_of(once)) == {"token": "t", "generation": 1}
    assert payload_of(client.answer_of(again))["generation"] == 2
    assert payload_of(client.answer_of(late))["token"] == "u"
    assert [effect["token"] for effect in traces.effects("write")] == ["t", "u"]


def test_the_figures_stay_at_the_address_where_they_are_fetched(host: Start) -> None:
    client = host(options=("--metrics", "0"))
    client.call("read")
    before = ask(records(client)[0], "status", 30.0)["metrics"]
    reinstall(client)

    assert ask(records(client)[0], "status", 30.0)["metrics"] == before


def test_half_a_message_is_completed_by_the_other_half(host: Start) -> None:
    client = host()
    client.call("read")
    whole = b'{"jsonrpc":"2.0","id":"split","method":"tools/call","params":{"name":"read","arguments":{}}}\n'
    client.send_raw(whole[:40])
    client.until(lambda: not client.unsent)
    reinstall(client)
    client.send_raw(whole[40:])

    assert payload_of(client.answer_of("split"))["generation"] == 2


def test_figures_and_counts_go_along(host: Start) -> None:
    client = host()
    for _ in range(3):
        client.call("read")
    reinstall(client)
    client.call("read")
    (record,) = records(client)
    told = meanwhile(client, lambda: ask(record, "telemetry", 10.0))
    counted = meanwhile(client, lambda: ask(record, "status", 10.0))["counters"]

    assert [one["request_count"] for one in told["tools"] if one["tool"] == "read"] == [4]
    assert counted["requests"] >= 5


def test_a_call_that_may_not_be_repeated_is_waited_for_and_not_broken(host: Start, traces: Traces) -> None:
    client = host()
    running = client.start_call("write", {"token": "t", "seconds": 1.0})
    client.until(lambda: traces.effects("write"))
    (record,) = records(client)
    with pytest.raises(SessionError, match="calls that may not be repeated are in flight"):
        meanwhile(client, lambda: ask(record, "reinstall", 10.0, seconds=0.05))

    assert payload_of(client.answer_of(running)) == {"token": "t", "generation": 1}
    assert payload_of(client.call("read"))["generation"] == 1


@pytest.mark.parametrize("seconds", ["1", -1, 1e9, True])
def test_a_time_that_is_none_is_refused(host: Start, seconds: Any) -> None:
    client = host()
    (record,) = records(client)

    with pytest.raises(SessionError, match="seconds is a number"):
        ask(record, "reinstall", 10.0, seconds=seconds)


def test_a_host_that_speaks_otherwise_than_lines_says_that_it_cannot(host: Start) -> None:
    client = host(options=("--mcp-mode", "legacy"), handshake=False)
    client.until(lambda: records(client))
    (record,) = records(client)

    with pytest.raises(SessionError, match="only a host that speaks lines"):
        ask(record, "reinstall", 10.0)


def test_what_the_client_writes_meanwhile_is_read_by_the_next_host(host: Start) -> None:
    client = host()
    client.call("read")
    large = [client.start_call("big", {"bytes": 200_000}) for _ in range(3)]
    (before,) = records(client)
    asked: list[int] = []

    def send_more() -> bool:
        refusal = wishes[-1].exception() if wishes[-1].done() else None
        if refusal is not None:  # half a message was on its way: whoever wishes it wishes again
            assert str(refusal).endswith("at this moment")
            wishes.append(pool.submit(ask, before, "reinstall", 30.0))
        asked.append(client.start_call("read", {"value": str(len(asked))}))
        return any(one.host != before.host for one in records(client)) and len(asked) > 20

    with ThreadPoolExecutor(1) as pool:
        wishes = [pool.submit(ask, before, "reinstall", 30.0)]
        client.until(send_more, 45.0)
        assert wishes[-1].result()["pid"] == client.process.pid
    for number in (*large, *asked):
        assert "result" in client.answer_of(number)


def test_a_second_wish_is_told_to_wait_and_the_first_is_fulfilled(host: Start, traces: Traces) -> None:
    client = host()
    client.start_call("write", {"token": "t", "seconds": 1.0})
    client.until(lambda: traces.effects("write"))
    (before,) = records(client)
    with ThreadPoolExecutor(2) as pool:
        wishes = [pool.submit(ask, before, "reinstall", 30.0) for _ in range(2)]
        client.until(lambda: all(wish.done() for wish in wishes), 30.0)
    problems = [wish.exception() for wish in wishes]

    assert [str(problem).endswith("the host is being replaced already") for problem in problems if problem] == [
        True
    ]
    client.until(lambda: [one for one in records(client) if one.host != before.host], 30.0)
    assert payload_of(client.call("read"))["generation"] == 2


def test_a_host_that_is_told_to_end_meanwhile_ends_and_answers_what_is_open(host: Start, traces: Traces) -> None:
    client = host(knobs={"drain": 0.2})
    running = client.start_call("slow", {"seconds": 30})
    client.until(lambda: traces.generations() and client.worker_pids())
    (record,) = records(client)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(ask, record, "reinstall", 30.0)
        own = command_line(client.process.pid)
        client.until(lambda: sum(command_line(pid) == own for pid in marked_processes(client.mark)) > 1, 20.0)
        client.process.send_signal(signal.SIGTERM)  # while the next version looks at the capsule
        told = client.answer_of(running)

    assert told["result"]["isError"] is True or "error" in told
    assert client.process.wait(20) != 0


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package as it is installed for one host, and can be replaced under it."""
    place = tmp_path / "installed"
    shutil.copytree(Path(holdfast_version.__file__).parent, place / "holdfast")
    return place


def test_the_version_that_was_installed_meanwhile_goes_on(installed: Path, tmp_path: Path) -> None:
    worker = script().command(tmp_path / "worker")
    with HostUnderTest.running(worker, tmp_path, environment={**QUICK, "PYTHONPATH": str(installed)}) as client:
        client.handshake()
        client.call("read")
        (installed / "holdfast" / "version.py").write_text('__all__ = ["__version__"]\n__version__ = "99.0.0"\n')
        reinstall(client)

        assert [record.version for record in records(client)] == ["99.0.0"]
        assert payload_of(client.call("read"))["generation"] == 2


def test_a_host_whose_settings_cannot_be_read_any_more_stays(tmp_path: Path) -> None:
    config = tmp_path / "holdfast.toml"
    config.write_text("")
    worker = script().command(tmp_path / "worker")
    with HostUnderTest.running(worker, tmp_path, environment={**QUICK, "HOLDFAST_CONFIG": str(config)}) as client:
        client.handshake()
        config.write_text("no = toml = at all")
        (record,) = records(client)
        with pytest.raises(SessionError, match=r"does not take over: .*holdfast\.toml"):
            meanwhile(client, lambda: ask(record, "reinstall", 20.0))

        assert payload_of(client.call("read"))["generation"] == 1


@pytest.mark.parametrize("file", ["host/takeover.py", "kernel/capsule.py", "host/run.py"])
def test_a_version_that_does_not_take_over_leaves_everything_as_it_is(
    installed: Path, tmp_path: Path, file: str
) -> None:
    worker = script().command(tmp_path / "worker")
    with HostUnderTest.running(worker, tmp_path, environment={**QUICK, "PYTHONPATH": str(installed)}) as client:
        client.handshake()
        client.call("read")
        program = installed / "holdfast" / file
        text = program.read_text()
        other = re.sub(r"^FORMAT = \d+", "FORMAT = 99", text, flags=re.MULTILINE)
        program.write_text(other if other != text else "(")
        (record,) = records(client)
        with pytest.raises(SessionError, match="the new version does not take over"):
            meanwhile(client, lambda: ask(record, "reinstall", 20.0))

        assert payload_of(client.call("write", {"token": "t"}))["generation"] == 1
        client.assert_nothing_left()


def test_it_can_be_typed(host: Start) -> None:
    client = host()
    client.call("read")
    state = f"--state-dir={client.folder / 'state'}"
    command = [sys.executable, "-m", "holdfast", "rollout", state, "--host", "--json"]
    run: Callable[[], Any] = lambda: subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: E731
    done = meanwhile(client, run)

    assert done.returncode == 0, done.stderr
    assert f'"pid":{client.process.pid}' in done.stdout
    assert payload_of(client.call("read"))["generation"] == 2
    assert os.path.exists(f"/proc/{client.process.pid}")
