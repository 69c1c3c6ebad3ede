"""The client at the pipes of a host, and the search for processes by a mark."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.testing import Fault, HostUnderTest, Traces, marked_processes, script
from holdfast.testing.marked import MARK, command_line, memory_of

Start = Callable[..., HostUnderTest]

# Says hello to nobody, leaves a file in the temporary directory, and waits for the end of its input.
LITTERER = "import os,sys; open(os.environ['TMPDIR'] + '/litter', 'w'); sys.stdin.read()"


def test_the_worker_is_found_by_its_command_and_by_its_own_word(worker: Start, traces: Traces) -> None:
    server = worker()

    assert server.worker_pids() == [server.worker_pid()] == traces.pids() == [server.process.pid]


def test_a_killed_worker_is_gone(worker: Start) -> None:
    server = worker()

    assert server.kill_worker() == [server.process.pid]
    assert server.process.wait(5) == -signal.SIGKILL
    assert server.kill_worker() == []


def test_a_server_that_leaves_a_file_is_found_out(tmp_path: Path) -> None:
    with (
        HostUnderTest([sys.executable, "-I", "-S", "-c", LITTERER], tmp_path) as server,
        pytest.raises(AssertionError, match="litter"),
    ):
        server.assert_nothing_left(0.0)


def test_a_server_that_ends_in_another_way_than_it_should_is_found_out(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "exit", code=5))
    server.start_call("read")
    with pytest.raises(AssertionError, match="exit code 5"):
        server.assert_nothing_left()

    server.assert_nothing_left(exit_code=5)


def test_leaving_the_block_kills_whatever_is_left(tmp_path: Path) -> None:
    command = script(Fault.on_start("grandchild", kind="daemon"), Fault.on_start("ignore_eof")).command(tmp_path)
    with HostUnderTest(command, tmp_path / "host") as server:
        server.handshake()
        server.until(lambda: len(marked_processes(server.mark)) == 2)

    server_is_gone = server.process.returncode == -signal.SIGKILL
    assert server_is_gone
    assert marked_processes(server.mark) == []


def test_an_answer_that_does_not_come_is_told_with_what_was_waited_for(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "never_answer"))

    with pytest.raises(AssertionError, match=r"an answer to request 2 did not come: not within 0.01 s"):
        server.call("read", bound=0.01)


def test_only_processes_with_the_mark_are_found_and_only_the_living() -> None:
    mark = uuid.uuid4().hex
    command = [sys.executable, "-I", "-S", "-c", "print(flush=True); input()"]
    environment = {**os.environ, MARK: mark}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline()  # before its first words its environment may not be there to be read
        assert marked_processes(mark) == [process.pid]
        assert marked_processes(mark[:-1]) == []
        assert command_line(process.pid) == command
        assert memory_of(process.pid) > 0
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert marked_processes(mark) == []


def test_a_process_that_does_not_exist_has_no_command_and_no_memory() -> None:
    assert command_line(2**22 + 1) == []
    assert memory_of(2**22 + 1) == 0
