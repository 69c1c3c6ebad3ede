"""One connection to the server under test, as the checks use it: raw bytes out, everything that comes back kept.

Unlike a client session it does not hide anything: answers that nobody asked for, answers that come twice and lines
that are no messages are what the checks look for. What a server asks of its client is answered, so that a
polite server is not kept waiting.
"""

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from holdfast.errors import WireError
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.probe.model import FailedError, Options
from holdfast.probe.transcript import Transcript
from holdfast.version import __version__
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import (
    METHOD_NOT_FOUND,
    Request,
    error_message,
    notification_message,
    parse,
    request_message,
    result_message,
)

__all__ = ["CLIENT", "MODERN_META", "Delivery", "Talk", "is_same_id"]

T = TypeVar("T")
CLIENT = {"name": "holdfast-probe", "version": __version__}
MODERN_META: dict[str, Any] = {
    META_REVISION: MODERN,
    META_CAPABILITIES: {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}


MAX_MESSAGES = 20_000  # of one connection; no check asks for a tenth of them


class Delivery:
    """What became of one write: over HTTP a status of its own, on a pipe nothing."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = b""
        self.failure = ""
        self.is_done = False
        self.opens_session = False  # it is the handshake, whose answer may name the session


def is_same_id(one: object, other: object) -> bool:
    """Whether two ids are the same, type and all: 1, "1" and true are three."""
    return type(one) is type(other) and one == other


class Talk(ABC):
    """A connection; `open_session` makes it one in which requests are served."""

    transport: str

    def __init__(self, options: Options, transcript: Transcript) -> None:
        self.options = options
        self.transcript = transcript
        self.inbox: list[dict[str, Any]] = []  # every message, in the order of arrival
        self.batches: list[list[Any]] = []  # the arrays among them, whose members are in the inbox too
        self.noise: list[bytes] = []
        self.ended = ""  # how the server ended, in words
        self.meta: dict[str, Any] = {}  # what each request carries where there is no handshake
        self.revision = ""
        self._numbers = itertools.count(1)
        self._news = asyncio.Event()
        self._replies: set[asyncio.Task[Any]] = set()

    # --- sending ---------------------------------------------------------------------------------------------

    @abstractmethod
    async def write(self, data: bytes) -> Delivery:
        """Send the bytes of one message as they are, valid or not."""

    @abstractmethod
    async def close(self) -> None:
        """End the connection and all that was started for it."""

    async def send(self, message: Any) -> Delivery:
        """Send one message."""
        return await self.write(encode(message))

    def request(self, method: str, params: dict[str, Any] | None = None, request_id: Any = None) -> dict[str, Any]:
        """A request that fits this session, with an id of its own unless one is given."""
        number = next(self._numbers) if request_id is None else request_id
        params = params or {}
        if self.meta:
            params = {**params, "_meta": {**params.get("_meta", {}), **self.meta}}
        return request_message(number, method, params)

    async def notify(self, method: str, params: dict[str, Any]) -> Delivery:
        """Send a notification."""
        return await self.send(notification_message(method, params))

    async def ask(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        request_id: Any = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its answer, a result or an error; silence fails the check."""
        message = self.request(method, params, request_id)
        delivery = await self.send(message)
        return await self.answer(message["id"], method, seconds=seconds, delivery=delivery)

    # --- receiving -------------------------------------------------------------------------------------------

    async def answer(
        self, request_id: Any, what: str, *, seconds: float | None = None, delivery: Delivery | None = None
    ) -> dict[str, Any]:
        """The first answer to this id; a FailedError where none comes in time."""
        limit = self.options.timeout if seconds is None else seconds

        def look() -> dict[str, Any] | None:
            found = self.answers(request_id)
            if not found and delivery is not None and delivery.failure:
                raise FailedError(f"{what} got no answer: {delivery.failure}")
            if not found and delivery is not None and delivery.is_done and delivery.status is not None:
                text = f"{what} got HTTP {delivery.status} and no answer to its id"
                raise FailedError(text)
            return found[0] if found else None

        answer = await self.wait(look, limit)
        if answer is None:
            why = f": {self.ended}" if self.ended else f" within {limit:g} s"
            raise FailedError(f"{what} was not answered{why}")
        return answer

    def answers(self, request_id: Any) -> list[dict[str, Any]]:
        """Every answer to exactly this id so far."""
        return [
            message
            for message in self.inbox
            if "method" not in message and is_same_id(message.get("id"), request_id)
        ]

    def notifications(self, method: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each notification of this method, with its place in the inbox."""
        for place, message in enumerate(self.inbox):
            if message.get("method") == method:
                yield place, message

    async def wait(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """What `look` finds, as soon as it does; None when the time is up or nothing can come any more."""
        try:
            async with asyncio.timeout(seconds):
                while (found := look()) is None and not self.ended:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return look()
        return found if found is not None else look()

    async def settle(self) -> None:
        """Listen a little longer: what is late or too much arrives now."""
        await self.wait(lambda: None, self.options.settle)

    @property
    def lightest(self) -> str:
        """A method that every server of this era answers at once."""
        return "server/discover" if self.meta else "ping"

    async def alive(self, after: str, seconds: float | None = None) -> None:
        """A request that every server answers; whatever was sent before it has been read when this returns."""
        try:
            await self.ask(self.lightest, request_id=f"alive-{next(self._numbers)}", seconds=seconds)
        except FailedError as failure:
            raise FailedError(f"after {after} the server no longer answers: {failure}") from failure

    def receive(self, frame: bytes) -> None:
        """Take one line, or one body, from the server."""
        if len(self.inbox) + len(self.noise) >= MAX_MESSAGES:
            self.lose(f"the server sent more than {MAX_MESSAGES} messages, and is not listened to any more")
            return
        self.transcript.received(frame)
        try:
            # A server may nest deeper than we would: to be noise it must not be JSON at all.
            value = decode(frame, max_depth=RELAY_DEPTH)
            members = value if isinstance(value, list) and value else [value]
            for member in members:
                parsed = parse(member)
                self.inbox.append(member)
                if isinstance(parsed, Request):
                    self._reply(parsed)
            if isinstance(value, list):
                self.batches.append(value)
        except WireError:
            self.noise.append(frame[:4096])
        self._news.set()

    def _reply(self, request: Request) -> None:
        answer = (
            result_message(request.id, {})
            if request.method == "ping"
            else error_message(request.id, METHOD_NOT_FOUND, "this client offers nothing")
        )
        task = asyncio.ensure_future(self.send(answer))
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)

    def lose(self, reason: str) -> None:
        """The server is gone."""
        if not self.ended:
            self.ended = reason
            self.transcript.note(reason)
        self._news.set()

    def _tell(self) -> None:
        self._news.set()

    # --- the session -----------------------------------------------------------------------------------------

    async def open_session(self, revision: str) -> dict[str, Any]:
        """Open a session in this revision and return what the server said of itself."""
        if revision == MODERN:
            self.meta, self.revision = MODERN_META, MODERN
            answer = await self.ask("server/discover", seconds=self.options.start_timeout)
            return _result(answer, "server/discover")
        answer = await self.ask(
            "initialize",
            {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT},
            seconds=self.options.start_timeout,
        )
        result = _result(answer, "initialize")
        self.revision = str(result.get("protocolVersion"))
        await self.notify("notifications/initialized", {})
        return result


def _result(answer: dict[str, Any], method: str) -> dict[str, Any]:
    if "error" in answer:
        error = answer["error"]
        raise FailedError(f"{method} was refused: {error['code']} {error['message']}")
    result = answer["result"]
    if not isinstance(result, dict):
        raise FailedError(f"the result of {method} is not an object")
    return result
