"""The processes of a tool end with its call when that is stopped; else they are left alone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.unit.process.trees import until

SOURCE = '''
import asyncio, multiprocessing, os, subprocess, sys, time
from holdfast import Server

server = Server("starting", version="1.0.0", dialect="poc", render="json", presentation="meta")
SLEEP = ["sleep", "600"]
STUBBORN = ["sh", "-c", "trap '' TERM; sleep 600 & sleep 600; sleep 600"]
DAEMON = ["sh", "-c", "setsid sleep 600 & exec sleep 600"]


def start(how: str) -> str:
    if how == "subprocess":
        subprocess.run(SLEEP)
    elif how == "stubborn":
        subprocess.run(STUBBORN)
    elif how == "daemon":
        subprocess.run(DAEMON)
    elif how == "system":
        os.system("sleep 600")
    elif how == "posix_spawn":
        os.waitpid(os.posix_spawn("/bin/sleep", ["sleep", "600"], os.environ), 0)
    elif how == "popen":
        os.popen("sleep 600").read()
    else:
        process = multiprocessing.get_context(how).Process(target=time.sleep, args=(600,))
        process.start()
        process.join()
    return how


@server.tool(timeout=1.5)
def block(how: str) -> str:
    """Start a program in one of these ways and wait for it."""
    return start(how)


@server.tool(timeout=1.5)
async def block_async(how: str) -> str:
    """Start a program from a coroutine and wait for it."""
    if how == "to_thread":
        return await asyncio.to_thread(start, "subprocess")
    process = await asyncio.create_subprocess_exec("sleep", "600")
    await process.wait()
    return how


@server.tool(timeout=30)
def leave() -> int:
    """Leave a program running."""
    return subprocess.Popen(["sleep", "600"]).pid


@server.tool(timeout=30, owns_processes=True)
def leave_owned() -> int:
    """Leave a program running that ends with the call."""
    return subprocess.Popen(["sleep", "600"]).pid


if __name__ == "__main__":
    server.run()
'''

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


class Served:
    """A server process, and the answers that it gave."""

    def __init__(self, process: "subprocess.Popen[str]", mark: str) -> None:
        self.process = process
        self.mark = mark
        self.answers: dict[int, Any] = {}
        self.send(HELLO)

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def start_call(self, number: int, tool: str, **arguments: Any) -> None:
        params = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def answer(self, number: int) -> Any:
        assert self.process.stdout is not None
        while number not in self.answers:
            message = json.loads(self.process.stdout.readline())
            if "id" in message:
                self.answers[message["id"]] = message["result"]
        return self.answers[number]

    def programs(self) -> list[str]:
        """The programs that the server has started, but for helpers of multiprocessing."""
        found = []
        own = psutil.Process(self.process.pid)
        for process in psutil.process_iter():
            try:
                words = " ".join(process.cmdline())
                if "resource_tracker" in words or "multiprocessing.forkserver" in words:
                    continue
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if process != own and (
                    own in process.parents() or self.mark in process.environ().get("SERVED", "")
                ):
                    found.append(words)
            except psutil.Error:
                continue
        return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    path = tmp_path / "starting_server.py"
    path.write_text(SOURCE)
    command = [str(Path(sys.executable).with_name("holdfast")), "serve", "--standalone", str(path)]
    environ = {**os.environ, "HOLDFAST_EVENT_LOG": "off", "HOLDFAST_KILL_GRACE": "0.5", "SERVED": str(tmp_path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, cwd=tmp_path
    ) as process:
        try:
            yield Served(process, str(tmp_path))
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(30) == 0
        finally:
            process.kill()


WAYS = ["subprocess", "stubborn", "daemon", "system", "posix_spawn", "popen", "fork", "spawn", "forkserver"]


def test_every_process_ends_with_the_call_that_times_out_and_its_thread_comes_back(served: Served) -> None:
    for number, how in enumerate(WAYS, 1):
        served.start_call(number, "block", how=how)
    served.start_call(50, "block_async", how="to_thread")
    served.start_call(51, "block_async", how="exec")

    codes = {
        served.answer(number)["_meta"]["io.holdfast/error"]["code"]
        for number in [*range(1, len(WAYS) + 1), 50, 51]
    }

    assert codes == {"TOOL_TIMEOUT"}
    until(lambda: served.programs() == [])
    # A thread that never came back would make the server end without joining it, and be a different exit.
    until(lambda: psutil.Process(served.process.pid).num_threads() < len(WAYS))


def test_a_cancelled_call_ends_its_processes_and_one_that_returns_leaves_them_alone(served: Served) -> None:
    served.start_call(1, "leave")
    left = served.answer(1)["structuredContent"]
    served.start_call(2, "leave_owned")
    owned = served.answer(2)["structuredContent"]
    served.start_call(3, "block_async", how="exec")
    until(lambda: len(served.programs()) == 2)
    served.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    until(lambda: len(served.programs()) == 1)

    pid = left if isinstance(left, int) else left["result"]
    assert psutil.pid_exists(pid)
    psutil.Process(pid).kill()
    assert not psutil.pid_exists(owned if isinstance(owned, int) else owned["result"])
