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
from typing import Annotated, Any, Literal

from pydantic import Field

from holdfast import (
    Context,
    EmbeddedResource,
    Image,
    Message,
    QuestionError,
    Server,
    SyncContext,
    ToolError,
    effect,
    question,
)
from holdfast import Text as HoldfastText

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


@dataclass(frozen=True, slots=True)
class Name:
    """Who somebody is."""

    name: Annotated[str, Field(min_length=1)]


async def ask_name(ctx: Context) -> Text:
    """Greet whoever tells a name."""
    answer = await ctx.elicit("What is your name?", Name, key="user_name")
    again = " again" if ctx.is_repeated else ""
    return Text(f"Hello{again}, {answer.value.name}!" if answer.value else f"{answer.action}{again}")


async def ask_twice(ctx: Context) -> Text:
    """Ask for one thing after the other."""
    first = await ctx.elicit("First?", Name, key="step1")
    second = await ctx.elicit("Second?", Name, key="step2")
    return Text(" ".join(answer.value.name if answer.value else answer.action for answer in (first, second)))


def ask_all(ctx: SyncContext) -> Text:
    """Ask for everything at once, from a thread."""
    told = ctx.ask(
        name=question.form("Name?", Name), line=question.sampling("Line?", max_tokens=9), where=question.roots()
    )
    return Text(f"{told['name'].value.name} {told['line'].text} {told['where'][0].uri}")


async def ask_isolated(ctx: Context) -> Text:
    """Ask from a process of its own, and log."""
    await ctx.log.info("before")
    answer = await ctx.elicit("What is your name?", Name, key="user_name")
    return Text(answer.value.name if answer.value else answer.action)


async def ask_anyway(ctx: Context) -> Text:
    """Go on without an answer where there is none."""
    try:
        return Text((await ctx.sample("Line?", max_tokens=9)).text)
    except QuestionError as error:
        return Text(f"{error.code} {error.details.get('reason', '')}")


async def log_lines(lines: int, ctx: Context) -> Text:
    """Tell the client's log so many lines."""
    for number in range(1, lines + 1):
        await ctx.log("info", f"line {number}", logger="suite")
        await ctx.log("debug", {"number": number})
    return Text(str(lines))


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


# --- what is no tool ---------------------------------------------------------------------------------------------


async def notice() -> str:
    """A text."""
    return "read me"


def pixel() -> bytes:
    """Two bytes."""
    return b"\x00\xff"


async def number(value: Annotated[int, Field(ge=0)]) -> Total:
    """A number under its own address."""
    if value == 404:
        raise ToolError("NOT_FOUND", "no such number")
    if value == 500:
        raise RuntimeError(f"the secret is in {HERE}")
    return Total(value)


async def never() -> str:
    """Never there."""
    await asyncio.Event().wait()
    return ""


async def greet(name: str, mood: Literal["merry", "grave"] = "merry") -> list[Message]:
    """Greet somebody.

    Args:
        name: Whom.
        mood: How.
    """
    attached = EmbeddedResource("contract://notice", "read me")
    return [Message.user(f"Greet {name}, {mood}."), Message.user(attached)]


async def names(value: str) -> list[str]:
    """Names that begin so."""
    return [name for name in ("Ada", "Alan", "Grace") if name.startswith(value)]


async def picture() -> list[HoldfastText | Image]:
    """A text and a picture."""
    return [HoldfastText("a picture:"), Image(b"\x00\xff")]


def offer(server: Server) -> None:
    """Give a server resources, prompts, completions, and tools that change them."""
    server.resource("contract://notice", title="Notice", ttl=1.0, cache_scope="public", subscribable=True)(notice)
    server.resource("contract://pixel", mime_type="image/x-pixel")(pixel)
    server.resource("contract://numbers/{value}")(number)
    server.resource("contract://never", timeout=0.2)(never)
    server.prompt(title="Greet")(greet)
    server.completion("greet", "name")(names)
    server.tool(effect=effect.replay_safe())(picture)

    @server.tool()
    async def renew() -> None:
        """Say that the notice has changed."""
        server.resource_updated("contract://notice")

    @server.tool()
    async def add_prompt() -> None:
        """Offer one more prompt."""
        server.prompt(name="extra")(notice)

    @server.tool()
    async def remove_prompt() -> None:
        """Take it back."""
        server.remove_prompt("extra")


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
        list_changed=("prompts",),
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
        ask_name: {"effect": safe},
        ask_twice: {},
        ask_all: {},
        ask_anyway: {},
        ask_isolated: {"isolate": True},
        log_lines: {},
        leave: {},
        leave_thread: {},
        undecodable: {},
    }
    for function, options in described.items():
        server.tool(**options)(function)
    server.tool(name="hang_briefly", timeout=0.2)(hang)
    server.tool(name="tree_briefly", timeout=1.0)(tree)
    server.tool(name="ask_briefly", timeout=1.0)(ask_name)
    offer(server)
    return server


server = build()

if __name__ == "__main__":
    build(*sys.argv[1:]).run()
