"""A client that does what a test tells it, and remembers everything it was told."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.errors import WireError
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import decode
from holdfast.wire.envelope import notification_message, request_message

__all__ = ["CallResult", "ScriptedClient"]

BOUND = 20.0  # seconds after which a test is told that what it waits for does not come


class _Pipe(Protocol):
    def send(self, message: Any) -> None: ...
    def send_raw(self, data: bytes) -> None: ...
    def close(self) -> None: ...


class _Framer(Protocol):
    def feed(self, data: bytes) -> list[bytes | WireError]: ...
    def finish(self) -> list[bytes | WireError]: ...


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call ended with. `error` is the JSON-RPC error object where there was no result."""

    message: dict[str, Any]

    @property
    def error(self) -> dict[str, Any] | None:
        """The JSON-RPC error, if that is how the call ended."""
        return self.message.get("error")

    @property
    def is_error(self) -> bool:
        """Whether the call failed, by a tool error or a protocol error."""
        return self.error is not None or bool(self.message["result"].get("isError"))

    @property
    def code(self) -> str | None:
        """The error code that the call ended with; None for a success."""
        if self.error is not None:
            return str(self.error["data"]["code"])
        told = self.message["result"].get("_meta", {}).get(META_ERROR)
        return str(told["code"]) if told else None

    @property
    def text(self) -> str:
        """The text of the result, or the message of the JSON-RPC error."""
        text: str = self.error["message"] if self.error else self.message["result"]["content"][0]["text"]
        return text

    @property
    def payload(self) -> Any:
        """The structured content, or the text read as JSON; an AssertionError when there is neither."""
        result = self.message.get("result", {})
        if "structuredContent" in result:
            return result["structuredContent"]
        try:
            return decode(self.text.encode())
        except WireError:
            raise AssertionError(f"the call has no payload; it ended with: {self.text}") from None


class ScriptedClient:
    """Sends what it is told to, waits with a bound, and keeps every message in `messages`."""

    def __init__(self, pipe: _Pipe, framer: _Framer, events: list[Event]) -> None:
        self._pipe = pipe
        self._framer = framer
        self._ids = itertools.count(1)
        self._meta: dict[str, Any] = {}
        self._news = asyncio.Event()
        self.events = events
        self.messages: list[Any] = []

    def receive(self, data: bytes) -> None:
        """For the pipe: bytes from the server."""
        for frame in self._framer.feed(data) if data else self._framer.finish():
            if isinstance(frame, WireError):
                raise frame
            message = decode(frame)
            self.messages.extend(message if isinstance(message, list) else [message])
        self._news.set()

    # --- sending ---------------------------------------------------------------------------------------------

    def send(self, message: Any) -> None:
        """Send one message as it is."""
        self._pipe.send(message)

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._pipe.send_raw(data)

    def close(self) -> None:
        """Close the client's end."""
        self._pipe.close()

    def start(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request and return its id without waiting."""
        number = next(self._ids)
        params = dict(params or {})
        if self._meta:
            params["_meta"] = {**self._meta, **params.get("_meta", {})}
        self.send(request_message(number, method, params))
        return number

    def start_call(
        self, tool: str, arguments: dict[str, Any] | None = None, meta: dict[str, Any] | None = None
    ) -> int:
        """Send a tool call and return its id without waiting."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        return self.start("tools/call", params)

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send(notification_message(method, params))

    # --- waiting ---------------------------------------------------------------------------------------------

    async def handshake(self, revision: str) -> dict[str, Any]:
        """Open the session at this revision; the self-describing one needs no handshake, only its `_meta`."""
        if revision == MODERN:
            self._meta = {META_REVISION: MODERN, META_CAPABILITIES: {}}
            return await self.request("server/discover")
        info = {"name": "scripted", "version": "1.0.0"}
        answer = await self.request(
            "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        )
        self.notify("notifications/initialized")
        return answer

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer, whichever it is."""
        return await self.answer_to(self.start(method, params))

    async def call(self, tool: str, /, **arguments: Any) -> CallResult:
        """Call a tool and wait for its end."""
        return CallResult(await self.answer_to(self.start_call(tool, arguments)))

    async def answer_to(self, request_id: int | str | None) -> dict[str, Any]:
        """The answer to this request, waited for with a bound."""

        def matches(message: Any) -> bool:
            return "method" not in message and message["id"] == request_id

        return await self.wait_for(matches, what=f"an answer to request {request_id!r}")

    async def wait_for(
        self, wanted: Callable[[Any], bool], bound: float = BOUND, what: str = "the message"
    ) -> dict[str, Any]:
        """The first message, past or to come, that is wanted; an AssertionError when it does not come in time."""
        try:
            async with asyncio.timeout(bound):
                while True:
                    for message in self.messages:
                        if wanted(message):
                            found: dict[str, Any] = message
                            return found
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come within {bound:g} s") from None

    def progress_of(self, token: int | str) -> list[dict[str, Any]]:
        """The progress notices with this token, so far."""
        notices = [
            message["params"] for message in self.messages if message.get("method") == "notifications/progress"
        ]
        return [params for params in notices if params.get("progressToken") == token]
