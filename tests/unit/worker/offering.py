"""A server that offers a little of everything, for the tests of what is no tool."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast import Context, Image, Message, ResourceContents, Server, SyncContext, ToolError, effect

__all__ = ["Notes", "make_server"]


@dataclass
class Notes:
    """The state of the server."""

    texts: dict[str, str] = field(default_factory=lambda: {"a": "first", "b": "second"})
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    log: list[str] = field(default_factory=list)


@asynccontextmanager
async def opened(server: Server) -> AsyncIterator[Notes]:
    """Open the notes and leave a trace of it."""
    notes = Notes()
    notes.log.append(f"opened for {server.name}")
    yield notes
    notes.log.append("closed")


async def everything(ctx: Context[Notes]) -> dict[str, str]:
    """All notes."""
    return ctx.state.texts


def one(name: str, ctx: SyncContext[Notes]) -> str:
    """One note."""
    if name == "secret":
        raise ToolError("FORBIDDEN", "not for you")
    if name == "undeclared":
        raise ToolError("NO_INDEX", "nobody said so")
    if name == "broken":
        raise RuntimeError("the password is in /etc/passwd")
    if name not in ctx.state.texts:
        raise ToolError("NOT_FOUND", f"no note {name}")
    return ctx.state.texts[name]


async def added(first: int, second: int, times: int = 1) -> list[ResourceContents]:
    """A sum, in two parts."""
    return [ResourceContents(str(first + second)), ResourceContents(bytes([times]), "application/x-times")]


async def slow() -> str:
    """Never there."""
    await asyncio.Event().wait()
    return ""


async def waiting(ctx: Context[Notes]) -> str:
    """Says that it began, and never ends."""
    ctx.state.begun.set()
    await asyncio.Event().wait()
    return ""


async def large(size: int) -> bytes:
    """So many bytes."""
    return b"x" * size


async def wrong() -> str:
    """Not what it says."""
    return 7  # type: ignore[return-value]


async def sum_up(
    name: str, ctx: Context[Notes], words: int = 10, *, tone: Literal["dry", "warm"] = "dry"
) -> list[Message]:
    """Sum a note up.

    Args:
        name: Which note.
        words: In how many words.
    """
    if name == "secret":
        raise ToolError("FORBIDDEN", "not for you")
    return [
        Message.user(f"{ctx.state.texts[name]} in {words + 0} {tone} words"),
        Message.assistant(Image(b"png")),
    ]


def plain() -> str:
    """Just a text."""
    return "hello"


async def names(value: str, given: dict[str, str], ctx: Context[Notes]) -> list[str]:
    """Names of notes; very many where the tone is warm."""
    if given.get("tone") == "warm":
        return [f"{value}{number}" for number in range(250)]
    return [name for name in ctx.state.texts if name.startswith(value)]


def make_server(**options: Any) -> Server:
    """The server, with these options of `Server`."""
    given: dict[str, Any] = {"lifespan": opened, **options}
    server = Server("notes", version="1.0.0", **given)
    server.resource("notes://all", ttl=2.5, cache_scope="public", size=12)(everything)
    server.resource("notes://one/{name}", subscribable=True, errors=("FORBIDDEN",))(one)
    server.resource("notes://sum/{first}/{second}{?times}", mime_type="text/x-sum")(added)
    server.resource("notes://slow", timeout=0.05)(slow)
    server.resource("notes://waiting")(waiting)
    server.resource("notes://large/{size}")(large)
    server.resource("notes://wrong")(wrong)
    server.prompt(title="Sum up", errors=("FORBIDDEN",))(sum_up)
    server.prompt()(plain)
    server.completion("sum_up", "name")(names)

    @server.tool(effect=effect.replay_safe())
    async def touch(name: str) -> None:
        """Say that a note has changed."""
        server.resource_updated(f"notes://one/{name}")

    return server
