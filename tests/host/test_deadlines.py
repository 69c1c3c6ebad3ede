"""Time: deadlines, hung and busy workers, signs of life."""

import signal
import sys
from pathlib import Path

import pytest
from tests.host.answers import code_of, error_of, payload_of
from tests.host.conftest import QUICK, Events, Start

from holdfast.testing import Fault, HostUnderTest, Traces, marked_processes, script

SOON = ("--deadline", "0.2", "--kill-grace", "0.1")
HASTY = {"ping_timeout": 0.2}


def test_a_call_that_takes_too_long_is_cancelled_and_answered(host: Start, traces: Traces) -> None:
    client = host(options=SOON, record=True)

    answer = client.call("slow", {"seconds": 30})

    assert code_of(answer) == "TOOL_TIMEOUT"
    assert "200 ms" in answer["result"]["content"][0]["text"]
    assert any("notifications/cancelled" in line for line in traces.received(1))
    assert payload_of(client.call("read"))["generation"] == 1


def test_a_method_that_takes_too_long_is_answered_too(host: Start) -> None:
    client = host(Fault.on_method("resources/list", "never_answer"), options=SOON)

    assert code_of(client.answer_of(client.request("resources/list"))) == "TOOL_TIMEOUT"


@pytest.mark.parametrize("fault", ["ignore_cancel", "answer_cancelled"])
def test_a_deadline_is_answered_once_whatever_the_worker_says_later(host: Start, fault: str) -> None:
    client = host(Fault.on_tool("slow", fault), options=SOON)
    number = client.start_call("slow", {"seconds": 0.5})

    assert code_of(client.answer_of(number)) == "TOOL_TIMEOUT"
    client.call("slow", {"seconds": 0.4})  # by its end the late answer has come
    assert client.log.broken_laws() == []


def test_a_worker_that_ignores_the_cancellation_but_answers_a_ping_stays(host: Start, traces: Traces) -> None:
    client = host(Fault.on_tool("slow", "ignore_cancel"), options=SOON, knobs=HASTY)

    assert code_of(client.call("slow", {"seconds": 30})) == "TOOL_TIMEOUT"
    assert payload_of(client.call("read"))["generation"] == 1
    assert traces.generations() == 1


def test_a_worker_that_is_stopped_is_replaced_and_its_tree_is_killed(host: Start, events: Events) -> None:
    client = host(Fault.on_tool("slow", "freeze", generations=(1, 1)), options=SOON, knobs=HASTY)
    frozen = client.worker_pids()

    answer = client.call("slow")

    assert code_of(answer) == "TOOL_TIMEOUT"
    client.until(lambda: events("worker_lost"))
    assert events("worker_lost")[0]["code"] == "WORKER_HUNG"
    client.until(lambda: len(events("worker_ready")) == 2)
    assert payload_of(client.call("read"))["generation"] == 2
    assert not set(frozen) & set(marked_processes(client.mark))


def test_a_worker_that_hangs_while_nothing_is_asked_is_found_and_replaced(host: Start, events: Events) -> None:
    client = host(knobs={"ping_interval": 0.1, "ping_timeout": 0.2})
    client.call("read")
    client.kill_worker(signal.SIGSTOP)
    client.until(lambda: events("worker_lost"))

    assert events("worker_lost")[0]["code"] == "WORKER_HUNG"
    assert payload_of(client.call("read"))["generation"] >= 2


def test_a_client_that_keeps_calling_does_not_keep_a_hung_worker(host: Start, traces: Traces) -> None:
    client = host(options=("--deadline", "0.4", "--kill-grace", "0.1"), knobs=HASTY)
    client.call("read")
    client.kill_worker(signal.SIGSTOP)
    client.start_call("read")

    def call_again() -> bool:
        client.start_call("read")  # so that there is always one that is within its time
        client.turn(0.02)
        return traces.generations() > 1

    client.until(call_again)
    assert traces.generations() == 2


