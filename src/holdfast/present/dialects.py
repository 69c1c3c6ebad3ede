"""The three dialects: one fault, or one payload, in the envelope that the clients of a server expect.

    status   {"status": "success", ...payload}
             {"status": "failure", "error_type": CODE, "error_message": TEXT, "error_details": {...}}
    poc      {...payload}
             {"ok": false, "code": CODE, "message": TEXT, ...details, "error": {"code", "message", "details"?}}
    launch   {"ok": true, ...payload}
             {"ok": false, "run_id"?: ID, "error": {"code", "message", "retryable", "details"}}

Pure functions. A payload that is not an object stands under `result` in every dialect, `poc` too, because
structured content has to be an object in most revisions of the protocol. Details never replace a key of the
envelope: a detail of the same name moves one level down, under `details`, and nothing is lost.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from holdfast.present.bounds import tail
from holdfast.present.compact import compact_json, json_ready
from holdfast.present.envelope_schema import Marker, envelope_schema
from holdfast.vocabulary.faults import Fault

__all__ = [
    "OUTPUT_TAIL_BYTES",
    "Dialect",
    "failure",
    "published_output_schema",
    "reserved_payload_keys",
    "success",
]

OUTPUT_TAIL_BYTES = 4096
_POC_ENVELOPE = frozenset({"ok", "code", "message", "hint", "timeoutMs", "error", "_meta"})


class Dialect(Enum):
    """Which envelope a server speaks; a property of the server, the same for all its tools."""

    STATUS = "status"
    POC = "poc"
    LAUNCH = "launch"


_MARKERS: dict[Dialect, Marker | None] = {
    Dialect.STATUS: ("status", "success"),
    Dialect.POC: None,
    Dialect.LAUNCH: ("ok", True),
}


def success(dialect: Dialect, payload: Any) -> dict[str, Any]:
    """The envelope of a result.

    An object is spread beside the marker of the dialect. One that holds the marker's key itself, which only a
    map with arbitrary keys can do, is put under `result` whole rather than overwritten.
    """
    marker = _MARKERS[dialect]
    if marker is None:
        return dict(payload) if isinstance(payload, Mapping) else {"result": payload}
    key, value = marker
    if isinstance(payload, Mapping) and key not in payload:
        return {key: value, **payload}
    return {key: value, "result": payload}


def failure(dialect: Dialect, fault: Fault, *, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The envelope of a fault; always plain JSON data, whatever the details hold.

    `meta` becomes `_meta` where it is given. Captured output among the details is cut to its last 4 KiB.
    """
    document = _FAILURES[dialect](fault)
    if meta is not None:
        document["_meta"] = json_ready(meta)
    return document


def reserved_payload_keys(dialect: Dialect) -> frozenset[str]:
    """Fields that a payload may not declare, because a reader could not tell them from the envelope's own."""
    return _RESERVED[dialect]


def published_output_schema(dialect: Dialect, payload_schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of what `success` returns for the payloads that `payload_schema` accepts."""
    return envelope_schema(payload_schema, _MARKERS[dialect])


_RESERVED = {
    Dialect.STATUS: frozenset({"status"}),
    # The payload stands alone here; with `error` in it, it would look like a failure.
    Dialect.POC: frozenset({"error"}),
    Dialect.LAUNCH: frozenset({"ok"}),
}


def _status_failure(fault: Fault) -> dict[str, Any]:
    owned = {"category": fault.fault_class.value, "retryable": fault.retryable, **_extras(fault)}
    reserved = frozenset({"category", "retryable", "hint", "timeoutMs", "faultId"})
    return {
        "status": "failure",
        "error_type": json_ready(fault.code),
        "error_message": json_ready(fault.message),
        "error_details": _beside(owned, reserved, _details(fault)),
    }


def _poc_failure(fault: Fault) -> dict[str, Any]:
    # The fault id travels as a detail: it then stands at both places where clients look for details.
    extras = _extras(fault)
    fault_id = {"faultId": extras.pop("faultId")} if "faultId" in extras else {}
    details = _beside(fault_id, frozenset({"faultId"}), _details(fault))
    code, message = json_ready(fault.code), json_ready(fault.message)
    error = {"code": code, "message": message}
    return {
        "ok": False,
        "code": code,
        "message": message,
        **{key: value for key, value in details.items() if key not in _POC_ENVELOPE},
        **extras,
        "error": {**error, "details": details} if details else error,
    }


def _launch_failure(fault: Fault) -> dict[str, Any]:
    details = _details(fault)
    run_id = details.pop("run_id") if isinstance(details.get("run_id"), str) else None
    error = {
        "code": json_ready(fault.code),
        "message": json_ready(fault.message),
        "retryable": fault.retryable,
        "details": _beside(_extras(fault), frozenset({"hint", "timeoutMs", "faultId"}), details),
    }
    return {"ok": False, "error": error} if run_id is None else {"ok": False, "run_id": run_id, "error": error}


_FAILURES = {
    Dialect.STATUS: _status_failure,
    Dialect.POC: _poc_failure,
    Dialect.LAUNCH: _launch_failure,
}


def _extras(fault: Fault) -> dict[str, Any]:
    """What a fault may carry beside code, message and details, under its public names."""
    extras = {"hint": fault.hint, "timeoutMs": fault.timeout_ms, "faultId": fault.fault_id}
    return {name: json_ready(value) for name, value in extras.items() if value is not None}


def _details(fault: Fault) -> dict[str, Any]:
    """The details as plain data, output cut to its tail; an internal error always names the class of its cause."""
    details: dict[str, Any] = json_ready(fault.details)
    for stream in ("stderr", "stdout"):
        if stream in details:
            output = details[stream]
            text = output if isinstance(output, str) else compact_json(output)
            details[stream] = tail(text.strip(), OUTPUT_TAIL_BYTES)
    if fault.code == "INTERNAL":
        details.setdefault("cause_class", "unknown")
    return details


def _beside(owned: Mapping[str, Any], reserved: frozenset[str], details: Mapping[str, Any]) -> dict[str, Any]:
    """Details beside the keys of the envelope; those whose names are taken move under `details`."""
    taken = {key: value for key, value in details.items() if key in reserved}
    free = {key: value for key, value in details.items() if key not in reserved}
    if taken:
        # A detail named `details` moves along, or the moved ones would take its place.
        if "details" in free:
            taken["details"] = free.pop("details")
        free["details"] = taken
    return {**owned, **free}
