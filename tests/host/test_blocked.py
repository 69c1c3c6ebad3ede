"""Blocked servers, each a real process that blocks in its own way, and the three verdicts about them."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import code_of
from tests.host.conftest import QUICK, Events
from tests.host.test_restarts import control

from holdfast.testing import HostUnderTest

SUSPECT_AFTER = 1.0
HASTY = {
    **QUICK,
    "HOLDFAST_SUSPECT_AFTER": str(SUSPECT_AFTER),
    "HOLDFAST_LIVENESS_INTERVAL": "0.3",
    "HOLDFAST_KILL_GRACE": "0.2",
}

# A small server, asynchronous like most: it answers while a call waits, unless a tool blocks its loop or its pool.
# `serial` is one that handles a message after the other.
SERVER = '''
import asyncio, json, os, sys, time
from concurrent.futures import ThreadPoolExecutor

MODE, FLAG = sys.argv[1], sys.argv[2]
POOL = ThreadPoolExecutor(2)
TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name not in {"write"}}}
    for name in ("pid", "wait", "sleep", "spin", "pool", "pooled", "deaf", "write")
]
LOCK = __import__("threading").Lock()
LOCK.acquire()
DEAF = []


def first():
    """Whether this is the first time in the life of this test: what comes after it behaves."""
    try:
        os.close(os.open(FLAG, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def say(number, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\\n")
    sys.stdout.flush()


def told():
    return {"content": [{"type": "text", "text": str(os.getpid())}], "structuredContent": {"pid": os.getpid()}}


async def call(number, name, arguments):
    loop = asyncio.get_running_loop()
    seconds = arguments.get("seconds", 600)
    if name == "wait":
        await asyncio.sleep(seconds)
    elif name == "sleep" and (arguments.get("always") or first()):
        time.sleep(seconds)
    elif name == "spin" and first():
        while True:
            pass
    elif name == "pool":
        if first():
            for _ in range(2):
                POOL.submit(LOCK.acquire)
        await loop.run_in_executor(POOL, os.getpid)
    elif name == "pooled":
        await loop.run_in_executor(POOL, os.getpid)
    elif name == "deaf" and first():
        DEAF.append(1)
        await asyncio.sleep(seconds)
    say(number, told())


async def main():
    loop = asyncio.get_running_loop()
    tasks = set()
    while True:
        while DEAF:
            await asyncio.sleep(1)
        line = await loop.run_in_executor(None, sys.stdin.readline) if MODE == "async" else sys.stdin.readline()
        if not line:
            os._exit(0)
        message = json.loads(line)
        method, number, params = message["method"], message.get("id"), message.get("params") or {}
        if method == "initialize":
            able = {"tools": {}, "prompts": {}}
            info = {"name": "blocking", "version": "1"}
            say(number, {"protocolVersion": params["protocolVersion"], "capabilities": able, "serverInfo": info})
        elif method == "tools/list":
            say(number, {"tools": TOOLS})
        elif method == "prompts/list":
            say(number, {"prompts": []})
        elif method == "tools/call":
            work = call(number, params["name"], params.get("arguments") or {})
            if MODE == "async":
                task = asyncio.create_task(work)
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                await asyncio.sleep(0.001)
            else:
                await work
        elif number is not None:
            say(number, {})


asyncio.run(main())
'''

Blocking = Callable[..., HostUnderTest]


@pytest.fixture
def blocking(tmp_path: Path) -> Iterator[Blocking]:
    """Starts `holdfast run` in front of the server, asynchronous or serial."""
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    with ExitStack() as stack:

        def start(*options: str, mode: str = "async", **knobs: object) -> HostUnderTest:
            command = [sys.executable, "-I", "-S", str(program), mode, str(tmp_path / "flag")]
            chosen = {f"HOLDFAST_{name.upper()}": str(value) for name, value in knobs.items()}
            client = HostUnderTest.running(command, tmp_path, *options, environment={**HASTY, **chosen})
            stack.enter_context(client)
            client.handshake()
            client.answer_of(client.request("prompts/list"))
            return client

        yield start


def pid_of(answer: dict[str, Any]) -> int:
    return int(answer["result"]["structuredContent"]["pid"])


def verdicts(events: Events) -> list[str]:
    return [event["verdict"] for event in events("worker_suspected")]


def teach(client: HostUnderTest) -> int:
    """Let the server answer a ping during a call; its process."""
    return pid_of(client.call("wait", {"seconds": 0.6}))


# --- stopped -----------------------------------------------------------------------------------------------------


def test_a_halted_server_is_routed_around_at_once(blocking: Blocking, events: Events) -> None:
    client = blocking()
    before = teach(client)
    written = client.start_call("write", {"seconds": 0})
    client.answer_of(written)
    first = client.start_call("wait", {"seconds": 0.8})
    client.turn(0.05)
    os.kill(before, signal.SIGSTOP)
    second = client.start_call("pid")

    assert pid_of(client.answer_of(first)) == pid_of(client.answer_of(second)) != before
    assert verdicts(events) == ["stopped"]
    client.until(lambda: before not in client.worker_pids())
    client.assert_nothing_left()


def test_a_loop_that_spins_is_stopped_once_the_server_is_known_to_answer(
    blocking: Blocking, events: Events
) -> None:
    client = blocking()
    before = teach(client)
    client.start_call("spin")
    client.turn(0.05)

    assert pid_of(client.call("pid")) != before
    assert verdicts(events) == ["stopped"]


# --- unknown -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["sleep", "spin", "deaf"])
def test_a_server_that_never_answered_during_a_call_is_relieved_where_all_is_reading(
    blocking: Blocking, events: Events, tool: str
) -> None:
    client = blocking()
    before = pid_of(client.call("pid"))
    blocked = client.start_call(tool)
    client.turn(0.05)
    lists = [client.answer_of(client.request(method)) for method in ("tools/list", "prompts/list")]
    assert verdicts(events) == []  # what the host can tell itself came before any verdict

    assert pid_of(client.call("pid")) != before
    assert pid_of(client.answer_of(blocked)) != before
    assert all("result" in answer for answer in lists)
    assert verdicts(events) == ["unknown"]


def test_a_cancelled_call_that_blocks_the_loop_is_evidence_in_every_session(
    blocking: Blocking, events: Events
) -> None:
    client = blocking()
    client.call("write")
    before = pid_of(client.call("pid"))
    blocked = client.start_call("sleep")
    client.turn(0.4)
    client.cancel(blocked)

    assert pid_of(client.call("pid")) != before
    assert verdicts(events)[-1] == "stopped"


def test_a_write_in_the_pipe_of_a_blocked_server_is_never_run_twice(blocking: Blocking, events: Events) -> None:
    client = blocking("--deadline", "1.2")
    client.call("write")
    blocked = client.start_call("sleep")
    written = client.start_call("write")
    client.turn(0.05)

    assert code_of(client.answer_of(written)) in {"AMBIGUOUS_OUTCOME", "TOOL_TIMEOUT"}
    assert code_of(client.answer_of(blocked)) == "TOOL_TIMEOUT"
    assert "result" in client.call("pid")


@pytest.mark.parametrize("mode", ["async", "serial"])
def test_a_server_that_waits_in_a_synchronous_call_within_its_deadline_loses_nothing(
    blocking: Blocking, events: Events, mode: str
) -> None:
    client = blocking(mode=mode)
    if mode == "async":
        teach(client)
    before = pid_of(client.call("write"))
    numbers = [client.start_call("sleep", {"seconds": 3 * SUSPECT_AFTER, "always": True})]
    numbers += [client.start_call("write"), client.start_call("pid")]

    assert {pid_of(client.answer_of(number)) for number in numbers} == {before}
    assert verdicts(events) == ["unknown"]
    assert events("worker_lost") == []
    assert client.log.broken_laws() == []


def test_health_names_the_reason_while_a_server_is_blocked(blocking: Blocking) -> None:
    client = blocking(mode="serial")
    client.call("write")
    number = client.start_call("sleep", {"seconds": 2.5 * SUSPECT_AFTER, "always": True})
    client.until(lambda: control(client, "status")["state"] == "degraded")
    told = control(client, "status")
    client.answer_of(number)
    after = control(client, "status")

    assert (told["reason_code"], told["admits"]) == ("worker_unknown", False)
    assert "said nothing for 1 s" in told["reason"]
    assert (after["state"], after["reason"], after["admits"]) == ("ready", None, True)


# --- stuck -------------------------------------------------------------------------------------------------------


def test_a_deadlocked_pool_gets_a_successor_at_once_and_drains(blocking: Blocking, events: Events) -> None:
    client = blocking()
    client.call("write")
    before = pid_of(client.call("pid"))
    blocked = client.start_call("pool")
    client.turn(0.1)
    client.cancel(blocked)
    waiting = client.start_call("pooled")

    assert pid_of(client.answer_of(waiting)) != before
    assert verdicts(events) == ["stuck"]
    client.until(lambda: before not in client.worker_pids())


# --- one worker only ---------------------------------------------------------------------------------------------


def test_a_single_server_gets_no_second_process_and_its_calls_are_refused(blocking: Blocking) -> None:
    client = blocking("--single", mode="serial")
    before = pid_of(client.call("pid"))
    busy = client.start_call("sleep", {"seconds": 2.5 * SUSPECT_AFTER, "always": True})
    client.until(lambda: control(client, "status")["state"] == "degraded")
    refused = client.call("pid")
    assert len(client.worker_pids()) == 1

    assert code_of(refused) == "NOT_READY"
    assert "single = true" in refused["error"]["message"]
    assert pid_of(client.answer_of(busy)) == pid_of(client.call("pid")) == before


def test_a_read_after_a_block_is_answered_in_time(blocking: Blocking) -> None:
    """The bar: the time of suspicion, the start of a worker, and half a second."""
    client = blocking()
    started = time.monotonic()
    client.kill_worker()
    client.call("pid")
    start = time.monotonic() - started
    client.start_call("sleep")
    client.turn(0.05)
    asked = time.monotonic()
    client.call("pid")

    assert time.monotonic() - asked <= SUSPECT_AFTER + 2 * start + 0.5, json.dumps({"start": start})
