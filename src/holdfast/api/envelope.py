"""The bodies of all JSON answers: success and failure in the `poc` dialect, each stamped with `_meta`.

A failure has a code, and its HTTP status comes from the table of codes; only refusals that HTTP itself has a
status for (405, 413, 415 ...) bring their own. What is asked, and how it travels, is not known here.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import CODES, HoldfastError
from holdfast.present.dialects import Dialect, failure
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import encode

__all__ = [
    "Header",
    "HttpError",
    "Reply",
    "Stamp",
    "failure_reply",
    "refusal",
    "status_of",
    "success_reply",
    "with_retry_after",
]

Header = tuple[bytes, bytes]

JSON = b"application/json"
_RETRY_AFTER = 1  # seconds, where nobody knows better


class HttpError(HoldfastError):
    """Ends a request with a failure; `status` overrules the one of the code."""

    def __init__(self, problem: Fault, *, status: int | None = None, headers: Sequence[Header] = ()) -> None:
        super().__init__(f"{problem.code}: {problem.message}")
        self.problem = problem
        self.status = status_of(problem) if status is None else status
        self.headers = tuple(headers)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[Header, ...] = ()


class Stamp:
    """`_meta` of the answers to one request; the clock starts when it is made."""

    __slots__ = ("_schema_version", "_started", "_tool_version")

    def __init__(self, schema_version: str, tool_version: str) -> None:
        self._schema_version = schema_version
        self._tool_version = tool_version
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """How long the request has been under way."""
        return time.perf_counter() - self._started

    def meta(self) -> dict[str, Any]:
        """The stamp as of now."""
        return {
            "schemaVersion": self._schema_version,
            "toolVersion": self._tool_version,
            "ts": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "durationMs": round(self.seconds * 1000, 3),
        }

    def success(self, result: Mapping[str, Any], *, repo: str | None = None) -> dict[str, Any]:
        """The envelope of a result; `repo` stands in it where the request was about a repository."""
        about = {} if repo is None else {"repo": repo}
        return {"ok": True, **about, "result": dict(result), "_meta": self.meta()}

    def failure(self, problem: Fault) -> dict[str, Any]:
        """The envelope of a fault."""
        return failure(Dialect.POC, problem, meta=self.meta())


def refusal(
    code: str, message: str, *, status: int | None = None, headers: Sequence[Header] = (), **more: Any
) -> HttpError:
    """A failure that this process itself decides on; `more` goes into the fault (details, hint, timeout_ms)."""
    return HttpError(fault(code, message, **more), status=status, headers=headers)


def status_of(problem: Fault) -> int:
    """The HTTP status of a fault; a code that nobody declared is a fault of the server."""
    row = CODES.get(problem.code)
    return 500 if row is None else row.http_status


def success_reply(stamp: Stamp, result: Mapping[str, Any], *, repo: str | None = None) -> Reply:
    """200 with the envelope of a result."""
    return Reply(200, encode(stamp.success(result, repo=repo)))


def failure_reply(stamp: Stamp, error: HttpError) -> Reply:
    """The answer to a request that failed."""
    return Reply(error.status, encode(stamp.failure(error.problem)), headers=with_retry_after(error))


def with_retry_after(error: HttpError) -> tuple[Header, ...]:
    """The headers of a failure; a 429 and a 503 say when to come back."""
    if error.status not in {429, 503} or any(name == b"retry-after" for name, _ in error.headers):
        return error.headers
    return (*error.headers, (b"retry-after", str(_retry_after(error.problem)).encode()))


def _retry_after(problem: Fault) -> int:
    retry = problem.details.get("retry")
    after = retry.get("afterMs") if isinstance(retry, Mapping) else None
    if isinstance(after, int | float) and math.isfinite(after) and after > 0:
        return min(math.ceil(after / 1000), 3600)
    return _RETRY_AFTER
