"""A client that does what a test tells it, and remembers everything it was told."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.errors import WireError
from holdfast.present.eras import META_LOG_LEVEL
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, META_SUBSCRIPTION, MODERN
from holdfast.testing.answers import Answers
from holdfast.testing.clock import is_mocked
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import decode
from holdfast.wire.envelope import notification_message, request_message, result_message

__all__ = ["CallResult", "ScriptedClient"]

MAX_ROUNDS = 20  # how often one call may ask for input
BOUND = 20.0  # seconds after which a test is told that what it waits for does not come
MOCK_BOUND = 86_400.0  # the same on a clock that jumps, where every deadline of a tool must come before it


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
    def content(self) -> list[dict[str, Any]]:
        """The items of a tool's result."""
        items: list[dict[str, Any]] = self.message["result"]["content"]
        return items

    @property
    def contents(self) -> list[dict[str, Any]]:
        """What was read under an address."""
        read: list[dict[str, Any]] = self.message["result"]["contents"]
        return read

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a prompt."""
        told: list[dict[str, Any]] = self.message["result"]["messages"]
        return told

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

    def __init__(self, pipe: _Pipe, framer: _Framer, events: list[Event], answers: Answers | None = None) -> None:
        self._pipe = pipe
        self._framer = framer
        self._ids = itertools.count(1)
        self._meta: dict[str, Any] = {}
        self._news = asyncio.Event()
        self._answers = answers or Answers()
        self.events = events
        self.messages: list[Any] = []

    def receive(self, data: bytes) -> None:
        """For the pipe: bytes from the server."""
        for frame in self._framer.feed(data) if data else self._framer.finish():
            if isinstance(frame, WireError):
                raise frame
            message = decode(frame)
            for item in message if isinstance(message, list) else [message]:
                self.messages.append(item)
                self._answer_question(item)
        self._news.set()

    def _answer_question(self, message: Any) -> None:
        """Answer what the server asks, where the test has said how; other questions are left to the test."""
        if "method" in message and "id" in message and self._answers.knows(message["method"]):
            result = self._answers.to(message["method"], message.get("params") or {})
            # Not from inside of the server's own sending.
            asyncio.get_running_loop().call_soon(self.send, result_message(message["id"], result))

    @property
    def questions(self) -> list[tuple[str, dict[str, Any]]]:
        """What the server has asked so far and the answers of the test were given to: methods and parameters."""
        return list(self._answers.asked)

    @property
    def logged(self) -> list[dict[str, Any]]:
        """What the server has told the client's log so far: level, data, logger."""
        return [item["params"] for item in self.messages if item.get("method") == "notifications/message"]

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
            self._meta = {META_REVISION: MODERN, META_CAPABILITIES: self._answers.capabilities}
            return await self.request("server/discover")
        info = {"name": "scripted", "version": "1.0.0"}
        answer = await self.request(
            "initialize",
            {"protocolVersion": revision, "capabilities": self._answers.capabilities, "clientInfo": info},
        )
        self.notify("notifications/initialized")
        return answer

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer, whichever it is."""
        return await self.answer_to(self.start(method, params))

    async def call(self, tool: str, /, **arguments: Any) -> CallResult:
        """Call a tool and wait for its end; where it asks for input, answer as the test says and call again."""
        return await self._finished("tools/call", {"name": tool, "arguments": arguments})

    async def _finished(self, method: str, params: dict[str, Any]) -> CallResult:
        message = await self.request(method, params)
        for _ in range(MAX_ROUNDS):
            more = self._answers.input_for(message)
            if more is None:
                break
            message = await self.request(method, {**params, **more})
        return CallResult(message)

    async def log_level(self, level: str) -> None:
        """Ask for log messages of this level and above: from now on, in either era."""
        if META_REVISION in self._meta:
            self._meta = {**self._meta, META_LOG_LEVEL: level}
        else:
            await self.request("logging/setLevel", {"level": level})

    async def listed(self, method: str) -> list[dict[str, Any]]:
        """Every entry of a list, from all its pages: "tools/list", "prompts/list", "resources/list" and so on."""
        entries: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            result = (await self.request(method, params))["result"]
            entries += next(value for value in result.values() if isinstance(value, list))
            if "nextCursor" not in result:
                return entries
            params = {"cursor": result["nextCursor"]}

    async def read_resource(self, uri: str) -> CallResult:
        """Read what stands under an address; `.contents` holds it."""
        return await self._finished("resources/read", {"uri": uri})

    async def get_prompt(self, name: str, /, **arguments: str) -> CallResult:
        """Ask for a prompt; `.messages` holds it."""
        return await self._finished("prompts/get", {"name": name, "arguments": arguments})

    async def complete(self, of: str, argument: str, value: str = "", **given: str) -> list[str]:
        """How an argument of a prompt, or of a template, may go on; an AssertionError when that was refused."""
        ref = {"type": "ref/resource", "uri": of} if "{" in of else {"type": "ref/prompt", "name": of}
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if given:
            params["context"] = {"arguments": given}
        answer = await self.request("completion/complete", params)
        if "error" in answer:
            raise AssertionError(f"the completion was refused: {answer['error']['message']}")
        values: list[str] = answer["result"]["completion"]["values"]
        return values

    async def listen(self, **wanted: Any) -> int:
        """Open a stream of 2026-07-28, wait for its acknowledgement, and return its id."""
        number = self.start("subscriptions/listen", {"notifications": wanted})
        await self.told("notifications/subscriptions/acknowledged", lambda params: _stream(params) == number)
        return number

    async def told(self, method: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The parameters of the first notification of this method that is wanted, waited for with a bound."""

        def matches(message: Any) -> bool:
            return message.get("method") == method and wanted(message.get("params", {}))

        params: dict[str, Any] = (await self.wait_for(matches, what=method)).get("params", {})
        return params

    async def answer_to(self, request_id: int | str | None) -> dict[str, Any]:
        """The answer to this request, waited for with a bound."""

        def matches(message: Any) -> bool:
            return "method" not in message and message["id"] == request_id

        return await self.wait_for(matches, what=f"an answer to request {request_id!r}")

    async def wait_for(
        self, wanted: Callable[[Any], bool], bound: float | None = None, what: str = "the message"
    ) -> dict[str, Any]:
        """The first message, past or to come, that is wanted; an AssertionError when it does not come in time."""
        if bound is None:
            bound = MOCK_BOUND if is_mocked(asyncio.get_running_loop()) else BOUND
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


def _stream(params: dict[str, Any]) -> Any:
    return params.get("_meta", {}).get(META_SUBSCRIPTION)
