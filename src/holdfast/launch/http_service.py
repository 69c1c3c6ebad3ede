"""A small HTTP service of plain functions: guard, route, one thread per request at work, JSON errors.

The commit service and the telemetry service are made of it. It serves people and programs of this machine, or
those who hold its token; it streams nothing, and every request and answer fits into memory.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from holdfast.api.callers import Token, digest_of_token
from holdfast.api.envelope import HttpError, Stamp
from holdfast.api.envelope import Reply as WireReply
from holdfast.api.exchange import ClientGoneError, Exchange, Receive, Scope, Send
from holdfast.api.guard import Guard
from holdfast.api.limits import Slots
from holdfast.errors import CODES, ToolError
from holdfast.launch.documents import DocumentError
from holdfast.launch.http_messages import JSON, Handler, HttpFault, Reply, Request, fault_document
from holdfast.version import __version__
from holdfast.wire.codec import encode

__all__ = ["Application", "Handler", "HttpFault", "Reply", "Request", "application", "running", "serve"]

MAX_BODY = 16 * 1024 * 1024
CONCURRENCY = 16
_BODY_SECONDS = 30.0
_MOST_PARAMETERS = 50
_log = logging.getLogger("holdfast.launch")


class _Route(NamedTuple):
    method: str
    segments: tuple[str, ...]
    handler: Handler

    def parameters(self, segments: Sequence[str]) -> dict[str, str] | None:
        """What the path says for the names in braces; None where the path is another one."""
        if len(segments) != len(self.segments):
            return None
        found: dict[str, str] = {}
        for wanted, given in zip(self.segments, segments, strict=True):
            if wanted.startswith("{") and given:
                found[wanted.strip("{}")] = given
            elif wanted != given:
                return None
        return found


class Application:
    """The ASGI application of one service."""

    def __init__(
        self,
        routes: Sequence[tuple[str, str, Handler]],
        *,
        token: str | None,
        open_paths: Collection[str],
        max_body: int,
        allowed_hosts: Collection[str],
    ) -> None:
        made = [_Route(method, tuple(path.split("/")), handler) for method, path, handler in routes]
        # A path with a word in a place wins over one with a name in braces there.
        self._routes = sorted(made, key=lambda route: sum(part.startswith("{") for part in route.segments))
        self._tokens = () if token is None else (Token("the token", digest_of_token(token)),)
        self._open_paths = frozenset(open_paths)
        self._max_body = max_body
        self._allowed_hosts = tuple(allowed_hosts)
        self._slots = Slots(CONCURRENCY)
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="holdfast-http")

    @property
    def has_token(self) -> bool:
        """Whether it knows who asks; without, only this machine may reach it."""
        return bool(self._tokens)

    def ask(self, method: str, path: str, document: Any = None) -> Reply:
        """The answer to a request of this very process, which needs no token and no network."""
        try:
            handler, parameters = self._find(method, path.encode())
            headers = {"content-type": JSON}
            return handler(
                Request(method, path, {}, headers, b"" if document is None else encode(document), parameters)
            )
        except (DocumentError, HttpFault, ToolError) as error:
            return _refusal(error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exchange = Exchange(scope, receive, send, Stamp("1.0", __version__))
        try:
            await exchange.reply(await self._answer(exchange, scope))
        except ClientGoneError:
            return
        finally:
            await exchange.close()

    async def _answer(self, exchange: Exchange, scope: Scope) -> WireReply:
        try:
            self._check(exchange, scope)
            handler, parameters = self._find(exchange.method, scope["raw_path"])
            with self._slots.one():
                request = await self._request(exchange, parameters)
                threads = asyncio.get_running_loop().run_in_executor
                return _on_the_wire(await threads(self._threads, handler, request))
        except (DocumentError, HttpError, HttpFault, ToolError) as error:
            return _on_the_wire(_refusal(error))
        except ClientGoneError:
            raise
        except Exception as error:  # noqa: BLE001 - told with an id that finds it
            fault_id = uuid.uuid4().hex[:12]
            _log.exception("fault %s", fault_id)
            details = {"cause_class": type(error).__name__, "fault_id": fault_id}
            told = fault_document("INTERNAL", "an unexpected error inside the service", details)
            return _on_the_wire(Reply(500, told))

    def _check(self, exchange: Exchange, scope: Scope) -> None:
        guard = Guard(scope["server"], tokens=self._tokens, allowed_hosts=self._allowed_hosts)
        guard.check_origin(exchange)
        if exchange.path not in self._open_paths:
            guard.caller(exchange)

    def _find(self, method: str, raw_path: bytes) -> tuple[Handler, dict[str, str]]:
        # Split before it is unquoted: a name in the path may hold a slash.
        try:
            segments = [unquote(part, errors="strict") for part in raw_path.decode("ascii").split("/")]
        except UnicodeDecodeError as error:
            raise HttpFault(400, "INVALID_REQUEST", "the path is not UTF-8") from error
        found = [(one, given) for one in self._routes if (given := one.parameters(segments)) is not None]
        if not found:
            raise HttpFault(404, "NOT_FOUND", "there is nothing at this path")
        for route, given in found:
            if route.method in {method, "GET" if method == "HEAD" else method}:
                return route.handler, given
        allowed = ", ".join(sorted({route.method for route, _ in found}))
        raise HttpFault(405, "INVALID_REQUEST", f"only {allowed} works here", headers={"Allow": allowed})

    async def _request(self, exchange: Exchange, parameters: Mapping[str, str]) -> Request:
        headers: dict[str, str] = {}
        for name, value in exchange.headers:
            headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        return Request(
            method=exchange.method,
            path=exchange.path,
            query=_query(exchange.raw_query),
            headers=headers,
            body=await self._body(exchange, headers),
            parameters=parameters,
        )

    async def _body(self, exchange: Exchange, headers: Mapping[str, str]) -> bytes:
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise HttpFault(415, "INVALID_REQUEST", "the body must not be compressed")
        if int(headers.get("content-length", "0")) > self._max_body:  # the parser lets only digits through
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for chunk in exchange.body_chunks():
                    body += chunk
                    if len(body) > self._max_body:
                        raise self._too_large()
        except TimeoutError:
            message = f"the body did not arrive within {_BODY_SECONDS:g} seconds"
            # What is left of the body could not be told from the next request.
            raise HttpFault(408, "INVALID_REQUEST", message, headers={"Connection": "close"}) from None
        return bytes(body)

    def _too_large(self) -> HttpFault:
        message, details = f"the body is larger than {self._max_body} bytes", {"limit_bytes": self._max_body}
        return HttpFault(413, "INVALID_REQUEST", message, details=details)


def application(
    routes: Sequence[tuple[str, str, Handler]],
    *,
    token: str | None,
    open_paths: Collection[str] = ("/health",),
    max_body: int = MAX_BODY,
    allowed_hosts: Collection[str] = (),
) -> Application:
    """The service of these routes: (method, path with names in braces, function that answers).

    With a token, everything but `open_paths` wants it. A handler runs in a thread of its own and ends a request
    with HttpFault, with ToolError (whose code says the status) or with DocumentError.
    """
    return Application(routes, token=token, open_paths=open_paths, max_body=max_body, allowed_hosts=allowed_hosts)


def serve(app: Application, host: str, port: int, *, on_ready: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM; `on_ready` is told the base URL. Returns the exit code."""
    from holdfast.launch.http_serving import serve_until_told  # uvicorn takes its time to load

    return serve_until_told(app, host, port, has_token=app.has_token, on_ready=on_ready)


