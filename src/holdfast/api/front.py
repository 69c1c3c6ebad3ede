"""The application: guard, route, handler, answer; and what handlers share.

Whatever goes wrong ends in one envelope with one status. An error of our own is told with an id that finds its
trace on stderr, and with nothing else.
"""

import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from holdfast.api.addresses import TrustedProxies
from holdfast.api.allowance import Allowances
from holdfast.api.envelope import HttpError, Reply, Stamp, failure_reply, refusal
from holdfast.api.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from holdfast.api.guard import Guard
from holdfast.api.limits import BodyReader, Slots, wait_for_answer
from holdfast.api.link import HostLink
from holdfast.api.mcp.endpoint import McpEndpoint
from holdfast.api.mcp.scope import Gate
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions
from holdfast.api.redact import PathRedactor
from holdfast.api.route import Route, RouteTable
from holdfast.api.wrong_tokens import WrongTokens
from holdfast.version import __version__
from holdfast.vocabulary.faults import Fault, fault

__all__ = ["Front"]

_PATIENCE = 1.0  # seconds that the host has for what can be done without
_CLIENT_CLOSED = 499
_UNAUTHORIZED = 401
_REJECTIONS = {
    401: "unauthorized",
    403: "forbidden",
    413: "body_too_large",
    415: "media_type",
    429: "rate_limited",
    503: "overloaded",
}
_log = logging.getLogger("holdfast.api")


class Front:
    """One HTTP server in front of one host; an ASGI application."""

    def __init__(
        self,
        options: FrontOptions,
        bound: tuple[str, int],
        link: HostLink,
        routes: Sequence[Route],
        gate: Gate | None = None,
    ) -> None:
        self.options = options
        self.link = link
        self.routes = RouteTable(routes)
        self.metrics = Metrics()
        self.slots = Slots(options.concurrency)
        self.bodies = BodyReader(options)
        self.redactor = PathRedactor(options.repositories, show_paths=options.show_paths)
        self.allowances = Allowances(options)
        self.mcp = McpEndpoint(
            options,
            link,
            self.metrics,
            bodies=self.bodies,
            slots=self.slots,
            allowances=self.allowances,
            gate=gate,
        )
        self._guard = Guard(
            bound, tokens=options.tokens, allowed_hosts=options.allowed_hosts, cors_origins=options.cors_origins
        )
        self._proxies = TrustedProxies(options.trusted_proxies)
        self._wrong_tokens = WrongTokens(link.report_wrong_token)
        self._started = time.monotonic()

    @property
    def uptime_ms(self) -> int:
        """How long this process has been serving."""
        return round((time.monotonic() - self._started) * 1000)

    def stamp(self) -> Stamp:
        """The `_meta` of a request that begins now."""
        return Stamp(self.options.schema_version, __version__)

    async def call_tool(self, exchange: Exchange, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The payload of a tool, for a client that waits for it."""
        with self.place(exchange, name):
            call = self.link.call_tool(name, arguments)
            return await wait_for_answer(exchange, self.link, call, self.options.timeout)

    async def ask(self, exchange: Exchange, method: str) -> dict[str, Any]:
        """The result of another method of the server."""
        with self.place(exchange):
            return await wait_for_answer(exchange, self.link, self.link.call(method), self.options.timeout)

    async def ask_briefly(self, exchange: Exchange, method: str) -> dict[str, Any] | None:
        """The same where the answer is worth a moment but not a failure; None where it does not come at once."""
        try:
            return await wait_for_answer(exchange, self.link, self.link.call(method), _PATIENCE)
        except HttpError:
            return None

    @contextmanager
    def place(self, exchange: Exchange, tool: str = "") -> Iterator[None]:
        """A place for a request at work, among all and among those of its caller, who must be for the tool."""
        if tool and not exchange.caller.may_call(tool):
            raise refusal("FORBIDDEN", "this token is not for that", hint="Use a token whose tools name it.")
        with self.slots.one(), self.allowances.request(exchange.caller):
            yield

    def without_paths(self, problem: Fault) -> Fault:
        """A fault as it may be told over a network."""
        return replace(
            problem,
            message=self.redactor.text(problem.message),
            details=self.redactor.value(dict(problem.details)),
            hint=None if problem.hint is None else self.redactor.text(problem.hint),
        )

    # --- one request -----------------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exchange = Exchange(scope, receive, send, self.stamp())
        exchange.address = self._proxies.client_of(exchange)
        self.metrics.in_flight += 1
        try:
            await self._answer(exchange)
        except ClientGoneError:
            exchange.status = _CLIENT_CLOSED
        finally:
            self.metrics.in_flight -= 1
            route = self.routes.label(exchange.path)
            self.metrics.finished(route, exchange.method, exchange.status, exchange.stamp.seconds)
            await exchange.close()

    async def _answer(self, exchange: Exchange) -> None:
        try:
            reply = await self._handle(exchange)
        except HttpError as error:
            if error.status == _UNAUTHORIZED:
                await self._hold(exchange)
            reply = self._refused(exchange, error)
        except ClientGoneError:
            raise
        except Exception as error:
            if exchange.status:
                raise  # the response has begun: all that is left is to cut it off
            reply = self._refused(exchange, HttpError(_internal(error)))
        if reply is not None:
            await exchange.reply(reply)

    async def _handle(self, exchange: Exchange) -> Reply | None:
        self._guard.check_origin(exchange)
        if exchange.method == "OPTIONS" and (allowed := self.routes.allowed(exchange.path)):
            headers = [(b"allow", ", ".join(allowed).encode()), *self._guard.preflight_headers(exchange)]
            return Reply(204, b"", headers=tuple(headers))
        is_open = self.routes.is_open(exchange.path)
        exchange.caller = self._guard.stranger(exchange) if is_open else self._guard.caller(exchange)
        self.allowances.count(exchange.caller)
        return await self.routes.find(exchange).handler(self, exchange)

    async def _hold(self, exchange: Exchange) -> None:
        """Let whoever goes on trying wait, or begin with a new connection."""
        is_wrong = bool(exchange.values(b"authorization"))
        if not await self._wrong_tokens.hold(exchange.address, is_wrong=is_wrong):
            exchange.extra_headers.append((b"connection", b"close"))

    def _refused(self, exchange: Exchange, error: HttpError) -> Reply:
        if error.status in _REJECTIONS:
            self.metrics.rejected(_REJECTIONS[error.status])
        problem = self.without_paths(error.problem)
        error = HttpError(problem, status=error.status, headers=error.headers)
        told = self.routes.refused(exchange.path)
        return failure_reply(exchange.stamp, error) if told is None else told(exchange, error)


def _internal(error: Exception) -> Fault:
    fault_id = uuid.uuid4().hex[:12]
    _log.error("fault %s", fault_id, exc_info=error)
    return fault(
        "INTERNAL",
        "an unexpected error inside the server",
        details={"cause_class": type(error).__name__},
        fault_id=fault_id,
    )
