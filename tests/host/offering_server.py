"""A server of ours with resources, prompts and streams; its process can be made to die in the middle of a read."""

import os
from dataclasses import dataclass
from pathlib import Path

from holdfast import Server, effect

server = Server("offering", version="1.0.0", list_changed=("prompts",))
MARK = Path(os.environ.get("OFFERING_MARK", "/nonexistent/mark"))


def _die_once() -> None:
    """End the process, the first time that anybody asks."""
    if not MARK.exists():
        MARK.write_text("died")
        os.kill(os.getpid(), 9)


@server.resource("offering://fragile", subscribable=True)
async def fragile() -> str:
    """The first read of it kills the process."""
    _die_once()
    return f"read by {os.getpid()}"


@server.prompt()
async def brittle(word: str) -> str:
    """The first request for it kills the process."""
    _die_once()
    return f"{word} by {os.getpid()}"


@server.completion("brittle", "word")
async def words(value: str) -> list[str]:
    """The first completion kills the process."""
    _die_once()
    return [f"{value} by {os.getpid()}"]


@server.tool(effect=effect.replay_safe())
async def change() -> int:
    """Say that the resource has changed, and add a prompt; tell who does it."""
    server.resource_updated("offering://fragile")
    if server.find_prompt("extra") is None:
        server.prompt(name="extra")(fragile)
    return os.getpid()


@dataclass(frozen=True)
class Process:
    """Who serves."""

    pid: int


@server.tool(effect=effect.replay_safe())
async def pid() -> Process:
    """The process that serves."""
    return Process(os.getpid())


if __name__ == "__main__":
    server.run()
