"""A tour of what Holdfast promises, on the server of `inventory.py`, each promise checked while you watch.

It starts `holdfast serve` as a process of its own and talks to it as any MCP client would. It exits with 1 when
something is not as promised.
"""

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil

from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.process import run

INVENTORY = Path(__file__).with_name("inventory.py")
BOUND = 15.0  # seconds after which something that should have happened did not


class Tour:
    """The session, the last progress messages, and the promises that did not hold."""

    def __init__(self, session: ClientSession, transport: ProcessTransport, state: Path) -> None:
        self.session = session
        self.state = state
        self.transport = transport
        self.progress: list[str] = []
        self.broken_promises = 0
        self.chapter = 0

    def title(self, text: str) -> None:
        self.chapter += 1
        self.progress.clear()
        print(f"\n{self.chapter}. {text}")

    def promise(self, text: str, *, kept: bool) -> None:
        self.broken_promises += not kept
        print(f"   [{'ok' if kept else 'BROKEN'}] {text}")

    def on_progress(self, notice: dict[str, Any]) -> None:
        self.progress.append(str(notice.get("message")))

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        shown = " ".join(f"{key}={value}" for key, value in arguments.items())
        print(f"   > {tool} {shown}".rstrip())
        began = time.monotonic()
        result = await self.session.call_tool(tool, arguments, timeout=BOUND, on_progress=self.on_progress)
        for line in text_of(result).splitlines():
            print(f"     {line}")
        print(f"     ({(time.monotonic() - began) * 1000:.0f} ms)")
        return result

    async def status(self) -> dict[str, Any]:
        """What `holdfast status` tells about the host in front of the server."""
        command = [sys.executable, "-m", "holdfast", "status", str(self.transport.pid), "--json"]
        ended = await run(command, env={**os.environ, **environment(self.state)}, timeout=BOUND)
        health: dict[str, Any] = json.loads(ended.stdout)
        return health

    async def pids_at_work(self) -> list[int]:
        """The processes that the tool `slow` says it started."""
        await until(lambda: any("at work" in message for message in self.progress))
        message = next(message for message in self.progress if "at work" in message)
        return [int(number) for number in re.findall(r"\d+", message)]


def environment(state: Path) -> dict[str, str]:
    """Everything that the server writes goes into a directory of this tour's own."""
    return {"HOLDFAST_STATE_DIR": str(state), "XDG_RUNTIME_DIR": str(state)}


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(item["text"] for item in result["content"])


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


def is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], bool]) -> bool:
    """Wait for the condition, but not for ever."""
    deadline = time.monotonic() + BOUND
    while not condition() and time.monotonic() < deadline:  # noqa: ASYNC110 - nobody tells of the end of a process
        await asyncio.sleep(0.01)
    return condition()


async def a_list_of_tools(tour: Tour) -> None:
    tour.title(f"The server {tour.session.peer.name} offers tools")
    tools = await tour.session.list_tools()
    for tool in tools:
        effect = tool["_meta"]["io.holdfast/effect"]["recovery"]["kind"]
        print(f"     {tool['name']:8} {effect:13} {tool['description'].splitlines()[0]}")
    tour.promise("every tool says what repeating it would do", kept=len(tools) == 6)


async def a_good_call(tour: Tour) -> None:
    tour.title("A good call")
    result = await tour.call("lookup", sku="A-1")
    tour.promise("it returns structured content beside the text", kept=result["structuredContent"]["count"] == 10)
    tour.promise("progress arrived on the way", kept=tour.progress == ["reading the stock table"])


async def an_invalid_call(tour: Tour) -> None:
    tour.title("An invalid call: every mistake is listed at once")
    text = text_of(await tour.call("lookup", limit="many", colour="red"))
    tour.promise("all three are named", kept=all(word in text for word in ("sku", "limit", "colour")))


async def a_tool_error(tour: Tour) -> None:
    tour.title("A declared error: the caller learns what went wrong and what to do")
    result = await tour.call("reserve", sku="B-2", count=3, key="order-1")
    tour.promise("it is an error with its code", kept=result["isError"] and "OUT_OF_STOCK" in text_of(result))