def test_a_worker_that_is_busy_with_another_call_is_not_replaced(tmp_path: Path, traces: Traces) -> None:
    (tmp_path / "holdfast.toml").write_text("[tools.slow]\ndeadline = 0.1\n")
    command = script(Fault.on_tool("read", "delay", seconds=0.7)).command(tmp_path / "worker")
    hasty = {**QUICK, "HOLDFAST_PING_TIMEOUT": "0.1", "HOLDFAST_CONFIG": str(tmp_path / "holdfast.toml")}
    with HostUnderTest.running(command, tmp_path, environment={**hasty, "HOLDFAST_KILL_GRACE": "0.1"}) as client:
        client.handshake()
        busy = client.start_call("read")  # it is deaf meanwhile, but within its time
        late = client.start_call("slow")

        assert code_of(client.answer_of(late)) == "TOOL_TIMEOUT"
        assert payload_of(client.answer_of(busy))["generation"] == traces.generations() == 1


def test_progress_extends_the_deadline_up_to_the_total(host: Start) -> None:
    client = host(options=(*SOON, "--deadline-total", "0.6"))
    extended = client.start_call("progress", {"steps": 4, "pause": 0.1}, meta={"progressToken": "a"})
    endless = client.start_call("progress", {"steps": 500, "pause": 0.1}, meta={"progressToken": "b"})

    assert payload_of(client.answer_of(extended)) == {"steps": 4}
    assert code_of(client.answer_of(endless)) == "TOOL_TIMEOUT"
    assert client.log.broken_laws() == []


def test_a_long_call_with_a_token_gets_signs_of_life(host: Start) -> None:
    client = host(options=("--heartbeat", "0.1"))
    number = client.start_call("slow", {"seconds": 0.5}, meta={"progressToken": 7})
    silent = client.start_call("slow", {"seconds": 0.5})

    assert payload_of(client.answer_of(number))["generation"] == 1
    client.answer_of(silent)
    beats = [m["params"] for m in client.messages if m.get("method") == "notifications/progress"]
    assert len(beats) >= 2
    assert {beat["progressToken"] for beat in beats} == {7}
    assert [beat["progress"] for beat in beats] == sorted({beat["progress"] for beat in beats})


def test_signs_of_life_and_the_tools_own_progress_only_ever_rise(host: Start) -> None:
    client = host(
        Fault.on_tool("progress", "kill_before_answer", generations=(1, 1)), options=("--heartbeat", "0.05")
    )
    number = client.start_call("progress", {"steps": 3, "pause": 0.12}, meta={"progressToken": "p"})

    assert payload_of(client.answer_of(number)) == {"steps": 3}
    told = [m["params"]["progress"] for m in client.messages if m.get("method") == "notifications/progress"]
    assert told == sorted(set(told))
    assert {1, 2, 3} <= set(told)


def test_a_replacement_that_never_takes_up_the_session_is_given_up(host: Start, events: Events) -> None:
    silent = Fault.on_method("initialize", "never_answer", generations=(2, 2))
    client = host(silent, options=("--start-timeout", "0.5"))
    client.call("read")
    client.kill_worker()

    assert payload_of(client.call("read"))["generation"] == 3
    assert [event["code"] for event in events("worker_lost")] == ["WORKER_EXITED", "START_TIMEOUT"]


# --- servers of our own ------------------------------------------------------------------------------------------

SERVER = '''
import os
import time

from holdfast import Server
from holdfast.vocabulary.effects import replay_safe

server = Server("probed", version="1.0.0")


@server.tool(timeout=0.2, effect=replay_safe())
async def block() -> int:
    """Block the loop for good, once."""
    if not os.path.exists(os.environ["TMPDIR"] + "/../blocked"):
        open(os.environ["TMPDIR"] + "/../blocked", "w").close()
        time.sleep(600)
    return os.getpid()


@server.tool(timeout=5, effect=replay_safe())
def pid() -> int:
    """The process."""
    return os.getpid()
'''


def test_a_server_of_our_own_that_blocks_its_loop_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "probed.py").write_text(SERVER)
    command = [sys.executable, "-m", "holdfast", "serve", str(tmp_path / "probed.py")]
    hasty = {**QUICK, "HOLDFAST_PING_TIMEOUT": "0.2", "HOLDFAST_KILL_GRACE": "0.1"}
    with HostUnderTest(command, tmp_path, environment=hasty) as client:
        client.handshake()
        before = client.call("pid")["result"]["structuredContent"]
        answer = client.call("block")
        after = client.call("pid")["result"]["structuredContent"]
        assert before != after
        assert "result" in answer, error_of(answer)
        client.assert_nothing_left()
