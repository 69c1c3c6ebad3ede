"""A small library as an MCP server: everything that a server can offer besides tools, and tools that return more
than text.

holdfast resources examples/library.py
holdfast resources examples/library.py library://books/1
holdfast prompts examples/library.py review book=2 tone=strict
holdfast serve examples/library.py
"""

import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from holdfast import (
    Annotations,
    Audio,
    Context,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    ResourceLink,
    Server,
    SyncContext,
    Text,
    ToolError,
    WithContent,
    effect,
)

BOOKS = ("The Hound of the Moor", "A Field Guide to Mosses", "Letters from a Lighthouse")


@dataclass
class Library:
    """What the server keeps while it serves: which books there are, and which are lent."""

    books: dict[int, str]
    lent: dict[int, str] = field(default_factory=dict)

    def title(self, number: int) -> str:
        """The title of a book."""
        if number not in self.books:
            raise ToolError("NOT_FOUND", f"there is no book {number}", hint="Read library://catalog.")
        return self.books[number]


@dataclass(frozen=True)
class Loan:
    """One book, and who has it."""

    number: int
    title: str
    reader: str | None = None


@asynccontextmanager
async def opened(_: Server) -> AsyncIterator[Library]:
    """Open the library before the first message, and close it after the last."""
    library = Library(dict(enumerate(BOOKS, 1)))
    try:
        yield library
    finally:
        library.books.clear()


server = Server(
    "library",
    version="1.0.0",
    title="A small library",
    website="https://example.org/library",
    icons=(Icon("https://example.org/library.png", "image/png", ("48x48",)),),
    instructions="Read library://catalog first.",
    lifespan=opened,
    list_changed=("resources",),
)


# --- resources -----------------------------------------------------------------------------------------------


@server.resource("library://catalog", title="Catalog", ttl=60, cache_scope="public")
async def catalog(ctx: Context[Library]) -> list[Loan]:
    """Every book, and who has it."""
    library = ctx.state
    return [Loan(number, title, library.lent.get(number)) for number, title in library.books.items()]


@server.resource("library://books/{number}", mime_type="text/markdown", subscribable=True)
async def book(number: int, ctx: Context[Library]) -> str:
    """One book, as a page to read.

    Args:
        number: The number in the catalog.
    """
    reader = ctx.state.lent.get(number)
    return f"# {ctx.state.title(number)}\n\n" + (f"Lent to {reader}.\n" if reader else "On the shelf.\n")


@server.resource("library://covers/{number}.png", mime_type="image/png", annotations=Annotations(("user",), 0.3))
def cover(number: int, ctx: SyncContext[Library]) -> bytes:
    """The cover of a book, a picture."""
    return _picture(len(ctx.state.title(number)))


# --- prompts -------------------------------------------------------------------------------------------------


@server.prompt(title="Review a book")
async def review(book: int, ctx: Context[Library], tone: Literal["kind", "strict"] = "kind") -> list[Message]:
    """Ask for a review of one book.

    Args:
        book: The number in the catalog.
        tone: How the review should sound.
    """
    title = ctx.state.title(book)
    return [
        Message.user(EmbeddedResource(f"library://books/{book}", f"# {title}\n", "text/markdown")),
        Message.user(Image(_picture(len(title)))),
        Message.user(f"Write a {tone} review of {title!r}."),
        Message.assistant("I have read it. Here is what I think:"),
    ]


@server.completion("review", "book")
async def book_numbers(value: str, ctx: Context[Library]) -> list[str]:
    """The numbers of books whose number or title begins as typed."""
    wanted = value.lower()
    return [
        str(number)
        for number, title in ctx.state.books.items()
        if str(number).startswith(wanted) or title.lower().startswith(wanted)
    ]


# --- tools ---------------------------------------------------------------------------------------------------


@server.tool(
    errors=("NOT_FOUND",),
    icons=(Icon("https://example.org/lend.png"),),
    security="Keeps who has which book in memory; no file or network access.",
    examples=({"number": 1, "reader": "Ann"},),
)
async def lend(number: int, reader: str, ctx: Context[Library]) -> WithContent[Loan]:
    """Lend a book to a reader.

    Args:
        number: The number in the catalog.
        reader: Who takes it home.
    """
    title = ctx.state.title(number)
    ctx.state.lent[number] = reader
    server.resource_updated(f"library://books/{number}")
    return WithContent(Loan(number, title, reader), ResourceLink(f"library://books/{number}", "book", title=title))


@server.tool(
    effect=effect.replay_safe(),
    read_only=True,
    errors=("NOT_FOUND",),
    security="Reads the catalog in memory; no file or network access.",
    examples=({"number": 1},),
)
async def taste(number: int, ctx: Context[Library]) -> list[Text | Image | Audio]:
    """Give a taste of a book: a line, its cover, a sound.

    Args:
        number: The number in the catalog.
    """
    title = ctx.state.title(number)
    return [Text(f"From {title!r}: it was a dark night."), Image(_picture(len(title))), Audio(_sound(len(title)))]


@server.tool(effect=effect.replay_safe(), security="Changes the list of resources; no file or network access.")
async def open_reading_room() -> None:
    """Offer one more resource, library://reading-room, to everybody who listens."""
    if server.find_resource("library://reading-room") is not None:
        return

    @server.resource("library://reading-room")
    async def reading_room() -> str:
        """Who sits in the reading room."""
        return "nobody yet"


def _picture(width: int) -> bytes:
    """A grey PNG, one pixel high."""
    rows = b"\0" + b"\x80" * width
    chunks = (b"IHDR" + struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0), b"IDAT" + zlib.compress(rows), b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks
    )


def _sound(samples: int) -> bytes:
    """A WAV file, 8 bit, one channel."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sI", b"data", samples) + b"\x80" * samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


if __name__ == "__main__":
    server.run()
