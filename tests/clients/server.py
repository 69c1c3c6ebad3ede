"""The server that every client talks to: one small tool per promise, started as a program.

The tools wait for nothing but what a client or a program does, so that no test depends on how fast they are.
"""

import asyncio
import os
import signal
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from holdfast import Context, Server, ToolError, effect

server = Server("harbour", version="1.2.0", surface_version="3.0.0", instructions="Articles and their shelves.")

GATES: dict[str, asyncio.Event] = {}


class Shelf(BaseModel):
    """Where some of an article lie."""

    row: Annotated[int, Field(ge=1)]
    label: str | None = None


class Article(BaseModel):
    """What is known of an article: every kind of schema that a client has to compile."""

    sku: str
    kind: Literal["part", "kit"]
    price: float
    arrived: date
    shelves: list[Shelf]
    stock: dict[str, int]


class Priority(Enum):
    """How soon something is to be done."""

    SOON = "soon"
    LATER = "later"


@dataclass
class Process:
    """A process of the server."""

    pid: int


@dataclass
class Walked:
    """How far a walk went."""

    steps: int


def gate(name: str) -> asyncio.Event:
    """The gate of this name, closed at first."""
    return GATES.setdefault(name, asyncio.Event())


@server.tool(
    version="1.4.0",
    schema_version=5,
    effect=effect.replay_safe(),
    read_only=True,
    errors=("NOT_FOUND",),
    examples=({"sku": "A-1"},),
    security="Reads a constant.",
)
async def describe(sku: str, limit: Annotated[int, Field(ge=1, le=50)] = 10) -> Article:
    """Return what is known of one article.

    Args:
        sku: The article's number.
        limit: How many shelves to return at most.
    """
    if sku != "A-1":
        raise ToolError("NOT_FOUND", "no such article", details={"sku": sku}, hint="Try A-1.")
    shelves = [Shelf(row=1, label="left"), Shelf(row=2)][:limit]
    return Article(
        sku=sku, kind="part", price=1.5, arrived=date(2026, 1, 2), shelves=shelves, stock={"oslo": 3, "rome": 0}
    )


@server.tool(effect=effect.deduplicated("/arguments/key"))
async def restock(
    key: str,
    article: Article,
    shelf: Shelf | Literal["anywhere"] = "anywhere",
    priority: Priority = Priority.LATER,
    due: datetime | None = None,
) -> Article:
    """Put an article on a shelf: arguments of every kind that a client has to send.

    Args:
        key: A second call with the same key changes nothing.
        article: What to put there.
        shelf: Where to put it.
        priority: How soon.
        due: When at the latest.
    """
    assert isinstance(priority, Priority)
    more = [shelf] if isinstance(shelf, Shelf) else []
    stock = {priority.value: due.year if due else 0}
    return article.model_copy(update={"shelves": [*article.shelves, *more], "stock": stock})


@server.tool(effect=effect.replay_safe())
async def count(words: list[str]) -> int:
    """Return how many words there are: a result that is no object."""
    return len(words)


@server.tool()
async def walk(steps: int, ctx: Context) -> Walked:
    """Report each step, and take the next one when the gate of that step was opened."""
    for step in range(1, steps + 1):
        await ctx.progress(f"step {step}", progress=step, total=steps)
        await gate(f"step {step}").wait()
    return Walked(steps)


@server.tool()
async def open_gate(name: str) -> Walked:
    """Open a gate."""
    gate(name).set()
    return Walked(0)


@server.tool()
async def hold(note: str, ctx: Context) -> Process:
    """Run a program that never ends and reports its process id; write the file `note` when interrupted."""
    try:
        await ctx.run(["sh", "-c", "echo $$; exec sleep 600"])
    finally:
        Path(note).write_text("interrupted\n")  # noqa: ASYNC240 - a few bytes
    raise AssertionError("the program does not end by itself")


@server.tool(timeout=0.3)
async def stall() -> Walked:
    """Never return."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets this event")


@server.tool(isolate=True)
async def fragile(crash: bool) -> Process:
    """Return the process that this runs in; with `crash` that process is killed first."""
    if crash:
        os.kill(os.getpid(), signal.SIGKILL)
    return Process(os.getpid())


@server.tool(effect=effect.replay_safe(), read_only=True)
async def attend(note: str) -> Process:
    """Write the process of the server to the file `note`; wait for ever unless it is the second that does so."""
    with Path(note).open("a+") as file:  # noqa: ASYNC230 - a few bytes
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        visits = len(file.readlines())
    if visits < 2:
        await asyncio.Event().wait()
    return Process(os.getpid())


@server.tool()
async def identify() -> Process:
    """Return the process of the server."""
    return Process(os.getpid())


if __name__ == "__main__":
    server.run()
