"""A server written with FastMCP whose tools block it as tools do; run by `blocked_servers.py`."""

import asyncio
import os
import threading
import time

import anyio.to_thread
from fastmcp import FastMCP

READ_ONLY = {"readOnlyHint": True}
server = FastMCP("blocking")
lock = threading.Lock()
lock.acquire()
held: set[asyncio.Future[bool]] = set()


def first() -> bool:
    """Whether this is the first block of the run: what comes after it behaves."""
    try:
        os.close(os.open(os.environ["BLOCKED_FLAG"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


@server.tool(annotations=READ_ONLY)
async def pid() -> int:
    """The process."""
    return os.getpid()


@server.tool(annotations=READ_ONLY)
def pooled() -> int:
    """The process, told by a thread of the pool."""
    return os.getpid()


@server.tool(annotations=READ_ONLY)
async def sleep() -> int:
    """Sleep in the loop."""
    if first():
        time.sleep(3600)  # noqa: ASYNC251, TID251 - that is the fault
    return os.getpid()


@server.tool(annotations=READ_ONLY)
async def spin() -> int:
    """Compute in the loop, without end."""
    if first():
        while True:
            pass
    return os.getpid()


@server.tool
async def pool() -> int:
    """Have every thread of the pool wait for a lock that nobody releases."""
    if first():
        threads = int(anyio.to_thread.current_default_thread_limiter().total_tokens)
        held.update(asyncio.ensure_future(anyio.to_thread.run_sync(lock.acquire)) for _ in range(threads))
        await asyncio.shield(asyncio.gather(*held))  # who cancels the call does not free the threads
    return os.getpid()


if __name__ == "__main__":
    server.run(show_banner=False)
