"""Requests of clients with a handshake: a session begins, is asked, is read from, and ends."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from holdfast.api.allowance import Allowances
from holdfast.api.envelope import HttpError, Reply, refusal
from holdfast.api.exchange import Exchange
from holdfast.api.limits import Slots, wait_for_answer
from holdfast.api.link import HostLink
from holdfast.api.mcp.channel import Channel
from holdfast.api.mcp.replies import error_reply
from holdfast.api.mcp.scope import Gate, admit
from holdfast.api.mcp.session import McpSession
from holdfast.api.mcp.sessions import Sessions
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions
from holdfast.present.eras import is_discovery
from holdfast.vocabulary.faults import fault
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INVALID_PARAMS, INVALID_REQUEST, Message, Request, parse

__all__ = ["SessionRequests"]

_SESSION = b"mcp-session-id"
_BATCHES = "2025-03-26"
_MOST_IN_BATCH = 64
_ACCEPTED = Reply(202, b"")


class SessionRequests:
    """The sessions of one front, as requests reach them."""

    def __init__(
        self,
        options: FrontOptions,
        link: HostLink,
        metrics: Metrics,
        *,
        slots: Slots,
        allowances: Allowances,
        gate: Gate | None,
    ) -> None:
        self._keep_alive = options.keep_alive
        self._link = link
        self._metrics = metrics
        self._slots = slots
        self._allowances = allowances
        self._gate = gate
        self._sessions = Sessions(options, link, allowances, gate)

    async def post(self, exchange: Exchange, value: Any, *, streams: bool, answers: bool) -> Reply | None:
        """Take what was posted to a session, or begin one."""
        is_batch = isinstance(value, list)
        if not is_batch and isinstance(value, dict) and value.get("method") == "initialize":
            return await self._begin(exchange, parse(value), answers=answers)
        session = self._session(exchange)
        if is_batch and (session.revision != _BATCHES or not 0 < len(value) <= _MOST_IN_BATCH):
            text = f"batches of up to {_MOST_IN_BATCH} exist only in sessions of protocol revision {_BATCHES}"
            return error_reply(None, INVALID_REQUEST, text)
        messages = [parse(one) for one in (value if is_batch else [value])]
        asked = [message for message in messages if isinstance(message, Request)]
        if not asked:
            session.take(messages, session.stream)
            return _ACCEPTED
        exchange.request_id = asked[0].id if not is_batch else None
        with ExitStack() as places:
            places.enter_context(self._slots.one())
            places.enter_context(self._allowances.request(exchange.caller))
            admitted = [await self._admitted(message, exchange) for message in messages]
            # Only now, since another POST may have brought the same id while this one was admitted.
            doubled = _doubled([one.id for one in asked], session)
            if doubled:
                return error_reply(
                    doubled[0], INVALID_REQUEST, f"request id {doubled[0]!r:.80} is still in flight"
                )
            channel = session.new_channel()
            session.take(admitted, channel)
            # Held as long as the work goes on, also while nobody reads: who leaves may come back for the rest.
            channel.when_closed(places.pop_all().close)
            return await self._answered(exchange, session, channel, is_batch=is_batch, forms=(streams, answers))

    async def get(self, exchange: Exchange) -> Reply | None:
        """Write the stream of a session; or the rest of another one, whose reader has come back."""
        session = self._session(exchange)
        channel, after = _place_of(exchange, session)
        with self._allowances.stream(exchange.caller):
            if channel is not session.stream:
                await self._streamed(exchange, session, channel, after)
            else:
                with self._counted():
                    await channel.send_to(exchange, keep_alive=self._keep_alive, after=after)
        return None

    def delete(self, exchange: Exchange) -> Reply:
        """End a session."""
        self._sessions.end(self._session(exchange))
        self._metrics.sessions = len(self._sessions)
        return Reply(204, b"")

    def end_streams(self) -> None:
        """End the stream of every session."""
        self._sessions.end_streams()

    # --- the handshake -------------------------------------------------------------------------------------------

    async def _begin(self, exchange: Exchange, request: Message, *, answers: bool) -> Reply | None:
        if not isinstance(request, Request):
            return error_reply(None, INVALID_REQUEST, "initialize has no id")
        exchange.request_id = request.id
        if exchange.values(_SESSION):
            return error_reply(request.id, INVALID_REQUEST, "the session is already initialized")
        if not isinstance(request.params.get("protocolVersion"), str):
            return error_reply(request.id, INVALID_PARAMS, "initialize needs a protocolVersion")
        with self._slots.one(), self._allowances.request(exchange.caller):
            call = self._link.call("server/discover")
            discovered = await wait_for_answer(exchange, self._link, call)
        if not is_discovery(discovered):
            raise HttpError(fault("INTERNAL", "the server does not say what it is"))
        session = self._sessions.begin(exchange.caller, discovered, request.params)
        self._metrics.sessions = len(self._sessions)
        exchange.extra_headers.append((_SESSION, session.id.encode()))
        channel = Channel()
        session.introduce(request, channel)
        if answers:
            return Reply(200, encode(channel.answers[0]))
        await channel.send_to(exchange, keep_alive=self._keep_alive)
        return None

    def _session(self, exchange: Exchange) -> McpSession:
        named = exchange.values(_SESSION)
        if not named:
            raise refusal(
                "INVALID_REQUEST", "the header Mcp-Session-Id is missing", hint="Begin with `initialize`."
            )
        if len(named) > 1:
            raise refusal(
                "INVALID_REQUEST", "the header Mcp-Session-Id is there more than once", hint="Send it once."
            )
        session = self._sessions.find(named[0], exchange.caller)
        self._metrics.sessions = len(self._sessions)
        return session

    # --- a request -----------------------------------------------------------------------------------------------

    async def _admitted(self, message: Message, exchange: Exchange) -> Message:
        return await admit(message, exchange.caller, self._gate) if isinstance(message, Request) else message

    async def _answered(
        self,
        exchange: Exchange,
        session: McpSession,
        channel: Channel,
        *,
        is_batch: bool,
        forms: tuple[bool, bool],
    ) -> Reply | None:
        streams, answers = forms
        try:
            while not channel.is_closed and (channel.is_plain or not streams):
                await channel.wait(exchange, self._keep_alive)
                if streams:
                    break
            if channel.is_closed and answers and (channel.is_plain or not streams):
                session.forget(channel)
                return _as_json(channel, is_batch=is_batch)
        except BaseException:
            session.give_up(channel)
            session.forget(channel)  # nobody knows how to come back for it
            raise
        await self._streamed(exchange, session, channel)
        return None

    async def _streamed(self, exchange: Exchange, session: McpSession, channel: Channel, after: int = 0) -> None:
        """Write the stream of a POST; its reader may come back for what did not arrive."""
        try:
            with self._counted():
                await channel.send_to(exchange, keep_alive=self._keep_alive, after=after)
        finally:
            session.left(channel)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._metrics.streams += 1
        try:
            yield
        finally:
            self._metrics.streams -= 1


def _doubled(ids: Sequence[RequestId], session: McpSession) -> list[RequestId]:
    """The ids that stand twice in a POST, or that a request of the session has which was not answered yet."""
    return [one for place, one in enumerate(ids) if session.is_pending(one) or one in ids[:place]]


def _as_json(channel: Channel, *, is_batch: bool) -> Reply:
    if not channel.answers:
        return _ACCEPTED  # it was cancelled: nobody expects an answer
    return Reply(200, encode(channel.answers if is_batch else channel.answers[0]))


def _place_of(exchange: Exchange, session: McpSession) -> tuple[Channel, int]:
    """Which stream is wanted, and from where: the one that the last event was of, or that of the session."""
    last = exchange.values(b"last-event-id")
    name, _, number = (last[0] if last else "").rpartition("-")
    channel = session.channel(name) if number.isascii() and number.isdigit() and len(number) < 10 else None
    if channel is None:
        return session.stream, session.stream.delivered
    return channel, int(number)
