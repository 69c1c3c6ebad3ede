"""A server as a process: where its input comes from, what its output carries, and why it ends."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

SOURCE = """
import asyncio, os, sys, time
from pathlib import Path
from pydantic import BaseModel
from holdfast import Context, Server

print("printed at import")
server = Server("process", version="1.0.0", dialect="poc", render="json", presentation="meta")

class Told(BaseModel):
    pid: int

@server.tool()
async def tell() -> Told:
    "Tell the process id, and print."
    print("printed in a tool")
    os.system("echo printed by a child")
    return Told(pid=os.getpid())

class Text(BaseModel):
    text: str

@server.tool()
async def big() -> Text:
    "Return a megabyte."
    return Text(text="x" * 1_000_000)

@server.tool(timeout=0.2)
async def thread() -> Told:
    "Block a thread of the loop's executor."
    await asyncio.to_thread(time.sleep, 3600)
    return Told(pid=0)

@server.tool()
async def sleep(ctx: Context) -> Told:
    "Run a long program."
    await ctx.run(["sleep", "1000"])
    return Told(pid=0)

if __name__ == "__main__":
    server.run()
"""

CLIENT = {"name": "test", "version": "1"}
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


def call(number: int, tool: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool}}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.fixture
def server(tmp_path: Path) -> Path:
    (tmp_path / "process_server.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path / "process_server.py"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    # What `python file.py` prints before `server.run()` is caught as long as it is buffered, as it is by default.
    own = {"HOLDFAST_STATE_DIR": str(tmp_path / "state"), "HOLDFAST_DRAIN": "0.2", "PYTHONUNBUFFERED": ""}
    return {**os.environ, **own}


@pytest.fixture
def started(server: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server on pipes, in session, with a call of a long program in flight."""
    process = subprocess.Popen(
        [sys.executable, str(server)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(HELLO, call(1, "sleep")))
    process.stdin.flush()
    json.loads(process.stdout.readline())
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def wait_for_program(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The processes that the call in flight runs, once the program itself is among them."""
    for _ in range(20_000):
        found = psutil.Process(process.pid).children(recursive=True)
        if any(child.name() == "sleep" for child in found):
            return found
        psutil.wait_procs(found, timeout=0.001)
    raise AssertionError("the program was not started")


def assert_all_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=15)
    assert alive == []


def test_nothing_that_is_printed_reaches_the_protocol(server: Path, environ: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, str(server)],
        input=lines(HELLO, call(1, "tell")),
        env=environ,
        capture_output=True,
        check=True,
    )

    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]
    printed = done.stderr.decode()
    assert "printed at import" in printed
    assert "printed in a tool" in printed
    assert "printed by a child" in printed


def test_cancellations_that_fit_no_call_are_counted_in_the_event_log(
    server: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    stray = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}}

    subprocess.run(
        [sys.executable, str(server)],
        input=lines(HELLO, stray, stray),
        env=environ,
        capture_output=True,
        check=True,
    )

    log = (tmp_path / "state" / "process" / "events.jsonl").read_text(encoding="utf-8")
    assert json.loads(log.splitlines()[-1])["unmatched"] == 2


def test_input_and_output_may_be_files(server: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(lines(HELLO, call(1, "tell")))

    with (tmp_path / "in").open("rb") as given, (tmp_path / "out").open("wb") as taken:
        subprocess.run(
            [sys.executable, str(server)],
            stdin=given,
            stdout=taken,
            stderr=subprocess.DEVNULL,
            env=environ,
            check=True,
        )

    answers = (tmp_path / "out").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in answers] == [0, 1]


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_instead_of_a_client_ends_the_server_at_once(
    device: str, server: Path, environ: dict[str, str]
) -> None:
    with open("/dev/null", "rb") as nobody, open(device, "wb") as sink:
        done = subprocess.run(
            [sys.executable, str(server)], stdin=nobody, stdout=sink, env=environ, timeout=20, check=False
        )

    assert done.returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_server_and_the_programs_of_its_calls(
    number: int, code: int, started: subprocess.Popen[bytes]
) -> None:
    programs = wait_for_program(started)

    started.send_signal(number)

    assert started.wait(timeout=15) == code
    assert_all_gone(programs)
    assert started.stdout is not None
    assert b"CANCELLED" in started.stdout.read()


def test_a_thread_that_does_not_end_does_not_keep_the_server(server: Path, environ: dict[str, str]) -> None:
    messages = lines(HELLO, call(1, "thread"))

    done = subprocess.run(
        [sys.executable, str(server)], input=messages, env=environ, capture_output=True, timeout=20, check=True
    )

    assert b"TOOL_TIMEOUT" in done.stdout


@pytest.mark.parametrize("mode", ["native", "sdk"])
def test_a_client_that_does_not_read_for_a_while_gets_every_answer_when_it_does(
    mode: str, server: Path, environ: dict[str, str]
) -> None:
    environ = {**environ, "HOLDFAST_MCP_MODE": mode}
    calls = [call(number, "big") for number in range(1, 41)]
    process = subprocess.Popen(
        [sys.executable, str(server)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(HELLO, *calls))
    process.stdin.flush()
    wait_until_blocked(process.pid)

    answers = [json.loads(process.stdout.readline()) for _ in range(41)]
    process.stdin.close()

    assert {answer["id"] for answer in answers} == set(range(41))
    assert all(not answer["result"].get("isError") for answer in answers)
    assert process.wait(timeout=15) == 0
    process.stdout.close()


def wait_until_blocked(pid: int) -> None:
    """Wait until the server is asleep with its answers unread: it uses no more processor time."""
    watched, used, quiet = psutil.Process(pid), -1.0, 0
    for _ in range(2_000):
        times = watched.cpu_times()
        quiet = quiet + 1 if times.user + times.system == used and used > 0.1 else 0
        used = times.user + times.system
        if quiet > 20:
            return
        psutil.wait_procs([watched], timeout=0.01)
    raise AssertionError("the server did not come to rest")


def test_one_socket_may_be_input_and_output(server: Path, environ: dict[str, str]) -> None:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, str(server)],
        stdin=theirs.fileno(),
        stdout=theirs.fileno(),
        stderr=subprocess.DEVNULL,
        env=environ,
    )
    theirs.close()
    with ours, ours.makefile("rb") as answers:
        ours.sendall(lines(HELLO))
        assert json.loads(answers.readline())["id"] == 0
        ours.sendall(lines(call(1, "tell")))
        assert json.loads(answers.readline())["id"] == 1

    assert process.wait(timeout=15) == 0


def test_an_event_log_that_cannot_be_written_is_told_of(server: Path, environ: dict[str, str]) -> None:
    occupied = {**environ, "HOLDFAST_STATE_DIR": str(server)}  # a file, not a directory

    done = subprocess.run(
        [sys.executable, str(server)],
        input=lines(HELLO, call(1, "tell")),
        env=occupied,
        capture_output=True,
        check=True,
    )

    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]
    assert b"the event log cannot be written" in done.stderr


def test_a_client_that_closes_both_ends_leaves_nothing_running(started: subprocess.Popen[bytes]) -> None:
    programs = wait_for_program(started)
    assert started.stdin is not None
    assert started.stdout is not None

    started.stdout.close()
    started.stdin.close()

    assert started.wait(timeout=15) == 0
    assert_all_gone(programs)


def test_a_client_that_stops_reading_and_writing_is_noticed_by_its_closed_output(
    started: subprocess.Popen[bytes],
) -> None:
    programs = wait_for_program(started)
    assert started.stdout is not None

    started.stdout.close()

    assert started.wait(timeout=15) == 0
    assert_all_gone(programs)


def test_the_programs_of_a_killed_server_die_with_it(started: subprocess.Popen[bytes]) -> None:
    programs = wait_for_program(started)

    started.kill()

    assert_all_gone(programs)


def test_a_dead_parent_is_noticed_although_the_input_stays_open(server: Path, environ: dict[str, str]) -> None:
    reader, writer = os.pipe()
    parent = (
        "import subprocess, sys\n"
        "command = [sys.executable, sys.argv[1]]\n"
        "child = subprocess.Popen(command, stdin=int(sys.argv[2]), stdout=subprocess.DEVNULL)\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    middle = subprocess.Popen(
        [sys.executable, "-c", parent, str(server), str(reader)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        pass_fds=[reader],
    )
    assert middle.stdout is not None
    grandchild = psutil.Process(int(middle.stdout.readline()))
    wait_until_listening(grandchild)

    middle.kill()
    middle.communicate()

    assert_all_gone([grandchild])
    os.close(reader)
    os.close(writer)


def wait_until_listening(process: psutil.Process) -> None:
    """Wait until the server watches its parent: it has opened more than the streams it was given."""
    for _ in range(20_000):
        with contextlib.suppress(FileNotFoundError):  # a descriptor was closed while we looked
            links = [os.readlink(entry) for entry in Path(f"/proc/{process.pid}/fd").iterdir()]
            if any("pidfd" in link for link in links):
                return
        psutil.wait_procs([process], timeout=0.001)
    raise AssertionError("the server did not begin to listen")


@pytest.mark.parametrize("mode", ["native", "sdk"])
def test_a_batch_may_cancel_a_call_that_waits_and_be_answered_itself(
    mode: str, server: Path, environ: dict[str, str]
) -> None:
    hello = {**HELLO, "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": CLIENT}}
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 2}}
    batch = [cancel, {"jsonrpc": "2.0", "id": 3, "method": "ping"}]
    own = {**environ, "HOLDFAST_MCP_MODE": mode, "HOLDFAST_CONCURRENCY": "1"}

    done = subprocess.run(
        [sys.executable, str(server)],
        input=lines(hello, call(1, "sleep"), call(2, "tell")) + json.dumps(batch).encode() + b"\n",
        env=own,
        capture_output=True,
        check=True,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [{"jsonrpc": "2.0", "id": 3, "result": {}}] in answers
    ended = {answer["id"]: answer for answer in answers if isinstance(answer, dict)}
    assert "CANCELLED" in ended[2]["result"]["content"][0]["text"]
    assert set(ended) == {0, 1, 2}
