"""JSON-RPC over HTTP: answers and errors as replies, each with the status that belongs to it.

Where requests describe themselves the status follows the error; with a handshake an answered request is a 200, and
only what never became a request has another status.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.api.envelope import Header, HttpError, Reply, with_retry_after
from holdfast.api.exchange import Exchange
from holdfast.present.eras import UNSUPPORTED_REVISION
from holdfast.present.error_numbers import host_error_number
from holdfast.present.profile import HANDSHAKE_REVISIONS
from holdfast.vocabulary.faults import Fault
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import encode
from holdfast.wire.envelope import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    error_message,
)

__all__ = [
    "HEADER_MISMATCH",
    "MISSING_CAPABILITY",
    "VERSION",
    "error_of",
    "error_reply",
    "has_handshake",
    "refused",
    "status_of_answer",
]

VERSION = b"mcp-protocol-version"
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021

_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_REVISION: 400,
    host_error_number("FORBIDDEN", modern=True): 403,
    host_error_number("RATE_LIMITED", modern=True): 429,
    host_error_number("QUEUE_OVERLOADED", modern=True): 503,
    host_error_number("NOT_READY", modern=True): 503,
}


def status_of_answer(answer: Mapping[str, Any]) -> int:
    """The HTTP status of an answer to a request that describes itself."""
    error = answer.get("error")
    return _STATUS.get(error.get("code", 0), 200) if isinstance(error, Mapping) else 200


def error_of(problem: Fault, *, modern: bool) -> dict[str, Any]:
    """The error of a request that failed on this side of the host."""
    data = {"code": problem.code, "retryable": problem.retryable, **problem.details}
    if problem.hint is not None:
        data["hint"] = problem.hint
    return {"code": host_error_number(problem.code, modern=modern), "message": problem.message, "data": data}


def error_reply(
    request_id: RequestId | None,
    code: int,
    message: str,
    data: Mapping[str, Any] | None = None,
    *,
    status: int | None = None,
    headers: Sequence[Header] = (),
) -> Reply:
    """An error as the whole answer."""
    body = error_message(request_id, code, message, {"code": "INVALID_REQUEST", **(data or {})})
    return Reply(_STATUS.get(code, 400) if status is None else status, encode(body), headers=tuple(headers))


def has_handshake(exchange: Exchange) -> bool:
    """Whether the headers of a request are those of a session, or of the beginning of one."""
    named = exchange.values(VERSION)
    return named[0].strip() in HANDSHAKE_REVISIONS if named else True


def refused(exchange: Exchange, error: HttpError) -> Reply:
    """The answer to what was turned away; to the request that it would have been, where that is known."""
    told = error_of(error.problem, modern=not has_handshake(exchange))
    body = {"jsonrpc": "2.0", "id": exchange.request_id, "error": told}
    return Reply(error.status, encode(body), headers=with_retry_after(error))
