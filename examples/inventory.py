"""The stock of a small shop as an MCP server: six tools, some of which misbehave on purpose.

holdfast tools examples/inventory.py
holdfast call examples/inventory.py lookup sku=A-1
holdfast serve examples/inventory.py
"""

import asyncio
import os
import sys
from typing import Annotated

from pydantic import BaseModel, Field

from holdfast import Context, ErrorSpec, Server, ToolError, effect

server = Server("inventory", version="1.0.0", instructions="Look an article up before you reserve it.")

STOCK = {"A-1": ("anvil", 12), "B-2": ("bucket", 0), "C-3": ("compass", 140)}
RESERVATIONS: dict[str, "Reservation"] = {}

# A program that keeps a child busy, says who is at work, and then takes its time.
SLOW_PROGRAM = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("at work: processes", os.getpid(), "and", child.pid, flush=True)
child.wait()
"""


class StockItem(BaseModel):
    """How much there is of one article."""

    sku: str = Field(description="The number of the article.")
    name: str = Field(description="What it is called.")
    count: int = Field(ge=0, description="How many there are.")


class Reservation(BaseModel):
    """Some of an article, put aside under a key."""

    key: str = Field(description="The name of the reservation.")
    sku: str = Field(description="The number of the article.")
    count: int = Field(description="How many were put aside.")


class Audit(BaseModel):
    """How much there is in all, and which process counted it."""

    count: int = Field(description="How many articles there are in all.")
    process: int = Field(description="The process that counted them.")


class Finished(BaseModel):
    """How a program ended."""

    exit_code: int | None = Field(description="The exit code, or null if there is none.")


@server.tool(
    version="1.0.0",
    effect=effect.replay_safe(),
    read_only=True,
    timeout=5.0,
    errors=("NOT_FOUND",),
    security="Reads the stock table; no file or network access.",
    examples=({"sku": "A-1"},),
)
async def lookup(sku: str, ctx: Context, limit: Annotated[int, Field(ge=1, le=100)] = 10) -> StockItem:
    """Return the stock of one article.

    Args:
        sku: The number of the article, such as A-1.
        limit: The largest count to report.
    """
    await ctx.progress("reading the stock table", progress=1, total=2)
    if sku not in STOCK:
        raise ToolError("NOT_FOUND", f"there is no article {sku}", details={"sku": sku})
    name, count = STOCK[sku]
    return StockItem(sku=sku, name=name, count=min(count, limit))


@server.tool(
    version="1.0.0",
    effect=effect.deduplicated("/arguments/key"),
    timeout=5.0,
    errors=(
        "NOT_FOUND",
        ErrorSpec("OUT_OF_STOCK", "There is less of the article than was asked for.", "Ask for fewer."),
    ),
    security="Changes the stock table; no file or network access.",
    examples=({"sku": "A-1", "count": 2, "key": "order-7"},),
)
async def reserve(sku: str, count: Annotated[int, Field(ge=1)], key: str) -> Reservation:
    """Put some of an article aside. Calls with the same key take effect once.

    Args:
        sku: The number of the article.
        count: How many to put aside.
        key: A name for this reservation, chosen by the caller.
    """
    if key in RESERVATIONS:
        return RESERVATIONS[key]
    if sku not in STOCK:
        raise ToolError("NOT_FOUND", f"there is no article {sku}", details={"sku": sku})
    name, left = STOCK[sku]
    if count > left:
        raise ToolError("OUT_OF_STOCK", f"only {left} of {sku} are left", details={"sku": sku, "left": left})
    STOCK[sku] = (name, left - count)
    RESERVATIONS[key] = Reservation(key=key, sku=sku, count=count)
    return RESERVATIONS[key]


@server.tool(
    version="1.0.0", effect=effect.replay_safe(), read_only=True, timeout=30.0, security="Reads the stock table."
)
async def audit(ctx: Context, seconds: Annotated[float, Field(ge=0, le=10)] = 0.5) -> Audit:
    """Count everything there is, slowly.

    Args:
        seconds: How long to take over it.
    """
    await ctx.progress("counting", progress=1, total=2)
    await asyncio.sleep(seconds)
    return Audit(count=sum(count for _, count in STOCK.values()), process=os.getpid())


@server.tool(effect=effect.at_most_once(), isolate=True, timeout=10.0, security="Kills its own process.")
def crash() -> Finished:
    """Die as a bug in native code would: at once, taking the whole process along."""
    os.abort()


@server.tool(effect=effect.replay_safe(), timeout=2.0, security="Runs a harmless program.")
async def slow(ctx: Context) -> Finished:
    """Run a program that starts another one and takes far longer than this tool may."""
    ended = await ctx.run([sys.executable, "-c", SLOW_PROGRAM])
    return Finished(exit_code=ended.returncode)


@server.tool(effect=effect.replay_safe(), timeout=5.0, security="Does nothing.")
async def broken() -> StockItem:
    """Fail with an exception that nobody expected."""
    raise RuntimeError("the password of the database is hunter2")


if __name__ == "__main__":
    server.run()
