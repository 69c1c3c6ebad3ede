"""The path `/mcp`: which era a request is of, and what is done with it.

The header `MCP-Protocol-Version` decides: a revision with a handshake, or none, is a session's; any other is that
of a request that describes itself, or has to be told that it is not supported.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from holdfast.api.allowance import Allowances
from holdfast.api.envelope import Reply, refusal
from holdfast.api.exchange import Exchange
from holdfast.api.limits import BodyReader, Slots
from holdfast.api.link import HostLink
from holdfast.api.mcp.headers import problem_of_arguments, problem_of_request
from holdfast.api.mcp.modern import answer_request
from holdfast.api.mcp.replies import error_reply, has_handshake
from holdfast.api.mcp.scope import Gate, admit, is_private
from holdfast.api.mcp.session_requests import SessionRequests
from holdfast.api.mcp.tool_table import ToolTable
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions
from holdfast.api.route import JSON, STREAM, quality
from holdfast.errors import WireError
from holdfast.present.eras import ONLY_WITH_HANDSHAKE
from holdfast.present.profile import META_REVISION
from holdfast.wire.codec import decode
from holdfast.wire.envelope import INVALID_REQUEST, METHOD_NOT_FOUND, Notification, Request, parse

__all__ = ["McpEndpoint"]

_LISTEN = "subscriptions/listen"
_EXTENSION = frozenset({"tasks/get", "tasks/cancel"})  # names that both eras have, for different things
_GONE = ONLY_WITH_HANDSHAKE - _EXTENSION
_ACCEPTED = Reply(202, b"")


class McpEndpoint:
    """Everything that `/mcp` knows; one of each front."""

    def __init__(
        self,
        options: FrontOptions,
        link: HostLink,
        metrics: Metrics,
        *,
        bodies: BodyReader,
        slots: Slots,
        allowances: Allowances,
        gate: Gate | None = None,
    ) -> None:
        self._keep_alive = options.keep_alive
        self._link = link
        self._metrics = metrics
        self._bodies = bodies
        self._slots = slots
        self._allowances = allowances
        self._gate = gate
        self._tools = ToolTable(link)
        self._of_sessions = SessionRequests(options, link, metrics, slots=slots, allowances=allowances, gate=gate)

    async def post(self, exchange: Exchange) -> Reply | None:
        """Answer a message, or a batch of them."""
        streams, answers = _accepted(exchange)
        raw = await self._bodies.raw(exchange)
        try:
            value = decode(raw)
            if has_handshake(exchange) and not _describes_itself(value):
                return await self._of_sessions.post(exchange, value, streams=streams, answers=answers)
            message = parse(value)
        except WireError as error:
            return error_reply(error.request_id, error.jsonrpc_code, error.message, error.data)
        if isinstance(message, Request):
            exchange.request_id = message.id
            return await self._request(exchange, message, streams=streams, answers=answers)
        if isinstance(message, Notification):
            return _ACCEPTED  # a request is withdrawn by closing its stream, and there is nothing else to say
        return error_reply(message.id, INVALID_REQUEST, "nobody has asked this client anything")

    async def get(self, exchange: Exchange) -> Reply | None:
        """The stream of a session."""
        if not has_handshake(exchange) or exchange.method == "HEAD":
            return _not_allowed()
        if not _accepted(exchange)[0]:
            raise refusal("INVALID_REQUEST", f"this answers with {STREAM} only", status=406)
        return await self._of_sessions.get(exchange)

    async def delete(self, exchange: Exchange) -> Reply:
        """End a session."""
        return _not_allowed() if not has_handshake(exchange) else self._of_sessions.delete(exchange)

    def end_streams(self) -> None:
        """End the streams that nothing else would end; calls that are under way go on."""
        self._of_sessions.end_streams()

    async def _request(
        self, exchange: Exchange, request: Request, *, streams: bool, answers: bool
    ) -> Reply | None:
        """Answer a request that describes itself, or tell the first thing that is wrong with it."""
        problem = problem_of_request(exchange, request)
        if problem is not None:
            return error_reply(request.id, problem.code, problem.message, problem.data)
        if request.method in _GONE or is_private(request.method):
            return error_reply(request.id, METHOD_NOT_FOUND, f"unknown method {request.method[:80]!r}")
        if request.method == _LISTEN and not streams:
            raise refusal("INVALID_REQUEST", f"{_LISTEN} answers with {STREAM} only", status=406)
        with ExitStack() as places:
            places.enter_context(self._place(exchange, request))
            name = request.params.get("name")
            if request.method == "tools/call" and isinstance(name, str):
                problem = problem_of_arguments(exchange, request, await self._tools.mirrored(name))
                if problem is not None:
                    return error_reply(request.id, problem.code, problem.message, problem.data)
            admitted = await admit(request, exchange.caller, self._gate)
            return await answer_request(
                exchange,
                admitted,
                self._link,
                self._gate,
                places,
                keep_alive=self._keep_alive,
                streams=streams,
                answers=answers,
            )

    @contextmanager
    def _place(self, exchange: Exchange, request: Request) -> Iterator[None]:
        """A place for a request; streams that are open for good are counted apart."""
        if request.method == _LISTEN:
            with self._allowances.listen(exchange.caller):
                self._metrics.streams += 1
                try:
                    yield
                finally:
                    self._metrics.streams -= 1
        else:
            with self._slots.one(), self._allowances.request(exchange.caller):
                yield


def _accepted(exchange: Exchange) -> tuple[bool, bool]:
    """Whether a client takes a stream, and whether it takes a single answer; HttpError where neither."""
    accepted = ",".join(exchange.values(b"accept"))
    if not accepted.strip():
        return True, True
    streams, answers = quality(accepted, STREAM) > 0, quality(accepted, JSON) > 0
    if not streams and not answers:
        raise refusal("INVALID_REQUEST", f"this path answers with {JSON} and {STREAM}", status=406)
    return streams, answers


def _describes_itself(value: Any) -> bool:
    params = value.get("params") if isinstance(value, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and META_REVISION in meta


def _not_allowed() -> Reply:
    text = "requests that describe themselves are posted; there is no session to read or end"
    return error_reply(None, INVALID_REQUEST, text, status=405, headers=[(b"allow", b"POST, OPTIONS")])
