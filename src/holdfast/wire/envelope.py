"""Decoded JSON to requests, notifications and responses of JSON-RPC 2.0, and the builders of the same.

Strict on purpose: what is neither of the three is refused with the id to answer to, where one can be read.
Which methods exist is not known here, and batches are the session's business: it passes each element.
"""

from typing import Any, NamedTuple

from holdfast.errors import WireError
from holdfast.vocabulary.ids import RequestId, is_request_id

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "Message",
    "Notification",
    "Request",
    "Response",
    "error_message",
    "notification_message",
    "parse",
    "request_message",
    "result_message",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class Request(NamedTuple):
    """A message that wants exactly one answer."""

    id: RequestId
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """A message that is never answered."""

    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """An answer. It failed if `error` is not None; `id` is None when the peer could not read ours."""

    id: RequestId | None
    result: Any
    error: dict[str, Any] | None


Message = Request | Notification | Response


def parse(value: Any) -> Message:
    """The message that a decoded JSON value is; raises WireError with code -32600."""
    if type(value) is not dict:
        raise WireError(INVALID_REQUEST, "a message is a JSON object")
    if value.get("jsonrpc") != "2.0":
        raise _refusal(value, 'the member "jsonrpc" is not "2.0"')
    if "method" not in value:
        return _response(value)
    method = value["method"]
    if type(method) is not str or not method:
        raise _refusal(value, 'the member "method" is not a non-empty string')
    params = value.get("params", _ABSENT)
    if params is _ABSENT:
        params = {}
    elif type(params) is not dict:
        raise _refusal(value, 'the member "params" is not an object')
    if "result" in value or "error" in value:
        raise _refusal(value, "a message is a request or a response, not both")
    if "id" not in value:
        return Notification(method, params)
    request_id = value["id"]
    if not is_request_id(request_id):
        raise _refusal(value, 'the member "id" is not a string or an integer')
    return Request(request_id, method, params)


def _response(value: dict[str, Any]) -> Response:
    failed = "error" in value
    if failed == ("result" in value):
        what = 'both "result" and "error"' if failed else 'no "method", "result" or "error"'
        raise _refusal(value, f"the message has {what}")
    request_id = value.get("id")
    if not is_request_id(request_id) and not (failed and request_id is None):
        raise _refusal(value, 'the member "id" is not a string or an integer')
    if not failed:
        return Response(request_id, value["result"], None)
    error = value["error"]
    if type(error) is not dict or type(error.get("code")) is not int or type(error.get("message")) is not str:
        raise _refusal(value, 'the member "error" has no integer "code" or no string "message"')
    return Response(request_id, None, error)


_ABSENT = object()


def _refusal(value: dict[str, Any], message: str) -> WireError:
    request_id = value.get("id")
    return WireError(INVALID_REQUEST, message, request_id=request_id if is_request_id(request_id) else None)


def request_message(request_id: RequestId, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request as a JSON object."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification_message(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A notification as a JSON object."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def result_message(request_id: RequestId, result: Any) -> dict[str, Any]:
    """A successful response as a JSON object."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_message(request_id: RequestId | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """A failed response as a JSON object; the id is null where the request's own could not be read."""
    error = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": request_id, "error": error if data is None else {**error, "data": data}}
