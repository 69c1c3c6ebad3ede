"""Where the official SDK and the session meet: the SDK carries requests, the session says what is answered.

A line that holds a request goes through all of the SDK: its transport, dispatcher and server, under a number of
our own for an id, up to a handler that puts it to the session. On the way out three things are put right:

- Results are replaced by the session's own, because the SDK removes every field that it does not know.
- A request that the SDK answers itself (the handshake) or refuses before a handler has seen it is put to the
  session then. So malformed parameters, unknown methods, a missing handshake and a change of the protocol era
  within one connection are answered as in every other mode.
- A request that its client cancelled is not answered.

What the SDK would drop without a word never reaches it: lines that are no message, batches, and cancellations, of
which the SDK knows one spelling and answers none. They go to the session directly. Ids are replaced because the
SDK takes 1 and "1" for the same and runs a second request under an id in flight.
"""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self, cast

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as SdkServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse, RequestParams

from holdfast.errors import WireError
from holdfast.observe.sink import EventSink
from holdfast.present.profile import negotiate
from holdfast.settings import Settings
from holdfast.vocabulary.ids import RequestId, match_cancellation
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import INTERNAL_ERROR, Notification, Request, parse, request_message
from holdfast.worker.context import NO_STATE
from holdfast.worker.registry import Registry
from holdfast.worker.sdk_streams import LineSource
from holdfast.worker.session import DirectOutlet, Session

__all__ = ["Carrier"]

CARRIED_METHODS = (
    "ping", "server/discover", "logging/setLevel", "tools/list", "tools/call", "prompts/list", "prompts/get",
    "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
    "completion/complete", "subscriptions/listen",
)  # fmt: skip
ASK_BOUND = 10.0  # seconds in which the SDK must have brought a request to its handler, or refused it
CANCELLATIONS = {"$/cancelRequest": "id", "notifications/cancelled": "requestId"}


class _Carried:
    """One line on its way: as it came, the client's id where it is a request, and the session's answer."""

    __slots__ = ("answer", "asked", "raw", "request_id")

    def __init__(self, raw: bytes | WireError, request_id: RequestId | None = None) -> None:
        self.raw = raw
        self.request_id = request_id
        self.asked = False
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()  # None: silence


