"""The server that every exchange of the contract suite talks to: one small, deterministic tool per behaviour.

Run as a program it serves stdin and stdout; the first argument is the dialect, everything else is a setting from
the environment. Tools are plain functions of this module, so that an isolated call finds them too.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from holdfast import Context, Server, SyncContext, ToolError, effect

# A program that starts another, which starts two more: one that ignores TERM, and one that does so in a session of
# its own. Each notes its process id, then leaves beats in a file until it is killed. The first two print as well,
# whether or not somebody reads it, and change the word at a TERM: so it is known what was said after that.
TREE = """
import os, signal, sys, time

pids, beats = sys.argv[1:]
word = b"beat\\n"

def append(file, text):
    with open(file, "ab", buffering=0) as opened:
        opened.write(text)

def change_word(*_):
    global word
    word = b"late\\n"

def say(line):
    try:
        os.write(1, line)
    except OSError:
        pass

def live(*traits):
    if "loner" in traits:
        os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in traits else change_word)
    append(pids, b"%d\\n" % os.getpid())
    while True:
        append(beats, b".")
        if "deaf" not in traits:
            say(word)
        time.sleep(0.005)

if not os.fork():
    if not os.fork():
        live("deaf")
    if not os.fork():
        live("deaf", "loner")
    live()
live()
"""
HERE = Path(__file__).resolve()

GATES: dict[str, asyncio.Event] = {}


@dataclass(frozen=True, slots=True)
class Text:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True)
class Total:
    """A sum."""

    total: int


def gate(name: str) -> asyncio.Event:
    """The gate of this name, closed at first."""
    return GATES.setdefault(name, asyncio.Event())


async def echo(text: str, times: Annotated[int, Field(ge=1, le=9)] = 1) -> Text:
    """Return the text.

    Args:
        text: What to return.
        times: How often.
    """
    return Text(text * times)


async def add(a: Annotated[int, Field(ge=0)], b: Annotated[int, Field(ge=0)]) -> Total:
    """Add two numbers."""
    return Total(a + b)


async def count(numbers: list[int]) -> int:
    """Return how many numbers there are: a result that is no object."""
    return len(numbers)


async def refuse(code: str) -> Text:
    """End the call with an error code; NOT_FOUND is the declared one."""
    raise ToolError(code, "no such thing", details={"wanted": "thing", "code": "shadow"}, hint="Ask for another.")


async def crash() -> Text:
    """Fail as a defect does."""
    raise RuntimeError(f"the secret is in {HERE}")


async def wait_for_gate(name: str) -> Text:
    """Return once the gate is open."""
    await gate(name).wait()
    return Text(name)


async def open_gate(name: str) -> Text:
    """Open the gate."""
    gate(name).set()
    return Text(name)


async def hang(note: str = "") -> Text:
    """Never return; note in a file that the work began, and that it was interrupted."""
    _write(note, "began")
    try:
        await asyncio.Event().wait()
    finally:
        _write(note, "interrupted")
    raise AssertionError("nobody sets this event")


def _write(note: str, line: str) -> None:
    if note:
        with Path(note).open("a") as file:
            file.write(line + "\n")


async def tree(pids: str, beats: str, ctx: Context) -> Text:
    """Run a tree of processes that never ends; each writes its id to the file `pids`, and on and on to `beats`."""
    done = await ctx.run([sys.executable, "-I", "-S", "-c", TREE, pids, beats])
    return Text(str(done.returncode))


async def report(seconds: float, ctx: Context) -> Text:
    """Report progress as fast as possible for so long."""
    end = asyncio.get_running_loop().time() + seconds
    number = 0
    while asyncio.get_running_loop().time() < end:
        number += 1
        await ctx.progress(f"step {number}", progress=number, total=1_000_000, phase="search")
        await asyncio.sleep(0)
    return Text(str(number))


async def burst(reports: int, gate_name: str, ctx: Context) -> Text:
    """Report so many times in a row, then return once the gate is open."""
    for number in range(1, reports + 1):
        await ctx.progress(f"step {number}")
    await gate(gate_name).wait()
    return Text(f"{reports} before {gate_name}")


async def noise() -> Text:
    """Write to stdout in every way there is."""
    print("printed")
    os.write(1, b"written\n")
    await asyncio.to_thread(subprocess.run, ["sh", "-c", "echo from a child; cat"], check=True)
    return Text("quiet")


def in_thread(text: str, ctx: SyncContext) -> Text:
    """A function that is not async."""
    ctx.check()
    ctx.progress("in the thread")
    return Text(text.upper())


async def isolated(number: int) -> Total:
    """Double a number in a process of its own; negative numbers end that process."""
    if number < 0:
        os._exit(7)
    return Total(2 * number)


async def large(size: int) -> Text:
    """Return so many characters."""
    return Text("x" * size)


async def wrong_output() -> Total:
    """Break its own output schema."""
    return Total("many")  # type: ignore[arg-type]


class Quit(BaseException):
    """Neither a defect nor a signal, and no `Exception`."""


EXITS: dict[str, type[BaseException]] = {
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "generator": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "own": Quit,
}


async def leave(how: str) -> Text:
    """Raise what ends a program, not only a call."""
    raise EXITS[how]


def leave_thread(how: str) -> Text:
    """Raise the same in a thread."""
    raise EXITS[how]


async def undecodable() -> Text:
    """Return the name of a file that is not UTF-8."""
    return Text(os.fsdecode(b"name \xff"))


def build(dialect: str = "poc", surface_version: str = "2.1.0") -> Server:
    """A server with all the tools, in this dialect."""
    server = Server(
        "contract",
        version="1.2.3",
        surface_version=surface_version,
        dialect=dialect,
        render="json",
        presentation="meta",
        instructions="Tools for tests.",
        capabilities={"docs": {"pdf": False}},
    )
    safe = effect.replay_safe()
    described: dict[Callable[..., Any], dict[str, Any]] = {
        echo: {"title": "Echo", "effect": safe, "read_only": True, "aliases": ("say",), "reserved": ("future",)},
        add: {"version": "1.4.0", "schema_version": 5, "effect": safe, "examples": ({"a": 1, "b": 2},)},
        count: {},
        refuse: {"errors": ("NOT_FOUND",)},
        crash: {},
        wait_for_gate: {},
        open_gate: {},
        hang: {},
        tree: {},
        report: {},
        burst: {},
        noise: {},
        in_thread: {},
        isolated: {"isolate": True},
        large: {},
        wrong_output: {},
        leave: {},
        leave_thread: {},
        undecodable: {},
    }
    for function, options in described.items():
        server.tool(**options)(function)
    server.tool(name="hang_briefly", timeout=0.2)(hang)
    server.tool(name="tree_briefly", timeout=1.0)(tree)
    return server


server = build()

if __name__ == "__main__":
    build(*sys.argv[1:]).run()
