"""One MCP session as its client: open it, list tools, call them, cancel, close; in both eras of the protocol.

Answers are matched by id. Whatever a server sends besides them is dealt with: its requests are answered, its
progress is handed on, its noise is counted. A request ends in an answer, an error answer (`PeerError`), or a
`SessionError` when the peer is gone, silent, or does not speak the protocol; it never hangs for ever.
"""

import asyncio
import itertools
import re
from collections.abc import Callable
from typing import Any, Self

from holdfast.client.answering import MAX_ROUNDS, Answerer, answers_to
from holdfast.client.noise import Noise
from holdfast.client.peer import (
    PeerEndedError,
    PeerError,
    PeerInfo,
    PeerLostError,
    PeerSilentError,
    checked_tools,
    introduced,
)
from holdfast.client.transports import Receiver, Transport
from holdfast.errors import SessionError, WireError
from holdfast.present.profile import (
    HANDSHAKE_REVISIONS,
    LATEST_HANDSHAKE,
    META_CAPABILITIES,
    META_REVISION,
    MODERN,
)
from holdfast.version import __version__
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.wire.codec import decode
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    parse,
    request_message,
    result_message,
)
from holdfast.wire.framing import Frame
from holdfast.wire.legible_answer import answer_behind_text, legible_answer_id

__all__ = ["ClientSession", "OnProgress"]

OnProgress = Callable[[dict[str, Any]], None]

REQUEST_TIMEOUT = 30.0
MAX_PAGES = 1000
_LEGACY_HEADER = re.compile(rb"content-length:[ \t]*[0-9]+[ \t]*", re.IGNORECASE)
META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"


