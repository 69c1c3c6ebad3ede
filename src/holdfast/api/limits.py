"""How much one client may take: bytes of a body, time, and places among the requests at work.

Everything is refused as early as it can be known, and whatever is given up on is cancelled at the host.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.api.answers import Answer
from holdfast.api.envelope import HttpError, refusal
from holdfast.api.exchange import ClientGoneError, Exchange
from holdfast.api.link import HostCall, HostLink
from holdfast.api.options import FrontOptions
from holdfast.api.route import JSON
from holdfast.errors import WireError
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import decode

__all__ = ["BodyReader", "Slots", "timed_out", "wait_for_answer"]


class Slots:
    """The places for requests at work; who finds none is told to come back."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place for the length of a block."""
        if self.taken >= self.places:
            raise refusal(
                "QUEUE_OVERLOADED",
                "the server is busy with as many requests as it takes at once",
                details={"queue": {"max": self.places, "size": self.taken}},
            )
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


class BodyReader:
    """Reads bodies that are JSON objects; all bodies that are being read share one budget of memory."""

    def __init__(self, options: FrontOptions) -> None:
        self._limit = options.max_body_bytes
        self._timeout = options.body_timeout
        self._budget = options.max_body_bytes * options.concurrency
        self._held = 0

    async def json_object(self, exchange: Exchange) -> dict[str, Any]:
        """The object that the body is; every way in which it is none is refused with a reason."""
        raw = await self.raw(exchange)
        try:
            value = decode(raw)
        except WireError as error:
            message = error.message.replace("the message", "the body")
            raise refusal("INVALID_REQUEST", message) from error
        if not isinstance(value, dict):
            raise refusal("INVALID_REQUEST", "the body is not a JSON object")
        return value

    async def raw(self, exchange: Exchange) -> bytes:
        """The bytes of a body that says that it is JSON."""
        self._check_head(exchange)
        return await self._read(exchange)

    def _check_head(self, exchange: Exchange) -> None:
        types = exchange.values(b"content-type")
        if len(types) != 1 or types[0].partition(";")[0].strip().lower() != JSON:
            raise refusal("INVALID_REQUEST", f"the body must be {JSON}", status=415)
        encodings = [one.strip().lower() for one in exchange.values(b"content-encoding")]
        if any(one not in {"", "identity"} for one in encodings):
            raise refusal("INVALID_REQUEST", "the body must not be compressed", status=415)
        lengths = exchange.values(b"content-length")
        if not lengths and not exchange.values(b"transfer-encoding"):
            raise refusal("INVALID_REQUEST", "the length of the body must be given", status=411)
        if lengths and int(lengths[0]) > self._limit:  # the parser lets only digits through
            raise self._too_large()

    async def _read(self, exchange: Exchange) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout):
                async for chunk in exchange.body_chunks():
                    body += chunk
                    self._held += len(chunk)
                    if len(body) > self._limit:
                        raise self._too_large()
                    if self._held > self._budget:
                        raise refusal("QUEUE_OVERLOADED", "too many bodies are being sent at once")
        except TimeoutError:
            seconds = f"{self._timeout:g}"
            message = f"the body did not arrive within {seconds} seconds"
            # What is left of the body could not be told from the next request.
            raise refusal("INVALID_REQUEST", message, status=408, headers=[(b"connection", b"close")]) from None
        finally:
            self._held -= len(body)
        return bytes(body)

    def _too_large(self) -> HttpError:
        return refusal(
            "INVALID_REQUEST",
            f"the body is larger than {self._limit} bytes",
            status=413,
            details={"limitBytes": self._limit},
        )


def timed_out(seconds: float) -> Fault:
    """The fault of work that took longer than a request may."""
    milliseconds = round(seconds * 1000)
    return fault(
        "TOOL_TIMEOUT",
        f"the request did not finish within {milliseconds} ms and was aborted",
        timeout_ms=milliseconds,
        hint="Narrow the request or raise the timeout.",
    )


async def wait_for_answer(
    exchange: Exchange, link: HostLink, call: HostCall[Answer], timeout: float | None = None
) -> dict[str, Any]:
    """What the host answers; if the client leaves or time runs out, the work is cancelled there.

    Without a time it is as long as the host gives its worker.
    """
    try:
        either: set[asyncio.Future[Any]] = {call.answer, exchange.gone}
        await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if not call.answer.done():
            if timeout is None or exchange.gone.done():
                raise ClientGoneError
            raise HttpError(timed_out(timeout))
        answer = call.answer.result()
    finally:
        link.cancel(call)
    if isinstance(answer, Fault):
        raise HttpError(answer)
    return answer
