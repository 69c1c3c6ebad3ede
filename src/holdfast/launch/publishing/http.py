"""The commit service over HTTP: a token, a key that must be repeated in a header, and a limit per hour.

POST /v1/commit, POST /v1/open_pr: 201 with the answer, 200 with the same one when the key comes again.
GET /v1/pulls?repo_url=: the pull requests of a repository. GET /health: open to everybody.
"""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from holdfast.launch.http_service import Application, Handler, HttpFault, Reply, Request, application
from holdfast.launch.publishing.refusal import STATUSES, Refusal
from holdfast.launch.publishing.service import LARGEST_REQUEST, CommitService
from holdfast.version import __version__

__all__ = ["REQUESTS_PER_HOUR", "make_app"]

REQUESTS_PER_HOUR = 100
_HOUR = 3600.0
_Told = TypeVar("_Told")


class _Limit:
    """How many requests may begin within an hour; there is one token, so one limit."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._begun: deque[float] = deque()
        self._lock = threading.Lock()

    def count(self) -> None:
        """Count a request; HttpFault 429 where it is one too many."""
        with self._lock:
            now = self._clock()
            while self._begun and now - self._begun[0] >= _HOUR:
                self._begun.popleft()
            if len(self._begun) >= self._most:
                wait = int(_HOUR - (now - self._begun[0])) + 1
                raise HttpFault(
                    STATUSES["RATE_LIMITED"], "RATE_LIMITED", f"more than {self._most} requests within an hour",
                    details={"retry_after_s": wait}, headers={"Retry-After": str(wait)},
                )  # fmt: skip
            self._begun.append(now)


def make_app(
    service: CommitService,
    token: str | None,
    *,
    per_hour: int = REQUESTS_PER_HOUR,
    clock: Callable[[], float] = time.monotonic,
) -> Application:
    """The service as an ASGI application. Without a token it serves this machine only."""
    limit = _Limit(per_hour, clock)

    def asked(endpoint: str) -> Handler:
        def handle(request: Request) -> Reply:
            limit.count()
            document = _with_key(request)
            outcome = _refusals_told(lambda: service.answer(endpoint, document))
            return Reply(200 if outcome.is_repeat else 201, outcome.document)

        return handle

    def pulls(request: Request) -> Reply:
        if set(request.query) != {"repo_url"}:
            raise HttpFault(400, "INVALID_REQUEST", "exactly one parameter is needed: repo_url")
        found = _refusals_told(lambda: service.pulls(request.query["repo_url"]))
        return Reply(200, {"schema_version": "1.0", "pulls": found})

    def health(_: Request) -> Reply:
        return Reply(200, {"status": "ok", "version": __version__})

    routes = [
        ("POST", "/v1/commit", asked("commit")),
        ("POST", "/v1/open_pr", asked("open_pr")),
        ("GET", "/v1/pulls", pulls),
        ("GET", "/health", health),
    ]
    return application(routes, token=token, open_paths=("/health",), max_body=LARGEST_REQUEST)


def _with_key(request: Request) -> dict[str, Any]:
    """The document of the request, whose key is a UUID and the one of the header."""
    key = request.headers.get("idempotency-key", "")
    try:
        is_uuid = str(uuid.UUID(key)) == key
    except ValueError:
        is_uuid = False
    if not is_uuid:
        raise HttpFault(400, "INVALID_REQUEST", "the header Idempotency-Key must be a UUID, in small letters")
    document = request.json()
    if not isinstance(document, dict):
        raise HttpFault(400, "INVALID_REQUEST", "the body must be an object")
    if document.get("idempotency_key") != key:
        raise HttpFault(400, "INVALID_REQUEST", "the header Idempotency-Key differs from the key in the body")
    return document


def _refusals_told(do: Callable[[], _Told]) -> _Told:
    try:
        return do()
    except Refusal as refusal:
        wait = refusal.details.get("retry_after_s")
        raise HttpFault(
            refusal.status, refusal.code, refusal.message, details=refusal.details,
            headers={} if wait is None else {"Retry-After": str(wait)},
        ) from refusal  # fmt: skip