class ClientSession:
    """A session with the server behind `transport`. Close it, whatever happens: `async with` does."""

    def __init__(
        self,
        transport: Transport,
        *,
        request_timeout: float = REQUEST_TIMEOUT,
        answerer: Answerer | None = None,
    ) -> None:
        self._transport = transport
        self._answerer = answerer
        self._capabilities = {} if answerer is None else answerer.capabilities
        self._answering: dict[RequestId, asyncio.Task[None]] = {}  # what the server asks
        self._request_timeout = request_timeout
        self._numbers = itertools.count(1)
        self._waiting: dict[RequestId, asyncio.Future[Any]] = {}
        self._progress: dict[RequestId, OnProgress] = {}
        self._lost: PeerLostError | None = None
        self._losing: asyncio.Event | None = None  # made when somebody waits for it
        self._meta: dict[str, Any] = {}  # what each request carries where there is no handshake
        self.noise = Noise()
        self.peer = PeerInfo()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- what a client can do --------------------------------------------------------------------------------

    async def connect(self, *, revision: str = LATEST_HANDSHAKE, timeout: float | None = None) -> PeerInfo:
        """Open the session: by handshake, or by `server/discover` where the server knows no handshake."""
        await self._transport.open(Receiver(self._receive, self._lose))
        if revision == MODERN:
            self.peer = await self._discover(timeout)
            return self.peer
        try:
            self.peer = await self._handshake(revision, timeout)
        except PeerError as refusal:
            try:
                self.peer = await self._discover(timeout)
            except PeerError as error:
                raise SessionError(f"the server refuses the handshake: {refusal}") from error
        return self.peer

    async def list_tools(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """Every tool that the server offers, from all pages; none where it has no such list."""
        tools: list[dict[str, Any]] = []
        seen: set[str] = set()
        params: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            try:
                page = await self.request("tools/list", params, timeout=timeout)
            except PeerError as error:
                if error.code == METHOD_NOT_FOUND and not tools:
                    return []  # prompts or resources alone
                raise
            tools += checked_tools(page)
            cursor = page.get("nextCursor")
            if cursor is None:
                return tools
            if not isinstance(cursor, str) or cursor in seen:
                raise SessionError("the server's list of tools has no end: a page points at itself or nowhere")
            seen.add(cursor)
            params = {"cursor": cursor}
        raise SessionError(f"the server's list of tools has more than {MAX_PAGES} pages")

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Call a tool and wait for its result, good or bad; `timeout` None or 0 waits without limit.

        A call that times out, or whose task is cancelled, is cancelled on the server too.
        """
        params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        about = f"the tool {name!r}"
        return await self.ask("tools/call", params, about, timeout=timeout or 0.0, on_progress=on_progress)

    async def ask(
        self,
        method: str,
        params: dict[str, Any],
        about: str,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any]:
        """A request whose answer may be a question: that is answered, and asked again, until there is a result.

        `about` names in messages what is asked: a tool, a prompt, a resource.
        """
        result = await self.request(method, params, timeout=timeout, on_progress=on_progress)
        kind = result.get("resultType", "complete")
        for _ in range(MAX_ROUNDS):
            if kind != "input_required":
                break
            more = {**params, **await answers_to(self._answerer, result, about)}
            result = await self.request(method, more, timeout=timeout, on_progress=on_progress)
            kind = result.get("resultType", "complete")
        if kind != "complete":
            raise SessionError(f"{about} answered with a {kind!r} result, which this client does not speak")
        return result

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any]:
        """Send any request and wait for its result; `timeout` None means the session's own, 0 none."""
        if self._lost is not None:
            raise self._lost
        number = next(self._numbers)
        meta = {**self._meta, **(params or {}).get("_meta", {})}
        if on_progress is not None:
            self._progress[number] = on_progress
            meta["progressToken"] = number
        whole = {**(params or {}), **({"_meta": meta} if meta else {})}
        seconds = self._request_timeout if timeout is None else timeout
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._transport.send(request_message(number, method, whole))
            async with asyncio.timeout(seconds or None):
                result = await future
        except TimeoutError:
            self.cancel(number, "timed out")
            raise PeerSilentError(f"the server did not answer {method} within {seconds:g} s") from None
        except PeerEndedError as end:
            raise end.before_answering(method) from None
        except asyncio.CancelledError:
            self.cancel(number, "the caller gave up")
            raise
        finally:
            self._waiting.pop(number, None)
            self._progress.pop(number, None)
        if not isinstance(result, dict):
            raise SessionError(f"the server answered {method} with something that is not an object")
        return result

    def cancel(self, request_id: RequestId, reason: str = "") -> None:
        """Tell the server that nobody waits for this request any more; it is not answered."""
        if self._lost is None and request_id in self._waiting:
            params: dict[str, Any] = {"requestId": request_id}
            if reason:
                params["reason"] = reason
            self._transport.send(notification_message("notifications/cancelled", params))

    async def wait_lost(self) -> PeerLostError:
        """Wait until the peer is gone; why it is."""
        self._losing = self._losing or asyncio.Event()
        while self._lost is None:
            await self._losing.wait()
        return self._lost

    async def close(self) -> None:
        """End the session, and the server if it was started for it."""
        for task in self._answering.values():
            task.cancel()
        await self._transport.close()
        self._lose(PeerLostError("the session is closed"))

    # --- opening ---------------------------------------------------------------------------------------------

    async def _handshake(self, revision: str, timeout: float | None) -> PeerInfo:
        client = {"name": "holdfast", "version": __version__}
        params = {"protocolVersion": revision, "capabilities": self._capabilities, "clientInfo": client}
        result = await self.request("initialize", params, timeout=timeout)
        settled = result.get("protocolVersion")
        if settled not in HANDSHAKE_REVISIONS:
            raise SessionError(f"the server speaks protocol revision {settled!r}, which this client does not")
        self._transport.send(notification_message("notifications/initialized"))
        return introduced(str(settled), result)

    async def _discover(self, timeout: float | None) -> PeerInfo:
        self._meta = {
            META_REVISION: MODERN,
            META_CAPABILITIES: self._capabilities,
            META_CLIENT_INFO: {"name": "holdfast", "version": __version__},
        }
        result = await self.request("server/discover", {}, timeout=timeout)
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or MODERN not in versions:
            raise SessionError(
                f"the server speaks protocol revisions {versions!r}, none of which this client does"
            )
        return introduced(MODERN, result)

    # --- input -----------------------------------------------------------------------------------------------

    def _receive(self, frame: Frame) -> None:
        if self._lost is not None:
            return  # a flood is not read, only let through until its source is closed
        try:
            if isinstance(frame, WireError):
                raise frame
            document = decode(frame, halves="replaced")
            for item in document if isinstance(document, list) and document else [document]:
                self._receive_one(item)
        except WireError as error:
            self._receive_noise(frame, error)

    def _receive_one(self, document: Any) -> None:
        message = parse(document)
        if isinstance(message, Response):
            self._receive_response(message)
        elif isinstance(message, Notification):
            self._receive_notification(message)
        elif message.method == "initialize":  # which only a client asks for
            self._lose(PeerLostError("the command echoes what it is sent; it is no MCP server"))
        elif self._answerer is not None and self._answerer.knows(message.method):
            task = asyncio.ensure_future(self._answer(self._answerer, message))
            self._answering[message.id] = task
            task.add_done_callback(lambda _: self._answering.pop(message.id, None))
        else:
            self._transport.send(_polite_answer(message))

    async def _answer(self, answerer: Answerer, request: Request) -> None:
        try:
            answer = result_message(request.id, await answerer.answer(request.method, request.params))
        except Exception as error:  # noqa: BLE001 - whatever it is: the server must not wait for ever
            said = f"this client could not answer {request.method!r}: {type(error).__name__}"
            answer = error_message(request.id, INTERNAL_ERROR, said)
        if self._lost is None:
            self._transport.send(answer)

    def _receive_response(self, response: Response) -> None:
        request_id = response.id
        if request_id is None and len(self._waiting) == 1:
            request_id = next(iter(self._waiting))  # our request could not be read; it can only be this one
        future = self._waiting.get(request_id) if request_id is not None else None
        if future is None or future.done():
            self.noise.stray += 1
        elif response.error is not None:
            future.set_exception(PeerError.from_wire(response.error))
        else:
            future.set_result(response.result)

    def _receive_notification(self, note: Notification) -> None:
        if note.method == "notifications/cancelled":
            wanted: Any = note.params.get("requestId")
            task = self._answering.get(wanted) if is_request_id(wanted) else None
            if task is not None:
                task.cancel()
        if note.method != "notifications/progress":
            return
        token: Any = note.params.get("progressToken")
        on_progress = self._progress.get(token) if is_request_id(token) else None
        if on_progress is not None:
            on_progress(note.params)

    def _receive_noise(self, frame: Frame, error: WireError) -> None:
        if isinstance(frame, WireError):  # somebody's answer was in there, and will not come again
            self._fail_all(SessionError(f"the server sent something that cannot be read: {error.message}"))
            return
        if (split := answer_behind_text(frame)) is not None:
            text, _, response = split
            self.noise.add(text)
            self._receive_response(response)
            return
        waiting = self._waiting.get(legible_answer_id(frame) or 0)
        if waiting is not None and not waiting.done():  # it will not come again
            waiting.set_exception(SessionError(f"the server's answer cannot be read: {error.message}"))
            return
        self.noise.add(frame)
        if not self.peer.revision and _LEGACY_HEADER.fullmatch(frame):
            self.noise.is_told = True
            reason = "the server uses Content-Length framing (legacy), which this client does not speak"
            self._lose(PeerLostError(reason))
        elif self.noise.is_too_much:
            self.noise.is_told = True
            self._lose(PeerLostError(f"the server does not speak MCP on its stdout; {self.noise.describe()}"))

    def _lose(self, cause: PeerLostError) -> None:
        if self._lost is None:
            self._lost = cause
            self._fail_all(cause)
            if self._losing is not None:
                self._losing.set()

    def _fail_all(self, cause: SessionError) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(cause)


def _polite_answer(request: Request) -> dict[str, Any]:
    """This client offers its server nothing, but it leaves no request hanging."""
    if request.method == "ping":
        return result_message(request.id, {})
    return error_message(request.id, METHOD_NOT_FOUND, f"this client does not offer {request.method!r}")
