"""What came back from the host, as a value or as a fault: JSON-RPC in, one typed answer out.

A failure may come as a protocol error or as the result of a tool; a caller over HTTP is not to see a difference.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.errors import WireError
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Response

__all__ = ["Answer", "answer_of"]

Answer = dict[str, Any] | Fault

_CODES = {INVALID_PARAMS: "INVALID_REQUEST", METHOD_NOT_FOUND: "CAPABILITY_MISSING"}
_OVERLOADED = (-32001, 1001)
_NOT_DETAILS = frozenset({"code", "message", "retryable", "details", "hint"})


def answer_of(response: Response, *, is_tool: bool) -> Answer:
    """The payload of a tool or the result of another method; a fault where it failed."""
    if response.error is not None:
        return _protocol_fault(response.error)
    result = response.result
    if not isinstance(result, dict):
        return fault("INTERNAL", "the server's answer has no result", details={"cause_class": "BadAnswer"})
    if not is_tool:
        return result
    if result.get("isError"):
        return _tool_fault(result)
    payload = result.get("structuredContent")
    if payload is None:
        payload = _document(_text(result))
    if not isinstance(payload, dict):
        return fault("INTERNAL", "the tool's answer has no payload", details={"cause_class": "BadAnswer"})
    return payload


def _protocol_fault(error: Mapping[str, Any]) -> Fault:
    data = error.get("data")
    data = data if isinstance(data, Mapping) else {}
    number = error["code"]
    known = "QUEUE_OVERLOADED" if number in _OVERLOADED else _CODES.get(number, "INTERNAL")
    code, message, hint = data.get("code"), data.get("message"), data.get("hint")
    return fault(
        code if isinstance(code, str) else known,
        message if isinstance(message, str) else error["message"],
        retryable=data.get("retryable") if isinstance(data.get("retryable"), bool) else None,
        details=_details(data),
        hint=hint if isinstance(hint, str) else None,
    )


def _details(data: Mapping[str, Any]) -> dict[str, Any]:
    """Details are an object everywhere; the bare list of a protocol error is the list of violations."""
    given = data.get("details")
    beside = {key: value for key, value in data.items() if key not in _NOT_DETAILS}
    if isinstance(given, list):
        return {**beside, "violations": given}
    return {**beside, **given} if isinstance(given, Mapping) else beside


def _tool_fault(result: Mapping[str, Any]) -> Fault:
    text = _text(result)
    envelope = _document(text)
    if not isinstance(envelope, Mapping) or not isinstance(envelope.get("code"), str):
        meta = result.get("_meta")
        told = meta.get(META_ERROR) if isinstance(meta, Mapping) else None
        code = told.get("code") if isinstance(told, Mapping) else None
        return fault(code if isinstance(code, str) else "INTERNAL", text or "the tool failed")
    error, hint, timeout = envelope.get("error"), envelope.get("hint"), envelope.get("timeoutMs")
    told = error.get("details") if isinstance(error, Mapping) else None
    details = dict(told) if isinstance(told, Mapping) else {}
    fault_id = details.pop("faultId", None)  # the envelope puts it among the details, and will do so again
    return fault(
        envelope["code"],
        str(envelope.get("message", "")),
        details=details,
        hint=hint if isinstance(hint, str) else None,
        timeout_ms=timeout if isinstance(timeout, int) else None,
        fault_id=None if fault_id is None else str(fault_id),
    )


def _text(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, Mapping) else None
    return text if isinstance(text, str) else ""


def _document(text: str) -> Any:
    try:
        return decode(text.encode(), max_depth=RELAY_DEPTH)
    except (WireError, UnicodeEncodeError):
        return None  # a text for people