async def an_unexpected_exception(tour: Tour) -> None:
    tour.title("A bug in a tool: the caller gets a fault id, the event log the details")
    text = text_of(await tour.call("broken"))
    found = re.search(r"fault id: (\S+)", text)
    log = "".join(file.read_text() for file in tour.state.rglob("events.jsonl"))
    tour.promise("no secret of the exception leaks", kept="hunter2" not in text)
    tour.promise("the fault id finds its record in the event log", kept=found is not None and found[1] in log)


async def a_crash(tour: Tour) -> None:
    tour.title("A tool that kills its process")
    result = await tour.call("crash")
    tour.promise("the call ends in an error, not in silence", kept=result["isError"])
    again = await tour.call("lookup", sku="C-3", limit=100)
    pid = tour.transport.pid or 0
    tour.promise("the same server answers the next call", kept=not again["isError"] and bool(alive([pid])))


async def a_killed_worker(tour: Tour) -> None:
    tour.title("kill -9 of the process that runs the tools, in the middle of a call")
    call = asyncio.create_task(tour.call("audit", seconds=1))
    await until(lambda: "counting" in tour.progress)
    before = await tour.status()
    print(f"     the worker is process {before['worker_pid']}; killing it")
    os.kill(before["worker_pid"], signal.SIGKILL)
    result = await call
    after = await tour.status()
    print(f"     the worker is process {after['worker_pid']}, restarted {after['restart_count']} time(s)")
    counted_by = result["structuredContent"]["process"]
    tour.promise("the answer arrived all the same", kept=not result["isError"])
    tour.promise("another process has given it", kept=counted_by == after["worker_pid"] != before["worker_pid"])
    tour.promise("the client's own server never went away", kept=bool(alive([tour.transport.pid or 0])))


async def a_timeout(tour: Tour) -> None:
    tour.title("A tool that takes too long: it may take 2 s, its program would take 10 minutes")
    call = asyncio.create_task(tour.call("slow"))
    pids = await tour.pids_at_work()
    before = alive(pids)
    print(f"     its processes, alive: {before}")
    result = await call
    after = alive(pids)
    print(f"     its processes, alive: {after}")
    tour.promise("the call ended with TOOL_TIMEOUT", kept="TOOL_TIMEOUT" in text_of(result))
    tour.promise("its whole process tree was alive and is gone", kept=len(before) == 2 and not after)


async def a_cancellation(tour: Tour) -> None:
    tour.title("A call that its caller cancels")
    call = asyncio.create_task(tour.call("slow"))
    pids = await tour.pids_at_work()
    before = alive(pids)
    print(f"     its processes, alive: {before}; cancelling")
    call.cancel()
    await asyncio.wait([call])
    gone = await until(lambda: not alive(pids))
    print(f"     its processes, alive: {alive(pids)}")
    tour.promise("its whole process tree was alive and is gone", kept=len(before) == 2 and gone)
    result = await tour.call("lookup", sku="A-1")
    tour.promise("the server goes on", kept=not result["isError"])


CHAPTERS: tuple[Callable[[Tour], Awaitable[None]], ...] = (
    a_list_of_tools, a_good_call, an_invalid_call, a_tool_error,
    an_unexpected_exception, a_crash, a_killed_worker, a_timeout, a_cancellation,
)  # fmt: skip


async def main() -> int:
    """Take the tour; the exit code."""
    with tempfile.TemporaryDirectory() as state:
        transport = ProcessTransport(
            [sys.executable, "-m", "holdfast", "serve", str(INVENTORY)],
            env={**os.environ, **environment(Path(state))},
        )
        async with ClientSession(transport) as session:
            await session.connect()
            tour = Tour(session, transport, Path(state))
            print(f"holdfast serve {INVENTORY.name} runs as process {transport.pid}")
            for chapter in CHAPTERS:
                await chapter(tour)
        gone = not alive([transport.pid or 0])
        tour.title("Good bye")
        tour.promise("the server left when its client did", kept=gone)
    return 1 if tour.broken_promises else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
