"""One HTTP/1.1 exchange over a connection of its own, as raw as the checks need it.

No redirects, no retries, no pool: what was sent is what a check wrote, and what came back is told as it came.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult

from holdfast.probe.talk import Delivery

__all__ = ["exchange", "head_of"]

MAX_BODY = 64 * 2**20
READ_SIZE = 64 * 1024


class _Reading:
    """The callbacks of the parser: a delivery that fills up."""

    def __init__(self, delivery: Delivery, on_head: Callable[[], None], on_body: Callable[[bytes], None]) -> None:
        self.delivery = delivery
        self.parser: Any = None
        self.is_complete = False
        self._on_head = on_head
        self._on_body = on_body

    def on_header(self, name: bytes, value: bytes) -> None:
        self.delivery.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.delivery.status = self.parser.get_status_code()
        self._on_head()

    def on_body(self, data: bytes) -> None:
        self._on_body(data)

    def on_message_complete(self) -> None:
        self.is_complete = True


def head_of(parts: SplitResult, method: str, headers: Mapping[str, str]) -> bytes:
    """The head of a request, up to and with its blank line."""
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.rpartition("@")[2]
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


async def exchange(
    parts: SplitResult,
    request: bytes,
    delivery: Delivery,
    *,
    on_head: Callable[[], None],
    on_body: Callable[[bytes], None],
) -> None:
    """Send the bytes of a request and feed its answer to the callbacks until it ends.

    A connection that fails is told in `delivery.failure`; cancelling this closes the connection.
    """
    writer: asyncio.StreamWriter | None = None
    try:
        reader, writer = await _connect(parts)
        writer.write(request)
        await _read(reader, delivery, on_head, on_body)
    except (OSError, ValueError) as error:
        delivery.failure = str(error) or type(error).__name__
    finally:
        if writer is not None:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def _connect(parts: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = None
    if parts.scheme == "https":
        import ssl

        context = ssl.create_default_context()
    port = parts.port or (443 if context else 80)
    return await asyncio.open_connection(parts.hostname, port, ssl=context, limit=READ_SIZE)


async def _read(
    reader: asyncio.StreamReader,
    delivery: Delivery,
    on_head: Callable[[], None],
    on_body: Callable[[bytes], None],
) -> None:
    import httptools

    reading = _Reading(delivery, on_head, on_body)
    parser = reading.parser = httptools.HttpResponseParser(reading)
    size = 0
    while not reading.is_complete and size <= MAX_BODY:
        data = await reader.read(READ_SIZE)
        if not data:
            break
        size += len(data)
        try:
            parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise ValueError(f"the answer is not HTTP: {error}") from error
    if delivery.status is None:
        raise ValueError("the connection was closed before there was an answer")