def running(app: Application) -> AbstractContextManager[str]:
    """The service in a thread of this process, on a free port of 127.0.0.1; gives the base URL."""
    from holdfast.launch.http_serving import served_in_a_thread

    return served_in_a_thread(app)


def _query(raw: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except ValueError as error:
        raise HttpFault(400, "INVALID_REQUEST", "the query cannot be read") from error
    query = dict(pairs)
    if len(query) != len(pairs):
        raise HttpFault(400, "INVALID_REQUEST", "a parameter of the query is given twice")
    return query


def _refusal(error: DocumentError | HttpError | HttpFault | ToolError) -> Reply:
    if isinstance(error, DocumentError):
        error = ToolError("SCHEMA_VALIDATION_FAILED", str(error), details={"violations": error.violations})
    if isinstance(error, ToolError):
        status = CODES[error.code].http_status if error.code in CODES else 500
        return Reply(status, fault_document(error.code, error.message, error.details))
    if isinstance(error, HttpError):
        headers = {name.decode(): value.decode() for name, value in error.headers}
        problem = error.problem
        return Reply(error.status, fault_document(problem.code, problem.message, problem.details), headers)
    return Reply(error.status, fault_document(error.code, error.message, error.details), error.headers)


def _on_the_wire(reply: Reply) -> WireReply:
    headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    return WireReply(reply.status, reply.body(), reply.content_type.encode(), tuple(headers))