class Carrier:
    """Runs the SDK's server in front of a session."""

    def __init__(self, server: Registry, settings: Settings, log: EventSink, state: Any = NO_STATE) -> None:
        outlet = DirectOutlet(log, self._from_session, self._post)
        self.session = Session(server, settings, log, outlet, state=state)
        self._server = server
        self._settings = settings
        self._numbers = itertools.count(1)
        self._carried: dict[int, _Carried] = {}  # by the number that is the id inside the SDK
        self._unasked = 0
        self._in_flight: dict[RequestId, _Carried] = {}  # by the client's id, once put to the session
        self._asking: _Carried | None = None
        self._outgoing: asyncio.Queue[SessionMessage] = asyncio.Queue()
        self._moved = asyncio.Event()
        self._closed = False

    async def run(self, read: Any, write: Any) -> None:
        """Run the SDK's server on the streams of its transport, until its input ends."""
        sdk: SdkServer[Any] = SdkServer(self._server.name, version=self._server.version)
        for method in CARRIED_METHODS:
            sdk.add_request_handler(method, RequestParams, self._handle)
        options = sdk.create_initialization_options(
            experimental_capabilities=self._server.capabilities()["experimental"]
        )
        pump = asyncio.ensure_future(self._pump(write))
        try:
            await sdk.run(read, _RestoredStream(self), options)
        finally:
            pump.cancel()
            await write.aclose()

    # --- the end ---------------------------------------------------------------------------------------------

    async def wait_until_asked(self) -> None:
        """Wait until every request that was read is known to the session; the SDK may only take so long."""
        await self._wait(lambda: not self._unasked, ASK_BOUND)

    async def wait_until_written(self, bound: float) -> None:
        """Wait until every answer has left the SDK; from now on nothing more is put to the session."""
        self._closed = True
        await self._wait(lambda: not self._carried, bound)
        await asyncio.wait([asyncio.ensure_future(self._outgoing.join())], timeout=bound)

    async def _wait(self, reached: Callable[[], bool], bound: float) -> None:
        try:
            async with asyncio.timeout(bound):
                while not reached():
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            return

    # --- in --------------------------------------------------------------------------------------------------

    async def lines_for_sdk(self, source: LineSource) -> AsyncIterator[str]:
        """The lines that the SDK is given to read."""
        while (raw := await source.next_line()) is not None:
            line = await self._sort(raw)
            if line is not None:
                yield line

    async def _sort(self, raw: bytes | WireError) -> str | None:
        """The line for the SDK that stands for this one, or None when the session has seen to it."""
        document: Any = None
        message = None
        with contextlib.suppress(WireError):
            if isinstance(raw, bytes):
                document = decode(raw, max_depth=self._settings.max_depth)
                message = parse(document)
        if isinstance(message, Request):
            return self._take_up(raw, message)
        if isinstance(message, Notification) and message.method not in CANCELLATIONS:
            return cast("bytes", raw).decode()
        # The session must hear of it in the order of the client: after the requests that are still with the SDK.
        await self.wait_until_asked()
        if isinstance(message, Notification):
            self._take_cancellation(cast("bytes", raw), message)
            return None
        ended = self._cancelled_in(document)
        self._ask(_Carried(raw))
        for request_id in ended:
            self._forget(request_id)
        return None

    def _take_up(self, raw: bytes | WireError, request: Request) -> str:
        number = next(self._numbers)
        self._carried[number] = _Carried(raw, request.id)
        self._unasked += 1
        params = request.params
        if request.method == "initialize" and isinstance(params.get("protocolVersion"), str):
            # The SDK cannot be told to stay at one revision; it agrees to the one that it is asked for.
            revision = negotiate(params["protocolVersion"], pinned=self._server.is_pinned(self._settings))
            params = {**params, "protocolVersion": revision}
        return encode(request_message(number, request.method, params)).decode()

    def _take_cancellation(self, raw: bytes, note: Notification) -> None:
        meant = match_cancellation(note.params.get(CANCELLATIONS[note.method]), self._in_flight)
        self.session.receive(raw)
        if note.method == "notifications/cancelled" and meant is not None:
            # The session will not say that the call ended: nobody wants to know. Should it have another reason
            # to answer after all, the answer finds its own way.
            self._forget(meant)

    def _cancelled_in(self, document: Any) -> list[RequestId]:
        """The calls in flight that the notifications of a batch cancel without an answer."""
        found = []
        for element in document if isinstance(document, list) else ():
            params = element.get("params") if isinstance(element, dict) else None
            if isinstance(params, dict) and element.get("method") == "notifications/cancelled":
                found.append(match_cancellation(params.get("requestId"), self._in_flight))
        return [request_id for request_id in found if request_id is not None]

    def _forget(self, request_id: RequestId) -> None:
        carried = self._in_flight.pop(request_id, None)
        if carried is not None and not carried.answer.done():
            carried.answer.set_result(None)

    # --- the session -----------------------------------------------------------------------------------------

    async def _handle(self, context: ServerRequestContext[Any, Any], params: RequestParams) -> dict[str, Any]:  # noqa: ARG002
        """The handler of every method: the answer of the session, in the SDK's own terms."""
        carried = self._carried[cast("int", context.request_id)]
        self._ask(carried)
        answer = await carried.answer
        if answer is None:
            raise MCPError(INTERNAL_ERROR, "not answered")  # ends the SDK's part; dropped on the way out
        if "error" in answer:
            error = answer["error"]
            raise MCPError(error["code"], error["message"], error.get("data"))
        result: dict[str, Any] = answer["result"]
        return result

    def _ask(self, carried: _Carried) -> None:
        """Put a line to the session, which may answer it, and others that it ends, before it returns."""
        carried.asked = True
        if self._closed:
            carried.answer.set_result(None)
            return
        self._asking = carried
        try:
            self.session.receive(carried.raw)
        finally:
            self._asking = None
        if carried.request_id is not None:
            self._unasked -= 1
            self._moved.set()
            if not carried.answer.done():
                self._in_flight[carried.request_id] = carried

    def _from_session(self, message: Any) -> None:
        carried = self._meant(message)
        if carried is None or carried.answer.done():
            self._post(message)
        else:
            carried.answer.set_result(message)

    def _meant(self, message: Any) -> _Carried | None:
        """The request that a message answers; None for what answers none: batches, refused lines, notifications,
        and questions.
        """
        asking = self._asking
        if not isinstance(message, dict) or "method" in message or message.get("id") is None:
            return None
        if asking is not None and asking.request_id == message["id"]:
            return asking
        if asking is not None and asking.request_id is None and "error" in message:
            return None  # the line itself is refused, under an id that a call in flight may have too
        return self._in_flight.pop(message["id"], None)

    # --- out -------------------------------------------------------------------------------------------------

    def restore(self, item: SessionMessage) -> None:
        """Send what the SDK wants to send, as the client should read it."""
        message = item.message
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or not isinstance(message.id, int):
            self._outgoing.put_nowait(item)
            return
        carried = self._carried.pop(message.id)
        self._moved.set()
        carried.answer.add_done_callback(self._post_answer)
        if not carried.asked:
            self._ask(carried)

    def _post_answer(self, answer: asyncio.Future[Any]) -> None:
        if answer.result() is not None:
            self._post(answer.result())

    def _post(self, message: Any) -> None:
        self._outgoing.put_nowait(SessionMessage(cast("JSONRPCMessage", _Verbatim(message))))

    async def _pump(self, write: Any) -> None:
        # One queue for everything keeps the order: no progress overtakes, or is overtaken by, its answer.
        while True:
            item = await self._outgoing.get()
            await write.send(item)
            self._outgoing.task_done()


class _RestoredStream:
    """The stream that the SDK's server writes to; it leads through `Carrier.restore`."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier

    async def send(self, item: SessionMessage, /) -> None:
        """Take one message."""
        self._carrier.restore(item)

    async def aclose(self) -> None:
        """The transport's own stream is closed when the server has ended."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Verbatim:
    """A message that the SDK's transport writes just as it is, fields unknown to the SDK and arrays included."""

    def __init__(self, document: Any) -> None:
        self._text = encode(document).decode()

    def model_dump_json(self, **options: Any) -> str:  # noqa: ARG002 - the SDK's options are about its own models
        """The text of the message."""
        return self._text
